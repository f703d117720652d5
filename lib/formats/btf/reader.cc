#include "formats/btf/reader.h"

#include <algorithm>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/btf/wire.h"

namespace btf {
namespace {

using wire::kRecordHeader;
using wire::kWord;

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// A window over the source that is moved when a request falls outside: headers of small records
// that stand side by side cost one read for many.
class Window {
 public:
  // Nothing at or behind `end` is read, which lies inside the source.
  Window(const ByteSource& source, std::uint64_t end) : source_(source), end_(end) {}

  // [offset, offset + length) must lie before the end, and length within kBytes.
  Result<const std::byte*> at(std::uint64_t offset, std::uint64_t length) {
    if (offset < begin_ || offset - begin_ > held_ || held_ - (offset - begin_) < length)
      BTF_TRY(move_to(offset, length));
    return bytes_.data() + (offset - begin_);
  }

  static constexpr std::uint64_t kBytes = 4096;

 private:
  // What lies behind the bytes that were asked for is read for later: if that fails, so be it.
  Status move_to(std::uint64_t offset, std::uint64_t length) {
    held_ = 0;  // until the read has succeeded
    begin_ = offset;
    bytes_.resize(kBytes);
    const std::uint64_t last = offset + std::max<std::uint64_t>(length, 1) - 1;
    const std::uint64_t ahead =
        std::min({kBytes, end_ - offset, source_.read_ahead_end(last) - offset});
    if (ahead > length && source_.read_at(offset, std::span(bytes_).first(ahead))) {
      held_ = ahead;
      return {};
    }
    BTF_TRY(source_.read_at(offset, std::span(bytes_).first(length)));
    held_ = length;
    return {};
  }

  const ByteSource& source_;
  std::uint64_t end_;
  std::uint64_t begin_ = 0;
  std::uint64_t held_ = 0;  // bytes from there on
  std::vector<std::byte> bytes_;
};

class BtfReader final : public TensorReader, public BtfRecords {
 public:
  BtfReader(const ByteSource& source, std::uint64_t count)
      : source_(source),
        count_(count),
        table_(source, kWord + count * kWord),
        headers_(source, source.size()) {}

  std::uint64_t tensor_count() const override { return count_; }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    BTF_ASSIGN(const std::uint64_t offset, entry(index));
    return at(index, offset);
  }

  Result<std::uint64_t> entry(std::uint64_t index) const override {
    BTF_ASSIGN(const std::byte* word, table_.at(kWord + index * kWord, kWord));
    return wire::load_u64(word);
  }

  Result<TensorInfo> at(std::uint64_t index, std::uint64_t offset) const override {
    TensorInfo info;
    info.index = index;
    info.record_offset = offset;
    BTF_TRY(read_header(info));
    if (!info.known()) return info;
    if (*info.layout == Layout::coo)
      BTF_TRY(read_coo(info));
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

  Status read_header(TensorInfo& info) const {
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
    BTF_ASSIGN(const std::byte* header, headers_.at(at, kRecordHeader));
    const std::uint64_t rank = wire::load_u64(header);
    info.dtype_code = std::to_integer<std::uint8_t>(header[wire::kDTypeAt]);
    info.layout_code = std::to_integer<std::uint8_t>(header[wire::kLayoutAt]);
    if (const DTypeInfo* row = find_dtype(info.dtype_code)) info.dtype = row->dtype;
    if (const LayoutSpec* row = find_layout(info.layout_code)) info.layout = row->layout;
    if (rank > kMaxRank)
      return malformed(
          "rank-too-large", at,
          "rank " + std::to_string(rank) + " is above " + std::to_string(kMaxRank));
    const std::uint64_t dims_at = at + kRecordHeader;
    if (!fits(dims_at, rank * kWord, source_.size()))
      return malformed("dims-past-end", dims_at,
                       "rank " + std::to_string(rank) + " needs " + bytes_text(rank * kWord) +
                           " of dims, the file has " + std::to_string(left(dims_at)) + " left");
    BTF_ASSIGN(const std::byte* dims, headers_.at(dims_at, rank * kWord));
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
  Result<std::uint64_t> coo_word(std::uint64_t offset, FindingCode finding,
                                 const char* what) const {
    if (!fits(offset, kWord, source_.size()))
      return malformed(finding, offset,
                       std::string("the file ends before the COO ") + what + " at byte " +
                           std::to_string(offset));
    BTF_ASSIGN(const std::byte* word, headers_.at(offset, kWord));
    return wire::load_u64(word);
  }

  Status read_coo(TensorInfo& info) const {
    if (!element_count(info.dims))
      return malformed("size-overflow", info.record_offset,
                       "the product of the dims does not fit 64 bits");
    const std::uint64_t rank = info.dims.size();
    const std::uint64_t at = info.data_offset;
    CooParts coo;
    BTF_ASSIGN(coo.nnz, coo_word(at, "coo-indices-past-end", "index count"));
    BTF_ASSIGN(const std::uint64_t index_rank,
               coo_word(at + kWord, "coo-indices-past-end", "index rank"));
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
               coo_word(values_at, "coo-values-past-end", "value count"));
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

  const ByteSource& source_;
  std::uint64_t count_;
  mutable Window table_;
  mutable Window headers_;
};

}  // namespace

std::unique_ptr<BtfRecords> btf_records(const ByteSource& source, std::uint64_t count) {
  return std::make_unique<BtfReader>(source, count);
}

Result<bool> recognizes_btf(const ByteSource&, const OpenRequest&) { return true; }

Result<std::unique_ptr<TensorReader>> open_btf(const ByteSource& source,
                                               const OpenRequest& request) {
  if (request.options.spec)
    return fail(ErrorCode::invalid_argument,
                "a spec without dims goes with a .npy file; raw bytes need TYPE:LAYOUT:DIMS");
  if (source.size() < kWord)
    return malformed(
        "file-too-short", 0,
        "a BTF file has at least 8 bytes, this one has " + std::to_string(source.size()));
  std::byte first[kWord];
  BTF_TRY(source.read_at(0, first));
  const std::uint64_t count = wire::load_u64(first);
  if (count > (source.size() - kWord) / kWord)
    return malformed("offset-table-too-long", 0,
                     std::to_string(count) + " tensors need an offset table longer than the " +
                         bytes_text(source.size()) + " of the file");
  return std::make_unique<BtfReader>(source, count);
}

}  // namespace btf
