#include "diff/hints/evidence/lookup.h"

#include <cstring>

#include "btf/try.h"
#include "kernels/number/widen.h"

namespace btf::hints {

Result<Lookup> Lookup::open(const DiffSide& side, const StridedLayout& view) {
  Lookup lookup(side, view);
  if (side.storage() != nullptr) {
    BTF_ASSIGN(lookup.reader_, side.reader(*lookup.view_));
  }
  return lookup;
}

Result<std::vector<std::uint64_t>> Lookup::codes(std::span<const std::uint64_t> numbers) {
  std::vector<std::uint64_t> codes;
  codes.reserve(numbers.size());
  if (side_->storage() == nullptr) {
    BTF_TRY(search(numbers));
    for (const std::uint64_t number : numbers) codes.push_back(found_.at(number));
    return codes;
  }
  for (const std::uint64_t number : numbers) {
    Box box{index_of(view_->dims, number), {}};
    box.hi = box.lo;
    for (std::uint64_t& end : box.hi) ++end;
    BTF_ASSIGN(const SourceSlab slab, reader_->read(box));
    std::uint64_t code = 0;
    std::memcpy(&code, slab.data, info(side_->dtype()).buffer_bytes());
    codes.push_back(code);
  }
  return codes;
}

Result<std::vector<long double>> Lookup::values(std::span<const std::uint64_t> numbers) {
  BTF_ASSIGN(const std::vector<std::uint64_t> codes, this->codes(numbers));
  std::vector<long double> values;
  values.reserve(codes.size());
  for (const std::uint64_t code : codes) values.push_back(value_of(side_->dtype(), code));
  return values;
}

Status Lookup::search(std::span<const std::uint64_t> numbers) {
  std::vector<std::uint64_t> missing;
  std::vector<Dims> indices;
  for (const std::uint64_t number : numbers) {
    if (!found_.try_emplace(number, 0).second) continue;
    missing.push_back(number);
    indices.push_back(index_of(view_->dims, number));
  }
  if (missing.empty()) return {};
  BTF_ASSIGN(const std::vector<Element> elements, side_->elements(indices));
  for (std::size_t i = 0; i < missing.size(); ++i) found_[missing[i]] = elements[i].code;
  return {};
}

long double value_of(DType dtype, std::uint64_t code) {
  long double value = 0;
  widener<long double>(dtype)(reinterpret_cast<const std::byte*>(&code), 1, 1, &value);
  return value;
}

}  // namespace btf::hints
