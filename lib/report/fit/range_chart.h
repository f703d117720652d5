// The numbers of tensors, from the smallest to the largest, against what a type can hold.
#pragma once

#include <string>

#include "btf/fit.h"

namespace btf::report {

// Empty where no tensor has a number above 0.
std::string fit_range_chart(const FitOfType& type);

}  // namespace btf::report
