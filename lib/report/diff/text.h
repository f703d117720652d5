// Pieces of text on a comparison, without colour and without a last newline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "btf/report.h"

namespace btf::report {

// "float32", or "int8 codes" of what is compared by a scale.
std::string dtype_text(const DiffTensor& tensor);

// "float32 kLINEAR [2, 3]", or both sides' where they differ.
std::string sides_text(const TensorDiff& diff);

// ", 3 NaN on both sides, 1 NaN in actual only at [0, 3]"; empty when there is nothing special.
std::string specials_text(const TensorDiff& diff);

// The same, for NaN and Inf on one side only.
std::string unlike_specials_text(const TensorDiff& diff);

// The text after "tensor 0: same: " or "tensor 0: different: ".
// `all`: with figures that say little.
std::string headline(const TensorDiff& diff, bool all = false);

// "byte-order"
std::string_view cause_text(const Hint& hint);

// The word for mismatches that did not decide: "refused" by the tolerance, or "unequal".
std::string refused_word(const Tolerance& tolerance);

// "rtol 0.001, atol 0, cosine >= 0.99": everything that a pair has to meet. `close`: what --close
// has become, if that is known.
std::string criteria_text(const ReportOptions& options, const std::vector<Tolerance>& close = {});

// The same for a report of every tensor by itself: of several that --close has become, only that
// they go by dtype.
std::string common_criteria_text(const ReportOptions& options, const std::vector<Tolerance>& close);

inline constexpr std::size_t kAnyColumns = SIZE_MAX;

// Lines below the headline of a tensor that differs, indented by two, at most `columns` wide.
std::vector<std::string> detail_lines(const TensorDiff& diff, const ReportOptions& options,
                                      std::size_t columns = kAnyColumns);

// Tolerances that would accept every element, each by itself: "`tolerance.atol` 0.01", or as
// `names` has it. None would: empty.
// `all`: also numbers of steps that nobody would type.
std::vector<std::string> passing_options(const TensorDiff& diff, const MemberNames& names,
                                         bool all = false);

// At most 4 significant digits and never below `value`: as a tolerance it still passes.
std::string rounded_up(double value);

}  // namespace btf::report
