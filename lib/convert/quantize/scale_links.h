// Which tensors of a file are the scales and zero points of which codes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "btf/attributes.h"
#include "btf/error.h"
#include "btf/file.h"

namespace btf {

// By the file's own links first, then by names (docs/convert.md, section 3). The place in the file
// says it only where no tensor has a name.
class ScaleLinks {
 public:
  ScaleLinks() = default;
  // `attributes` are the file's.
  static ScaleLinks of(const TensorFile& file, const FileAttributes& attributes);

  // Nothing where none is known.
  const QuantizedBy* find(std::uint64_t codes) const;
  // An error if the file or its names give these codes two scales.
  Status check_clear(const TensorFile& file, std::uint64_t codes) const;

  bool any() const { return !links_.empty(); }
  // True if scales follow their codes, as in a file whose tensors have no names.
  bool by_place() const { return by_place_; }

  // Scales and zero points of codes of the file.
  const std::set<std::uint64_t>& companions() const { return companions_; }

  // Those of the file, of whatever, that it says to be scales and zero points.
  const std::set<std::uint64_t>& parts() const { return parts_; }

  // Is it a scale, a zero point or the like, whatever of, and so no codes?
  bool is_part(const TensorInfo& record) const;

 private:
  void link(std::uint64_t codes, const QuantizedBy& by);
  void link_by_names(const TensorFile& file);

  std::map<std::uint64_t, QuantizedBy> links_;     // by the index of the codes
  std::map<std::uint64_t, std::uint64_t> rivals_;  // likewise: another scale
  std::set<std::uint64_t> companions_;
  std::set<std::uint64_t> parts_;
  bool by_place_ = false;
};

// Tensors of the file that could be the scales of these codes, if anything said so; empty without
// any: "'a' (float32 [3]), 'b_amax' (float32 [], a maximum, not a scale: ...)".
std::string scale_candidates(const TensorFile& file, const TensorInfo& codes);

}  // namespace btf
