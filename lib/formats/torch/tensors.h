// The tensors of a pickle: what they are called, and which part of which storage they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "formats/torch/pickle.h"
#include "formats/torch/types.h"

namespace btf {

struct NamedNode {
  std::optional<std::string> name;  // its keys, from the outside in; nothing: the pickle is it
  Pickle::Node node = 0;
};

// Tensors in dicts, lists and tuples, in their order; what else is in these is left out. One may
// be there under several names.
Result<std::vector<NamedNode>> find_torch_tensors(const Pickle& pickle);

struct TorchTensor {
  // What it is a part of; `why` says why it cannot be used.
  std::string foreign;
  std::string why;

  const TorchType* type = nullptr;
  std::string key;              // of the storage, the name of its member
  std::uint64_t storage_bytes = 0;
  std::uint64_t offset = 0;     // of its first element, in elements
  Dims dims;                    // of elements
  Dims strides;                 // in elements
};

// What a call that makes a tensor says. An error: it says what cannot be.
Result<TorchTensor> read_torch_tensor(const Pickle& pickle, Pickle::Node node);

}  // namespace btf
