#include "diff/hints/evidence/lookup.h"

#include <cstring>

#include "btf/try.h"
#include "elements/row_major.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kSmallBytes = 1U << 20;  // bytes, with what stands between the elements

}  // namespace

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
  const std::uint64_t bytes = info(side_->dtype()).buffer_bytes();
  if (all_.empty() && view_->storage_elements <= kSmallBytes / bytes && !numbers.empty()) {
    BTF_TRY(load());
  }
  for (const std::uint64_t number : numbers) {
    std::uint64_t code = 0;
    if (!all_.empty()) {
      std::memcpy(&code, all_.data() + number * bytes, bytes);
    } else {
      Box box{index_of(view_->dims, number), {}};
      box.hi = box.lo;
      for (std::uint64_t& end : box.hi) ++end;
      BTF_ASSIGN(const SourceSlab slab, reader_->read(box));
      std::memcpy(&code, slab.data, bytes);
    }
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

Status Lookup::load() {
  const Box whole{Dims(view_->dims.size(), 0), view_->dims};
  BTF_ASSIGN(const SourceSlab slab, reader_->read(whole));
  Buffer buffer;
  const std::byte* data = in_row_major(slab, view_->dims, side_->dtype(), buffer).data;
  all_.assign(data, data + view_->elements() * info(side_->dtype()).buffer_bytes());
  return {};
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
