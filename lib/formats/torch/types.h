// PyTorch's names of types: storages have one, and tensors over bytes name theirs. Arrays of
// NumPy have its names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "btf/dtype.h"

namespace btf {

struct TorchType {
  std::string_view name;        // "torch FloatStorage", "torch float8_e5m2"
  std::optional<DType> dtype;   // nothing: none of this library's
  std::uint64_t bytes = 0;      // of an element
  std::uint64_t packed = 1;     // elements in it: the last dim is that many times as long
  std::string_view foreign{};   // without a dtype: what it is called
};

// nullptr: unknown.
const TorchType* find_torch_type(std::string_view name);

// "torch.storage UntypedStorage": bytes.
inline constexpr std::string_view kUntypedStorage = "torch.storage UntypedStorage";

}  // namespace btf
