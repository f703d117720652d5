#include "elements/coo.h"

#include <algorithm>
#include <bit>

#include "btf/try.h"
#include "elements/row_major.h"

namespace btf {
namespace {

class CanonicalEntries final : public CooSource {
 public:
  CanonicalEntries(std::unique_ptr<CooSource> entries, Duplicates duplicates)
      : entries_(std::move(entries)), duplicates_(duplicates) {}

  Result<CooRun> next_run() override {
    BTF_TRY(fill());
    if (run_.count == 0) return run_;
    const std::uint64_t single = run_.followed_by_its_like(at_);
    if (single > at_) {
      const CooRun singles = run_.sub(at_, single - at_);
      at_ = single;
      return singles;
    }
    BTF_ASSIGN(kept_, take_one());
    return CooRun{1, &kept_.key, reinterpret_cast<const std::byte*>(&kept_.code), code_bytes_,
                  kept_.position};
  }

  Status rewind() override {
    run_ = {};
    at_ = 0;
    return entries_->rewind();
  }

 private:
  Status fill() {
    if (at_ < run_.count) return {};
    BTF_ASSIGN(run_, entries_->next_run());
    at_ = 0;
    return {};
  }

  // The next entry and those of the same key behind it.
  Result<CooEntry> take_one() {
    CooEntry entry = run_[at_++];
    code_bytes_ = run_.code_bytes;
    for (;; ++at_) {
      BTF_TRY(fill());
      if (run_.count == 0 || run_.keys[at_] != entry.key) return entry;
      if (duplicates_ == Duplicates::last)
        entry.code = run_[at_].code;
      else if (duplicates_ != Duplicates::first)
        return duplicate(entry, run_[at_]);
    }
  }

  static std::unexpected<Error> duplicate(const CooEntry& one, const CooEntry& other) {
    return std::unexpected(Error{ErrorCode::refused,
                                 "COO entries " + std::to_string(one.position) + " and " +
                                     std::to_string(other.position) + " have the same index",
                                 {},
                                 "coo-duplicate-index",
                                 0});
  }

  std::unique_ptr<CooSource> entries_;
  Duplicates duplicates_;
  CooRun run_;
  std::uint64_t at_ = 0;  // in it
  CooEntry kept_;
  std::uint64_t code_bytes_ = 0;
};

template <std::size_t kBytes>
void put_codes(const CooRun& run, std::uint64_t first, std::byte* codes) {
  for (std::uint64_t i = 0; i < run.count; ++i)
    std::memcpy(codes + (run.keys[i] - first) * kBytes, run.codes + i * kBytes, kBytes);
}

using PutFn = void (*)(const CooRun& run, std::uint64_t first, std::byte* codes);

// By the binary logarithm of a code's bytes.
constexpr PutFn kPut[] = {put_codes<1>, put_codes<2>, put_codes<4>, put_codes<8>};

}  // namespace

void CooBatch::add(const CooEntry& entry) {
  keys_[count_] = entry.key;
  positions_[count_] = entry.position;
  std::memcpy(reinterpret_cast<std::byte*>(codes_.data()) + count_ * code_bytes_, &entry.code,
              code_bytes_);
  ++count_;
}

CooRun CooBatch::run() const {
  return {count_, keys_.data(),     reinterpret_cast<const std::byte*>(codes_.data()), code_bytes_,
          0,      positions_.data()};
}

Result<std::uint64_t> CooFiller::fill(std::uint64_t first, std::uint64_t count, std::byte* codes) {
  std::uint64_t filled = 0;
  for (;;) {
    if (at_ == run_.count) {
      BTF_ASSIGN(run_, source_->next_run());
      at_ = 0;
      if (run_.count == 0) return filled;
    }
    const std::uint64_t* const keys = run_.keys + at_;
    const auto some = static_cast<std::uint64_t>(
        std::lower_bound(keys, run_.keys + run_.count, first + count) - keys);
    kPut[std::countr_zero(run_.code_bytes)](run_.sub(at_, some), first, codes);
    filled += some;
    at_ += some;
    if (at_ < run_.count) return filled;
  }
}

Result<std::optional<CooEntry>> CooEntries::next() {
  if (at_ == run_.count) {
    BTF_ASSIGN(run_, source_->next_run());
    at_ = 0;
    if (run_.count == 0) return std::nullopt;
  }
  return run_[at_++];
}

std::unique_ptr<CooSource> canonical_entries(std::unique_ptr<CooSource> entries,
                                             Duplicates duplicates) {
  return std::make_unique<CanonicalEntries>(std::move(entries), duplicates);
}

PlaceKey row_major_key(const Dims& dims) { return {row_major(dims)}; }

PlaceKey storage_key(const StridedLayout& storage) { return {{storage.strides, storage.split}}; }

std::uint64_t linear_key(const Dims& dims, std::span<const std::uint64_t> index) {
  std::uint64_t key = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) key = key * dims[d] + index[d];
  return key;
}

Dims index_of(const Dims& dims, std::uint64_t key) {
  Dims index(dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    index[d] = key % dims[d];
    key /= dims[d];
  }
  return index;
}

CooKey edited_key(const EditChain& edits, CooKey key) {
  if (edits.empty()) return key;
  return [edits, key = std::move(key), index = Dims(), room = Dims()](
             std::span<const std::uint64_t> source) mutable -> std::optional<std::uint64_t> {
    index.assign(source.begin(), source.end());
    return edits.place(index, room) ? key(index) : std::nullopt;
  };
}

}  // namespace btf
