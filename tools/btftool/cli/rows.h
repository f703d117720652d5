// Rows of options that several commands have, and parsers that several files of this folder use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/diff.h"
#include "btf/file.h"
#include "cli/support.h"
#include "help/options.h"

namespace btftool {

// The title of the options that choose and describe what is compared.
inline constexpr const char* kCompared = "What is compared";

// Values of the options that describe raw files, before they are parsed.
struct RawSpecs {
  std::vector<std::string> specs;   // [GLOB=]SPEC or @ENGINE; at most one spec without a glob
  std::vector<std::string> shapes;  // NAME:DIMS for tensors of an engine
  std::optional<std::string> layout_in;
  std::optional<std::string> nvmedia;
  std::string option;  // that `specs` come from

  // Throws OptionError.
  btf::OpenOptions finish() const;
};

// --input-spec, --shape, --layout-in, --nvmedia
OptionGroup input_spec(RawSpecs& words);

// For layers and diff: --actual-spec, --golden-spec, and the others. `help` is that of
// --actual-spec.
OptionGroup specs_of_both(RawSpecs& actual, RawSpecs& golden, const char* help);
// Specs may leave out the dims, and those of diff may be for single files: they become rules.
// Throws OptionError.
void finish_specs(RawSpecs actual, RawSpecs golden, LayersCommand& command);
void finish_specs(RawSpecs actual, RawSpecs golden, DiffCommand& command);

// --dequantize, --block, --actual-scale and --golden-scale
struct ScaleTargets {
  bool& dequantize;
  std::vector<std::uint64_t>& blocks;
  std::optional<btf::GivenScale>& actual;
  std::optional<btf::GivenScale>& golden;
};
std::vector<Option> scale_options(const ScaleTargets& targets);

Option files_from(std::shared_ptr<const btf::FileList>& files);
Option compress_option(std::optional<int>& level);
Option fsync_option(bool& sync);
// -o OUT, for commands that have an operand OUT.
Option output_option(std::optional<std::string>& output);

// The reports that merge has too.
std::vector<Option> report_options(ReportWords& reports);

// The options for pictures, which inspect has too.
std::vector<Option> picture_options(PictureCommand& command);

// --emit
Option emit_option(std::vector<FitListFile>& lists);

// --shard, --part and --resume
OptionGroup part_options(std::optional<PartOptions>& part);
// Checks these, and stores the other options of the command in `part`, as the file of results
// records how it was made. Throws OptionError.
void finish_part(const GivenOptions& given, const std::vector<std::string>& operands,
                 std::optional<PartOptions>& part);

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

}  // namespace btftool
