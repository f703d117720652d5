// A tensor of a pickle: which part of which storage it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "btf/error.h"
#include "btf/layout.h"
#include "core/finding_table.h"
#include "formats/pickle/pickle.h"
#include "formats/torch/types.h"

namespace btf {

struct TorchTensor {
  // The type of the object it is part of; `why` says why it cannot be used.
  std::string foreign;
  std::string why;

  const TorchType* type = nullptr;
  std::string key;              // of the storage, the name of its member
  std::uint64_t storage_bytes = 0;
  std::uint64_t offset = 0;     // of its first element, in elements
  Dims dims;                    // of elements
  Dims strides;                 // in elements
  std::optional<std::string> held{};  // the bytes in the pickle itself, without a storage
};

// The tensor, or a storage by itself, that a call makes. An error: its arguments are impossible.
Result<TorchTensor> read_torch_tensor(const Pickle& pickle, Pickle::Node node);

inline std::unexpected<Error> wrong_pickle(const std::string& what) {
  return malformed(kPickleFinding, 0, "the pickle: " + what);
}

}  // namespace btf
