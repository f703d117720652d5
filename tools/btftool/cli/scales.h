// The options that say what codes stand for: of diff and layers. Only this folder includes it.
#pragma once

#include <optional>

#include "btf/diff.h"
#include "cli/support.h"

namespace btftool {

struct ScaleOptions {
  bool& dequantize;
  std::optional<btf::GivenScale>& actual;
  std::optional<btf::GivenScale>& golden;
};

void add_scales(CLI::App& app, const ScaleOptions& options, const char* group);

}  // namespace btftool
