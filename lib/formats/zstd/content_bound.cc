#include "formats/zstd/content_bound.h"

#include <algorithm>
#include <array>
#include <vector>

#include "btf/layout.h"
#include "core/checked_math.h"
#include "core/try.h"
#include "formats/btf_wire.h"
#include "formats/npy_header.h"

namespace btf::zstd {
namespace {

using wire::kRecordHeader;
using wire::kWord;

// Bytes behind the last record are odd and not yet a bomb.
constexpr std::uint64_t kSlack = 1U << 20;
// A table of more records than this is no table.
constexpr std::uint64_t kMostRecords = std::uint64_t{1} << 48;

// Bytes of an element of the widest dtype that is a number, NumPy's complex256.
constexpr std::uint64_t kWidestNpy = 32;

class SpoolSource final : public ByteSource {
 public:
  explicit SpoolSource(const Spool& spool) : spool_(spool) {}
  std::uint64_t size() const override { return spool_.size(); }
  Status check_unchanged() const override { return {}; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size())) return fail(ErrorCode::malformed, "past the end");
    return spool_.read_at(offset, out);
  }

 private:
  const Spool& spool_;
};

Result<std::uint64_t> word_at(const Spool& content, std::uint64_t offset) {
  std::array<std::byte, kWord> word;
  BTF_TRY(content.read_at(offset, word));
  return wire::load_u64(word.data());
}

// Bytes from the start of the payload; nothing if the record is not sound.
Checked payload_bytes(Layout layout, DType dtype, const Dims& dims, std::uint64_t nnz) {
  if (layout == Layout::coo) {
    const Checked indices = checked_mul(nnz, dims.size() * kWord);
    return checked_add(checked_add(indices, stream_bytes(nnz, info(dtype).bits)), 3 * kWord);
  }
  const auto resolved = resolve(layout, dims, dtype);
  if (!resolved) return std::nullopt;
  return storage_bytes(*resolved, dtype);
}

}  // namespace

void ContentBound::allow(std::uint64_t end) {
  least_ = std::max(least_, end);
  most_ = std::max(most_, checked_add(end, kSlack).value_or(UINT64_MAX));
}

Status ContentBound::begin(const Spool& content) {
  begun_ = true;
  std::array<char, kNpyMagic.size()> magic;
  BTF_TRY(content.read_at(0, std::as_writable_bytes(std::span(magic))));
  if (std::string_view(magic.data(), magic.size()) == kNpyMagic) {
    decided_ = npy_ = true;
    BTF_ASSIGN(const NpyHeader header, read_npy_header(SpoolSource(content)));
    most_ = 0;
    if (const Checked bytes = checked_mul(element_count(header.shape), kWidestNpy))
      allow(checked_add(header.data_offset, bytes).value_or(UINT64_MAX));
    return {};
  }
  BTF_ASSIGN(count_, word_at(content, 0));
  decided_ = count_ > kMostRecords;
  if (decided_) return {};
  most_ = 0;
  allow(kWord + count_ * kWord);
  return {};
}

// False: too little of the record is there.
Result<bool> ContentBound::take_record(const Spool& content) {
  const auto there = [&](std::uint64_t end) {
    allow(end);
    return content.size() >= end;
  };
  const std::uint64_t entry = kWord + next_ * kWord;
  if (!there(entry + kWord)) return false;
  BTF_ASSIGN(const std::uint64_t at, word_at(content, entry));
  // Here and below: what is not sound says nothing about the size. That is for the reader to tell.
  const Checked dims_at = checked_add(at, kRecordHeader);
  if (at < kWord + count_ * kWord || !checked_add(dims_at, wire::kMaxRank * kWord + kWord))
    return true;
  if (!there(*dims_at)) return false;
  std::array<std::byte, kRecordHeader> header;
  BTF_TRY(content.read_at(at, header));
  const std::uint64_t rank = wire::load_u64(header.data());
  if (rank > wire::kMaxRank) return true;
  const DTypeInfo* dtype = find_dtype(std::to_integer<std::uint8_t>(header[wire::kDTypeAt]));
  const LayoutSpec* layout = find_layout(std::to_integer<std::uint8_t>(header[wire::kLayoutAt]));
  if (dtype == nullptr || layout == nullptr) {
    most_ = UINT64_MAX;  // its size is not known
    return true;
  }
  const std::uint64_t data_at = *dims_at + rank * kWord;
  const bool sparse = layout->layout == Layout::coo;
  if (!there(data_at + (sparse ? kWord : 0))) return false;
  std::vector<std::byte> words(rank * kWord);
  BTF_TRY(content.read_at(*dims_at, words));
  Dims dims(rank);
  for (std::uint64_t d = 0; d < rank; ++d) dims[d] = wire::load_u64(words.data() + d * kWord);
  std::uint64_t nnz = 0;
  if (sparse) {
    BTF_ASSIGN(nnz, word_at(content, data_at));
  }
  const Checked end = checked_add(data_at, payload_bytes(layout->layout, dtype->dtype, dims, nnz));
  if (end) allow(*end);
  return true;
}

Result<std::uint64_t> ContentBound::most(const Spool& content) {
  if (!begun_ && !decided_) {
    if (content.size() < kWord) return kSlack;
    BTF_TRY(begin(content));
  }
  while (!decided_ && next_ < count_ && most_ != UINT64_MAX) {
    BTF_ASSIGN(const bool known, take_record(content));
    if (!known) break;
    ++next_;
  }
  return most_;
}

std::string_view ContentBound::whose() const {
  return npy_ ? "the array in its .npy header" : "the header of its BTF file";
}

Result<std::uint64_t> ContentBound::least(const Spool& content, std::uint64_t frames) {
  BTF_TRY(most(content));
  if (!begun_ || npy_) return 0;
  return frames > 1 || content.size() == kWord + count_ * kWord ? least_ : 0;
}

}  // namespace btf::zstd
