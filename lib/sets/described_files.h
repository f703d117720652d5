// An index that is a list of files with what they hold.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sets/index.h"

namespace btf {

class DescribedFiles final : public SetIndex {
 public:
  std::span<const IndexEntry> entries() const override { return entries_; }
  std::span<const std::string> others() const override { return others_; }
  std::span<const Finding> odd() const override { return odd_; }

  void add(IndexEntry entry) { entries_.push_back(std::move(entry)); }
  void add_other(std::string file) { others_.push_back(std::move(file)); }
  void add_odd(Finding finding) { odd_.push_back(std::move(finding)); }

 private:
  std::vector<IndexEntry> entries_;
  std::vector<std::string> others_;
  std::vector<Finding> odd_;
};

}  // namespace btf
