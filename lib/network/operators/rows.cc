#include "network/operators/rows.h"

#include "btf/try.h"
#include "network/node/strides.h"

namespace btf::network {

Groups::Groups(const Dims& dims, const std::vector<bool>& taken) {
  const Dims strides = row_major_strides(dims);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    (taken[d] ? taken_ : kept_).push_back(dims[d]);
    (taken[d] ? taken_strides_ : kept_strides_).push_back(strides[d]);
    if (taken[d]) size_ *= dims[d];
  }
}

std::uint64_t Groups::along(std::uint64_t number, const Dims& dims, const Dims& strides) {
  std::uint64_t place = 0;
  for (std::size_t d = dims.size(); d-- > 0;) {
    place += number % dims[d] * strides[d];
    number /= dims[d];
  }
  return place;
}

std::uint64_t Groups::group_of(std::uint64_t number) const {
  std::uint64_t group = 0;
  for (std::size_t d = 0; d < kept_.size(); ++d)
    group = group * kept_[d] + number / kept_strides_[d] % kept_[d];
  return group;
}

std::uint64_t Groups::which_of(std::uint64_t number) const {
  std::uint64_t which = 0;
  for (std::size_t d = 0; d < taken_.size(); ++d)
    which = which * taken_[d] + number / taken_strides_[d] % taken_[d];
  return which;
}

Result<std::vector<bool>> dims_of_axes(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<bool> taken(rank, axes.empty());
  for (const std::int64_t axis : axes) {
    BTF_ASSIGN(const std::size_t d, axis_of(axis, rank));
    taken[d] = true;
  }
  return taken;
}

}  // namespace btf::network
