// Attributes of tensors beside their names, as files store them (docs/format.md, section 2.5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "btf/api.h"
#include "btf/dtype.h"

namespace btf {

// Members that this library does not know: JSON texts by their names.
using OtherAttributes = std::map<std::string, std::string>;

// Extent of a scale: a whole tensor, each index of an axis, or each block along it.
enum class ScaleOf : std::uint8_t { tensor, channel, block };

BTF_API std::span<const Named<ScaleOf>> scale_of_names();

// Which tensors of the file say what the codes of one mean. Numbers of tensors are indices.
struct QuantizedBy {
  std::uint64_t scale = 0;
  ScaleOf kind = ScaleOf::tensor;
  std::optional<std::uint64_t> axis{};
  std::optional<std::uint64_t> block{};         // elements
  std::optional<std::uint64_t> global_scale{};  // of all blocks
  bool global_reciprocal = false;               // to be divided by
  std::optional<std::uint64_t> zero_point{};
  OtherAttributes others{};

  bool operator==(const QuantizedBy&) const = default;
};

struct TensorAttributes {
  std::optional<std::uint64_t> order{};  // of execution
  std::string role{};                    // "input", "output", "weight", "activation", ...
  std::string dtype_in_source{};
  std::string of{};  // the file it came from
  std::optional<QuantizedBy> quantized{};
  OtherAttributes others{};

  bool operator==(const TensorAttributes&) const = default;
};

struct FileAttributes {
  std::string producer{};
  std::map<std::string, std::string> metadata{};
  std::map<std::uint64_t, TensorAttributes> tensors{};  // by index
  OtherAttributes others{};

  bool operator==(const FileAttributes&) const = default;
};

}  // namespace btf
