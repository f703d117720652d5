// Operands in a pickle's byte stream, its values, and the calls that make tensors of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/pickle.h"

namespace btf {

// The operands in a pickle's byte stream: numbers, lines and strings.

// Names of tensors and classes are never longer.
inline constexpr std::uint64_t kLongestPickleText = 65535;

class PickleBytes {
 public:
  // The source must outlive it.
  explicit PickleBytes(const ByteSource& source)
      : source_(source), window_(source, source.size()) {}

  // Reads the next opcode and returns its offset.
  Result<std::uint64_t> next_operation();

  std::uint64_t left() const { return source_.size() - next_; }
  std::unexpected<Error> wrong(const std::string& what) const { return wrong_at(at_, what); }
  std::unexpected<Error> wrong_behind(const std::string& what) const {
    return wrong_at(next_, what);
  }

  // Little-endian with at most 8 bytes.
  Result<std::uint64_t> number(std::uint64_t bytes);
  // Without the line end.
  Result<std::string> line();
  // At most kLongestPickleText bytes.
  Result<std::string> text(std::uint64_t bytes);
  // An error if fewer than `bytes` are left.
  Status check_length(std::uint64_t bytes, std::string_view what) const;
  Status skip(std::uint64_t bytes, bool utf8);

 private:
  static std::unexpected<Error> wrong_at(std::uint64_t at, const std::string& what);

  const ByteSource& source_;
  Window window_;
  std::uint64_t next_ = 0;
  std::uint64_t at_ = 0;  // of the current operation
};

// Bytes as stored by pickles up to protocol 2: a text whose characters are the bytes.

// Unset if the node is not such a call.
std::optional<std::string> latin_1_of(const Pickle& pickle, Pickle::Node node);

// Creates the values of a pickle, within limits that exceed those of any model.

class PickleValues {
 public:
  using Node = Pickle::Node;

  // True if there are more values than in any model. Call it after each operation.
  bool too_many() const;
  // True if there would be too much text with these additional bytes.
  bool too_much_text(std::uint64_t more) const;

  Node none() { return add({}); }
  Node integer(PickleKind kind, std::int64_t value);
  Node number(double value);
  Node text(PickleKind kind, std::string_view text);
  Node parts(PickleKind kind, std::vector<Node> parts);
  Node call(const Pickle::Call& call);

  // Extends a container, or the items that a call will receive.
  void extend(Node holder, PickleKind as, const std::vector<Node>& more);
  Pickle::Call& call_of(Node node) { return pickle_.calls_[pickle_.nodes_[node].part]; }

  const Pickle& made() const { return pickle_; }
  Pickle finish(Node root) {
    pickle_.root_ = root;
    return std::move(pickle_);
  }

 private:
  Node add(const Pickle::Entry& entry);

  Pickle pickle_;
  std::size_t part_count_ = 0;
  std::optional<std::uint32_t> empty_tuple_;  // index in its parts
};

// Functions and classes whose calls make tensors.

enum class TorchMaking : std::uint8_t {
  dense,    // part of a storage
  typed,    // the same with a type
  wrapped,  // the tensor is the first argument
  of_type,  // calls another function, for a subclass of Tensor
  array,    // an array of NumPy
  foreign,  // not a dense tensor
};

struct TorchMaker {
  std::string_view global;  // as in a pickle
  TorchMaking how{};
  std::optional<unsigned> state{};  // index of the argument with further attributes
  std::optional<unsigned> sizes{};  // for foreign: index of the argument with its dims
  std::string_view foreign{};       // name for messages
  std::string_view why{};           // why it is not supported; if empty, the reason is its function
};

// Unset if it makes something else.
std::optional<TorchMaker> find_torch_maker(std::string_view global);

}  // namespace btf
