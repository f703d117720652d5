#include "formats/btf/name_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "core/utf8.h"
#include "formats/btf/attributes.h"
#include "formats/btf/name_wire.h"

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
  if (size - offset_table_end(tensors) < wire::kLeastNames || source.more_follows())
    return Footer{};
  std::array<std::byte, kNamesFooter> bytes;
  BTF_TRY(source.read_at(size - bytes.size(), bytes));
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()) + 2 * kWord, kWord);
  return Footer{magic == wire::kNamesEnd, wire::load_u64(bytes.data())};
}

// Is there certainly none? The record of the highest number fills the file; of a file that is in
// memory its last bytes tell sooner.
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
  std::uint64_t tensor = 0;  // one that ends there
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

// The offset in the footer, if the table's first bytes are there.
Result<std::optional<std::uint64_t>> place_of(const ByteSource& source, std::uint64_t tensors,
                                              const Footer& footer) {
  const std::uint64_t room = source.size() - offset_table_end(tensors);
  if (!footer.there || footer.length % kWord != 0 || footer.length < wire::kLeastNames ||
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
  // In every canonical file the record of the highest number ends last.
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
    table.usable_ = malformed("names-size", source.size() - kNamesFooter,
                              "the name table at byte " + std::to_string(ends.last) +
                                  " says that it has " + std::to_string(footer.length) +
                                  " bytes, from there to the end of the file are " +
                                  std::to_string(source.size() - ends.last));
    return table;
  }
  NameTable table(source, *begin, tensors);
  if (ends.last > *begin) {
    table.usable_ = malformed("names-overlap", *begin,
                              "the record of tensor " + std::to_string(ends.tensor) +
                                  " ends at byte " + std::to_string(ends.last) +
                                  ", the name table begins at byte " + std::to_string(*begin));
    return table;
  }
  if (ends.last < *begin && ends.all_known) return std::nullopt;
  BTF_TRY(table.read_header());
  return table;
}

// Errors are reported when the names are asked for.
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
    usable_ = malformed("names-version", begin_ + 8,
                        "the name table has version " + std::to_string(version) + " and flags " +
                            std::to_string(flags) + ", this program reads version " +
                            std::to_string(wire::kNamesVersion) + " without flags");
  } else if (tensors != tensors_) {
    usable_ = malformed("names-count", begin_ + 16,
                        "the name table has " + std::to_string(tensors) +
                            " tensors, the file has " + std::to_string(tensors_));
  } else if (wire::name_table_bytes(tensors, name_bytes_, attribute_bytes_) != length) {
    usable_ = malformed("names-size", begin_ + 24,
                        std::to_string(name_bytes_) + " bytes of names and " +
                            std::to_string(attribute_bytes_) + " of attributes of " +
                            std::to_string(tensors_) + " tensors do not fit a name table of " +
                            std::to_string(length) + " bytes");
  }
  return {};
}

std::uint64_t NameTable::ends_begin() const { return begin_ + kNamesHeader; }
std::uint64_t NameTable::names_begin() const { return ends_begin() + tensors_ * kNameEnd; }
std::uint64_t NameTable::footer() const { return source_->size() - kNamesFooter; }

Status NameTable::usable() {
  if (usable_) return *usable_;
  Status status = check_all();
  // An error of the system may be gone at the next call.
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

// Part of the names, not longer than one name.
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
      return malformed("names-order", ends_begin() + i * kNameEnd,
                       "the name of tensor " + std::to_string(i) + " ends at byte " +
                           std::to_string(end) + " of the names, expected after byte " +
                           std::to_string(begin) + " and up to byte " +
                           std::to_string(name_bytes_));
    if (end - begin > wire::kLongestName)
      return malformed("names-size", ends_begin() + i * kNameEnd,
                       "the name of tensor " + std::to_string(i) + " has " +
                           std::to_string(end - begin) + " bytes, at most " +
                           std::to_string(wire::kLongestName) + " are allowed");
    BTF_ASSIGN(const std::string name, text(begin, end));
    if (!is_utf8(name) || name.find('\0') != name.npos)
      return malformed(
          "names-utf8", names_begin() + begin,
          "the name of tensor " + std::to_string(i) + " is not UTF-8 without zero bytes");
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
  // The file may have been changed since it was checked.
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

Result<bool> NameTable::zeros_are_zero() const {
  std::array<std::byte, kWord> reserved;
  BTF_TRY(source_->read_at(begin_ + kNamesHeader - kWord, reserved));
  const std::uint64_t end = attributes_begin() + attribute_bytes_;
  std::vector<std::byte> padding(footer() - end);
  BTF_TRY(source_->read_at(end, padding));
  const auto zero = [](std::byte byte) { return byte == std::byte{}; };
  return std::ranges::all_of(reserved, zero) && std::ranges::all_of(padding, zero);
}

}  // namespace btf
