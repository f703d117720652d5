#include "formats/zip/member.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "formats/zip/inflater.h"
#include "formats/zip/wire.h"

namespace btf {
namespace {

// The most bytes that deflate can make of one, with a margin over 1030.
constexpr std::uint64_t kMostOfAByte = 1032;

struct Method {
  std::uint16_t number = 0;
  std::string_view name;
};

constexpr auto kMethods = std::to_array<Method>({
    {1, "shrink"},
    {6, "implode"},
    {9, "deflate64"},
    {12, "bzip2"},
    {14, "LZMA"},
    {93, "zstd"},
    {95, "xz"},
    {98, "PPMd"},
    {99, "AES"},
});

std::string method_text(std::uint16_t number) {
  const auto* row = std::ranges::find(kMethods, number, &Method::number);
  std::string text = "method " + std::to_string(number);
  if (row != kMethods.end()) text += " (" + std::string(row->name) + ")";
  return text;
}

Status check_readable(const std::string& name, const ZipMember& member) {
  if ((member.flags & zip::kEncrypted) != 0)
    return fail(ErrorCode::unsupported, "member " + name + " is encrypted");
  if (member.method != zip::kStored && member.method != zip::kDeflated)
    return fail(ErrorCode::unsupported, "member " + name + " is packed with " +
                                            method_text(member.method) + ", which is not read");
  const bool stored = member.method == zip::kStored;
  if (stored && member.size != member.packed)
    return malformed("zip-member", member.header_offset,
                     "member " + name + " is stored uncompressed, but has " +
                         std::to_string(member.packed) + " bytes in the file and " +
                         std::to_string(member.size) + " by itself");
  const Checked most = checked_mul(member.packed, kMostOfAByte);
  if (!stored && most && member.size > *most)
    return malformed("zip-member", member.header_offset,
                     "member " + name + " is said to have " + std::to_string(member.size) +
                         " bytes, which its " + std::to_string(member.packed) +
                         " deflated bytes cannot hold");
  return {};
}

class Beginning final : public ByteSource {
 public:
  Beginning(const ByteSource& source, const ZipMember& member, std::uint64_t data_offset)
      : source_(source), size_(member.size), inflater_(source, data_offset, member.packed) {}

  std::uint64_t size() const override { return size_; }
  Status check_unchanged() const override { return source_.check_unchanged(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const Checked end = checked_add(offset, out.size());
    const std::size_t had = bytes_.size();
    if (end && *end > had) {
      bytes_.resize(*end);
      const auto got = inflater_.read(std::span(bytes_).subspan(had));
      bytes_.resize(had + got.value_or(0));
      if (!got) return std::unexpected(got.error());
    }
    if (!fits(offset, out.size(), bytes_.size()))
      return malformed("zip-member", bytes_.size(),
                       "its content ends after " + std::to_string(bytes_.size()) +
                           " bytes, the directory says " + std::to_string(size_));
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return {};
  }

 private:
  const ByteSource& source_;
  std::uint64_t size_;
  mutable Inflater inflater_;
  mutable std::vector<std::byte> bytes_;
};

}  // namespace

std::string quoted_member(std::string_view name) {
  constexpr std::size_t kMost = 80;
  return name.size() > kMost ? "'" + std::string(name.substr(0, kMost)) + "...'"
                             : "'" + std::string(name) + "'";
}

std::unexpected<Error> overlapping(std::string_view name, const ZipMember& member,
                                   const std::string& other) {
  return malformed("zip-overlap", member.header_offset,
                   "the bytes of member " + quoted_member(name) + " from byte " +
                       std::to_string(member.header_offset) + " on overlap " + other + " at byte " +
                       std::to_string(member.limit));
}

Result<std::uint64_t> locate(const ByteSource& source, const ZipDirectory& directory,
                             const ZipMember& member) {
  const std::string_view name = directory.name(member);
  BTF_TRY(check_readable(quoted_member(name), member));
  const std::uint64_t at = member.header_offset;
  std::array<std::byte, zip::kLocalHeader> header;
  BTF_TRY(source.read_at(at, header));
  if (load_little<std::uint32_t>(header.data()) != zip::kLocalMagic)
    return malformed("zip-member", at,
                     "member " + quoted_member(name) + " should begin at byte " +
                         std::to_string(at) + ", where no member does");
  const auto name_bytes = load_little<std::uint16_t>(header.data() + 26);
  const auto extra_bytes = load_little<std::uint16_t>(header.data() + 28);
  const std::uint64_t data = at + zip::kLocalHeader + name_bytes + extra_bytes;
  if (!fits(data, member.packed, member.limit)) return overlapping(name, member, "what follows");
  std::string local(name_bytes, '\0');
  BTF_TRY(source.read_at(at + zip::kLocalHeader, std::as_writable_bytes(std::span(local))));
  if (local != name)
    return malformed("zip-name", at,
                     "member " + quoted_member(name) + " calls itself " + quoted_member(local) +
                         " where it begins, at byte " + std::to_string(at));
  return data;
}

std::unique_ptr<ByteSource> beginning_of(const ByteSource& source, const ZipMember& member,
                                         std::uint64_t data_offset) {
  return std::make_unique<Beginning>(source, member, data_offset);
}

}  // namespace btf
