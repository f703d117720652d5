#include "formats/bound/content_bound.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/btf/name_wire.h"
#include "formats/gguf/header.h"
#include "formats/npy/header.h"
#include "formats/onnx/kind.h"
#include "formats/protobuf/wire.h"
#include "formats/safetensors/header.h"
#include "formats/zip/wire.h"

namespace btf {
namespace {

using wire::kRecordHeader;
using wire::kWord;

// A table of more records than this is no table.
constexpr std::uint64_t kMostRecords = std::uint64_t{1} << 48;

// Of a name table in a stream.
constexpr std::uint64_t kMostNamesInStream = std::uint64_t{1} << 30;

// Does it say by its number alone how many bytes an element has, as "<f4" does and "bfloat16" does
// not?
bool says_bytes(std::string_view descr) {
  if (!descr.empty() && std::string_view("<>|=").contains(descr.front())) descr.remove_prefix(1);
  return descr.size() == 2 && std::string_view("biuf").contains(descr[0]) && descr[1] >= '1' &&
         descr[1] <= '9';
}

// Bytes of an element of "<f4" or "float32"; of what is no number, those of the widest that is one,
// complex256.
std::uint64_t element_bytes(std::string_view descr) {
  for (const DTypeInfo& row : dtypes())
    if (row.name == descr) return row.buffer_bytes();
  const std::size_t digits = descr.find_first_of("0123456789");
  std::uint64_t bytes = 0;
  if (digits == std::string_view::npos) return 32;
  const auto [end, error] =
      std::from_chars(descr.data() + digits, descr.data() + descr.size(), bytes);
  return error == std::errc{} && bytes < 32 ? bytes : 32;
}

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

bool begins_as_json(const Spool& content) {
  std::array<char, wire::kWord> start;
  if (!content.read_at(0, std::as_writable_bytes(std::span(start)))) return false;
  const auto* const first = std::ranges::find_if(
      start, [](char c) { return c != ' ' && c != '\n' && c != '\r' && c != '\t'; });
  return first != start.end() && (*first == '{' || *first == '[');
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

ContentBound::ContentBound(std::optional<std::uint64_t> expected, std::uint64_t room)
    : room_(room) {
  if (!expected) return;
  kind_ = Kind::given;
  if (*expected == kUnlimited)
    most_ = UINT64_MAX;
  else
    allow(*expected);
  least_ = 0;
}

void ContentBound::allow(std::uint64_t end) {
  least_ = std::max(least_, end);
  if (end > room_)
    beyond_room_ = std::max(beyond_room_, end);
  else
    most_ = std::max(most_, checked_add(end, kContentSlack).value_or(UINT64_MAX));
}

Status ContentBound::begin(const Spool& content) {
  std::array<char, kNpyMagic.size()> magic;
  BTF_TRY(content.read_at(0, std::as_writable_bytes(std::span(magic))));
  if (std::string_view(magic.data(), magic.size()) == kNpyMagic) {
    kind_ = Kind::npy;
    BTF_ASSIGN(const NpyHeader header, read_npy_header(SpoolSource(content), {0, content.size()}));
    guessed_ = !says_bytes(header.descr);
    const Checked bytes = checked_mul(element_count(header.shape), element_bytes(header.descr));
    if (const Checked end = checked_add(header.data_offset, bytes)) allow(*end);
    return {};
  }
  BTF_ASSIGN(const std::uint64_t first, word_at(content, 0));
  // What a zip file is, only its end says. One that could be a table of records here begins with
  // zeros behind its magic number.
  if (static_cast<std::uint32_t>(first) == zip::kLocalMagic && first >> 32 != 0) {
    kind_ = Kind::whole;
    most_ = UINT64_MAX;
    return {};
  }
  std::array<char, kGgufMagic.size()> gguf;
  BTF_TRY(content.read_at(0, std::as_writable_bytes(std::span(gguf))));
  if (std::string_view(gguf.data(), gguf.size()) == kGgufMagic && first >> 32 != 0) {
    kind_ = Kind::gguf;
    return {};
  }
  if (first == kTvmMagic) {
    kind_ = Kind::tvm;
    return {};
  }
  BTF_ASSIGN(const bool safetensors, begin_safetensors(content));
  if (safetensors) return {};
  BTF_ASSIGN(const bool protobuf, begin_protobuf(content));
  if (protobuf) return {};
  count_ = first;
  // Text of JSON, likewise: the first bytes of a BTF file are a count that is much smaller.
  if (count_ > kMostRecords && begins_as_json(content)) {
    kind_ = Kind::whole;
    most_ = UINT64_MAX;
    return {};
  }
  if (count_ > kMostRecords) {
    kind_ = Kind::foreign;
    complete_ = false;
    return {};
  }
  kind_ = Kind::btf;
  allow(kWord + count_ * kWord);
  if (beyond_room_ > 0) count_ = 0;  // without its table nothing of it can be used
  return {};
}

Result<bool> ContentBound::begin_safetensors(const Spool& content) {
  std::string start(std::min<std::uint64_t>(content.size(), kSafetensorsStart), '\0');
  BTF_TRY(content.read_at(0, std::as_writable_bytes(std::span(start))));
  if (!begins_as_safetensors(start)) return false;
  kind_ = Kind::safetensors;
  if (const auto data_offset = safetensors_data_offset(start)) {
    header_bytes_ = *data_offset;
    allow(header_bytes_);
  }
  return true;
}

// Once all of the header is there. What is not sound says nothing about the size.
Status ContentBound::take_safetensors(const Spool& content) {
  if (header_bytes_ == 0 || content.size() < header_bytes_) return {};
  const auto header = read_safetensors_header(SpoolSource(content));
  header_bytes_ = 0;
  if (!header && header.error().finding.empty()) return std::unexpected(header.error());
  if (!header || header->entries.empty()) return {};
  if (const Checked end = checked_add(header->data_offset, header->entries.back().end)) allow(*end);
  return {};
}

// Once its headers are there. What is not sound says nothing about the size.
Status ContentBound::take_tvm(const Spool& content) {
  const SpoolSource source(content);
  Window window(source, source.size());
  for (;;) {
    allow(tvm_.needs());
    if (tvm_.finished() || beyond_room_ > 0 || tvm_.needs() > source.size()) return {};
    const Status step = tvm_.step(window);
    if (!step && step.error().finding.empty()) return step;
    if (!step) return {};
  }
}

// Where its header ends shows at its end only: it is looked at when there is twice as much. What is
// not sound says nothing about the size.
Status ContentBound::take_gguf(const Spool& content) {
  if (gguf_next_ == kUnlimited || content.size() < gguf_next_) return {};
  const auto header = read_gguf_header(SpoolSource(content));
  if (!header && header.error().finding.empty()) return std::unexpected(header.error());
  if (header) allow(header->data_end);
  if (header || header.error().finding != "data-past-end") {
    gguf_next_ = kUnlimited;
  } else {
    gguf_next_ = std::min(2 * content.size(), kLongestGgufHeader);
    if (gguf_next_ <= content.size()) gguf_next_ = kUnlimited;
    most_ = std::max(most_, std::min(gguf_next_, kLongestGgufHeader) + kContentSlack);
  }
  return {};
}

// What is no table of records, and begins as ONNX models and tensors are written: with dims, a type
// or a version, but not with packed dims: those begin as an empty line does.
Result<bool> ContentBound::begin_protobuf(const Spool& content) {
  const SpoolSource source(content);
  BTF_ASSIGN(const std::uint64_t first, word_at(content, 0));
  if (first <= kMostRecords) return false;
  BTF_ASSIGN(const bool begins, onnx_begins(source));
  if (!begins || ((first & 0xff) != 0x08 && (first & 0xff) != 0x10)) return false;
  kind_ = Kind::protobuf;
  return true;
}

// Nothing says how many fields there are, but each how long it is.
Status ContentBound::take_protobuf(const Spool& content) {
  while (field_ < content.size()) {
    std::array<std::byte, kLongestProtoHead> start;
    const auto some =
        std::span(start).first(std::min<std::uint64_t>(start.size(), content.size() - field_));
    BTF_TRY(content.read_at(field_, some));
    const auto head = read_proto_head(some);
    if (!head) return {};
    // A tensor has so many dims at most, and one type; else this goes on and on, and is none.
    if (head->number == 1 && ++dims_ > kMaxRank) return {};
    if (head->number == 2 && ++types_ > 1) return {};
    const Checked end = checked_add(field_ + head->bytes, head->length);
    if (!end) return {};
    allow(*end);
    field_ = *end;
  }
  return {};
}

// False: too little of the record is there.
Result<bool> ContentBound::take_record(const Spool& content) {
  const auto there = [&](std::uint64_t end) {
    allow(end);
    return content.size() >= end;
  };
  // Wanted, but more than there is room for: what is said of the other records may be.
  const auto beyond = [&](std::uint64_t end) {
    if (end > room_) allow(end);
    return end > room_;
  };
  const std::uint64_t entry = kWord + next_ * kWord;
  if (!there(entry + kWord)) return false;
  BTF_ASSIGN(const std::uint64_t at, word_at(content, entry));
  // Here and below: what is not sound says nothing about the size. That is for the reader to tell.
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
    BTF_ASSIGN(nnz, word_at(content, data_at));
  }
  const Checked end = checked_add(data_at, payload_bytes(layout->layout, dtype->dtype, dims, nnz));
  if (!end) return true;
  allow(*end);
  ++sound_;
  first_end_ = std::min(first_end_, *end);
  return true;
}

// Behind the last record there may be a name table, which says how long it is. A file without it is
// whole, so it is allowed and not demanded.
Status ContentBound::take_names(const Spool& content) {
  const Checked begin = round_up(least_, kWord);
  if (!begin || beyond_room_ > 0 || !fits(*begin, wire::kNamesHeader, content.size())) return {};
  names_taken_ = true;
  std::array<std::byte, wire::kNamesHeader> header;
  BTF_TRY(content.read_at(*begin, header));
  const std::string_view magic(reinterpret_cast<const char*>(header.data()), kWord);
  if (magic != wire::kNamesBegin) return {};
  const Checked bytes = wire::name_table_bytes(count_, wire::load_u64(header.data() + 24),
                                               wire::load_u64(header.data() + 32));
  const Checked end = checked_add(begin, bytes);
  if (end && *bytes <= kMostNamesInStream && *end <= room_) most_ = std::max(most_, *end);
  return {};
}

Result<std::uint64_t> ContentBound::most(const Spool& content) {
  if (kind_ == Kind::unknown) {
    if (content.size() < kSafetensorsStart) return most_;
    BTF_TRY(begin(content));
  }
  if (kind_ == Kind::safetensors) BTF_TRY(take_safetensors(content));
  if (kind_ == Kind::tvm) BTF_TRY(take_tvm(content));
  if (kind_ == Kind::gguf) BTF_TRY(take_gguf(content));
  if (kind_ == Kind::protobuf) BTF_TRY(take_protobuf(content));
  while (kind_ == Kind::btf && next_ < count_) {
    BTF_ASSIGN(const bool known, take_record(content));
    if (!known) break;
    ++next_;
  }
  if (kind_ == Kind::btf && next_ == count_ && complete_ && !names_taken_)
    BTF_TRY(take_names(content));
  return most_;
}

std::uint64_t ContentBound::needed() const {
  switch (kind_) {
    case Kind::npy:
      return guessed_ ? 0 : least_;
    case Kind::protobuf:
    case Kind::safetensors:
    case Kind::tvm:
      return least_;
    case Kind::btf:
      return count_ > 0 && sound_ == count_ ? first_end_ : 0;
    default:
      return 0;
  }
}

std::string_view ContentBound::whose() const {
  switch (kind_) {
    case Kind::given:
      return "what was said of it";
    case Kind::npy:
      return "the array in its .npy header";
    case Kind::protobuf:
      return "the fields of its protocol buffer";
    case Kind::safetensors:
      return "its safetensors header";
    case Kind::gguf:
      return "its GGUF header";
    case Kind::tvm:
      return "the last header of TVM's parameters";
    default:
      return "the header of its BTF file";
  }
}

Result<std::uint64_t> ContentBound::least(const Spool& content, std::uint64_t frames) {
  // There will be no more to tell by.
  if (kind_ == Kind::unknown && content.size() >= kWord) BTF_TRY(begin(content));
  BTF_TRY(most(content));
  if (kind_ == Kind::safetensors || kind_ == Kind::tvm || kind_ == Kind::gguf)
    return frames > 1 ? least_ : 0;
  if (kind_ != Kind::btf) return 0;
  return frames > 1 || content.size() == kWord + count_ * kWord ? least_ : 0;
}

}  // namespace btf
