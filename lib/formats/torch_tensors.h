// Tensors in PyTorch's files: names of types, keys, and arrays of NumPy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "core/finding_table.h"
#include "formats/pickle.h"

namespace btf {

// PyTorch's names of types: storages have one, and tensors over bytes name theirs. Arrays of
// NumPy have its names.

struct TorchType {
  std::string_view name;       // "torch FloatStorage", "torch float8_e5m2"
  std::optional<DType> dtype;  // nothing: none of this library's
  std::uint64_t bytes = 0;     // of an element
  std::uint64_t packed = 1;    // elements in it: the last dim is that many times as long
  std::string_view foreign{};  // without a dtype: what it is called
};

// nullptr: unknown.
const TorchType* find_torch_type(std::string_view name);

// "torch.storage UntypedStorage": bytes.
inline constexpr std::string_view kUntypedStorage = "torch.storage UntypedStorage";

// The form of dict keys in the names of tensors.

// Strings as they are, all else about as Python prints it; only the beginning of long ones.
std::string key_name(const Pickle& pickle, Pickle::Node key);

// A tensor of a pickle: which part of which storage it is.

struct TorchTensor {
  // The type of the object it is part of; `why` says why it cannot be used.
  std::string foreign;
  std::string why;

  const TorchType* type = nullptr;
  std::string key;  // of the storage, the name of its member
  std::uint64_t storage_bytes = 0;
  std::uint64_t offset = 0;           // of its first element, in elements
  Dims dims;                          // of elements
  Dims strides;                       // in elements
  std::optional<std::string> held{};  // the bytes in the pickle itself, without a storage
};

// The tensor, or a storage by itself, that a call makes. An error: its arguments are impossible.
Result<TorchTensor> read_torch_tensor(const Pickle& pickle, Pickle::Node node);

inline std::unexpected<Error> wrong_pickle(const std::string& what) {
  return malformed(kPickleFinding, 0, "the pickle: " + what);
}

}  // namespace btf
