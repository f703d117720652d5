#include <algorithm>
#include <array>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "formats/btf/name_wire.h"
#include "formats/btf/reader.h"

namespace btf {
namespace {

using wire::kRecordHeader;
using wire::kWord;

// The longest name table accepted from a stream.
constexpr std::uint64_t kMostNamesInStream = std::uint64_t{1} << 30;

Result<std::uint64_t> offset_at(const ByteSource& content, std::uint64_t offset) {
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

class BtfBound final : public StreamBound {
 public:
  // Each record is looked at once.
  Status take(const ByteSource& content, ContentExtent& extent) override {
    if (!begun_) BTF_TRY(begin(content, extent));
    while (next_ < count_) {
      BTF_ASSIGN(const bool known, take_record(content, extent));
      if (!known) return {};
      ++next_;
    }
    return complete_ && !names_known_ ? take_names(content, extent) : Status();
  }
  std::string_view whose() const override { return "the header of its BTF file"; }
  bool complete() const override { return complete_; }
  std::uint64_t needed(const ContentExtent&) const override {
    return count_ > 0 && sound_ == count_ ? first_end_ : 0;
  }
  // One frame may be a whole file with a fault of its own, but not if it ends where the first
  // record begins.
  std::uint64_t least(const ContentExtent& extent, const ByteSource& content,
                      std::uint64_t frames) const override {
    return frames > 1 || content.size() == kWord + count_ * kWord ? extent.least() : 0;
  }

 private:
  Status begin(const ByteSource& content, ContentExtent& extent) {
    begun_ = true;
    BTF_ASSIGN(count_, offset_at(content, 0));
    extent.need(kWord + count_ * kWord);
    if (extent.beyond_room() > 0) count_ = 0;  // without its table nothing of it can be used
    return {};
  }

  // False: too little of the record is there.
  Result<bool> take_record(const ByteSource& content, ContentExtent& extent) {
    const auto there = [&](std::uint64_t end) {
      extent.need(end);
      return content.size() >= end;
    };
    // Wanted, but more than there is room for: what is said of the other records may be.
    const auto beyond = [&](std::uint64_t end) {
      if (end > extent.room()) extent.need(end);
      return end > extent.room();
    };
    const std::uint64_t entry = kWord + next_ * kWord;
    if (!there(entry + kWord)) return false;
    BTF_ASSIGN(const std::uint64_t at, offset_at(content, entry));
    // Here and below: what is not sound says nothing about the size. That is for the reader to
    // tell.
    const Checked dims_at = checked_add(at, kRecordHeader);
    if (at < kWord + count_ * kWord || !checked_add(dims_at, kMaxRank * kWord + kWord)) return true;
    if (beyond(*dims_at)) return true;
    if (!there(*dims_at)) return false;
    std::array<std::byte, kRecordHeader> header;
    BTF_TRY(content.read_at(at, header));
    const std::uint64_t rank = wire::load_u64(header.data());
    if (rank > kMaxRank) return true;
    const DTypeInfo* dtype = find_dtype(std::to_integer<std::uint8_t>(header[wire::kDTypeAt]));
    const LayoutSpec* layout = find_layout(std::to_integer<std::uint8_t>(header[wire::kLayoutAt]));
    if (dtype == nullptr || layout == nullptr) {
      complete_ = false;
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
      BTF_ASSIGN(nnz, offset_at(content, data_at));
    }
    const Checked end =
        checked_add(data_at, payload_bytes(layout->layout, dtype->dtype, dims, nnz));
    if (!end) return true;
    extent.need(*end);
    ++sound_;
    first_end_ = std::min(first_end_, *end);
    return true;
  }

  // Behind the last record there may be a name table, which says how long it is. A file without it
  // is whole, so it is allowed and not demanded.
  Status take_names(const ByteSource& content, ContentExtent& extent) {
    const Checked begin = round_up(extent.least(), kWord);
    if (!begin || extent.beyond_room() > 0 || !fits(*begin, wire::kNamesHeader, content.size()))
      return {};
    names_known_ = true;
    std::array<std::byte, wire::kNamesHeader> header;
    BTF_TRY(content.read_at(*begin, header));
    const std::string_view magic(reinterpret_cast<const char*>(header.data()), kWord);
    if (magic != wire::kNamesBegin) return {};
    const Checked bytes = wire::name_table_bytes(count_, wire::load_u64(header.data() + 24),
                                                 wire::load_u64(header.data() + 32));
    const Checked end = checked_add(begin, bytes);
    if (end && *bytes <= kMostNamesInStream && *end <= extent.room()) extent.allow(*end);
    return {};
  }

  bool begun_ = false;
  bool complete_ = true;      // false: a record is of an unknown kind, whose size is not known
  bool names_known_ = false;  // whether names follow the records
  std::uint64_t count_ = 0;   // records
  std::uint64_t next_ = 0;    // the first of them that is not known yet
  std::uint64_t sound_ = 0;
  std::uint64_t first_end_ = UINT64_MAX;  // the first byte behind one of the sound
};

}  // namespace

Result<bool> begins_as_btf(const ByteSource& beginning) {
  if (beginning.size() < kWord) return false;
  BTF_ASSIGN(const std::uint64_t count, offset_at(beginning, 0));
  return count <= kMostBtfTensors;
}

std::unique_ptr<StreamBound> btf_bound() { return std::make_unique<BtfBound>(); }

}  // namespace btf
