#include "formats/zip/content.h"

#include <algorithm>
#include <string>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/decoded/kept_contents.h"
#include "formats/zip/crc.h"
#include "formats/zip/inflater.h"
#include "formats/zip/member.h"
#include "formats/zip/wire.h"

namespace btf {
namespace {

constexpr std::uint64_t kContentBlock = 256U << 10;

std::string hex(std::uint32_t value) {
  std::string text = "0x";
  for (unsigned shift = 32; shift > 0; shift -= 4)
    text += "0123456789abcdef"[value >> (shift - 4) & 0xf];
  return text;
}

Status read_stored(const ZipPlace& place, const TakeBytes& take) {
  std::vector<std::byte> block(std::min(kContentBlock, place.member.size));
  for (std::uint64_t at = 0; at < place.member.size; at += block.size()) {
    const auto some =
        std::span(block).first(std::min<std::uint64_t>(block.size(), place.member.size - at));
    BTF_TRY(place.source.read_at(place.data_offset + at, some));
    BTF_TRY(take(some));
  }
  return {};
}

Status inflate(const ZipPlace& place, const TakeBytes& take) {
  const ZipMember& member = place.member;
  const auto wrong_size = [&](const std::string& what) {
    return malformed(
        "zip-member", member.header_offset,
        what + " the " + std::to_string(member.size) + " bytes that the directory says");
  };
  Inflater inflater(place.source, place.data_offset, member.packed);
  std::vector<std::byte> block(std::min(kContentBlock, member.size + 1));
  std::uint64_t done = 0;
  for (bool ended = false; !ended;) {
    BTF_ASSIGN(const std::size_t got, inflater.read(block));
    ended = got < block.size();
    if (got > member.size - done) return wrong_size("it holds more than");
    BTF_TRY(take(std::span(block).first(got)));
    done += got;
  }
  if (done < member.size)
    return wrong_size("its content ends after " + std::to_string(done) + " of");
  if (inflater.left() > 0)
    return malformed("zip-member", place.data_offset + member.packed - inflater.left(),
                     "its deflated data end " + std::to_string(inflater.left()) +
                         " bytes before the directory says they do");
  return {};
}

std::unexpected<Error> in_member(const ZipPlace& place, const Error& error) {
  return std::unexpected(
      error.within("member " + quoted_member(place.directory.name(place.member))));
}

}  // namespace

Status check_crc(const ZipPlace& place, std::uint32_t crc) {
  if (crc == place.member.crc) return {};
  const auto wrong = malformed("zip-crc", place.member.header_offset,
                               "its content has the crc " + hex(crc) + ", the directory says " +
                                   hex(place.member.crc) + ": it was changed or damaged");
  return in_member(place, wrong.error());
}

Status read_content(const ZipPlace& place, const TakeBytes& take) {
  std::uint32_t crc = 0;
  const TakeBytes note = [&](std::span<const std::byte> bytes) {
    crc = crc_of(bytes, crc);
    return take ? take(bytes) : Status{};
  };
  const bool stored = place.member.method == zip::kStored;
  const Status status = stored ? read_stored(place, note) : inflate(place, note);
  if (!status && !status.error().finding.empty()) return in_member(place, status.error());
  BTF_TRY(status);
  return check_crc(place, crc);
}

Result<Spool> inflated(const ZipPlace& place) {
  BTF_TRY(check_room_for(place.member.size));
  Spool spool = Spool::in_memory();
  BTF_TRY(
      read_content(place, [&](std::span<const std::byte> bytes) { return spool.append(bytes); }));
  return spool;
}

}  // namespace btf
