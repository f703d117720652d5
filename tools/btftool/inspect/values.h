// The values of a tensor, or of a part of it, arranged as NumPy prints an array.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "btf/file.h"
#include "cli/arguments.h"
#include "io/json.h"

namespace btftool {

class ValueView {
 public:
  // An error if that is more than a million. Reads what will be shown: everything of the slice if
  // that is at most `threshold` elements, otherwise three at both ends of every dim.
  static btf::Result<ValueView> read(const btf::TensorFile& file, const btf::TensorInfo& tensor,
                                     const std::vector<btf::SlicedDim>& slice,
                                     std::uint64_t threshold);

  // Several lines, without a last newline; `width`: of each, but for brackets at its end.
  std::string text(std::size_t width) const;
  Json json() const;  // nested arrays; "..." for what is left out

 private:
  // Positions shown of a dim that is kept; kGap marks omitted ones.
  using Positions = std::vector<std::uint64_t>;
  static constexpr std::uint64_t kGap = UINT64_MAX;

  struct Place {
    std::size_t dim = 0;
    std::size_t indent = 1;
    std::size_t width = 0;  // of lines
  };

  void print(Place at, std::size_t& next, std::string& out) const;
  Json nest(std::size_t dim, std::size_t& next) const;

  btf::DType dtype_{};
  std::vector<Positions> shown_;      // per kept dim, outermost first
  std::vector<std::uint64_t> codes_;  // of what is shown, row-major
  std::vector<std::string> texts_;
  std::size_t width_ = 0;
};

}  // namespace btftool
