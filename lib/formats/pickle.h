// The values that a pickle describes, without creating them: functions and classes stay names, and
// a call stays a record of its function and arguments. Nothing is imported or run.
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
  long_integer,  // more than 8 bytes: text of its digits
  number,
  text,  // UTF-8
  bytes,
  long_text,  // text or bytes too long for a name; only the length is kept
  tuple,
  list,
  set,
  dict,        // alternating keys and values
  global,      // "module name", of a function or a class
  persistent,  // stored outside the pickle; has a tuple as its id
  call,        // the result of a call of a function or class
};

class Pickle {
 public:
  using Node = std::uint32_t;
  static constexpr Node kNoNode = UINT32_MAX;

  // A call, plus what is added to the resulting object; kNoNode if there is nothing.
  struct Call {
    Node called = 0;
    Node arguments = 0;       // a tuple
    Node keywords = kNoNode;  // a dict
    Node state = kNoNode;     // passed to __setstate__, usually a dict of attributes
    Node items = kNoNode;     // a dict of items that are set
    Node elements = kNoNode;  // a list of elements that are appended
  };

  // Reads a pickle of any protocol, which must fill the source. Refuses pickles that are larger
  // than those of models.
  static Result<Pickle> read(const ByteSource& source);

  Node root() const { return root_; }
  PickleKind kind(Node node) const { return nodes_[node].kind; }

  // Also for booleans and lengths.
  std::int64_t integer(Node node) const { return nodes_[node].integer; }
  double number(Node node) const { return nodes_[node].number; }
  // For strings, bytes, long integers and globals.
  std::string_view text(Node node) const;
  // For tuples, lists, sets and dicts; for a persistent value its tuple.
  const std::vector<Node>& parts(Node node) const { return parts_[nodes_[node].part]; }
  const Call& call(Node node) const { return calls_[nodes_[node].part]; }

  // The name of the called function or class; empty if the node is not a call of a name.
  std::string_view called(Node node) const;
  const std::vector<Node>& arguments(Node node) const { return parts(call(node).arguments); }

  std::size_t node_count() const { return nodes_.size(); }

 private:
  friend class PickleValues;

  // A range of texts_.
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
      std::uint32_t part;  // index in parts_ or in calls_
    };
  };

  std::vector<Entry> nodes_;
  std::vector<std::vector<Node>> parts_;
  std::vector<Call> calls_;
  std::string texts_;
  Node root_ = 0;
};

}  // namespace btf
