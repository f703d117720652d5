// Visibility of the public symbols of libbtf.
#pragma once

#define BTF_API __attribute__((visibility("default")))
