// What an error says, but for the file: paths of scratch folders differ from run to run.
#pragma once

#include <string>
#include <utility>

#include "btf/error.h"

inline std::string said(btf::Error error) {
  error.file.clear();
  return std::move(error).text();
}
