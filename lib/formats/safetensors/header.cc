#include "formats/safetensors/header.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "core/utf8.h"
#include "formats/json/json_string.h"
#include "formats/safetensors/types.h"

namespace btf {
namespace {

constexpr std::string_view kJsonSpaces = " \t\n\r";

std::string_view without_spaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kJsonSpaces), text.size()));
  return text;
}

// Bits of an element by its name, where no more is known of the type: "F6_E2M3", "C128".
std::uint64_t bits_in_name(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_of("0123456789"), name.size()));
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), bits);
  return error == std::errc{} && bits <= 1024 ? bits : 0;
}

std::string range_text(const SafetensorsEntry& entry) {
  return "[" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + ")";
}

std::string bytes_belong(std::uint64_t begin, std::uint64_t end) {
  return "bytes " + std::to_string(begin) + " to " + std::to_string(end) + " belong to no tensor";
}

// A tensor's members in the header, as far as they were read.
struct Members {
  std::string quoted;  // its name, for messages
  std::string dtype;
  bool typed = false;
  bool shaped = false;
  bool placed = false;
  Checked elements = 1;  // of the dims that are not 0
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
      if (name.kept && name.text == kSafetensorsMetadata) return take_metadata(header);
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
    // The reference takes null for none.
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
                           what + " are " + std::to_string(count) + " numbers and not two");
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
      return malformed("unknown-dtype", entry.dtype_at,
                       what + ": this type is unknown, so that its size of " +
                           std::to_string(found) + " bytes cannot be checked");
    if (rest % 8 != 0)
      return malformed("safetensors-size", entry.shape_at,
                       what + ": " + std::to_string(*elements) + " elements of " +
                           std::to_string(bits) + " bits do not fill whole bytes");
    return malformed("safetensors-size", entry.shape_at,
                     what + ", which takes " + std::to_string(needed.value_or(0)) +
                         " bytes, but its data_offsets " + range_text(entry) + " have " +
                         std::to_string(found));
  }

  // "tensor 'x' is U8 [2, 3]", with the dims as they stand.
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
              (entry.begin > end ? "ends at " + std::to_string(end) : "has " + range_text(*before));
    }
    const std::string consequence = entry.begin > end
                                        ? ": " + bytes_belong(end, entry.begin)
                                        : ": both have bytes " + std::to_string(entry.begin) +
                                              " to " + std::to_string(std::min(end, entry.end));
    return malformed("safetensors-offsets", header.data_offset + std::min(end, entry.begin),
                     what + ", but " + other + consequence);
  }
  return {};
}

}  // namespace

JsonOptions safetensors_json() {
  return {.finding = "safetensors-header", .whole = "the header", .keep = 4096};
}

bool begins_as_safetensors(std::string_view start) {
  if (start.size() < kSafetensorsWord + 2) return false;
  const std::string_view text = start.substr(kSafetensorsWord);
  const bool no_count =
      start.substr(0, kSafetensorsWord) == std::string_view("\0\0\0\0\0\0\0\0", kSafetensorsWord);
  // The first offset of a BTF file has a byte of 0, which JSON has not.
  if (no_count || text.substr(0, kSafetensorsWord).contains('\0')) return false;
  std::string_view json = without_spaces(text);
  if (json.empty()) return safetensors_data_offset(start).has_value();
  if (json.starts_with(kByteOrderMark)) json.remove_prefix(kByteOrderMark.size());
  if (!json.starts_with('{')) return false;
  json = without_spaces(json.substr(1));
  return json.empty() || json.front() == '"' || json.front() == '}';
}

Result<std::uint64_t> safetensors_data_offset(std::string_view start) {
  if (start.size() < kSafetensorsWord)
    return malformed("safetensors-header", 0,
                     "the file is cut off: has " + std::to_string(start.size()) +
                         " of the 8 bytes that say how long its header is");
  const auto bytes = load_little<std::uint64_t>(std::as_bytes(std::span(start)).data());
  if (bytes > kLongestSafetensorsHeader)
    return malformed("safetensors-header", 0,
                     "the header should have " + std::to_string(bytes) +
                         " bytes; a safetensors file has one of at most " +
                         std::to_string(kLongestSafetensorsHeader));
  return kSafetensorsWord + bytes;
}

Result<std::string> safetensors_name(const ByteSource& source, const SafetensorsEntry& entry) {
  return json_string_at(source, {entry.name_at, entry.name_bytes});
}

Result<SafetensorsHeader> read_safetensors_header(const ByteSource& source) {
  std::string start(std::min<std::uint64_t>(kSafetensorsWord, source.size()), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  SafetensorsHeader header;
  BTF_ASSIGN(header.data_offset, safetensors_data_offset(start));
  if (header.data_offset > source.size())
    return malformed("safetensors-header", kSafetensorsWord,
                     "the file is cut off: has " + std::to_string(source.size()) + " of " +
                         std::to_string(header.data_offset) + " bytes up to the end of its header");
  BTF_TRY(Parser(source, header.data_offset).run(header));
  std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& entry) {
    return std::tuple(entry.begin, entry.end, entry.name_at);
  });
  BTF_TRY(check_order(source, header));
  return header;
}

}  // namespace btf
