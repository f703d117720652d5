// The options of diff. Other commands have some of them too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/diff.h"
#include "btf/tensor_spec.h"
#include "cli/support.h"

namespace btftool {

// Parses "1e-3", "0=1e-3,-1=1e-2" or "1e-5,conv*=1e-2". A number without a tensor goes into
// `general`, the others are appended to `single`. Polygraphy's notation "0:1e-3" works too.
template <typename T>
btf::Status parse_tolerances(std::string_view option, std::string_view text,
                             std::optional<T> btf::Tolerance::* member, btf::Tolerance& general,
                             std::vector<TensorTolerance>& single);

// "conv*=fp16:hwc8", split at the =. Without one the glob is empty.
struct SplitRule {
  std::string glob;
  std::string spec;
};
btf::Result<SplitRule> split_spec_rule(std::string_view option, std::string_view text);

// The same, and checks the spec.
btf::Result<SpecRule> parse_spec_rule(std::string_view option, std::string_view text);

// Fails unless it is a spec. The dims may be left out.
btf::Status check_spec(const std::string& spec);

// "0.02", "0.02,-3" with a zero point, or "1:0.02,-3/0.05" for each index of dim 1.
btf::Result<btf::GivenScale> parse_given_scale(std::string_view option, std::string_view text);

// Splits "0:3,conv1:fc" at the commas. Names may contain colons, so pairs are split later, when the
// names of the tensors are known.
btf::Result<std::vector<std::string>> parse_pairs(std::string_view text);

// "10" or "0.1%"
btf::Result<btf::MismatchLimit> parse_mismatch_limit(std::string_view text);

// Parses a limit for the figure. Its unit may be left out.
btf::Result<double> parse_limit(std::string_view option, std::string_view text,
                                const btf::FigureInfo& figure);

// "0.99=1e-3,0.5=1e-4", appended to `gates`.
btf::Status parse_quantiles(std::string_view text, std::vector<btf::QuantileGate>& gates);

// "2,3" or "-1": one axis or two.
btf::Result<std::vector<std::int32_t>> parse_axes(std::string_view text);

// The value of --heatmap without one: the axes are chosen by the shape.
inline constexpr const char* kAutomaticAxes = "auto";

void declare_diff(CLI::App& app, DiffCommand& command);

// The options for reports, which merge has too.
void declare_reports(CLI::App& app, DiffCommand& command);
void finish_reports(const CLI::App& app, const DiffCommand& command);

// Checks how options go together, and sets the operands. Throws OptionError.
void finish_diff(const CLI::App& app, DiffCommand& command,
                 const std::vector<std::string>& operands);

// The options for pictures, which inspect has too.
void declare_picture(CLI::App& app, PictureCommand& command, const std::string& group);

}  // namespace btftool
