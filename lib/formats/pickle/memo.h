// The memo of a pickle: values that are used again.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "formats/pickle/pickle.h"

namespace btf {

// Values by their numbers, which go up from 0 in what Python writes.
class PickleMemo {
 public:
  using Node = Pickle::Node;

  // False: there is one.
  bool keep(std::uint64_t key, Node node) {
    if (find(key) != Pickle::kNoNode) return false;
    ++count_;
    if (key >= kNear) {
      far_.emplace(key, node);
    } else {
      if (key >= near_.size()) near_.resize(key + 1, Pickle::kNoNode);
      near_[key] = node;
    }
    return true;
  }

  // kNoNode: there is none.
  Node find(std::uint64_t key) const {
    if (key < near_.size()) return near_[key];
    const auto found = far_.find(key);
    return found == far_.end() ? Pickle::kNoNode : found->second;
  }

  std::uint64_t count() const { return count_; }
  bool too_far() const { return far_.size() > kMostFar; }

 private:
  static constexpr std::uint64_t kNear = std::uint64_t{1} << 22;  // more than a model has values
  static constexpr std::size_t kMostFar = 65536;

  std::vector<Node> near_;
  std::unordered_map<std::uint64_t, Node> far_;
  std::uint64_t count_ = 0;
};

}  // namespace btf
