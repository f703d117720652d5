#include "network/node/strides.h"

#include <algorithm>

#include "network/node/call.h"

namespace btf::network {

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

void index_into(std::uint64_t number, const Dims& dims, std::span<std::uint64_t> index) {
  for (std::size_t d = dims.size(); d-- > 0;) {
    index[d] = number % dims[d];
    number /= dims[d];
  }
}

Dims index_of(std::uint64_t number, const Dims& dims) {
  Dims index(dims.size());
  index_into(number, dims, index);
  return index;
}

std::uint64_t number_of(std::span<const std::uint64_t> index, const Dims& dims) {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) number = number * dims[d] + index[d];
  return number;
}

Result<Dims> broadcast(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()));
  for (std::size_t back = 1; back <= result.size(); ++back) {
    const std::uint64_t own = back <= a.size() ? a[a.size() - back] : 1;
    const std::uint64_t other = back <= b.size() ? b[b.size() - back] : 1;
    if (own != other && own != 1 && other != 1)
      return not_computed("its inputs " + dims_text(a) + " and " + dims_text(b) +
                          " do not broadcast");
    result[result.size() - back] = own == 1 ? other : own;
  }
  return result;
}

Broadcast::Broadcast(const Dims& from, const Dims& to) : same_(from == to) {
  if (same_) return;
  to_ = to;
  steps_.assign(to.size(), 0);
  const Dims strides = row_major_strides(from);
  for (std::size_t back = 1; back <= from.size(); ++back)
    if (from[from.size() - back] != 1) steps_[to.size() - back] = strides[from.size() - back];
}

std::uint64_t Broadcast::number(std::uint64_t result) const {
  if (same_) return result;
  std::uint64_t number = 0;
  for (std::size_t d = to_.size(); d-- > 0;) {
    number += result % to_[d] * steps_[d];
    result /= to_[d];
  }
  return number;
}

}  // namespace btf::network
