#include "formats/btf/reader.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/btf/name_table.h"
#include "formats/btf/name_wire.h"
#include "formats/io/window.h"

namespace btf {
namespace {

using wire::kRecordHeader;
using wire::kWord;

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

class BtfReader final : public TensorReader, public BtfRecords {
 public:
  BtfReader(const ByteSource& source, std::uint64_t count)
      : source_(source),
        count_(count),
        table_(source, kWord + count * kWord),
        headers_(source, source.size()),
        last_header_(source, source.size()) {}

  std::uint64_t tensor_count() const override { return count_; }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    BTF_ASSIGN(const std::uint64_t offset, entry(index));
    BTF_ASSIGN(TensorInfo info, at(index, offset));
    BTF_TRY(check_before_names(info));
    return info;
  }

  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    BTF_ASSIGN(NameTable* const table, names());
    if (table == nullptr) return std::nullopt;
    return table->name(index);
  }

  Result<FileAttributes> attributes() const override {
    BTF_ASSIGN(NameTable* const table, names());
    if (table == nullptr) return FileAttributes();
    return table->attributes();
  }

  Result<std::uint64_t> entry(std::uint64_t index) const override {
    BTF_ASSIGN(const std::byte* word, table_.at(kWord + index * kWord, kWord));
    return wire::load_u64(word);
  }

  Result<TensorInfo> at(std::uint64_t index, std::uint64_t offset) const override {
    TensorInfo info;
    info.index = index;
    info.record_offset = offset;
    // The last record is read before those of the others, see NameTable.
    const bool last = index + 1 == count_ && !headers_.holds(offset, kRecordHeader);
    Window& headers = last ? last_header_ : headers_;
    BTF_TRY(read_header(headers, info));
    if (!info.known()) return info;
    if (*info.layout == Layout::coo)
      BTF_TRY(read_coo(headers, info));
    else
      BTF_TRY(read_dense(info));
    return info;
  }

  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    const auto offset = entry(index);
    return offset ? std::optional(*offset) : std::nullopt;
  }

 private:
  std::uint64_t left(std::uint64_t offset) const { return source_.size() - offset; }

  Status read_header(Window& headers, TensorInfo& info) const {
    const std::uint64_t at = info.record_offset;
    if (!fits(at, kRecordHeader, source_.size()))
      return malformed("record-offset-past-end", at,
                       "the record at byte " + std::to_string(at) + " does not fit: the file has " +
                           bytes_text(source_.size()));
    if (at < kWord + count_ * kWord)
      return malformed("record-overlaps-header", at,
                       "the record at byte " + std::to_string(at) +
                           " overlaps the offset table, which ends at byte " +
                           std::to_string(kWord + count_ * kWord));
    BTF_ASSIGN(const std::byte* header, headers.at(at, kRecordHeader));
    const std::uint64_t rank = wire::load_u64(header);
    info.dtype_code = std::to_integer<std::uint8_t>(header[wire::kDTypeAt]);
    info.layout_code = std::to_integer<std::uint8_t>(header[wire::kLayoutAt]);
    if (const DTypeInfo* row = find_dtype(info.dtype_code)) info.dtype = row->dtype;
    if (const LayoutSpec* row = find_layout(info.layout_code)) info.layout = row->layout;
    if (rank > kMaxRank)
      return malformed("rank-too-large", at,
                       "rank " + std::to_string(rank) + " is above " + std::to_string(kMaxRank));
    const std::uint64_t dims_at = at + kRecordHeader;
    if (!fits(dims_at, rank * kWord, source_.size()))
      return malformed("dims-past-end", dims_at,
                       "rank " + std::to_string(rank) + " needs " + bytes_text(rank * kWord) +
                           " of dims, the file has " + std::to_string(left(dims_at)) + " left");
    BTF_ASSIGN(const std::byte* dims, headers.at(dims_at, rank * kWord));
    info.dims.resize(rank);
    for (std::uint64_t d = 0; d < rank; ++d) info.dims[d] = wire::load_u64(dims + d * kWord);
    info.data_offset = dims_at + rank * kWord;
    return {};
  }

  Status read_dense(TensorInfo& info) const {
    auto resolved = resolve(*info.layout, info.dims, *info.dtype);
    if (!resolved) {
      Error error = std::move(resolved).error();
      error.code = ErrorCode::malformed;
      error.offset = info.record_offset;
      return std::unexpected(std::move(error));
    }
    info.storage = *std::move(resolved);
    info.data_bytes = storage_bytes(*info.storage, *info.dtype);
    if (!fits(info.data_offset, info.data_bytes, source_.size()))
      return malformed("data-past-end", info.data_offset,
                       "dims need " + bytes_text(info.data_bytes) + " of data, the file has " +
                           std::to_string(left(info.data_offset)) + " left");
    return {};
  }

  // A word of the COO payload; `offset` may be anything.
  Result<std::uint64_t> coo_word(Window& headers, std::uint64_t offset, FindingCode finding,
                                 const char* what) const {
    if (!fits(offset, kWord, source_.size()))
      return malformed(finding, offset,
                       std::string("the file ends before the COO ") + what + " at byte " +
                           std::to_string(offset));
    BTF_ASSIGN(const std::byte* word, headers.at(offset, kWord));
    return wire::load_u64(word);
  }

  Status read_coo(Window& headers, TensorInfo& info) const {
    if (!element_count(info.dims))
      return malformed("size-overflow", info.record_offset,
                       "the product of the dims does not fit 64 bits");
    const std::uint64_t rank = info.dims.size();
    const std::uint64_t at = info.data_offset;
    CooParts coo;
    BTF_ASSIGN(coo.nnz, coo_word(headers, at, "coo-indices-past-end", "index count"));
    BTF_ASSIGN(const std::uint64_t index_rank,
               coo_word(headers, at + kWord, "coo-indices-past-end", "index rank"));
    if (index_rank != rank)
      return malformed("coo-rank-mismatch", at + kWord,
                       "COO indices have " + std::to_string(index_rank) + " columns, rank is " +
                           std::to_string(rank));
    coo.indices_offset = at + 2 * kWord;
    const Checked index_bytes = checked_mul(coo.nnz, rank * kWord);
    if (!index_bytes || !fits(coo.indices_offset, *index_bytes, source_.size()))
      return malformed("coo-indices-past-end", at,
                       std::to_string(coo.nnz) + " COO indices of rank " + std::to_string(rank) +
                           " do not fit: the file has " + bytes_text(left(coo.indices_offset)) +
                           " left");
    const std::uint64_t values_at = coo.indices_offset + *index_bytes;
    BTF_ASSIGN(const std::uint64_t values,
               coo_word(headers, values_at, "coo-values-past-end", "value count"));
    if (values != coo.nnz)
      return malformed(
          "coo-count-mismatch", values_at,
          std::to_string(values) + " COO values for " + std::to_string(coo.nnz) + " indices");
    coo.values_offset = values_at + kWord;
    const Checked value_bytes = stream_bytes(coo.nnz, btf::info(*info.dtype).bits);
    if (!value_bytes || !fits(coo.values_offset, *value_bytes, source_.size()))
      return malformed("coo-values-past-end", coo.values_offset,
                       std::to_string(coo.nnz) + " COO values do not fit: the file has " +
                           bytes_text(left(coo.values_offset)) + " left");
    info.data_bytes = coo.values_offset + *value_bytes - info.data_offset;
    info.coo = coo;
    return {};
  }

  // nullptr: there is none.
  Result<NameTable*> names() const {
    if (!names_) {
      auto found = NameTable::find(source_, count_, record_end_);
      if (!found) return std::unexpected(found.error());
      names_.emplace(*std::move(found));
    }
    return *names_ ? &**names_ : nullptr;
  }

  // A record that reaches into the names reads them as its elements, unless it fills the file: then
  // they are its elements, whatever they look like.
  Status check_before_names(const TensorInfo& info) const {
    if (!names_begin_) {
      const auto claimed = NameTable::claimed_begin(source_, count_, record_end_);
      // Damage elsewhere is none of this record.
      if (!claimed && claimed.error().finding.empty()) return std::unexpected(claimed.error());
      names_begin_ = claimed.value_or(std::nullopt);
    }
    const auto end = btf_record_end(info);
    if (!*names_begin_ || !end || *end <= **names_begin_ || *end >= source_.size()) return {};
    BTF_ASSIGN(const NameTable* const table, names());
    if (table == nullptr) return {};
    return malformed("names-overlap", info.record_offset,
                     "the record ends at byte " + std::to_string(*end) +
                         ", inside the name table that begins at byte " +
                         std::to_string(**names_begin_));
  }

  const ByteSource& source_;
  std::uint64_t count_;
  mutable Window table_;
  mutable Window headers_;
  mutable Window last_header_;
  mutable std::optional<std::optional<std::uint64_t>> names_begin_;  // nothing: not looked for
  mutable std::optional<std::optional<NameTable>> names_;
  RecordEnd record_end_ = [this](std::uint64_t index) -> Result<std::uint64_t> {
    BTF_ASSIGN(const std::uint64_t offset, entry(index));
    BTF_ASSIGN(const TensorInfo info, at(index, offset));
    return btf_record_end(info).value_or(source_.size());
  };
};

Result<std::uint64_t> word_at(const ByteSource& source, std::uint64_t offset) {
  std::array<std::byte, kWord> word;
  BTF_TRY(source.read_at(offset, word));
  return wire::load_u64(word.data());
}

Result<bool> names_begin_at(const ByteSource& source, std::uint64_t offset) {
  std::array<char, kWord> magic;
  if (!fits(offset, magic.size(), source.size())) return false;
  BTF_TRY(source.read_at(offset, std::as_writable_bytes(std::span(magic))));
  return std::string_view(magic.data(), magic.size()) == wire::kNamesBegin;
}

// A code may be unknown, the data may be cut off.
Result<bool> may_be_record(const ByteSource& source, std::uint64_t offset) {
  if (!fits(offset, kRecordHeader, source.size())) return false;
  std::array<std::byte, kRecordHeader> header;
  BTF_TRY(source.read_at(offset, header));
  const std::uint64_t rank = wire::load_u64(header.data());
  return rank <= kMaxRank &&
         (find_dtype(std::to_integer<std::uint8_t>(header[wire::kDTypeAt])) != nullptr ||
          find_layout(std::to_integer<std::uint8_t>(header[wire::kLayoutAt])) != nullptr);
}

}  // namespace

Checked btf_record_end(const TensorInfo& info) {
  return round_up(info.known() ? info.end() : info.data_offset, kWord);
}

std::unique_ptr<BtfRecords> btf_records(const ByteSource& source, std::uint64_t count) {
  return std::make_unique<BtfReader>(source, count);
}

Result<bool> offset_table_fits(const ByteSource& source) {
  if (source.size() < kWord) return false;
  std::byte first[kWord];
  BTF_TRY(source.read_at(0, first));
  return wire::load_u64(first) <= (source.size() - kWord) / kWord;
}

Result<BtfLook> look_of_btf(const ByteSource& source) {
  constexpr std::uint64_t kTried = 16;
  BTF_ASSIGN(const bool table, offset_table_fits(source));
  if (!table) return BtfLook::none;
  BTF_ASSIGN(const std::uint64_t count, word_at(source, 0));
  if (count == 0) {
    BTF_ASSIGN(const bool names, names_begin_at(source, kWord));
    return names || (source.size() == kWord && !source.more_follows()) ? BtfLook::sound
                                                                       : BtfLook::none;
  }
  for (std::uint64_t i = 0; i < std::min(count, kTried); ++i) {
    BTF_ASSIGN(const std::uint64_t offset, word_at(source, kWord + i * kWord));
    if (offset < kWord + count * kWord) continue;
    const auto record = may_be_record(source, offset);
    if (!record && record.error().finding.empty()) return std::unexpected(record.error());
    // Where a frame is damaged there may be one.
    if (!record || *record) return BtfLook::sound;
  }
  return BtfLook::no_record;
}

Result<bool> recognizes_btf(const ByteSource&, const OpenRequest&) { return true; }

Result<std::unique_ptr<TensorReader>> open_btf(const ByteSource& source,
                                               const OpenRequest& request) {
  if (request.options.spec)
    return fail(ErrorCode::invalid_argument,
                "a spec without dims is for .npy files; raw bytes need TYPE:LAYOUT:DIMS");
  if (source.size() < kWord)
    return malformed(
        "file-too-short", 0,
        "a BTF file has at least 8 bytes, this one has " + std::to_string(source.size()));
  std::byte first[kWord];
  BTF_TRY(source.read_at(0, first));
  const std::uint64_t count = wire::load_u64(first);
  if (count > (source.size() - kWord) / kWord)
    return malformed("offset-table-too-long", 0,
                     "an offset table of " + std::to_string(count) +
                         " tensors is longer than the " + bytes_text(source.size()) +
                         " of the file");
  return std::make_unique<BtfReader>(source, count);
}

}  // namespace btf
