// The values that a pickle would make, without making them: functions and classes stay names, and a
// call stays a record of its function and arguments. Nothing is imported and nothing is run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "core/finding_table.h"
#include "formats/io/byte_source.h"

namespace btf {

inline constexpr FindingCode kPickleFinding("torch-pickle");

enum class PickleKind : std::uint8_t {
  none,
  boolean,
  integer,
  long_integer,  // more than 8 bytes: a text of its digits
  number,
  text,  // UTF-8
  bytes,
  long_text,  // or bytes: too long to be a name, so only their length is kept
  tuple,
  list,
  set,
  dict,        // keys and values by turns
  global,      // "module name", as of a function or a class
  persistent,  // what is kept beside the pickle; of a tuple
  call,        // what a function or class would return
};

class Pickle {
 public:
  using Node = std::uint32_t;
  static constexpr Node kNoNode = UINT32_MAX;

  // A function call, and the state that the object would get then. kNoNode: it gets none.
  struct Call {
    Node called = 0;
    Node arguments = 0;       // a tuple
    Node keywords = kNoNode;  // a dict
    Node state = kNoNode;     // what its class keeps of it, mostly a dict of its attributes
    Node items = kNoNode;     // a dict, as if it were one
    Node elements = kNoNode;  // a list, as if it were one
  };

  // A pickle of any protocol that fills the source. More bytes than a model's has are refused.
  static Result<Pickle> read(const ByteSource& source);

  Node root() const { return root_; }
  PickleKind kind(Node node) const { return nodes_[node].kind; }

  std::int64_t integer(Node node) const { return nodes_[node].integer; }  // booleans, lengths
  double number(Node node) const { return nodes_[node].number; }
  // For strings, bytes, long integers and globals.
  std::string_view text(Node node) const;
  // For tuples, lists, sets and dicts; for a persistent its tuple.
  const std::vector<Node>& parts(Node node) const { return parts_[nodes_[node].part]; }
  const Call& call(Node node) const { return calls_[nodes_[node].part]; }

  // The name of what is called; nothing: it is no call of a name.
  std::string_view called(Node node) const;
  const std::vector<Node>& arguments(Node node) const { return parts(call(node).arguments); }

  std::size_t node_count() const { return nodes_.size(); }

 private:
  friend class PickleValues;

  // Bytes of texts_.
  struct Text {
    std::uint32_t at;
    std::uint32_t bytes;
  };

  struct Entry {
    PickleKind kind{};
    union {
      std::int64_t integer = 0;
      double number;
      Text text;
      std::uint32_t part;  // of parts_, or of calls_
    };
  };

  std::vector<Entry> nodes_;
  std::vector<std::vector<Node>> parts_;
  std::vector<Call> calls_;
  std::string texts_;
  Node root_ = 0;
};

}  // namespace btf
