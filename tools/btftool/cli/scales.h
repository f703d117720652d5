// The options that say what codes stand for. Only this folder includes it.
#pragma once

#include <cstdint>
#include <optional>

#include "btf/diff.h"
#include "cli/support.h"

namespace btftool {

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

}  // namespace btftool
