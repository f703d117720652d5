// The options of convert, and the options for specs and scales, which other commands have too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/file.h"
#include "cli/support.h"

namespace btftool {

// Values of the options that describe raw files, before they are parsed.
struct RawSpecs {
  std::vector<std::string> specs;   // [GLOB=]SPEC or @ENGINE; at most one spec without a glob
  std::vector<std::string> shapes;  // NAME:DIMS for tensors of an engine
  std::optional<std::string> layout_in;
  std::optional<std::string> nvmedia;

  // `option` is the option that `specs` come from. Throws OptionError.
  btf::OpenOptions finish(const std::string& option) const;
  // The same where specs may leave out the dims: these become `rules`.
  void finish_layers(const std::string& option, btf::OpenOptions& open,
                     std::vector<SpecRule>& rules) const;
};

// Returns true if one of the specs is the layer list of an engine.
bool names_engine(const RawSpecs& words);

// --input-spec, --layout-in, --nvmedia
void add_input_spec(CLI::App& app, RawSpecs& words);

// For layers: --actual-spec, --golden-spec, --layout-in and --nvmedia, which applies to
// --actual-spec
void add_layers_specs(CLI::App& app, RawSpecs& actual, RawSpecs& golden, const char* group);

// For diff, where specs may be for single files and leave out the dims.
struct RawDiffSpecs {
  std::vector<std::string> actual;
  std::vector<std::string> golden;
  RawSpecs reading;  // --layout-in, --nvmedia, --shape

  // Throws OptionError.
  void finish(DiffCommand& command) const;
};
void add_diff_specs(CLI::App& app, RawDiffSpecs& words, const char* group);

// Targets of the options that give scales for integer codes.
struct ScaleOptions {
  bool& dequantize;
  std::vector<std::uint64_t>& blocks;
  std::optional<btf::GivenScale>& actual;
  std::optional<btf::GivenScale>& golden;
};

// --block: the number of indices of each of the last dims that share a scale, "64" or "64x128".
void add_blocks(CLI::App& app, std::vector<std::uint64_t>& blocks, const char* group = nullptr);

// Throws OptionError if --block is given without --dequantize.
void check_blocks(const CLI::App& app);

void add_scales(CLI::App& app, const ScaleOptions& options, const char* group);

// Values that can only be interpreted once the whole command line is parsed.
struct ConvertOptionTexts {
  std::optional<std::string> dtype;
  std::optional<std::string> layout;
  std::string dla;
  RawSpecs input;
  std::optional<std::string> output_spec;
  std::optional<std::string> format;
  std::optional<std::string> scale;
  std::optional<std::string> scale_axis;
  std::optional<std::string> zero_point;
  std::optional<std::string> max_zero;
  std::optional<std::string> max_overflow;
  std::optional<std::string> min_snr;
};

void declare_convert(CLI::App& app, ConvertCommand& command, ConvertOptionTexts& words);

// Interprets these values and checks how options go together. The operands must be set in
// `command`. Throws OptionError.
void finish_convert(const CLI::App& app, const ConvertOptionTexts& words, ConvertCommand& command);

}  // namespace btftool
