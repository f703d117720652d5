#include "formats/protobuf/packed_varints.h"

#include <algorithm>

#include "btf/try.h"

namespace btf {

Status PackedVarints::fill() {
  constexpr std::size_t kBlock = 64U << 10;
  std::copy(block_.begin() + static_cast<std::ptrdiff_t>(at_),
            block_.begin() + static_cast<std::ptrdiff_t>(end_), block_.begin());
  end_ -= at_;
  at_ = 0;
  const std::uint64_t some = std::min<std::uint64_t>(kBlock - end_, range_.size());
  block_.resize(std::max<std::size_t>(block_.size(), end_ + some));
  BTF_TRY(source_.read_at(range_.begin, std::span(block_).subspan(end_, some)));
  range_.begin += some;
  end_ += some;
  return {};
}

}  // namespace btf
