// Options that say what files hold which do not say so themselves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "btf/file.h"
#include "cli/options.h"
#include "cli/support.h"

namespace btftool {

struct SpecWords {
  std::vector<std::string> specs;  // [GLOB=]SPEC, one of all files at most; @ENGINE
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

// For layers: --actual-spec, --golden-spec, --layout-in and --nvmedia, which goes with --actual-spec
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

}  // namespace btftool
