// Functions and classes whose calls are tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace btf {

enum class TorchMaking : std::uint8_t {
  dense,    // a part of a storage
  typed,    // the same, with its type
  wrapped,  // the tensor that is the first argument, with something around it
  of_type,  // a call of another function, for a class of its own
  array,    // of NumPy
  foreign,  // no dense tensor
};

struct TorchMaker {
  std::string_view global;  // as a pickle has it
  TorchMaking how{};
  std::optional<unsigned> state{};  // the argument with further attributes
  std::optional<unsigned> sizes{};  // of what is foreign: the argument with its dims
  std::string_view foreign{};       // what it is called
  std::string_view why{};           // why it is not given; empty: because of what makes it
};

// Nothing: it makes something else.
std::optional<TorchMaker> find_torch_maker(std::string_view global);

}  // namespace btf
