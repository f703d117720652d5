// What a part of `layers` holds of a pair: its figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/layers/share.h"
#include "btf/shards/part.h"

namespace btf {

struct LayerItem {
  std::uint64_t number = 0;  // of LayerShare::plan()
  std::string name{};        // golden's
  std::string actual_path{};
  std::string golden_path{};
  MeasuredLayer measured{};
};

// Without the states of its files.
BTF_API PartLine part_line(const LayerItem& item);
BTF_API Result<LayerItem> read_layer_item(std::string_view line);

}  // namespace btf
