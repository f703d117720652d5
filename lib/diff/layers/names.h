// What different programs call one and the same tensor, brought to one key. Two names belong
// together at a tier if their keys there are equal and unique on both sides.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/layers/layers.h"

namespace btf {

// The key of a name at a tier that names decide. Empty: it has none there.
using LayerKey = std::string (*)(std::string_view name);

struct TierRow {
  PairTier tier{};
  LayerKey key = nullptr;
};

// In the order in which they are tried; rows of one tier stand side by side.
std::span<const TierRow> tier_rows();

// Without what programs that dump put around it.
std::string stem_of(std::string_view name);

// Names of tensors of modules as /layer1/layer1.0/conv1/Conv_output_0 without what exporters add:
// "layer1.0.conv1". `op` takes the ONNX operator at its end, here "Conv".
std::string module_path(std::string_view name, std::string* op = nullptr);

// Does a name that trtexec cut in the middle ("begin...end") stand for this one?
bool is_shortened(std::string_view shortened, std::string_view name);

// An order that is part of names: 12 of "0012_conv". Nothing: there is none.
std::optional<std::uint64_t> leading_number(std::string_view name);

}  // namespace btf
