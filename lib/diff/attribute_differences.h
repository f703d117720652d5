// Differences in the attributes of tensors, whose elements may be the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "btf/attributes.h"
#include "btf/diff/file_differences.h"
#include "btf/file.h"
#include "btf/diff/tensor_diff.h"

namespace btf {

// Links with scales and zero points, roles, metadata, in words; empty: nothing differs. Of two
// formats, of which one may not hold all, what both say. Who wrote a file, and in which order, is
// no difference.
class AttributeDifferences {
 public:
  // An error: a file's attributes cannot be read. The files outlive this.
  static Result<AttributeDifferences> of(const TensorFile& actual, const TensorFile& golden);

  std::string of_tensors(std::uint64_t actual, std::uint64_t golden) const;
  std::vector<FileDifference> of_files() const;

 private:
  struct Side {
    const TensorFile* file = nullptr;
    FileAttributes attributes{};

    const TensorAttributes& tensor(std::uint64_t index) const;
    std::string name(const std::optional<std::uint64_t>& index) const;
  };

  Side actual_;
  Side golden_;
};

// Prepends a difference of dtypes or layouts to the pair's reason.
void note_types(TensorDiff& diff);

}  // namespace btf
