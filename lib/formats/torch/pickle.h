// What a pickle would make, without making it: names of functions and classes stay names, and a
// call stays a note of what would be called with what. Nothing is imported and nothing is run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf {

inline constexpr FindingCode kPickleFinding("torch-pickle");

enum class PickleKind : std::uint8_t {
  none,
  boolean,
  integer,
  number,
  text,        // UTF-8
  tuple,
  list,
  dict,        // keys and values by turns
  global,      // "module name", as of a function or a class
  persistent,  // what is kept beside the pickle; of a tuple
  call,        // of a global with a tuple
};

class Pickle {
 public:
  using Node = std::uint32_t;

  // A pickle of protocol 2 that fills the source. More bytes than a model's has are refused.
  static Result<Pickle> read(const ByteSource& source);

  Node root() const { return root_; }
  PickleKind kind(Node node) const { return nodes_[node].kind; }

  std::int64_t integer(Node node) const { return nodes_[node].integer; }  // and booleans
  std::string_view text(Node node) const;                                  // and globals
  // Of tuples, lists and dicts; of a persistent its tuple; of a call what is called, and its tuple.
  const std::vector<Node>& parts(Node node) const { return parts_[nodes_[node].part]; }

  // Of a call: is it of this function or class?
  bool calls(Node node, std::string_view global) const {
    return kind(node) == PickleKind::call && text(parts(node)[0]) == global;
  }

  std::size_t node_count() const { return nodes_.size(); }

 private:
  class Machine;

  // Bytes of texts_.
  struct Text {
    std::uint32_t at;
    std::uint32_t bytes;
  };

  struct Entry {
    PickleKind kind{};
    std::uint32_t part = 0;  // of parts_
    union {
      std::int64_t integer = 0;
      double number;
      Text text;
    };
  };

  std::vector<Entry> nodes_;
  std::vector<std::vector<Node>> parts_;
  std::string texts_;
  Node root_ = 0;
};

}  // namespace btf
