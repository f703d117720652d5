// Tensors in PyTorch files: type names, keys, and NumPy arrays.
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

// PyTorch's type names: storages have one, and tensors over bytes name theirs. NumPy arrays use
// NumPy's names.

struct TorchType {
  std::string_view name;       // "torch FloatStorage", "torch float8_e5m2"
  std::optional<DType> dtype;  // unset if there is no corresponding dtype
  std::uint64_t bytes = 0;     // of a storage element
  std::uint64_t packed = 1;    // elements in it: the last dim is this many times as long
  std::string_view foreign{};  // name of a type without a dtype
};

// nullptr if it is unknown.
const TorchType* find_torch_type(std::string_view name);

// The class of storages of bytes.
inline constexpr std::string_view kUntypedStorage = "torch.storage UntypedStorage";

// The text of dict keys in the names of tensors.

// Strings unchanged, other keys approximately as Python prints them; long ones are cut.
std::string key_name(const Pickle& pickle, Pickle::Node key);

// A tensor of a pickle: a part of a storage.

struct TorchTensor {
  // The type of the containing object, if the tensor cannot be used; `why` has the reason.
  std::string foreign;
  std::string why;

  const TorchType* type = nullptr;
  std::string key;  // of the storage; the name of its member
  std::uint64_t storage_bytes = 0;
  std::uint64_t offset = 0;           // of its first element, counted in elements
  Dims dims;                          // in elements
  Dims strides;                       // in elements
  std::optional<std::string> held{};  // bytes in the pickle itself, without a storage
};

// Reads the tensor, or the storage saved by itself, that a call makes. An error if its arguments
// are invalid.
Result<TorchTensor> read_torch_tensor(const Pickle& pickle, Pickle::Node node);

inline std::unexpected<Error> wrong_pickle(const std::string& what) {
  return malformed(kPickleFinding, 0, "the pickle: " + what);
}

}  // namespace btf
