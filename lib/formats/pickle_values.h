// Values in a pickle's byte stream, and the calls that make tensors of them.
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

// Nothing longer is a name, of a tensor or of a class.
inline constexpr std::uint64_t kLongestPickleText = 65535;

class PickleBytes {
 public:
  // The source outlives it.
  explicit PickleBytes(const ByteSource& source)
      : source_(source), window_(source, source.size()) {}

  // The offset of the current opcode.
  Result<std::uint64_t> next_operation();

  std::uint64_t left() const { return source_.size() - next_; }
  std::unexpected<Error> wrong(const std::string& what) const { return wrong_at(at_, what); }
  std::unexpected<Error> wrong_behind(const std::string& what) const {
    return wrong_at(next_, what);
  }

  // Little-endian, of at most 8 bytes.
  Result<std::uint64_t> number(std::uint64_t bytes);
  // Without its end.
  Result<std::string> line();
  // At most kLongestPickleText bytes.
  Result<std::string> text(std::uint64_t bytes);
  // `bytes` is a number of the pickle.
  Status check_length(std::uint64_t bytes, std::string_view what) const;
  Status skip(std::uint64_t bytes, bool utf8);

 private:
  static std::unexpected<Error> wrong_at(std::uint64_t at, const std::string& what);

  const ByteSource& source_;
  Window window_;
  std::uint64_t next_ = 0;
  std::uint64_t at_ = 0;  // of the operation
};

// Bytes as pickles up to protocol 2 have them: a text whose characters are the bytes.

// Nothing: the node is no such call.
std::optional<std::string> latin_1_of(const Pickle& pickle, Pickle::Node node);

// Makes the values of a pickle, as many as a model's has.

class PickleValues {
 public:
  using Node = Pickle::Node;

  // Are there more than any model has? To be asked after each operation: none makes many.
  bool too_many() const;
  // Would there be too much text with these bytes?
  bool too_much_text(std::uint64_t more) const;

  Node none() { return add({}); }
  Node integer(PickleKind kind, std::int64_t value);
  Node number(double value);
  Node text(PickleKind kind, std::string_view text);
  Node parts(PickleKind kind, std::vector<Node> parts);
  Node call(const Pickle::Call& call);

  // To what holds values: its own, or of a call those that it is to get.
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
  std::optional<std::uint32_t> empty_tuple_;  // of its parts
};

// Functions and classes whose calls are tensors.

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
