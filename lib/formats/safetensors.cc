// Reads and writes safetensors. The table of types has the order of the reference implementation,
// which sorts tensors by it, the last type first.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/json.h"
#include "formats/readers.h"

namespace btf {
namespace {

struct SafetensorsType {
  std::string_view name;
  std::uint8_t bits = 0;
};

constexpr auto kSafetensorsTypes = std::to_array<SafetensorsType>(
    {{"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
     {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
     {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
     {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
     {"I64", 64},        {"U64", 64}});

// The header of a safetensors file: JSON with the dtype, shape and place of each tensor.
//
//   FILE = u64 N, N bytes of JSON, data
//   JSON = {"NAME":{"dtype":"F16","shape":[2,3],"data_offsets":[BEGIN,END]}, ..}, offsets into the
//   data;
//          "__metadata__" is an object of texts

// Length of N; the header is padded to a multiple of it.
constexpr std::uint64_t kSafetensorsWord = 8;
constexpr std::uint64_t kLongestSafetensorsHeader = 100'000'000;
constexpr std::string_view kSafetensorsMetadata = "__metadata__";

// As small as possible, since there may be millions. Texts stay in the file; these are their
// offsets in the file.
struct SafetensorsEntry {
  std::uint32_t name_at = 0;  // after the quote
  std::uint32_t name_bytes = 0;
  std::uint32_t shape_at = 0;  // of the bracket
  std::uint32_t shape_bytes = 0;
  std::uint32_t dtype_at = 0;  // after the quote
  std::uint8_t type = 0;       // index in kSafetensorsTypes, or kUnknownType
  std::uint64_t begin = 0;     // offset in the data
  std::uint64_t end = 0;
};

constexpr std::uint8_t kUnknownType = 0xff;

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // sorted by offset
  std::optional<JsonExtent> metadata;
  std::uint64_t data_offset = 0;
};
constexpr std::size_t kSafetensorsStart = 64;

// The size of the header including the 8 bytes before it; an error if it is too large.
Result<std::uint64_t> safetensors_data_offset(std::string_view start);

// The options for parsing texts of the header.
JsonOptions safetensors_json();

Result<std::string> safetensors_name(const ByteSource& source, const SafetensorsEntry& entry);

using Dtypes = std::array<std::optional<DType>, kSafetensorsTypes.size()>;

const Dtypes& dtypes_of_types() {
  static const Dtypes kDtypes = [] {
    Dtypes found;
    for (std::size_t i = 0; i < found.size(); ++i)
      for (const DTypeInfo& row : dtypes())
        if (row.safetensors == kSafetensorsTypes[i].name) found[i] = row.dtype;
    return found;
  }();
  return kDtypes;
}

template <typename Range, typename Value, typename... Projection>
std::optional<std::uint8_t> place(const Range& range, const Value& value, Projection... of) {
  const auto found = std::ranges::find(range, value, of...);
  if (found == range.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - range.begin());
}

// The index in the table.
std::optional<std::uint8_t> find_safetensors_type(std::string_view name) {
  return place(kSafetensorsTypes, name, &SafetensorsType::name);
}

std::optional<std::uint8_t> safetensors_type_of(DType dtype) {
  return place(dtypes_of_types(), std::optional(dtype));
}

// Unset if there is no corresponding dtype.
std::optional<DType> dtype_of(const SafetensorsType& type) {
  return dtypes_of_types()[static_cast<std::size_t>(&type - kSafetensorsTypes.data())];
}

constexpr std::string_view kJsonSpaces = " \t\n\r";

std::string_view trimmed_json(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kJsonSpaces), text.size()));
  return text;
}

// The bits of an element according to the name of an unknown type: "F6_E2M3", "C128".
std::uint64_t bits_in_name(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_of("0123456789"), name.size()));
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), bits);
  return error == std::errc{} && bits <= 1024 ? bits : 0;
}

std::string range_text(const SafetensorsEntry& entry) {
  return concat("[", entry.begin, ", ", entry.end, ")");
}

std::string bytes_belong(std::uint64_t begin, std::uint64_t end) {
  return concat("bytes ", begin, " to ", end, " belong to no tensor");
}

// The members of a tensor that have been read.
struct Members {
  std::string quoted;  // its name for messages
  std::string dtype;
  bool typed = false;
  bool shaped = false;
  bool placed = false;
  Checked elements = 1;  // product of the dims that are not 0
  bool empty = false;
};

class Parser {
 public:
  Parser(const ByteSource& source, std::uint64_t data_offset)
      : source_(source),
        reader_(source, {kSafetensorsWord, data_offset - kSafetensorsWord}, safetensors_json()) {}

  Status run(SafetensorsHeader& header) {
    BTF_TRY(reader_.expect(JsonKind::object_begin, "it"));
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (name.complete && name.text == kSafetensorsMetadata) return take_metadata(header);
      BTF_ASSIGN(const SafetensorsEntry entry, take_tensor(name));
      header.entries.push_back(entry);
      return {};
    }));
    BTF_TRY(reader_.next());
    return {};
  }

 private:
  Status take_metadata(SafetensorsHeader& header) {
    BTF_ASSIGN(const JsonToken begin, reader_.next());
    // The reference implementation accepts null.
    if (begin.kind == JsonKind::null) return {};
    if (begin.kind != JsonKind::object_begin)
      return reader_.wrong(
          begin.extent.offset,
          "__metadata__ is " + std::string(json_kind_name(begin.kind)) + " and not an object");
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      const std::string what = "'" + json_shown(name.text) + "' of __metadata__";
      BTF_TRY(reader_.expect(JsonKind::string, what));
      return {};
    }));
    header.metadata = JsonExtent{begin.extent.offset, reader_.offset() - begin.extent.offset};
    return {};
  }

  Result<SafetensorsEntry> take_tensor(const JsonToken& name) {
    SafetensorsEntry entry;
    entry.name_at = static_cast<std::uint32_t>(name.extent.offset);
    entry.name_bytes = static_cast<std::uint32_t>(name.extent.length);
    Members tensor{.quoted = "tensor '" + json_shown(name.text) + "'", .dtype = {}};
    BTF_TRY(reader_.expect(JsonKind::object_begin, tensor.quoted));
    BTF_TRY(reader_.members([&](const JsonToken& member) -> Status {
      if (member.text == "dtype") return take_dtype(tensor, entry);
      if (member.text == "shape") return take_shape(tensor, entry);
      if (member.text == "data_offsets") return take_offsets(tensor, entry);
      BTF_TRY(reader_.skip_value());
      return {};
    }));
    for (const auto& [there, what] :
         {std::pair(tensor.typed, "dtype"), std::pair(tensor.shaped, "shape"),
          std::pair(tensor.placed, "data_offsets")})
      if (!there) return reader_.wrong(entry.name_at, tensor.quoted + " has no '" + what + "'");
    BTF_TRY(check_size(tensor, entry));
    return entry;
  }

  Status take_dtype(Members& tensor, SafetensorsEntry& entry) {
    BTF_ASSIGN(const JsonToken dtype,
               reader_.expect(JsonKind::string, "the dtype of " + tensor.quoted));
    entry.dtype_at = static_cast<std::uint32_t>(dtype.extent.offset);
    entry.type = find_safetensors_type(dtype.text).value_or(kUnknownType);
    tensor.dtype = json_shown(dtype.text);
    tensor.typed = true;
    return {};
  }

  Status take_shape(Members& tensor, SafetensorsEntry& entry) {
    const std::string what = "the shape of " + tensor.quoted;
    BTF_ASSIGN(const JsonToken begin, reader_.expect(JsonKind::array_begin, what));
    const std::string dim_of = "a dim in " + what;
    for (;;) {
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::array_end) break;
      BTF_ASSIGN(const std::uint64_t dim, reader_.size_of(token, dim_of));
      if (dim == 0) tensor.empty = true;
      if (dim != 0) tensor.elements = checked_mul(tensor.elements, dim);
    }
    entry.shape_at = static_cast<std::uint32_t>(begin.extent.offset);
    entry.shape_bytes = static_cast<std::uint32_t>(reader_.offset() - begin.extent.offset);
    tensor.shaped = true;
    return {};
  }

  Status take_offsets(Members& tensor, SafetensorsEntry& entry) {
    const std::string what = "the data_offsets of " + tensor.quoted;
    BTF_ASSIGN(const JsonToken begin, reader_.expect(JsonKind::array_begin, what));
    std::array<std::uint64_t, 2> offsets{};
    std::size_t count = 0;
    for (;;) {
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::array_end) break;
      BTF_ASSIGN(const std::uint64_t offset, reader_.size_of(token, "one of " + what));
      if (count < offsets.size()) offsets[count] = offset;
      ++count;
    }
    if (count != offsets.size())
      return reader_.wrong(begin.extent.offset,
                           concat(what, " are ", count, " numbers and not two"));
    entry.begin = offsets[0];
    entry.end = offsets[1];
    tensor.placed = true;
    if (entry.begin <= entry.end) return {};
    return malformed(
        "safetensors-offsets", begin.extent.offset,
        tensor.quoted + " has bytes " + range_text(entry) + ", which end before they begin");
  }

  Status check_size(const Members& tensor, const SafetensorsEntry& entry) const {
    const bool known = entry.type != kUnknownType;
    const std::uint64_t bits =
        known ? kSafetensorsTypes[entry.type].bits : bits_in_name(tensor.dtype);
    const Checked elements = tensor.empty && tensor.elements ? 0 : tensor.elements;
    const std::uint64_t rest = elements.value_or(0) % 8 * bits;
    const Checked needed =
        elements ? checked_add(checked_mul(*elements / 8, bits), rest / 8) : std::nullopt;
    const std::uint64_t found = entry.end - entry.begin;
    const bool sized = bits > 0 || elements == 0;
    if (sized && rest % 8 == 0 && found == needed) return {};
    BTF_ASSIGN(const std::string what, described(tensor, entry));
    if (!elements)
      return malformed("size-overflow", entry.shape_at,
                       what + ": the product of the dims does not fit 64 bits");
    if (!needed)
      return malformed("size-overflow", entry.shape_at,
                       what + ": its size in bytes does not fit 64 bits");
    if (!known)
      return malformed("unknown-dtype", entry.dtype_at, what,
                       ": this type is unknown, so that its size of ", found,
                       " bytes cannot be checked");
    if (rest % 8 != 0)
      return malformed("safetensors-size", entry.shape_at, what, ": ", *elements, " elements of ",
                       bits, " bits do not fill whole bytes");
    return malformed("safetensors-size", entry.shape_at, what, ", which takes ", needed.value_or(0),
                     " bytes, but its data_offsets ", range_text(entry), " have ", found);
  }

  // "tensor 'x' is U8 [2, 3]", with the dims as written.
  Result<std::string> described(const Members& tensor, const SafetensorsEntry& entry) const {
    constexpr std::uint32_t kShown = 100;
    std::string dims(std::min(kShown, entry.shape_bytes), '\0');
    BTF_TRY(source_.read_at(entry.shape_at, std::as_writable_bytes(std::span(dims))));
    if (dims.size() < entry.shape_bytes) dims += "...";
    return tensor.quoted + " is " + tensor.dtype + " " + dims;
  }

  const ByteSource& source_;
  JsonReader reader_;
};

// Checks that the tensors' data are adjacent, without gaps or overlaps.
Status check_order(const ByteSource& source, const SafetensorsHeader& header) {
  const SafetensorsEntry* before = nullptr;
  for (const SafetensorsEntry& entry : header.entries) {
    const std::uint64_t end = before == nullptr ? 0 : before->end;
    if (entry.begin == end) {
      before = &entry;
      continue;
    }
    BTF_ASSIGN(const std::string name, safetensors_name(source, entry));
    std::string what =
        "the header says tensor '" + json_shown(name) + "' has bytes " + range_text(entry);
    std::string other = "the data begin at 0";
    if (before != nullptr) {
      BTF_ASSIGN(const std::string last, safetensors_name(source, *before));
      other = "'" + json_shown(last) + "' " +
              (entry.begin > end ? concat("ends at ", end) : "has " + range_text(*before));
    }
    const std::string consequence = entry.begin > end ? ": " + bytes_belong(end, entry.begin)
                                                      : concat(": both have bytes ", entry.begin,
                                                               " to ", std::min(end, entry.end));
    return malformed("safetensors-offsets", header.data_offset + std::min(end, entry.begin),
                     what + ", but " + other + consequence);
  }
  return {};
}

JsonOptions safetensors_json() {
  return {.finding = "safetensors-header", .whole = "the header", .keep = 4096};
}

// Returns true if the bytes could begin a safetensors file but not a readable BTF file. `start` has
// up to kSafetensorsStart bytes.
bool has_safetensors_start(std::string_view start) {
  if (start.size() < kSafetensorsWord + 2) return false;
  const std::string_view text = start.substr(kSafetensorsWord);
  const bool no_count =
      start.substr(0, kSafetensorsWord) == std::string_view("\0\0\0\0\0\0\0\0", kSafetensorsWord);
  // The first offset of a BTF file has a zero byte, which JSON cannot have.
  if (no_count || text.substr(0, kSafetensorsWord).contains('\0')) return false;
  std::string_view json = trimmed_json(text);
  if (json.empty()) return safetensors_data_offset(start).has_value();
  if (json.starts_with(kByteOrderMark)) json.remove_prefix(kByteOrderMark.size());
  if (!json.starts_with('{')) return false;
  json = trimmed_json(json.substr(1));
  return json.empty() || json.front() == '"' || json.front() == '}';
}

Result<std::uint64_t> safetensors_data_offset(std::string_view start) {
  if (start.size() < kSafetensorsWord)
    return malformed("safetensors-header", 0, "the file is cut off: has ", start.size(),
                     " of the 8 bytes that say how long its header is");
  const auto bytes = load_little<std::uint64_t>(std::as_bytes(std::span(start)).data());
  if (bytes > kLongestSafetensorsHeader)
    return malformed("safetensors-header", 0, "the header should have ", bytes,
                     " bytes; a safetensors file has one of at most ", kLongestSafetensorsHeader);
  return kSafetensorsWord + bytes;
}

Result<std::string> safetensors_name(const ByteSource& source, const SafetensorsEntry& entry) {
  return json_string_at(source, {entry.name_at, entry.name_bytes});
}

// Reads the whole header and checks it for consistency: every size must be what dtype and shape
// require, and the tensors' data must be adjacent. Does not compare it with the size of the file.
Result<SafetensorsHeader> read_safetensors_header(const ByteSource& source) {
  std::string start(std::min<std::uint64_t>(kSafetensorsWord, source.size()), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  SafetensorsHeader header;
  BTF_ASSIGN(header.data_offset, safetensors_data_offset(start));
  if (header.data_offset > source.size())
    return malformed("safetensors-header", kSafetensorsWord, "the file is cut off: has ",
                     source.size(), " of ", header.data_offset,
                     " bytes up to the end of its header");
  BTF_TRY(Parser(source, header.data_offset).run(header));
  std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& entry) {
    return std::tuple(entry.begin, entry.end, entry.name_at);
  });
  BTF_TRY(check_order(source, header));
  return header;
}

class SafetensorsBound final : public StreamBound {
 public:
  // Reads the whole header at once when it is complete.
  Status take(const ByteSource& content, ContentExtent& extent) override {
    if (header_bytes_ == 0) {
      BTF_ASSIGN(const std::string start, first_bytes(content));
      const auto data_offset = safetensors_data_offset(start);
      header_bytes_ = data_offset.value_or(kUnlimited);
      if (data_offset) extent.need(header_bytes_);
    }
    if (content.size() < header_bytes_) return {};
    header_bytes_ = kUnlimited;
    const auto header = read_safetensors_header(content);
    if (!header && header.error().finding.empty()) return std::unexpected(header.error());
    if (!header || header->entries.empty()) return {};
    if (const Checked end = checked_add(header->data_offset, header->entries.back().end))
      extent.need(*end);
    return {};
  }
  std::string_view subject() const override { return "its safetensors header"; }
  std::uint64_t needed(const ContentExtent& extent) const override { return extent.least(); }
  std::uint64_t least(const ContentExtent& extent, const ByteSource&,
                      std::uint64_t frames) const override {
    return frames > 1 ? extent.least() : 0;
  }

  static Result<std::string> first_bytes(const ByteSource& content) {
    std::string start(std::min<std::uint64_t>(content.size(), kSafetensorsStart), '\0');
    BTF_TRY(content.read_at(0, std::as_writable_bytes(std::span(start))));
    return start;
  }

 private:
  // Including the length before it; kUnlimited if nothing more is to be read.
  std::uint64_t header_bytes_ = 0;
};

}  // namespace

Result<bool> begins_as_safetensors(const ByteSource& beginning) {
  BTF_ASSIGN(const std::string start, SafetensorsBound::first_bytes(beginning));
  return has_safetensors_start(std::string_view(start));
}

std::unique_ptr<StreamBound> safetensors_bound() { return std::make_unique<SafetensorsBound>(); }

namespace {

// For a file without JSON in its header.
Result<bool> could_be_btf(const ByteSource& source) {
  std::array<std::byte, 16> start{};
  const std::uint64_t some = std::min<std::uint64_t>(source.size(), start.size());
  if (some < 8) return false;
  BTF_TRY(source.read_at(0, std::span(start).first(some)));
  const auto count = load_little<std::uint64_t>(start.data());
  const auto first = load_little<std::uint64_t>(start.data() + 8);
  return count <= (source.size() - 8) / 8 && (count == 0 || first <= source.size() - 16);
}

class SafetensorsReader final : public TensorReader {
 public:
  SafetensorsReader(const ByteSource& source, SafetensorsHeader header)
      : source_(source), texts_(source), header_(std::move(header)) {}

  std::uint64_t tensor_count() const override { return header_.entries.size(); }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    const SafetensorsEntry& entry = header_.entries[index];
    TensorInfo info;
    info.index = index;
    info.record_offset = header_.data_offset + entry.begin;
    info.data_offset = info.record_offset;
    info.data_bytes = entry.end - entry.begin;
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    BTF_ASSIGN(info.dims, dims_of(entry));
    if (entry.type != kUnknownType) info.dtype = dtype_of(kSafetensorsTypes[entry.type]);
    if (!info.dtype) {
      BTF_ASSIGN(info.foreign_dtype, type_text(entry));
      return info;
    }
    info.dtype_code = btf::info(*info.dtype).code();
    BTF_ASSIGN(info.storage, resolve(Layout::linear, info.dims, *info.dtype));
    return info;
  }

  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    return safetensors_name(texts_, header_.entries[index]);
  }

  Result<FileAttributes> attributes() const override {
    FileAttributes attributes;
    if (!header_.metadata) return attributes;
    JsonOptions options = safetensors_json();
    options.keep = header_.metadata->length;
    JsonReader reader(source_, *header_.metadata, options);
    BTF_TRY(reader.expect(JsonKind::object_begin, kSafetensorsMetadata));
    BTF_TRY(reader.members([&](const JsonToken& name) -> Status {
      std::string& value = attributes.metadata[std::string(name.text)];
      BTF_ASSIGN(const JsonToken text, reader.expect(JsonKind::string, kSafetensorsMetadata));
      value = text.text;
      return {};
    }));
    return attributes;
  }

  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return header_.data_offset + header_.entries[index].begin;
  }

  // Headers in which tensors share bytes are refused.
  bool overlap_is_settled() const override { return true; }

 private:
  // Reads the dims again, since only their product was stored.
  Result<Dims> dims_of(const SafetensorsEntry& entry) const {
    JsonReader reader(texts_, {entry.shape_at, entry.shape_bytes}, safetensors_json());
    BTF_TRY(reader.expect(JsonKind::array_begin, "the shape"));
    Dims dims;
    for (;;) {
      BTF_ASSIGN(const JsonToken token, reader.next());
      if (token.kind == JsonKind::array_end) return dims;
      BTF_ASSIGN(const std::uint64_t dim, reader.size_of(token, "a dim"));
      if (dims.size() == kMaxRank)
        return malformed("rank-too-large", entry.shape_at, "the shape has more than ", kMaxRank,
                         " dims");
      dims.push_back(dim);
    }
  }

  Result<std::string> type_text(const SafetensorsEntry& entry) const {
    if (entry.type != kUnknownType) return std::string(kSafetensorsTypes[entry.type].name);
    const std::uint64_t rest = header_.data_offset - 1 - entry.dtype_at;
    BTF_ASSIGN(const std::string text, json_string_at(texts_, {entry.dtype_at, rest}));
    return json_shown(text);
  }

  const ByteSource& source_;
  WindowSource texts_;  // names and shapes, which are read repeatedly
  SafetensorsHeader header_;
};

// Compares the end of the data with the size of the file.
Status check_end(const ByteSource& source, const SafetensorsHeader& header) {
  const std::uint64_t data = header.entries.empty() ? 0 : header.entries.back().end;
  const Checked end = checked_add(header.data_offset, data);
  if (!end)
    return malformed("size-overflow", header.data_offset, "the end of ", data,
                     " bytes of data does not fit 64 bits");
  const std::uint64_t size = source.size();
  if (size < *end)
    return malformed("data-past-end", size, "the file is cut off: has ", size, " of ", *end,
                     " bytes");
  if (size == *end && !source.more_follows()) return {};
  return malformed("bytes-after-data", *end, source.more_follows() ? "more than " : "", size - *end,
                   size - *end == 1 ? " byte follows" : " bytes follow",
                   " after the last tensor, which ends at byte ", *end);
}

}  // namespace

Result<bool> recognizes_safetensors(const ByteSource& source, const OpenRequest& request) {
  // Only reads the first frame of a compressed file.
  const std::uint64_t known = std::min(source.size(), source.read_ahead_end(0));
  std::string start(std::min<std::uint64_t>(kSafetensorsStart, known), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  if (has_safetensors_start(start)) return true;
  // The name only counts if the length of the header is plausible.
  if (!ends_in(content_name(request.path), kSafetensorsEnding)) return false;
  if (start.size() >= kSafetensorsWord && !safetensors_data_offset(start)) return false;
  BTF_ASSIGN(const bool other, could_be_btf(source));
  return !other;
}

Result<std::unique_ptr<TensorReader>> open_safetensors(const ByteSource& source,
                                                       const OpenRequest& request) {
  if (request.options.spec)
    return fail(ErrorCode::invalid_argument,
                "is a safetensors file and describes its tensors itself; no spec applies to it");
  BTF_ASSIGN(SafetensorsHeader header, read_safetensors_header(source));
  BTF_TRY(check_end(source, header));
  return std::make_unique<SafetensorsReader>(source, std::move(header));
}

// All other errors prevent the file from being opened.
Status check_safetensors(const TensorFile& file, const FindingSink& report) {
  return check_tensors(file, "unknown-dtype", report);
}

namespace {

// Metadata that the reference always writes; some readers require it.
constexpr const char* kFormat = "format";
constexpr std::string_view kFormatOfPyTorch = "pt";

std::unexpected<Error> unsupported(std::string message) {
  return fail(ErrorCode::unsupported, std::move(message));
}

class SafetensorsWriter final : public TensorWriter {
 public:
  Status announce(const RecordShape& record) override {
    const DTypeInfo& dtype = info(record.dtype);
    const auto type = safetensors_type_of(record.dtype);
    if (!type) return unsupported("safetensors has no type for " + std::string(dtype.name));
    if (record.layout_code != spec(Layout::linear).code())
      return unsupported(
          "a safetensors file holds row-major tensors: kLINEAR, or the stored array as it is "
          "(plain)");
    const std::uint64_t elements = *element_count(record.dims);
    if (dtype.half_byte() && elements % 2 != 0)
      return unsupported(concat(elements, " elements of ", dtype.name,
                                " do not fill whole bytes, as safetensors demands"));
    std::string name = record.name;
    if (name.empty() && !record.named) name = concat("tensor_", tensors_.size());
    auto quoted = json_quoted(name);
    if (!quoted)
      return unsupported("the name '" + json_shown(name) +
                         "' is not UTF-8, as safetensors demands");
    if (name == kSafetensorsMetadata)
      return unsupported("a tensor of a safetensors file cannot be called '" + name + "'");
    tensors_.push_back({*type, std::move(name), *std::move(quoted), record.dims, record.payload});
    return {};
  }

  void describe(const FileAttributes& attributes) override { metadata_ = attributes.metadata; }

  // Like the reference: wider types first, so that all are aligned, then by name.
  std::vector<std::size_t> own_order() const override {
    std::vector<std::size_t> order(tensors_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return std::tie(tensors_[b].type, tensors_[a].name) <
             std::tie(tensors_[a].type, tensors_[b].name);
    });
    return order;
  }

  Result<std::uint64_t> total_bytes() const override {
    BTF_ASSIGN(const std::string text, header());
    Checked total = text.size();
    for (const Tensor& tensor : tensors_) total = checked_add(total, tensor.bytes);
    if (!total) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
    return *total;
  }

  Status begin(ByteSink& sink) override {
    BTF_ASSIGN(const std::string text, header());
    offset_ = text.size();
    BTF_TRY(sink.begin_piece(text.size()));
    return sink.write_at(0, std::as_bytes(std::span(text)));
  }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    BTF_TRY(sink.begin_piece(record.payload));
    return std::exchange(offset_, offset_ + record.payload);
  }

  Status end_record(ByteSink&) override { return {}; }

 private:
  struct Tensor {
    std::uint8_t type = 0;
    std::string name;
    std::string quoted;
    Dims dims;
    std::uint64_t bytes = 0;
  };

  Status check_names() const {
    std::vector<std::string_view> names;
    for (const Tensor& tensor : tensors_) names.push_back(tensor.name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice == names.end()) return {};
    return unsupported("two tensors have the name '" + json_shown(*twice) +
                       "', of which a safetensors file can hold one");
  }

  // Including the length before it and padding to a multiple of 8.
  Result<std::string> header() const {
    BTF_TRY(check_names());
    std::string text(kSafetensorsWord, '\0');
    JsonObject metadata;
    metadata.text(kFormat, kFormatOfPyTorch);
    for (const auto& [key, value] : metadata_) metadata.text(key, value);
    text.append("{").append(*json_quoted(kSafetensorsMetadata)).append(":" + metadata.take());
    Checked end = 0;
    for (const std::size_t i : own_order()) {
      const Tensor& tensor = tensors_[i];
      text += "," + tensor.quoted + R"(:{"dtype":")";
      text += kSafetensorsTypes[tensor.type].name;
      text += R"(","shape":[)";
      for (std::size_t d = 0; d < tensor.dims.size(); ++d)
        text += concat(d == 0 ? "" : ",", tensor.dims[d]);
      text += concat(R"(],"data_offsets":[)", *end, ",");
      end = checked_add(end, tensor.bytes);
      if (!end) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
      text += concat(*end, "]}");
    }
    text += "}";
    text.resize(*round_up(text.size(), kSafetensorsWord), ' ');
    const std::uint64_t bytes = text.size() - kSafetensorsWord;
    if (bytes > kLongestSafetensorsHeader)
      return unsupported(concat("the header would have ", bytes,
                                " bytes; a safetensors file has one of at most ",
                                kLongestSafetensorsHeader));
    store_little(std::as_writable_bytes(std::span(text)).data(), bytes);
    return text;
  }

  std::vector<Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
  std::uint64_t offset_ = 0;  // of the next record
};

}  // namespace

std::unique_ptr<TensorWriter> safetensors_writer(const WriteRequest&) {
  return std::make_unique<SafetensorsWriter>();
}

}  // namespace btf
