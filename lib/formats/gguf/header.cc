#include "formats/gguf/header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/gguf/cursor.h"
#include "formats/json/json_string.h"

namespace btf {
namespace {

constexpr std::uint64_t kUsualAlignment = 32;
constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr std::uint64_t kMostGgufSigned = std::numeric_limits<std::int64_t>::max();

// By their codes.
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

// Oddities that are no errors; a caller may leave them out.
struct Odd {
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
  return wrong(at, "a value has type " + std::to_string(code) + "; there are 0 to " +
                       std::to_string(kGgufValueTypes.size() - 1));
}

Status skip_list(GgufCursor& cursor, GgufValue& value, std::uint64_t depth = 1) {
  const std::uint64_t begin = cursor.at();
  BTF_ASSIGN(value.of, value_type(cursor));
  BTF_ASSIGN(value.count, cursor.number<std::uint64_t>());
  value.at = cursor.at();
  value.nested = value.of->kind == GgufKind::list;
  if (depth > kDeepestGgufList)
    return wrong(begin,
                 "arrays are nested more than " + std::to_string(kDeepestGgufList) + " deep");
  if (!value.nested && value.of->kind != GgufKind::text) {
    const Checked bytes = checked_mul(value.count, value.of->bytes);
    BTF_TRY(cursor.need(bytes));
    return cursor.skip(*bytes);
  }
  // Each has a length at least, an array a type too.
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
      return wrong(at, "key " + std::to_string(i) + " has " + std::to_string(key.bytes) +
                           " bytes; at most " + std::to_string(kLongestGgufKey) + " are read");
    cursor.enter("the value of key", i);
    BTF_ASSIGN(const GgufValue value, take_value(cursor));
    BTF_TRY(take(key, value));
  }
  return {};
}

// Elements and bytes as ggml counts them, in 63 bits; also where a dim is 0.
Status measure(GgufTensor& tensor, const std::string& name, std::uint64_t at) {
  const Checked elements = element_count(tensor.dims);
  const std::uint64_t row = tensor.dims.empty() ? 1 : tensor.dims.back();
  if (row % tensor.type->elements != 0)
    return wrong(at, "tensor " + name + " is " + std::string(tensor.type->name) +
                         ", in blocks of " + std::to_string(tensor.type->elements) +
                         " elements, which rows of " + std::to_string(row) + " do not fill");
  const Checked bytes =
      elements ? checked_mul(*elements / tensor.type->elements, tensor.type->bytes) : elements;
  if (!bytes || *elements > kMostGgufSigned || *bytes > kMostGgufSigned)
    return malformed(
        "size-overflow", at,
        "the product of the dims of tensor " + name + ", or its size, does not fit 63 bits");
  tensor.bytes = *bytes;
  return {};
}

Result<GgufTensor> take_tensor(const ByteSource& source, GgufCursor& cursor, const Odd& odd) {
  GgufTensor tensor;
  const std::uint64_t begin = cursor.at();
  BTF_ASSIGN(tensor.name, cursor.text());
  const auto too_long = [&](std::uint64_t most, const std::string& who) {
    return "the name of a tensor has " + std::to_string(tensor.name.bytes) + " bytes; " + who +
           " at most " + std::to_string(most);
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
    return "tensor " + name + " has " + std::to_string(ndim) + " dims; at most " +
           std::to_string(most) + who;
  };
  if (ndim > kMaxRank) return wrong(ndim_at, too_many(kMaxRank, " there can be"));
  if (ndim > kMostGgmlDims)
    odd.note("gguf-header", ndim_at, too_many(kMostGgmlDims, " ggml takes"));
  tensor.dims.resize(ndim);
  for (std::uint64_t& dim : std::views::reverse(tensor.dims)) {
    const std::uint64_t at = cursor.at();
    BTF_ASSIGN(dim, cursor.number<std::uint64_t>());
    if (dim > kMostGgufSigned)
      return wrong(
          at, "a dim of tensor " + name + " is " + std::to_string(static_cast<std::int64_t>(dim)));
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
      return wrong(4,
                   "the file has version " + std::to_string(version) + "; only 2 and 3 are read");
    BTF_ASSIGN(tensors_, cursor_.number<std::uint64_t>());
    BTF_ASSIGN(header_.keys, cursor_.number<std::uint64_t>());
    BTF_TRY(check_count(8, tensors_, kMostGgufTensors, "tensors"));
    return check_count(16, header_.keys, kMostGgufKeys, "keys");
  }

  static Status check_count(std::uint64_t at, std::uint64_t count, std::uint64_t most,
                            const std::string& what) {
    if (count <= most) return {};
    return wrong(at, "the file says that it has " + std::to_string(count) + " " + what +
                         "; at most " + std::to_string(most) + " are read");
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
    return wrong(value.at,
                 name + " is " + std::to_string(alignment_) + ", which is not a power of 2");
  }

  Status check_names(const std::vector<NamePlace>& names, const std::string& what) const {
    BTF_ASSIGN(const auto same, find_same_names(source_, names));
    if (!same) return {};
    BTF_ASSIGN(const std::string name, quoted(source_, names[same->second]));
    return malformed("gguf-names", names[same->second].at,
                     what + " " + std::to_string(same->first) + " and " +
                         std::to_string(same->second) + " are both called " + name);
  }

  // One should stand behind the other, each at a multiple of the alignment: a gap is odd, and what
  // begins before the end of the last is an error. Behind one of unknown size nobody knows where
  // the next should be.
  Status place(const GgufTensor& tensor, std::uint64_t at) {
    if (tensor.offset < next_ || (tensor.offset > next_ && header_.end_known)) {
      BTF_ASSIGN(const std::string name, quoted(source_, tensor.name));
      std::string text = "tensor " + name + " is said to begin at byte " +
                         std::to_string(tensor.offset) + " of the data, and " +
                         (next_ == 0 ? "the data begin at byte 0"
                                     : "the one before it ends at byte " + std::to_string(next_) +
                                           " with its padding");
      if (tensor.offset < next_) return malformed("gguf-offsets", at, std::move(text));
      odd_.note("gguf-offsets", at, std::move(text));
    }
    const Checked end = checked_add(tensor.offset, tensor.bytes);
    const Checked next = round_up(end, alignment_);
    if (!next || *next > kMostGgufSigned)
      return malformed("size-overflow", at, "the end of the data does not fit 63 bits");
    header_.data_end = std::max(header_.data_end, *end);
    header_.end_known = tensor.type != &kUnknownGgmlType;
    next_ = header_.end_known ? *next : tensor.offset;
    header_.end = std::max(header_.end, *next);
    return {};
  }

  // From offsets in the data to offsets in the file.
  Result<GgufHeader> finish() {
    header_.data_offset = *round_up(cursor_.at(), alignment_);
    const Checked file_end = checked_add(header_.data_offset, header_.end);
    if (!file_end)
      return malformed("size-overflow", cursor_.at(), "the end of the data does not fit 64 bits");
    header_.end = *file_end;
    // Without tensors there are no data, and nothing to align.
    header_.data_end =
        header_.infos.empty() ? cursor_.at() : header_.data_offset + header_.data_end;
    return std::move(header_);
  }

  const ByteSource& source_;
  Odd odd_;
  GgufCursor cursor_;
  GgufHeader header_;
  std::uint64_t next_ = 0;  // where the next tensor's data should be
  std::uint64_t tensors_ = 0;
  std::uint32_t alignment_ = kUsualAlignment;
  std::vector<NamePlace> keys_;
};

}  // namespace

std::string unknown_type_text(const GgufTensor& tensor) {
  return "ggml's type " + std::to_string(tensor.type_code) +
         ", which was removed or is newer than this tool: its size is not known";
}

Result<GgufHeader> read_gguf_header(const ByteSource& source, const FindingSink& odd) {
  return HeaderReader(source, odd).read();
}

Result<GgufTensor> read_gguf_tensor(const ByteSource& source, const GgufHeader& header,
                                    std::uint64_t index) {
  GgufCursor cursor(source, header.infos[index], kLongestGgufHeader, header.big_endian);
  const FindingSink nobody;
  return take_tensor(source, cursor, Odd{nobody});
}

Status for_gguf_keys(const ByteSource& source, const GgufHeader& header, const TakeGgufKey& take) {
  GgufCursor cursor(source, kGgufKeysAt, kLongestGgufHeader, header.big_endian);
  return take_keys(cursor, header.keys, take);
}

}  // namespace btf
