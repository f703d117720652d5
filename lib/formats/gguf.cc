// Reads GGUF: the header, its keys, and the tensors.
#include "formats/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/format.h"
#include "formats/gguf_blocks.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/json.h"

namespace btf {
namespace {

class GgufCursor {
 public:
  // Nothing at or after `most` is read.
  GgufCursor(const ByteSource& source, std::uint64_t at, std::uint64_t most, bool big_endian)
      : size_(source.size()),
        most_(most),
        big_endian_(big_endian),
        at_(at),
        window_(source, source.size()) {}

  std::uint64_t at() const { return at_; }
  void set_big_endian() { big_endian_ = true; }

  // Names the part that is read next, for errors: ("key", 3).
  void enter(std::string_view what, std::uint64_t number) {
    what_ = what;
    number_ = number;
  }

  template <std::unsigned_integral Number>
  Result<Number> number() {
    BTF_TRY(need(sizeof(Number)));
    BTF_ASSIGN(const std::byte* const bytes, window_.at(at_, sizeof(Number)));
    at_ += sizeof(Number);
    const auto value = load_little<Number>(bytes);
    return big_endian_ ? std::byteswap(value) : value;
  }

  // Skips a length and its string.
  Result<NamePlace> text() {
    BTF_ASSIGN(const auto bytes, number<std::uint64_t>());
    const NamePlace place{at_, bytes};
    BTF_TRY(skip(bytes));
    return place;
  }

  Status skip(std::uint64_t bytes) {
    BTF_TRY(need(bytes));
    at_ += bytes;
    return {};
  }

  Status need(Checked bytes) const {
    const Checked end = checked_add(at_, bytes);
    if (end && *end <= size_ && *end <= most_) return {};
    const std::string what = what_.empty() ? "the header" : concat(what_, " ", number_);
    const std::string from = concat(" from byte ", at_, " on");
    const std::string some = bytes ? std::to_string(*bytes) : "more than 2^64";
    if (end && *end <= most_)
      return malformed("data-past-end", size_, "the file is cut off in its header: ", what,
                       " needs ", some, " bytes", from, ", the file ends at byte ", size_);
    return malformed("gguf-header", at_, what, " needs ", some, " bytes", from, "; at most ", most_,
                     " bytes of header are read");
  }

 private:
  std::uint64_t size_;
  std::uint64_t most_;
  bool big_endian_;
  std::uint64_t at_;
  std::string_view what_;
  std::uint64_t number_ = 0;
  Window window_;
};

// The keys of a GGUF file as text.

constexpr std::uint64_t kLongestText = 1U << 16;
constexpr std::uint64_t kMaxMetadata = 1U << 24;
constexpr std::uint64_t kLongestList = 16;

template <typename Number>
std::string text_of(Number number) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

// The low bits of the value, as many as the type has.
std::string scalar_text(const GgufValueType& type, const std::byte* at, bool big_endian) {
  std::uint64_t code = 0;
  for (unsigned i = 0; i < type.bytes; ++i)
    code |= std::to_integer<std::uint64_t>(at[big_endian ? type.bytes - 1 - i : i]) << (8 * i);
  if (type.kind == GgufKind::boolean) return code != 0 ? "true" : "false";
  if (type.kind == GgufKind::real)
    return type.bytes == 4 ? text_of(std::bit_cast<float>(static_cast<std::uint32_t>(code)))
                           : text_of(std::bit_cast<double>(code));
  if (type.name.front() == 'u') return text_of(code);
  const unsigned spare = 64 - 8U * type.bytes;
  return text_of(static_cast<std::int64_t>(code << spare) >> spare);
}

class Metadata {
 public:
  Metadata(const ByteSource& source, bool big_endian) : source_(source), big_endian_(big_endian) {}

  Status take(const NamePlace& key, const GgufValue& value) {
    if (key.bytes > left_) return {};
    BTF_ASSIGN(const std::string name, name_at(source_, key));
    BTF_ASSIGN(const std::string text, text_of_value(value));
    if (!is_utf8(name) || !is_utf8(text) || name.size() + text.size() > left_) return {};
    left_ -= name.size() + text.size();
    pairs_.emplace(name, text);
    return {};
  }

  std::map<std::string, std::string> release() && { return std::move(pairs_); }

 private:
  Result<std::string> text_of_value(const GgufValue& value) const {
    if (value.type->kind == GgufKind::text) {
      if (value.bytes > std::min(kLongestText, left_))
        return concat("string of ", value.bytes, " bytes");
      return name_at(source_, {value.at, value.bytes});
    }
    const bool list = value.type->kind == GgufKind::list;
    if (list && (value.nested || value.of->kind == GgufKind::text || value.count > kLongestList))
      return concat(value.of->name, "[", value.count, "]");
    const GgufValueType& type = list ? *value.of : *value.type;
    std::array<std::byte, kLongestList * 8> bytes;
    BTF_TRY(source_.read_at(value.at, std::span(bytes).first(value.count * type.bytes)));
    std::string text;
    for (std::uint64_t i = 0; i < value.count; ++i)
      text += (i == 0 ? "" : ",") + scalar_text(type, bytes.data() + i * type.bytes, big_endian_);
    return list ? "[" + text + "]" : text;
  }

  const ByteSource& source_;
  bool big_endian_;
  std::map<std::string, std::string> pairs_;
  std::uint64_t left_ = kMaxMetadata;
};

// Numbers and strings unchanged, short arrays of numbers in brackets. Long strings and other arrays
// are only described by type and length ("string[32000]"), as is everything after the first 16 MiB.
// Strings that are not UTF-8 are left out.
Result<std::map<std::string, std::string>> gguf_metadata(const ByteSource& source,
                                                         const GgufHeader& header) {
  Metadata metadata(source, header.big_endian);
  BTF_TRY(for_gguf_keys(source, header, [&](const NamePlace& key, const GgufValue& value) {
    return metadata.take(key, value);
  }));
  return std::move(metadata).release();
}

using namespace ggml_blocks;

// Codes 4, 5, 31 to 33 and 36 to 38 belonged to types that were removed.
// clang-format off
constexpr auto kGgmlTypes = std::to_array<GgmlType>({
    { 0, "F32",       1,   4, DType::float32},
    { 1, "F16",       1,   2, DType::float16},
    { 2, "Q4_0",     32,  18, {}, q4_0},
    { 3, "Q4_1",     32,  20, {}, q4_1},
    { 6, "Q5_0",     32,  22, {}, q5_0},
    { 7, "Q5_1",     32,  24, {}, q5_1},
    { 8, "Q8_0",     32,  34, {}, q8_0},
    { 9, "Q8_1",     32,  36},
    {10, "Q2_K",    256,  84, {}, q2_k},
    {11, "Q3_K",    256, 110, {}, q3_k},
    {12, "Q4_K",    256, 144, {}, q4_k},
    {13, "Q5_K",    256, 176, {}, q5_k},
    {14, "Q6_K",    256, 210, {}, q6_k},
    {15, "Q8_K",    256, 292},
    {16, "IQ2_XXS", 256,  66, {}, iq2_xxs},
    {17, "IQ2_XS",  256,  74, {}, iq2_xs},
    {18, "IQ3_XXS", 256,  98, {}, iq3_xxs},
    {19, "IQ1_S",   256,  50, {}, iq1_s},
    {20, "IQ4_NL",   32,  18, {}, iq4_nl},
    {21, "IQ3_S",   256, 110, {}, iq3_s},
    {22, "IQ2_S",   256,  82, {}, iq2_s},
    {23, "IQ4_XS",  256, 136, {}, iq4_xs},
    {24, "I8",        1,   1, DType::int8},
    {25, "I16",       1,   2, DType::int16},
    {26, "I32",       1,   4, DType::int32},
    {27, "I64",       1,   8, DType::int64},
    {28, "F64",       1,   8, DType::float64},
    {29, "IQ1_M",   256,  56, {}, iq1_m},
    {30, "BF16",      1,   2, DType::bfloat16},
    {34, "TQ1_0",   256,  54, {}, tq1_0},
    {35, "TQ2_0",   256,  66, {}, tq2_0},
    {39, "MXFP4",    32,  17, {}, mxfp4, true},
    {40, "NVFP4",    64,  36, {}, nvfp4, true},
    {41, "Q1_0",    128,  18},
    {42, "Q2_0",     64,  18},
});

// clang-format on

static_assert(std::ranges::all_of(kGgmlTypes, [](const GgmlType& type) {
  return type.elements <= kMaxBlockElements && type.dtype.has_value() == (type.elements == 1);
}));

}  // namespace

const GgmlType* find_ggml_type(std::uint32_t code) {
  const auto* const found = std::ranges::find(kGgmlTypes, code, &GgmlType::code);
  return found == kGgmlTypes.end() ? nullptr : found;
}

namespace {

constexpr std::uint64_t kUsualAlignment = 32;
constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr std::uint64_t kMaxGgufSigned = std::numeric_limits<std::int64_t>::max();

// Indexed by code.
constexpr auto kGgufValueTypes = std::to_array<GgufValueType>({
    {"uint8", GgufKind::integer, 1},
    {"int8", GgufKind::integer, 1},
    {"uint16", GgufKind::integer, 2},
    {"int16", GgufKind::integer, 2},
    {"uint32", GgufKind::integer, 4},
    {"int32", GgufKind::integer, 4},
    {"float32", GgufKind::real, 4},
    {"bool", GgufKind::boolean, 1},
    {"string", GgufKind::text},
    {"array", GgufKind::list},
    {"uint64", GgufKind::integer, 8},
    {"int64", GgufKind::integer, 8},
    {"float64", GgufKind::real, 8},
});

std::unexpected<Error> wrong(std::uint64_t offset, std::string message) {
  return malformed("gguf-header", offset, std::move(message));
}

// Reports warnings; the caller may not want them.
struct WarningSink {
  const FindingSink& report;
  std::optional<std::uint64_t> tensor{};

  void note(FindingCode code, std::uint64_t offset, std::string message) const {
    if (report) report({code.severity(), code, tensor, offset, std::move(message)});
  }
};

Result<std::string> quoted(const ByteSource& source, const NamePlace& place) {
  BTF_ASSIGN(const std::string name,
             name_at(source, {place.at, std::min<std::uint64_t>(place.bytes, 200)}));
  return "'" + json_shown(name) + "'";
}

Result<const GgufValueType*> value_type(GgufCursor& cursor) {
  const std::uint64_t at = cursor.at();
  BTF_ASSIGN(const auto code, cursor.number<std::uint32_t>());
  if (code < kGgufValueTypes.size()) return &kGgufValueTypes[code];
  return wrong(at,
               concat("a value has type ", code, "; there are 0 to ", kGgufValueTypes.size() - 1));
}

Status skip_list(GgufCursor& cursor, GgufValue& value, std::uint64_t depth = 1) {
  const std::uint64_t begin = cursor.at();
  BTF_ASSIGN(value.of, value_type(cursor));
  BTF_ASSIGN(value.count, cursor.number<std::uint64_t>());
  value.at = cursor.at();
  value.nested = value.of->kind == GgufKind::list;
  if (depth > kDeepestGgufList)
    return wrong(begin, concat("arrays are nested more than ", kDeepestGgufList, " deep"));
  if (!value.nested && value.of->kind != GgufKind::text) {
    const Checked bytes = checked_mul(value.count, value.of->bytes);
    BTF_TRY(cursor.need(bytes));
    return cursor.skip(*bytes);
  }
  // Each has at least a length, an array also a type.
  const std::uint64_t least = sizeof(std::uint64_t) + (value.nested ? sizeof(std::uint32_t) : 0);
  BTF_TRY(cursor.need(checked_mul(value.count, least)));
  for (std::uint64_t i = 0; i < value.count; ++i) {
    GgufValue inner;
    if (value.nested)
      BTF_TRY(skip_list(cursor, inner, depth + 1));
    else
      BTF_TRY(cursor.text());
  }
  return {};
}

Result<GgufValue> take_value(GgufCursor& cursor) {
  GgufValue value;
  BTF_ASSIGN(value.type, value_type(cursor));
  value.at = cursor.at();
  if (value.type->kind == GgufKind::list) {
    BTF_TRY(skip_list(cursor, value));
  } else if (value.type->kind == GgufKind::text) {
    BTF_ASSIGN(const NamePlace text, cursor.text());
    value.at = text.at;
  } else {
    BTF_TRY(cursor.skip(value.type->bytes));
  }
  value.bytes = cursor.at() - value.at;
  return value;
}

Status take_keys(GgufCursor& cursor, std::uint64_t keys, const TakeGgufKey& take) {
  for (std::uint64_t i = 0; i < keys; ++i) {
    const std::uint64_t at = cursor.at();
    cursor.enter("key", i);
    BTF_ASSIGN(const NamePlace key, cursor.text());
    if (key.bytes > kLongestGgufKey)
      return wrong(at, concat("key ", i, " has ", key.bytes, " bytes; at most ", kLongestGgufKey,
                              " are read"));
    cursor.enter("the value of key", i);
    BTF_ASSIGN(const GgufValue value, take_value(cursor));
    BTF_TRY(take(key, value));
  }
  return {};
}

// Counts elements and bytes as ggml does, in 63 bits even if a dim is 0.
Status measure(GgufTensor& tensor, const std::string& name, std::uint64_t at) {
  const Checked elements = element_count(tensor.dims);
  const std::uint64_t row = tensor.dims.empty() ? 1 : tensor.dims.back();
  if (row % tensor.type->elements != 0)
    return wrong(at,
                 concat("tensor ", name, " is ", tensor.type->name, ", in blocks of ",
                        tensor.type->elements, " elements, which rows of ", row, " do not fill"));
  const Checked bytes =
      elements ? checked_mul(*elements / tensor.type->elements, tensor.type->bytes) : elements;
  if (!bytes || *elements > kMaxGgufSigned || *bytes > kMaxGgufSigned)
    return malformed(
        "size-overflow", at,
        "the product of the dims of tensor " + name + ", or its size, does not fit 63 bits");
  tensor.bytes = *bytes;
  return {};
}

Result<GgufTensor> take_tensor(const ByteSource& source, GgufCursor& cursor,
                               const WarningSink& odd) {
  GgufTensor tensor;
  const std::uint64_t begin = cursor.at();
  BTF_ASSIGN(tensor.name, cursor.text());
  const auto too_long = [&](std::uint64_t most, const std::string& who) {
    return concat("the name of a tensor has ", tensor.name.bytes, " bytes; ", who, " at most ",
                  most);
  };
  if (tensor.name.bytes > kLongestGgufName)
    return malformed("gguf-names", begin, too_long(kLongestGgufName, "names have"));
  if (tensor.name.bytes > kLongestGgmlName)
    odd.note("gguf-names", begin, too_long(kLongestGgmlName, "ggml takes"));
  BTF_ASSIGN(const std::string text, name_at(source, tensor.name));
  if (text.contains('\0'))
    return malformed("gguf-names", begin,
                     "the name of a tensor has a zero byte in it, where ggml ends it");
  const std::string name = "'" + json_shown(text) + "'";
  const std::uint64_t ndim_at = cursor.at();
  BTF_ASSIGN(const auto ndim, cursor.number<std::uint32_t>());
  const auto too_many = [&](std::uint64_t most, const std::string& who) {
    return concat("tensor ", name, " has ", ndim, " dims; at most ", most, who);
  };
  if (ndim > kMaxRank) return wrong(ndim_at, too_many(kMaxRank, " there can be"));
  if (ndim > kMaxGgmlDims) odd.note("gguf-header", ndim_at, too_many(kMaxGgmlDims, " ggml takes"));
  tensor.dims.resize(ndim);
  for (std::uint64_t& dim : std::views::reverse(tensor.dims)) {
    const std::uint64_t at = cursor.at();
    BTF_ASSIGN(dim, cursor.number<std::uint64_t>());
    if (dim > kMaxGgufSigned)
      return wrong(at, concat("a dim of tensor ", name, " is ", static_cast<std::int64_t>(dim)));
  }
  const std::uint64_t type_at = cursor.at();
  BTF_ASSIGN(tensor.type_code, cursor.number<std::uint32_t>());
  tensor.type = find_ggml_type(tensor.type_code);
  if (tensor.type == nullptr) {
    tensor.type = &kUnknownGgmlType;
    odd.note("unknown-dtype", type_at, "tensor " + name + " is of " + unknown_type_text(tensor));
  }
  BTF_ASSIGN(tensor.offset, cursor.number<std::uint64_t>());
  BTF_TRY(measure(tensor, name, begin));
  return tensor;
}

class HeaderReader {
 public:
  HeaderReader(const ByteSource& source, const FindingSink& odd)
      : source_(source), odd_{odd}, cursor_(source, 0, kLongestGgufHeader, false) {}

  Result<GgufHeader> read() {
    BTF_TRY(begin());
    BTF_TRY(take_keys(
        cursor_, header_.keys, [&](const NamePlace& key, const GgufValue& value) -> Status {
          keys_.push_back(key);
          if (value.nested) {
            BTF_ASSIGN(const std::string name, quoted(source_, key));
            odd_.note(
                "gguf-header", value.at,
                "the value of key " + name + " is an array of arrays, which no program reads");
          }
          return note_alignment(key, value);
        }));
    BTF_TRY(check_names(keys_, "keys"));
    std::vector<NamePlace> names;
    for (std::uint64_t i = 0; i < tensors_; ++i) {
      const std::uint64_t at = cursor_.at();
      cursor_.enter("the description of tensor", i);
      odd_.tensor = i;
      BTF_ASSIGN(const GgufTensor tensor, take_tensor(source_, cursor_, odd_));
      header_.infos.push_back(at);
      names.push_back(tensor.name);
      BTF_TRY(place(tensor, at));
    }
    BTF_TRY(check_names(names, "tensors"));
    return finish();
  }

 private:
  Status begin() {
    BTF_TRY(cursor_.skip(kGgufMagic.size()));
    BTF_ASSIGN(auto version, cursor_.number<std::uint32_t>());
    if (version != 0 && (version & 0xffff) == 0) {
      version = std::byteswap(version);
      header_.big_endian = true;
      cursor_.set_big_endian();
    }
    if (version != 2 && version != 3)
      return wrong(4, concat("the file has version ", version, "; only 2 and 3 are read"));
    BTF_ASSIGN(tensors_, cursor_.number<std::uint64_t>());
    BTF_ASSIGN(header_.keys, cursor_.number<std::uint64_t>());
    BTF_TRY(check_count(8, tensors_, kMaxGgufTensors, "tensors"));
    return check_count(16, header_.keys, kMaxGgufKeys, "keys");
  }

  static Status check_count(std::uint64_t at, std::uint64_t count, std::uint64_t most,
                            const std::string& what) {
    if (count <= most) return {};
    return wrong(at, concat("the file says that it has ", count, " ", what, "; at most ", most,
                            " are read"));
  }

  Status note_alignment(const NamePlace& key, const GgufValue& value) {
    if (key.bytes != kAlignmentKey.size()) return {};
    BTF_ASSIGN(const std::string name, name_at(source_, key));
    if (name != kAlignmentKey) return {};
    if (value.type->name != "uint32")
      return wrong(key.at,
                   name + " is of type " + std::string(value.type->name) + " and should be uint32");
    GgufCursor number(source_, value.at, kLongestGgufHeader, header_.big_endian);
    BTF_ASSIGN(alignment_, number.number<std::uint32_t>());
    if (alignment_ != 0 && (alignment_ & (alignment_ - 1)) == 0) return {};
    return wrong(value.at, concat(name, " is ", alignment_, ", which is not a power of 2"));
  }

  Status check_names(const std::vector<NamePlace>& names, const std::string& what) const {
    BTF_ASSIGN(const auto same, find_same_names(source_, names));
    if (!same) return {};
    BTF_ASSIGN(const std::string name, quoted(source_, names[same->second]));
    return malformed("gguf-names", names[same->second].at, what, " ", same->first, " and ",
                     same->second, " are both called ", name);
  }

  // Tensors should follow one another, each aligned. A gap is a warning; an overlap with the
  // previous tensor is an error. After a tensor of unknown size, the next place is unknown.
  Status place(const GgufTensor& tensor, std::uint64_t at) {
    if (tensor.offset < next_ || (tensor.offset > next_ && header_.end_known)) {
      BTF_ASSIGN(const std::string name, quoted(source_, tensor.name));
      std::string text = concat(
          "tensor ", name, " is said to begin at byte ", tensor.offset, " of the data, and ",
          next_ == 0 ? "the data begin at byte 0"
                     : concat("the one before it ends at byte ", next_, " with its padding"));
      if (tensor.offset < next_) return malformed("gguf-offsets", at, std::move(text));
      odd_.note("gguf-offsets", at, std::move(text));
    }
    const Checked end = checked_add(tensor.offset, tensor.bytes);
    const Checked next = round_up(end, alignment_);
    if (!next || *next > kMaxGgufSigned)
      return malformed("size-overflow", at, "the end of the data does not fit 63 bits");
    header_.data_end = std::max(header_.data_end, *end);
    header_.end_known = tensor.type != &kUnknownGgmlType;
    next_ = header_.end_known ? *next : tensor.offset;
    header_.end = std::max(header_.end, *next);
    return {};
  }

  // Converts offsets in the data to offsets in the file.
  Result<GgufHeader> finish() {
    header_.data_offset = *round_up(cursor_.at(), alignment_);
    const Checked file_end = checked_add(header_.data_offset, header_.end);
    if (!file_end)
      return malformed("size-overflow", cursor_.at(), "the end of the data does not fit 64 bits");
    header_.end = *file_end;
    // Without tensors there is no data to align.
    header_.data_end =
        header_.infos.empty() ? cursor_.at() : header_.data_offset + header_.data_end;
    return std::move(header_);
  }

  const ByteSource& source_;
  WarningSink odd_;
  GgufCursor cursor_;
  GgufHeader header_;
  std::uint64_t next_ = 0;  // where the next tensor's data should begin
  std::uint64_t tensors_ = 0;
  std::uint32_t alignment_ = kUsualAlignment;
  std::vector<NamePlace> keys_;
};

}  // namespace

std::string unknown_type_text(const GgufTensor& tensor) {
  return concat("ggml's type ", tensor.type_code,
                ", which was removed or is newer than this tool: its size is not known");
}

Result<GgufHeader> read_gguf_header(const ByteSource& source, const FindingSink& odd) {
  return HeaderReader(source, odd).read();
}

Result<GgufTensor> read_gguf_tensor(const ByteSource& source, const GgufHeader& header,
                                    std::uint64_t index) {
  GgufCursor cursor(source, header.infos[index], kLongestGgufHeader, header.big_endian);
  const FindingSink nobody;
  return take_tensor(source, cursor, WarningSink{nobody});
}

Status for_gguf_keys(const ByteSource& source, const GgufHeader& header, const TakeGgufKey& take) {
  GgufCursor cursor(source, kGgufKeysAt, kLongestGgufHeader, header.big_endian);
  return take_keys(cursor, header.keys, take);
}

namespace {

class GgufBound final : public StreamBound {
 public:
  // The end of the header is only known when it was read, so it is read again whenever the content
  // has doubled.
  Status take(const ByteSource& content, ContentExtent& extent) override {
    if (next_ == kUnlimited || content.size() < next_) return {};
    const auto header = read_gguf_header(content);
    if (!header && header.error().finding.empty()) return std::unexpected(header.error());
    if (header) extent.need(header->data_end);
    if (header || header.error().finding != "data-past-end") {
      next_ = kUnlimited;
      return {};
    }
    const std::uint64_t enough = std::min(2 * content.size(), kLongestGgufHeader);
    extent.allow(enough + kContentSlack);
    next_ = enough > content.size() ? enough : kUnlimited;
    return {};
  }
  std::string_view subject() const override { return "its GGUF header"; }
  std::uint64_t least(const ContentExtent& extent, const ByteSource&,
                      std::uint64_t frames) const override {
    return frames > 1 ? extent.least() : 0;
  }

 private:
  std::uint64_t next_ = 0;  // content wanted before the header is read again
};

}  // namespace

// A BTF file with this many tensors has zeros after them.
Result<bool> begins_as_gguf(const ByteSource& beginning) {
  std::array<char, sizeof(std::uint64_t)> start;
  if (beginning.size() < start.size()) return false;
  BTF_TRY(beginning.read_at(0, std::as_writable_bytes(std::span(start))));
  return std::string_view(start.data(), start.size()).starts_with(kGgufMagic) &&
         std::ranges::any_of(start | std::views::drop(kGgufMagic.size()),
                             [](char c) { return c != 0; });
}

std::unique_ptr<StreamBound> gguf_bound() { return std::make_unique<GgufBound>(); }

namespace {

class GgufReader final : public TensorReader {
 public:
  GgufReader(const ByteSource& source, GgufHeader header)
      : source_(source), header_(std::move(header)) {}

  std::uint64_t tensor_count() const override { return header_.infos.size(); }
  // They follow one another.
  bool overlap_is_settled() const override { return true; }

  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    BTF_ASSIGN(const GgufTensor tensor, read(index));
    return name_at(source_, tensor.name);
  }

  Result<FileAttributes> attributes() const override {
    FileAttributes attributes;
    BTF_ASSIGN(attributes.metadata, gguf_metadata(source_, header_));
    for (std::uint64_t i = 0; i < tensor_count(); ++i) {
      BTF_ASSIGN(const GgufTensor tensor, read(i));
      if (!tensor.type->dtype) attributes.tensors[i].dtype_in_source = type_name(tensor);
    }
    return attributes;
  }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    BTF_ASSIGN(const GgufTensor tensor, read(index));
    TensorInfo info;
    info.index = index;
    info.record_offset = header_.data_offset + tensor.offset;
    info.data_offset = info.record_offset;
    info.data_bytes = tensor.bytes;
    info.dims = tensor.dims;
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    if (tensor.type->dtype) {
      BTF_TRY(set_dtype(info, *tensor.type->dtype));
      return info;
    }
    info.foreign_dtype = type_name(tensor);
    BTF_ASSIGN(info.foreign_reason, reason(tensor));
    return info;
  }

  Result<std::optional<TensorInfo>> dequantized(std::uint64_t index) const override {
    BTF_ASSIGN(TensorInfo info, tensor(index));
    BTF_ASSIGN(const GgufTensor tensor, read(index));
    if (!decodes(*tensor.type)) return info;
    info.foreign_dtype.clear();
    info.foreign_reason.clear();
    info.data_offset = 0;
    BTF_TRY(set_dtype(info, DType::float32));
    info.data_bytes = storage_bytes(*info.storage, DType::float32);
    return info;
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const auto known = made_.find(index);
    if (known != made_.end()) return known->second.get();
    BTF_ASSIGN(const GgufTensor tensor, read(index));
    const std::uint64_t first = header_.data_offset + tensor.offset;
    std::unique_ptr<ByteSource> made;
    if (tensor.type->dtype) {
      if (!header_.big_endian || tensor.type->bytes == 1) return nullptr;
      made = swapped_source(source_, first, tensor.type->bytes);
    } else if (decodes(*tensor.type)) {
      made = block_source(source_, first, *element_count(tensor.dims), *tensor.type);
    } else {
      BTF_ASSIGN(std::string why, reason(tensor));
      return fail(ErrorCode::unsupported, std::move(why));
    }
    return made_.emplace(index, std::move(made)).first->second.get();
  }

 private:
  Result<GgufTensor> read(std::uint64_t index) const {
    return read_gguf_tensor(source_, header_, index);
  }

  static Status set_dtype(TensorInfo& info, DType dtype) {
    info.dtype = dtype;
    info.dtype_code = btf::info(dtype).code();
    BTF_ASSIGN(info.storage, resolve(Layout::linear, info.dims, dtype));
    return {};
  }

  bool decodes(const GgmlType& type) const {
    return type.decode != nullptr && (type.any_endian || !header_.big_endian);
  }

  static std::string type_name(const GgufTensor& tensor) {
    if (tensor.type != &kUnknownGgmlType) return std::string(tensor.type->name);
    return concat("ggml type ", tensor.type_code);
  }

  Result<std::string> reason(const GgufTensor& tensor) const {
    BTF_ASSIGN(const std::string name, name_at(source_, tensor.name));
    const std::string is = "'" + json_shown(name) + "' is ";
    const GgmlType& type = *tensor.type;
    if (&type == &kUnknownGgmlType) return is + "of " + unknown_type_text(tensor);
    const std::string blocks =
        concat(is, type.name, ": ", type.elements, " elements in ", type.bytes, " bytes");
    if (type.decode == nullptr) return blocks + ", which this tool does not decode";
    if (decodes(type)) return blocks + "; `dequantize` gives float32";
    return blocks + ", whose scales some writers of big-endian files byte-swap and some do not";
  }

  const ByteSource& source_;
  GgufHeader header_;
  mutable std::map<std::uint64_t, std::unique_ptr<ByteSource>> made_;  // decoded or byte-swapped
};

Status check_end(const ByteSource& source, const GgufHeader& header) {
  const std::uint64_t size = source.size();
  if (size >= header.data_end && !header.end_known) return {};
  if (size < header.data_end)
    return malformed("data-past-end", size, "the file is cut off: has ", size, " of ",
                     header.data_end, " bytes");
  if (size <= header.end && !(source.more_follows() && size == header.end)) return {};
  return malformed("bytes-after-data", header.end, source.more_follows() ? "more than " : "",
                   size - header.end, size - header.end == 1 ? " byte follows" : " bytes follow",
                   " after the last tensor, which ends at byte ", header.end, " with its padding");
}

}  // namespace

Result<bool> recognizes_gguf(const ByteSource& source, const OpenRequest&) {
  std::array<std::byte, sizeof(std::uint64_t)> start{};
  const std::uint64_t some = std::min<std::uint64_t>(source.size(), start.size());
  if (some < kGgufMagic.size()) return false;
  BTF_TRY(source.read_at(0, std::span(start).first(some)));
  if (!std::ranges::equal(std::span(start).first(kGgufMagic.size()),
                          std::as_bytes(std::span(kGgufMagic))))
    return false;
  // A BTF file with this many tensors would have 9 GB of offsets.
  const auto count = load_little<std::uint64_t>(start.data());
  return count > source.size() / sizeof(std::uint64_t);
}

Result<std::unique_ptr<TensorReader>> open_gguf(const ByteSource& source,
                                                const OpenRequest& request) {
  if (request.options.spec)
    return fail(ErrorCode::invalid_argument,
                "is a GGUF file and describes its tensors itself; no spec applies to it");
  BTF_ASSIGN(GgufHeader header, read_gguf_header(source));
  BTF_TRY(check_end(source, header));
  return std::make_unique<GgufReader>(source, std::move(header));
}

// All other errors prevent the file from being opened.
Status check_gguf(const TensorFile& file, const FindingSink& report) {
  std::set<std::uint64_t> unknown;  // tensors whose unknown type is already an error
  BTF_TRY(read_gguf_header(file.source(), [&](const Finding& finding) {
    if (finding.code == "unknown-dtype") unknown.insert(*finding.tensor);
    report(finding);
  }));
  return check_tensors(file, "foreign-dtype", [&](const Finding& finding) {
    if (!finding.tensor || !unknown.contains(*finding.tensor)) report(finding);
  });
}

}  // namespace btf
