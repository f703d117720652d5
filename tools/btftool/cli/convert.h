// The options of convert, with specs and scales. Only this folder includes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/file.h"
#include "cli/support.h"

namespace btftool {

struct SpecWords {
  std::vector<std::string> specs;   // [GLOB=]SPEC, one of all files at most; @ENGINE
  std::vector<std::string> shapes;  // NAME:DIMS, of an engine's tensors
  std::optional<std::string> layout_in;
  std::optional<std::string> nvmedia;

  // `option` is the one that gave `spec`. Throws Wrong.
  btf::OpenOptions finish(const std::string& option) const;
  // The same where specs may leave out the dims.
  void finish_layers(const std::string& option, btf::OpenOptions& open,
                     std::vector<SpecRule>& rules) const;
};

// Is one of the specs the layer list of an engine?
bool names_engine(const SpecWords& words);

// --input-spec, --layout-in, --nvmedia
void add_input_spec(CLI::App& app, SpecWords& words);

// For layers: --actual-spec, --golden-spec, --layout-in and --nvmedia, which goes with
// --actual-spec
void add_layers_specs(CLI::App& app, SpecWords& actual, SpecWords& golden, const char* group);

// Options of diff: the same with specs for single files and without dims.
struct DiffSpecWords {
  std::vector<std::string> actual;
  std::vector<std::string> golden;
  SpecWords reading;  // --layout-in, --nvmedia

  // Throws Wrong.
  void finish(DiffCommand& command) const;
};
void add_diff_specs(CLI::App& app, DiffSpecWords& words, const char* group);

// The options that say what codes stand for. Only this folder includes it.

struct ScaleOptions {
  bool& dequantize;
  std::vector<std::uint64_t>& blocks;
  std::optional<btf::GivenScale>& actual;
  std::optional<btf::GivenScale>& golden;
};

// How many indices of a dim share a scale: "64", "64x128".
void add_blocks(CLI::App& app, std::vector<std::uint64_t>& blocks, const char* group = nullptr);

// An error without --dequantize.
void check_blocks(const CLI::App& app);

void add_scales(CLI::App& app, const ScaleOptions& options, const char* group);

// The options of convert. Only this folder includes it.

// The options of convert. Only this folder includes it.

// Words that are only interpreted once everything is parsed.
struct ConvertWords {
  std::optional<std::string> dtype;
  std::optional<std::string> layout;
  std::string dla;
  SpecWords input;
  std::optional<std::string> output_spec;
  std::optional<std::string> format;
  std::optional<std::string> scale;
  std::optional<std::string> scale_axis;
  std::optional<std::string> zero_point;
  std::optional<std::string> max_zero;
  std::optional<std::string> max_overflow;
  std::optional<std::string> min_snr;
};

void declare_convert(CLI::App& app, ConvertCommand& command, ConvertWords& words);

// Takes the words, and checks what only shows once the operands are known.
void finish_convert(const CLI::App& app, const ConvertWords& words, ConvertCommand& command);

}  // namespace btftool
