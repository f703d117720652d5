#include "formats/btf_reader.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/btf_writer.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

using wire::kNameEnd;
using wire::kNamesFooter;
using wire::kNamesHeader;
using wire::kWord;

Result<bool> stands_at(const ByteSource& source, std::uint64_t offset, std::string_view magic) {
  std::array<char, kWord> bytes;
  if (!fits(offset, bytes.size(), source.size())) return false;
  BTF_TRY(source.read_at(offset, std::as_writable_bytes(std::span(bytes))));
  return std::string_view(bytes.data(), bytes.size()) == magic;
}

std::uint64_t offset_table_end(std::uint64_t tensors) { return kWord + tensors * kWord; }

// The last bytes of the file.
struct Footer {
  bool there = false;
  std::uint64_t length = 0;
};

Result<Footer> read_footer(const ByteSource& source, std::uint64_t tensors) {
  const std::uint64_t size = source.size();
  if (size - offset_table_end(tensors) < wire::kMinNames || source.more_follows()) return Footer{};
  std::array<std::byte, kNamesFooter> bytes;
  BTF_TRY(source.read_at(size - bytes.size(), bytes));
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()) + 2 * kWord, kWord);
  return Footer{magic == wire::kNamesEnd, wire::load_u64(bytes.data())};
}

// Returns true if there certainly is no name table: the record with the highest number reaches the
// end of the file, or the last bytes of a file in memory are no footer.
Result<bool> has_none(const ByteSource& source, std::uint64_t tensors,
                      const RecordEnd& record_end) {
  if (source.held().size() == source.size()) {
    BTF_ASSIGN(const Footer footer, read_footer(source, tensors));
    if (!footer.there) return true;
  }
  if (tensors == 0) return source.size() == offset_table_end(0);
  const auto end = record_end(tensors - 1);
  if (!end && end.error().finding.empty()) return std::unexpected(end.error());
  return end && *end >= source.size();
}

// Where the records end.
struct Ends {
  std::uint64_t last = 0;
  std::uint64_t tensor = 0;  // a tensor whose record ends there
  bool all_known = true;
};

Result<Ends> find_ends(std::uint64_t tensors, const RecordEnd& record_end) {
  Ends ends{.last = offset_table_end(tensors)};
  for (std::uint64_t i = 0; i < tensors; ++i) {
    const auto end = record_end(i);
    if (!end && end.error().finding.empty()) return std::unexpected(end.error());
    ends.all_known = ends.all_known && end.has_value();
    if (!end || *end <= ends.last) continue;
    ends.last = *end;
    ends.tensor = i;
  }
  return ends;
}

// The offset according to the footer, if the table's first bytes are there.
Result<std::optional<std::uint64_t>> place_of(const ByteSource& source, std::uint64_t tensors,
                                              const Footer& footer) {
  const std::uint64_t room = source.size() - offset_table_end(tensors);
  if (!footer.there || footer.length % kWord != 0 || footer.length < wire::kMinNames ||
      footer.length > room)
    return std::nullopt;
  const std::uint64_t begin = source.size() - footer.length;
  BTF_ASSIGN(const bool there, stands_at(source, begin, wire::kNamesBegin));
  return there ? std::optional(begin) : std::nullopt;
}

}  // namespace

Result<std::optional<std::uint64_t>> NameTable::claimed_begin(const ByteSource& source,
                                                              std::uint64_t tensors,
                                                              const RecordEnd& record_end) {
  BTF_ASSIGN(const bool none, has_none(source, tensors, record_end));
  if (none) return std::nullopt;
  BTF_ASSIGN(const Footer footer, read_footer(source, tensors));
  return place_of(source, tensors, footer);
}

Result<std::optional<NameTable>> NameTable::find(const ByteSource& source, std::uint64_t tensors,
                                                 const RecordEnd& record_end) {
  BTF_ASSIGN(const bool none, has_none(source, tensors, record_end));
  if (none) return std::nullopt;
  BTF_ASSIGN(const Footer footer, read_footer(source, tensors));
  if (!footer.there) return std::nullopt;
  BTF_ASSIGN(const std::optional<std::uint64_t> begin, place_of(source, tensors, footer));
  // In every canonical file the record with the highest number ends last.
  const auto last = tensors > 0 ? record_end(tensors - 1) : offset_table_end(0);
  if (begin && last && *last == *begin) {
    NameTable table(source, *begin, tensors);
    BTF_TRY(table.read_header());
    return table;
  }
  BTF_ASSIGN(const Ends ends, find_ends(tensors, record_end));
  if (ends.last >= source.size()) return std::nullopt;
  if (!begin) {
    BTF_ASSIGN(const bool there, stands_at(source, ends.last, wire::kNamesBegin));
    if (!there) return std::nullopt;
    NameTable table(source, ends.last, tensors);
    table.usable_ = malformed("names-size", source.size() - kNamesFooter, "the name table at byte ",
                              ends.last, " claims to have ", footer.length,
                              " bytes, but from there to the end of the file there are ",
                              source.size() - ends.last);
    return table;
  }
  NameTable table(source, *begin, tensors);
  if (ends.last > *begin) {
    table.usable_ =
        malformed("names-overlap", *begin, "the record of tensor ", ends.tensor, " ends at byte ",
                  ends.last, ", the name table begins at byte ", *begin);
    return table;
  }
  if (ends.last < *begin && ends.all_known) return std::nullopt;
  BTF_TRY(table.read_header());
  return table;
}

// Errors are reported when names are requested.
Status NameTable::read_header() {
  std::array<std::byte, kNamesHeader> header;
  BTF_TRY(source_->read_at(begin_, header));
  const std::uint32_t version = load_little<std::uint32_t>(header.data() + 8);
  const std::uint32_t flags = load_little<std::uint32_t>(header.data() + 12);
  const std::uint64_t tensors = wire::load_u64(header.data() + 16);
  name_bytes_ = wire::load_u64(header.data() + 24);
  attribute_bytes_ = wire::load_u64(header.data() + 32);
  const std::uint64_t length = source_->size() - begin_;
  if (version != wire::kNamesVersion || flags != 0) {
    usable_ = malformed("names-version", begin_ + 8, "the name table has version ", version,
                        " and flags ", flags, ", this program reads version ", wire::kNamesVersion,
                        " without flags");
  } else if (tensors != tensors_) {
    usable_ = malformed("names-count", begin_ + 16, "the name table has ", tensors,
                        " tensors, the file has ", tensors_);
  } else if (wire::name_table_bytes(tensors, name_bytes_, attribute_bytes_) != length) {
    usable_ = malformed("names-size", begin_ + 24, name_bytes_, " bytes of names and ",
                        attribute_bytes_, " of attributes of ", tensors_,
                        " tensors do not fit a name table of ", length, " bytes");
  }
  return {};
}

std::uint64_t NameTable::ends_begin() const { return begin_ + kNamesHeader; }
std::uint64_t NameTable::names_begin() const { return ends_begin() + tensors_ * kNameEnd; }
std::uint64_t NameTable::footer() const { return source_->size() - kNamesFooter; }

Status NameTable::usable() {
  if (usable_) return *usable_;
  Status status = check_all();
  // A system error may not occur again at the next call.
  if (status || !status.error().finding.empty()) usable_ = status;
  return status;
}

Status NameTable::check_all() {
  BTF_TRY(check_sum());
  ends_.emplace(*source_, names_begin());
  names_.emplace(*source_, attributes_begin());
  return check_names();
}

Status NameTable::check_sum() const {
  constexpr std::uint64_t kPiece = 64U << 10;
  const std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> state(XXH64_createState(),
                                                                         XXH64_freeState);
  if (!state) return fail(ErrorCode::no_space, "out of memory");
  XXH64_reset(state.get(), 0);
  const std::uint64_t end = footer() + kWord;
  std::vector<std::byte> bytes(std::min(kPiece, end - begin_));
  for (std::uint64_t at = begin_; at < end;) {
    const auto piece = std::span(bytes).first(std::min<std::uint64_t>(bytes.size(), end - at));
    BTF_TRY(source_->read_at(at, piece));
    XXH64_update(state.get(), piece.data(), piece.size());
    at += piece.size();
  }
  std::array<std::byte, kWord> said;
  BTF_TRY(source_->read_at(end, said));
  if (wire::load_u64(said.data()) == XXH64_digest(state.get())) return {};
  return malformed("names-checksum", end, "the name table's checksum does not match its bytes");
}

Result<std::uint64_t> NameTable::name_end(std::uint64_t index) {
  BTF_ASSIGN(const std::byte* entry, ends_->at(ends_begin() + index * kNameEnd, kNameEnd));
  return load_little<std::uint32_t>(entry);
}

// A part of the names that is not longer than one name.
Result<std::string> NameTable::text(std::uint64_t begin, std::uint64_t end) {
  std::string text(end - begin, '\0');
  const std::uint64_t at = names_begin() + begin;
  if (text.size() > Window::kBytes) {
    BTF_TRY(source_->read_at(at, std::as_writable_bytes(std::span(text))));
    return text;
  }
  BTF_ASSIGN(const std::byte* bytes, names_->at(at, text.size()));
  std::copy_n(reinterpret_cast<const char*>(bytes), text.size(), text.data());
  return text;
}

Status NameTable::check_names() {
  std::uint64_t begin = 0;
  for (std::uint64_t i = 0; i < tensors_; ++i) {
    BTF_ASSIGN(const std::uint64_t end, name_end(i));
    if (end < begin || end > name_bytes_ || (i + 1 == tensors_ && end != name_bytes_))
      return malformed("names-order", ends_begin() + i * kNameEnd, "the name of tensor ", i,
                       " ends at byte ", end, " of the names, expected after byte ", begin,
                       " and up to byte ", name_bytes_);
    if (end - begin > wire::kLongestName)
      return malformed("names-size", ends_begin() + i * kNameEnd, "the name of tensor ", i, " has ",
                       end - begin, " bytes, at most ", wire::kLongestName, " are allowed");
    BTF_ASSIGN(const std::string name, text(begin, end));
    if (!is_utf8(name) || name.find('\0') != name.npos)
      return malformed("names-utf8", names_begin() + begin, "the name of tensor ", i,
                       " is not UTF-8 without zero bytes");
    begin = end;
  }
  if (tensors_ > 0 || name_bytes_ == 0) return {};
  return malformed("names-order", begin_ + 24, "there are names, but no tensor has one");
}

Result<std::optional<std::string>> NameTable::name(std::uint64_t index) {
  BTF_TRY(usable());
  std::uint64_t begin = 0;
  if (index > 0) {
    BTF_ASSIGN(begin, name_end(index - 1));
  }
  BTF_ASSIGN(const std::uint64_t end, name_end(index));
  if (begin == end) return std::nullopt;
  // The file may have changed since it was checked.
  if (end < begin || end > name_bytes_ || end - begin > wire::kLongestName)
    return malformed("names-order", ends_begin() + index * kNameEnd,
                     "the ends of the names were changed while they were read");
  BTF_ASSIGN(std::string name, text(begin, end));
  return name;
}

Result<FileAttributes> NameTable::attributes() {
  BTF_TRY(usable());
  if (attribute_bytes_ == 0) return FileAttributes();
  return read_attributes(*source_, {attributes_begin(), attribute_bytes_}, tensors_);
}

Result<bool> NameTable::reserved_bytes_are_zero() const {
  std::array<std::byte, kWord> reserved;
  BTF_TRY(source_->read_at(begin_ + kNamesHeader - kWord, reserved));
  const std::uint64_t end = attributes_begin() + attribute_bytes_;
  std::vector<std::byte> padding(footer() - end);
  BTF_TRY(source_->read_at(end, padding));
  const auto zero = [](std::byte byte) { return byte == std::byte{}; };
  return std::ranges::all_of(reserved, zero) && std::ranges::all_of(padding, zero);
}

namespace {

using wire::kRecordHeader;

// The largest name table accepted from a stream.
constexpr std::uint64_t kMaxNamesInStream = std::uint64_t{1} << 30;

Result<std::uint64_t> offset_at(const ByteSource& content, std::uint64_t offset) {
  std::array<std::byte, kWord> word;
  BTF_TRY(content.read_at(offset, word));
  return wire::load_u64(word.data());
}

// The size of the payload; unset if the record is not valid.
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
  // Looks at each record once.
  Status take(const ByteSource& content, ContentExtent& extent) override {
    if (!begun_) BTF_TRY(begin(content, extent));
    while (next_ < count_) {
      BTF_ASSIGN(const bool known, take_record(content, extent));
      if (!known) return {};
      ++next_;
    }
    return complete_ && !names_known_ ? take_names(content, extent) : Status();
  }
  std::string_view subject() const override { return "the header of its BTF file"; }
  bool complete() const override { return complete_; }
  std::uint64_t needed(const ContentExtent&) const override {
    return count_ > 0 && sound_ == count_ ? first_end_ : 0;
  }
  // A single frame may be a whole file that is damaged in itself, but not if it ends where the
  // first record begins.
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

  // Returns false if not enough of the record is there.
  Result<bool> take_record(const ByteSource& content, ContentExtent& extent) {
    const auto there = [&](std::uint64_t end) {
      extent.need(end);
      return content.size() >= end;
    };
    // A record that does not fit the available space is reported, while others may still fit.
    const auto beyond = [&](std::uint64_t end) {
      if (end > extent.room()) extent.need(end);
      return end > extent.room();
    };
    const std::uint64_t entry = kWord + next_ * kWord;
    if (!there(entry + kWord)) return false;
    BTF_ASSIGN(const std::uint64_t at, offset_at(content, entry));
    // Here and below, invalid records do not determine the size. The reader reports them.
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

  // A name table may follow the last record; its header has its size. A file without it is
  // complete, so it is allowed but not required.
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
    if (end && *bytes <= kMaxNamesInStream && *end <= extent.room()) extent.allow(*end);
    return {};
  }

  bool begun_ = false;
  bool complete_ = true;  // false if a record is of an unknown kind and therefore of unknown size
  bool names_known_ = false;  // whether names follow the records
  std::uint64_t count_ = 0;   // records
  std::uint64_t next_ = 0;    // the first record that is not known yet
  std::uint64_t sound_ = 0;
  std::uint64_t first_end_ = UINT64_MAX;  // the first end of a valid record
};

}  // namespace

Result<bool> begins_as_btf(const ByteSource& beginning) {
  if (beginning.size() < kWord) return false;
  BTF_ASSIGN(const std::uint64_t count, offset_at(beginning, 0));
  return count <= kMaxBtfTensors;
}

std::unique_ptr<StreamBound> btf_bound() { return std::make_unique<BtfBound>(); }

namespace {

std::string bytes_text(std::uint64_t bytes) {
  return concat(bytes, bytes == 1 ? " byte" : " bytes");
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
    // The last record is read before the headers of the others, see NameTable.
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
      return malformed("record-offset-past-end", at, "the record at byte ", at,
                       " does not fit: the file has ", bytes_text(source_.size()));
    if (at < kWord + count_ * kWord)
      return malformed("record-overlaps-header", at, "the record at byte ", at,
                       " overlaps the offset table, which ends at byte ", kWord + count_ * kWord);
    BTF_ASSIGN(const std::byte* header, headers.at(at, kRecordHeader));
    const std::uint64_t rank = wire::load_u64(header);
    info.dtype_code = std::to_integer<std::uint8_t>(header[wire::kDTypeAt]);
    info.layout_code = std::to_integer<std::uint8_t>(header[wire::kLayoutAt]);
    if (const DTypeInfo* row = find_dtype(info.dtype_code)) info.dtype = row->dtype;
    if (const LayoutSpec* row = find_layout(info.layout_code)) info.layout = row->layout;
    if (rank > kMaxRank)
      return malformed("rank-too-large", at, "rank ", rank, " is above ", kMaxRank);
    const std::uint64_t dims_at = at + kRecordHeader;
    if (!fits(dims_at, rank * kWord, source_.size()))
      return malformed("dims-past-end", dims_at, "rank ", rank, " needs ", bytes_text(rank * kWord),
                       " of dims, the file has ", left(dims_at), " left");
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
      return malformed("data-past-end", info.data_offset, "dims need ", bytes_text(info.data_bytes),
                       " of data, the file has ", left(info.data_offset), " left");
    return {};
  }

  // Reads a word of the COO payload; `offset` is not checked yet.
  Result<std::uint64_t> coo_word(Window& headers, std::uint64_t offset, FindingCode finding,
                                 const char* what) const {
    if (!fits(offset, kWord, source_.size()))
      return malformed(finding, offset, "the file ends before the COO ", what, " at byte ", offset);
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
      return malformed("coo-rank-mismatch", at + kWord, "COO indices have ", index_rank,
                       " columns, rank is ", rank);
    coo.indices_offset = at + 2 * kWord;
    const Checked index_bytes = checked_mul(coo.nnz, rank * kWord);
    if (!index_bytes || !fits(coo.indices_offset, *index_bytes, source_.size()))
      return malformed("coo-indices-past-end", at, coo.nnz, " COO indices of rank ", rank,
                       " do not fit: the file has ", bytes_text(left(coo.indices_offset)), " left");
    const std::uint64_t values_at = coo.indices_offset + *index_bytes;
    BTF_ASSIGN(const std::uint64_t values,
               coo_word(headers, values_at, "coo-values-past-end", "value count"));
    if (values != coo.nnz)
      return malformed("coo-count-mismatch", values_at, values, " COO values for ", coo.nnz,
                       " indices");
    coo.values_offset = values_at + kWord;
    const Checked value_bytes = stream_bytes(coo.nnz, btf::info(*info.dtype).bits);
    if (!value_bytes || !fits(coo.values_offset, *value_bytes, source_.size()))
      return malformed("coo-values-past-end", coo.values_offset, coo.nnz,
                       " COO values do not fit: the file has ", bytes_text(left(coo.values_offset)),
                       " left");
    info.data_bytes = coo.values_offset + *value_bytes - info.data_offset;
    info.coo = coo;
    return {};
  }

  // nullptr if there is none.
  Result<NameTable*> names() const {
    if (!names_) {
      auto found = NameTable::find(source_, count_, record_end_);
      if (!found) return std::unexpected(found.error());
      names_.emplace(*std::move(found));
    }
    return *names_ ? &**names_ : nullptr;
  }

  // Refuses a record that extends into the name table, since its elements would be names. A record
  // that reaches the end of the file owns all of its bytes, whatever they look like.
  Status check_before_names(const TensorInfo& info) const {
    if (!names_begin_) {
      const auto claimed = NameTable::claimed_begin(source_, count_, record_end_);
      // Damage elsewhere does not concern this record.
      if (!claimed && claimed.error().finding.empty()) return std::unexpected(claimed.error());
      names_begin_ = claimed.value_or(std::nullopt);
    }
    const auto end = btf_record_end(info);
    if (!*names_begin_ || !end || *end <= **names_begin_ || *end >= source_.size()) return {};
    BTF_ASSIGN(const NameTable* const table, names());
    if (table == nullptr) return {};
    return malformed("names-overlap", info.record_offset, "the record ends at byte ", *end,
                     ", inside the name table that begins at byte ", **names_begin_);
  }

  const ByteSource& source_;
  std::uint64_t count_;
  mutable Window table_;
  mutable Window headers_;
  mutable Window last_header_;
  // Outer optional: unset if not looked for yet.
  mutable std::optional<std::optional<std::uint64_t>> names_begin_;
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

// Accepts unknown codes and data that is cut off.
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
    // A damaged frame may hold a record.
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
    return malformed("file-too-short", 0, "a BTF file has at least 8 bytes, this one has ",
                     source.size());
  std::byte first[kWord];
  BTF_TRY(source.read_at(0, first));
  const std::uint64_t count = wire::load_u64(first);
  if (count > (source.size() - kWord) / kWord)
    return malformed("offset-table-too-long", 0, "an offset table of ", count,
                     " tensors is longer than the ", bytes_text(source.size()), " of the file");
  return std::make_unique<BtfReader>(source, count);
}

}  // namespace btf
