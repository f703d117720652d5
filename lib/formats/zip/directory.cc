#include "formats/zip/directory.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "formats/zip/end_record.h"
#include "formats/zip/member.h"
#include "formats/zip/wire.h"

namespace btf {
namespace {

using zip::kElsewhere16;
using zip::kElsewhere32;
using zip::kEntry;

template <typename Unsigned>
Unsigned number_at(std::span<const std::byte> bytes, std::size_t at) {
  return load_little<Unsigned>(bytes.data() + at);
}

// The directory from front to back, in blocks.
class Cursor {
 public:
  Cursor(const ByteSource& source, std::uint64_t begin, std::uint64_t end)
      : source_(source), next_(begin), end_(end) {}

  std::uint64_t at() const { return next_ - held_.size() + used_; }
  std::uint64_t left() const { return end_ - at(); }

  // `bytes` that are there; they are valid up to the next call.
  Result<std::span<const std::byte>> take(std::uint64_t bytes) {
    if (held_.size() - used_ < bytes) {
      held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(used_));
      used_ = 0;
      const std::size_t kept = held_.size();
      const std::uint64_t more = std::min(std::max(bytes - kept, kBlock), end_ - next_);
      held_.resize(kept + more);
      BTF_TRY(source_.read_at(next_, std::span(held_).subspan(kept)));
      next_ += more;
    }
    used_ += bytes;
    return std::span(held_).subspan(used_ - bytes, bytes);
  }

 private:
  static constexpr std::uint64_t kBlock = 64U << 10;

  const ByteSource& source_;
  std::uint64_t next_;  // byte of the source that is not held yet
  std::uint64_t end_;
  std::vector<std::byte> held_;
  std::size_t used_ = 0;
};

}  // namespace

class ZipDirectory::Reader {
 public:
  Reader(const ByteSource& source, const zip::EndRecord& end)
      : end_(end), cursor_(source, end.directory_begin, end.directory_end) {}

  Result<ZipDirectory> read() {
    const std::uint64_t bytes = cursor_.left();
    if (bytes > kMostBytes)
      return fail(ErrorCode::unsupported, "the zip file has a directory of " +
                                              std::to_string(bytes) + " bytes, at most " +
                                              std::to_string(kMostBytes) + " are read");
    if (end_.entries > bytes / kEntry)
      return wrong("its " + std::to_string(bytes) + " bytes cannot hold the " +
                   std::to_string(end_.entries) + " members that the end of the zip file says");
    found_.members_.reserve(end_.entries);
    found_.names_.reserve(bytes - end_.entries * kEntry);
    while (cursor_.left() > 0) BTF_TRY(take_member());
    if (found_.members_.size() != end_.entries)
      return wrong("it has " + std::to_string(found_.members_.size()) +
                   " members, the end of the zip file says " + std::to_string(end_.entries));
    BTF_TRY(check_names());
    BTF_TRY(check_places());
    return std::move(found_);
  }

 private:
  std::unexpected<Error> wrong(const std::string& what) const {
    return malformed("zip-directory", cursor_.at(),
                     "the directory of the zip file is wrong: " + what);
  }

  Status take_member() {
    const std::uint64_t at = cursor_.at();
    if (cursor_.left() < kEntry)
      return wrong("an entry has " + std::to_string(kEntry) + " bytes at least, it ends " +
                   std::to_string(cursor_.left()) + " behind byte " + std::to_string(at));
    BTF_ASSIGN(const auto entry, cursor_.take(kEntry));
    if (number_at<std::uint32_t>(entry, 0) != zip::kEntryMagic)
      return wrong("there is no entry at byte " + std::to_string(at));
    ZipMember member;
    member.flags = number_at<std::uint16_t>(entry, 8);
    member.method = number_at<std::uint16_t>(entry, 10);
    member.crc = number_at<std::uint32_t>(entry, 16);
    member.packed = number_at<std::uint32_t>(entry, 20);
    member.size = number_at<std::uint32_t>(entry, 24);
    member.name_bytes = number_at<std::uint16_t>(entry, 28);
    const auto extra_bytes = number_at<std::uint16_t>(entry, 30);
    const auto comment_bytes = number_at<std::uint16_t>(entry, 32);
    const auto disk = number_at<std::uint16_t>(entry, 34);
    member.header_offset = number_at<std::uint32_t>(entry, 42);
    const std::uint64_t more = std::uint64_t{member.name_bytes} + extra_bytes + comment_bytes;
    if (cursor_.left() < more)
      return wrong("the entry at byte " + std::to_string(at) + " goes on beyond its end");
    BTF_ASSIGN(const auto rest, cursor_.take(more));
    const std::string_view name(reinterpret_cast<const char*>(rest.data()), member.name_bytes);
    if (name.find('\0') != std::string_view::npos)
      return malformed("zip-name", at,
                       "the name of member " + quoted_member(name) +
                           " has a NUL byte, at which other readers cut it");
    member.name_begin = static_cast<std::uint32_t>(found_.names_.size());
    found_.names_ += name;
    BTF_TRY(take_extra(rest.subspan(member.name_bytes, extra_bytes), disk, member));
    found_.members_.push_back(member);
    return {};
  }

  // The numbers that did not fit the entry, in their order.
  Status take_extra(std::span<const std::byte> extra, std::uint16_t disk, ZipMember& member) {
    const auto name = [&] { return quoted_member(found_.name(member)); };
    std::optional<std::span<const std::byte>> zip64;
    while (extra.size() >= 4) {
      const auto bytes = number_at<std::uint16_t>(extra, 2);
      if (extra.size() - 4 < bytes) return wrong("an extra field of " + name() + " is cut off");
      if (number_at<std::uint16_t>(extra, 0) == zip::kZip64Extra) {
        if (zip64) return wrong(name() + " has two zip64 fields");
        zip64 = extra.subspan(4, bytes);
      }
      extra = extra.subspan(4 + std::size_t{bytes});
    }
    const bool wide = member.size == kElsewhere32 || member.packed == kElsewhere32 ||
                      member.header_offset == kElsewhere32;
    if (wide && !zip64) return wrong("the zip64 field with numbers of " + name() + " is missing");
    for (std::uint64_t* const number : {&member.size, &member.packed, &member.header_offset}) {
      if (*number != kElsewhere32) continue;
      if (zip64->size() < 8) return wrong("the zip64 field of " + name() + " is too short");
      *number = number_at<std::uint64_t>(*zip64, 0);
      zip64 = zip64->subspan(8);
    }
    if (disk == 0) return {};
    const bool elsewhere = disk == kElsewhere16 && zip64 && zip64->size() >= 4;
    if (elsewhere && number_at<std::uint32_t>(*zip64, 0) == 0) return {};
    return wrong(name() + " is on another disk");
  }

  Status check_names() {
    auto& order = found_.by_name_;
    order.resize(found_.members_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto name = [&](std::uint32_t i) { return found_.name(found_.members_[i]); };
    std::ranges::sort(order, {}, name);
    const auto twice = std::ranges::adjacent_find(order, {}, name);
    if (twice == order.end()) return {};
    return malformed("zip-name", end_.directory_begin,
                     "two members have the name " + quoted_member(name(*twice)));
  }

  // Bytes of one member are nobody else's: else a small file could stand for endless content.
  Status check_places() {
    std::vector<ZipMember>& members = found_.members_;
    std::vector<std::uint32_t> order(members.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return members[i].header_offset; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      ZipMember& member = members[order[i]];
      const bool last = i + 1 == order.size();
      member.limit = last ? end_.directory_begin : members[order[i + 1]].header_offset;
      // The extra field of the local header, which may have another size, is not counted yet.
      const Checked end = checked_add(
          checked_add(member.header_offset, zip::kLocalHeader + member.name_bytes), member.packed);
      if (end && *end <= member.limit) continue;
      return overlapping(
          found_.name(member), member,
          last ? "the directory" : "member " + quoted_member(found_.name(members[order[i + 1]])));
    }
    return {};
  }

  const zip::EndRecord end_;
  Cursor cursor_;
  ZipDirectory found_;
};

Result<bool> ZipDirectory::recognizes(const ByteSource& source) {
  std::array<std::byte, 8> start{};
  if (source.size() < zip::kEnd) return false;
  BTF_TRY(source.read_at(0, start));
  const auto magic = load_little<std::uint32_t>(start.data());
  if (magic != zip::kLocalMagic && magic != zip::kEndMagic) return false;
  // As a count of BTF records this is larger than any file.
  if (load_little<std::uint32_t>(start.data() + 4) != 0) return true;
  const auto end = zip::read_end(source);
  if (!end && end.error().finding.empty()) return std::unexpected(end.error());
  return end.has_value();
}

Result<ZipDirectory> ZipDirectory::read(const ByteSource& source) {
  BTF_ASSIGN(const zip::EndRecord end, zip::read_end(source));
  return Reader(source, end).read();
}

std::optional<std::size_t> ZipDirectory::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      by_name_, name, {}, [&](std::uint32_t i) { return this->name(members_[i]); });
  if (found == by_name_.end() || this->name(members_[*found]) != name) return std::nullopt;
  return *found;
}

}  // namespace btf
