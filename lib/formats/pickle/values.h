// Makes the values of a pickle, as many as a model's has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/pickle/pickle.h"

namespace btf {

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

}  // namespace btf
