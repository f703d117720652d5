// Texts about a comparison, without colours and without a newline at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "btf/report.h"

namespace btf::report {

// "float32", or "int8 codes" if codes are compared by their scale.
std::string dtype_text(const DiffTensor& tensor);

// "float32 kLINEAR [2, 3]", or that of both sides if they differ.
std::string sides_text(const TensorDiff& diff);

// ", 3 NaN on both sides, 1 NaN in actual only at [0, 3]", or an empty string.
std::string specials_text(const TensorDiff& diff);

// The same, for NaN and Inf on one side only.
std::string unlike_specials_text(const TensorDiff& diff);

// The text after "tensor 0: same: " or "tensor 0: different: ". If `all` is set, it includes
// figures that say little.
std::string headline(const TensorDiff& diff, bool all = false);

// "byte-order"
std::string_view cause_text(const Hint& hint);

// The word for mismatches: "refused" by the tolerance, or "unequal" without one.
std::string refused_word(const Tolerance& tolerance);

// All criteria: "rtol 0.001, atol 0, cosine >= 0.99". `close` are the tolerances that --close led
// to, if they are known.
std::string criteria_text(const ReportOptions& options, const std::vector<Tolerance>& close = {});

// The same for a report that has the criteria of each tensor: if --close led to several tolerances,
// the text only says that they depend on the dtype.
std::string common_criteria_text(const ReportOptions& options, const std::vector<Tolerance>& close);

inline constexpr std::size_t kAnyColumns = SIZE_MAX;

// Returns the lines below the headline of a different tensor, indented by two, at most `columns`
// wide.
std::vector<std::string> detail_lines(const TensorDiff& diff, const ReportOptions& options,
                                      std::size_t columns = kAnyColumns);

// Returns the tolerances that would each accept every element: "`tolerance.atol` 0.01", with names
// of options translated by `names`. Empty if no tolerance would. If `all` is set, it includes
// numbers of steps that are too large to be useful.
std::vector<std::string> passing_options(const TensorDiff& diff, const MemberNames& names,
                                         bool all = false);

// Rounds up to 4 significant digits, so that the result still accepts `value` as a tolerance.
std::string rounded_up(double value);

}  // namespace btf::report
