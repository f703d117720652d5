#include "formats/zip/content.h"

#include <zlib.h>

#include <algorithm>
#include <string>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/io/system.h"
#include "formats/zip/inflater.h"
#include "formats/zip/member.h"
#include "formats/zip/wire.h"

namespace btf {
namespace {

constexpr std::uint64_t kContentBlock = 256U << 10;

class Crc {
 public:
  void add(std::span<const std::byte> bytes) {
    value_ = crc32_z(value_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  }
  std::uint64_t value() const { return value_; }

 private:
  uLong value_ = crc32_z(0, nullptr, 0);
};

std::string hex(std::uint64_t value) {
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

Status unpack(const ZipPlace& place, const TakeBytes& take) {
  Crc crc;
  const TakeBytes note = [&](std::span<const std::byte> bytes) {
    crc.add(bytes);
    return take ? take(bytes) : Status{};
  };
  const bool stored = place.member.method == zip::kStored;
  BTF_TRY(stored ? read_stored(place, note) : inflate(place, note));
  if (crc.value() == place.member.crc) return {};
  return malformed("zip-crc", place.member.header_offset,
                   "its content has the crc " + hex(crc.value()) + ", the directory says " +
                       hex(place.member.crc) + ": it was changed or damaged");
}

Result<Spool> inflated(const ZipPlace& place) {
  const std::uint64_t room = Spool::room();
  if (place.member.size > room)
    return fail(ErrorCode::no_space, "keeping its content takes " +
                                         std::to_string(place.member.size) +
                                         " bytes, of which no more than " + std::to_string(room) +
                                         " can be kept in " + temporary_directory());
  Spool spool = Spool::in_memory();
  BTF_TRY(
      read_content(place, [&](std::span<const std::byte> bytes) { return spool.append(bytes); }));
  return spool;
}

class InflatedSource final : public ByteSource {
 public:
  InflatedSource(const ZipPlace& place, InflatedContents& contents)
      : place_(place), contents_(contents) {}

  std::uint64_t size() const override { return place_.member.size; }
  Status check_unchanged() const override { return place_.source.check_unchanged(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return fail(ErrorCode::malformed, "reading past the end of a member");
    BTF_ASSIGN(const auto content, contents_.of(place_));
    return content->read_at(offset, out);
  }

 private:
  ZipPlace place_;
  InflatedContents& contents_;
};

}  // namespace

Status read_content(const ZipPlace& place, const TakeBytes& take) {
  const Status status = unpack(place, take);
  if (status || status.error().finding.empty()) return status;
  return std::unexpected(
      status.error().within("member " + quoted_member(place.directory.name(place.member))));
}

std::unique_ptr<ByteSource> InflatedContents::source(const ZipPlace& place) {
  return std::make_unique<InflatedSource>(place, *this);
}

Result<std::shared_ptr<const Spool>> InflatedContents::of(const ZipPlace& place) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(kept_, &place.member, &Kept::member);
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return kept_.back().content;
  }
  // Room is made first: what is not wanted any more must not keep it from others.
  if (kept_.size() == kKept) kept_.erase(kept_.begin());
  BTF_ASSIGN(Spool content, inflated(place));
  kept_.push_back({&place.member, std::make_shared<const Spool>(std::move(content))});
  return kept_.back().content;
}

}  // namespace btf
