// The options of diff. Only this folder includes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/diff.h"
#include "btf/tensor_spec.h"
#include "cli/support.h"

namespace btftool {

// "1e-3", "0=1e-3,-1=1e-2" or "1e-5,conv*=1e-2": a bare number goes into `general`, the others are
// appended to `single`. Polygraphy's "0:1e-3" is taken too.
template <typename T>
btf::Status parse_tolerances(std::string_view option, std::string_view text,
                             std::optional<T> btf::Tolerance::* member, btf::Tolerance& general,
                             std::vector<TensorTolerance>& single);

// "conv*=fp16:hwc8" at the =; the glob of what has none is empty.
struct SplitRule {
  std::string glob;
  std::string spec;
};
btf::Result<SplitRule> split_spec_rule(std::string_view option, std::string_view text);

// "fp16:hwc8", or "conv*=fp16:hwc8"; without a glob that of the result is empty.
btf::Result<SpecRule> parse_spec_rule(std::string_view option, std::string_view text);

// Is it a spec, be it one without dims?
btf::Status check_spec(const std::string& spec);

// "0.02", "0.02,-3" with a zero point, or "1:0.02,-3/0.05" for each index of dim 1.
btf::Result<btf::GivenScale> parse_given_scale(std::string_view option, std::string_view text);

// "0:3,conv1:fc", as its words. Names may have colons too, so which one parts them is seen later.
btf::Result<std::vector<std::string>> parse_pairs(std::string_view text);

// "10" or "0.1%"
btf::Result<btf::MismatchLimit> parse_mismatch_limit(std::string_view text);

// A finite number in the range of the figure's limits, with or without its unit.
btf::Result<double> parse_limit(std::string_view option, std::string_view text,
                                const btf::FigureInfo& figure);

// "0.99=1e-3,0.5=1e-4", appended to `gates`.
btf::Status parse_quantiles(std::string_view text, std::vector<btf::QuantileGate>& gates);

// "2,3" or "-1": one axis or two.
btf::Result<std::vector<std::int32_t>> parse_axes(std::string_view text);

// The options of diff. Only this folder includes it.

// The word for the axes of a bare --heatmap.
inline constexpr const char* kPickedAxes = "auto";

void declare_diff(CLI::App& app, DiffCommand& command);

// Which reports are made, and how; merge has these too.
void declare_reports(CLI::App& app, DiffCommand& command);

// Checks these.
void finish_reports(const CLI::App& app, const DiffCommand& command);

// Checks what only shows once everything is parsed, and takes the operands.
void finish_diff(const CLI::App& app, DiffCommand& command,
                 const std::vector<std::string>& operands);

// Those of pictures, which inspect has too.
void declare_picture(CLI::App& app, PictureCommand& command, const std::string& group);

}  // namespace btftool
