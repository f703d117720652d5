// What files say of their tensors besides names, dtypes and dims (docs/format.md, section 2.5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "btf/api.h"
#include "btf/dtype.h"

namespace btf {

// Members unknown to this library: their JSON texts, by name. They are preserved.
using OtherAttributes = std::map<std::string, std::string>;

// What a scale is for: the whole tensor, each index of an axis, or each block along it.
enum class ScaleOf : std::uint8_t { tensor, channel, block };

BTF_API std::span<const Named<ScaleOf>> scale_of_names();

// How the codes of a tensor are to be read. Tensors are given by their index in the file.
struct QuantizedBy {
  std::uint64_t scale = 0;  // the tensor that holds the scales
  ScaleOf kind = ScaleOf::tensor;
  std::optional<std::uint64_t> axis{};
  std::optional<std::uint64_t> block{};         // elements
  std::optional<std::uint64_t> global_scale{};  // the tensor with a scale for all blocks
  bool global_reciprocal = false;               // divide by the global scale instead of multiplying
  std::optional<std::uint64_t> zero_point{};
  OtherAttributes others{};

  bool operator==(const QuantizedBy&) const = default;
};

struct TensorAttributes {
  std::optional<std::uint64_t> order{};  // of execution
  std::string role{};                    // "input", "output", "weight", "activation", ...
  std::string dtype_in_source{};
  std::string of{};  // the file that it was converted from
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
