// Attributes of the tensors of inputs, carried over to those of the output.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "btf/attributes.h"
#include "btf/quantize.h"
#include "btf/tensor_set.h"
#include "convert/quantize/plan.h"

namespace btf {

class AttributeMerge {
 public:
  // Which tensor of the input becomes which of the output, and are its codes numbers then? All
  // before add().
  void place(const SetTensor& source, std::uint64_t target, bool dequantized) {
    targets_.emplace(std::pair(source.member, source.index), target);
    if (dequantized) dequantized_.insert(target);
  }
  // The records of scales that are written behind a tensor.
  void quantized(std::uint64_t target, const std::vector<ScaleRecord>& scales,
                 const Quantization& how);
  // Adds those of a member. A link to a tensor that is left out is dropped; of attributes of the
  // file as a whole, the first member's are kept.
  void add(std::uint64_t member, const FileAttributes& attributes);

  // Tensors of the output whose link was dropped.
  const std::set<std::uint64_t>& unlinked() const { return unlinked_; }
  FileAttributes take() { return std::move(merged_); }

 private:
  std::optional<std::uint64_t> target_of(std::uint64_t member, std::uint64_t index) const;
  std::optional<QuantizedBy> linked(std::uint64_t member, const QuantizedBy& by) const;

  std::multimap<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> targets_;
  std::set<std::uint64_t> dequantized_;
  std::set<std::uint64_t> unlinked_;
  FileAttributes merged_;
};

}  // namespace btf
