// The attributes of a node that operators are described by.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/onnx/graph.h"
#include "formats/onnx/tensor_proto.h"

namespace btf::network {

// One of them is there. Graphs are none: what has one is not computed here.
struct Attribute {
  std::optional<std::int64_t> integer{};
  std::optional<double> real{};
  std::optional<std::string> text{};
  std::vector<std::int64_t> integers{};
  std::vector<double> reals{};
  std::optional<ProtoRange> tensor{};
};

using Attributes = std::map<std::string, Attribute, std::less<>>;

// Those of one node. Refuses more numbers than an attribute has use for.
Result<Attributes> read_attributes(Window& window, const ProtoRange& node);

}  // namespace btf::network
