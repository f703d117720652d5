// Reads zip files: the directory, and stored and deflated members.
#include "formats/zip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/decoded_cache.h"
#include "formats/io/byte_source.h"
#include "formats/zip_crc.h"

namespace btf {
namespace {

class Inflater {
 public:
  // `packed` bytes from `offset` on, which must be within the source; the source must outlive this
  // object.
  Inflater(const ByteSource& source, std::uint64_t offset, std::uint64_t packed);
  ~Inflater();

  // Reads the next bytes; fewer than requested only at the end of the stream.
  Result<std::size_t> read(std::span<std::byte> out);

  // The number of packed bytes that were not used, valid after read() has reached the end.
  std::uint64_t left() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace
}  // namespace btf

namespace btf::zip {
namespace {

// The end of a zip file, which contains the place of its directory.

struct EndRecord {
  std::uint64_t entries = 0;
  std::uint64_t directory_begin = 0;
  std::uint64_t directory_end = 0;  // offset in the file
};

}  // namespace
}  // namespace btf::zip

namespace btf {
namespace {

// Headers need few bytes, everything else many.
constexpr std::size_t kFirstBlock = 512;
constexpr std::size_t kPackedBlock = 128U << 10;

struct Inflater::State {
  State(const ByteSource& from, std::uint64_t offset, std::uint64_t packed)
      : source(from), next(offset), end(offset + packed) {
    // No zlib header, since a zip file has its own.
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { inflateEnd(&stream); }

  std::unexpected<Error> damaged(const std::string& what) const {
    const std::uint64_t at = next - stream.avail_in;
    return malformed("zip-member", at, "its deflated data ", what, " at byte ", at);
  }

  Status fill() {
    const std::size_t wanted = input.empty() ? kFirstBlock : kPackedBlock;
    input.resize(std::min<std::uint64_t>(wanted, end - next));
    BTF_TRY(source.read_at(next, input));
    next += input.size();
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    return {};
  }

  const ByteSource& source;
  std::uint64_t next;  // the next packed byte that is not in `input`
  std::uint64_t end;
  std::vector<std::byte> input;
  z_stream stream{};
  bool ended = false;
};

Inflater::Inflater(const ByteSource& source, std::uint64_t offset, std::uint64_t packed)
    : state_(std::make_unique<State>(source, offset, packed)) {}
Inflater::~Inflater() = default;

std::uint64_t Inflater::left() const {
  return state_->end - state_->next + state_->stream.avail_in;
}

Result<std::size_t> Inflater::read(std::span<std::byte> out) {
  State& state = *state_;
  z_stream& stream = state.stream;
  std::size_t done = 0;
  while (done < out.size() && !state.ended) {
    if (stream.avail_in == 0) {
      if (state.next == state.end) return state.damaged("end too early,");
      BTF_TRY(state.fill());
    }
    const std::size_t some = std::min<std::size_t>(out.size() - done, 1U << 30);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream.avail_out = static_cast<uInt>(some);
    const int code = inflate(&stream, Z_NO_FLUSH);
    done += some - stream.avail_out;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      return state.damaged("are wrong");
    state.ended = code == Z_STREAM_END;
  }
  return done;
}

}  // namespace
}  // namespace btf

namespace btf::zip {
namespace {

// Finds the end record. If the comment of a record does not end with the file, it is part of a
// comment or of data.
Result<std::uint64_t> find_end(const ByteSource& source) {
  const std::uint64_t size = source.size();
  const std::uint64_t length = std::min(size, kEnd + kLongestComment);
  std::vector<std::byte> tail(length);
  BTF_TRY(source.read_at(size - length, tail));
  std::optional<std::uint64_t> found;
  std::optional<std::uint64_t> behind;  // bytes after the last record that ends too early
  for (std::uint64_t at = length < kEnd ? 0 : length - kEnd + 1; at-- > 0;) {
    if (load_little<std::uint32_t>(tail.data() + at) != kEndMagic) continue;
    const std::uint64_t end = at + kEnd + load_little<std::uint16_t>(tail.data() + at + 20);
    if (end < length && !behind) behind = length - end;
    if (end != length) continue;
    if (found)
      return malformed("zip-directory", size - length + at,
                       "two records could be the end of the zip file, at bytes ",
                       size - length + at, " and ", *found);
    found = size - length + at;
  }
  if (found) return *found;
  if (behind)
    return malformed("zip-directory", size - *behind, "the zip file ends ", *behind,
                     *behind == 1 ? " byte" : " bytes",
                     " after its directory, where nothing should follow");
  return malformed("zip-directory", size, "a zip file ends with its directory, this one of ", size,
                   " bytes does not: it is cut off, or more than that was appended");
}

std::unexpected<Error> several_disks(std::string_view record, std::uint64_t at) {
  return malformed("zip-directory", at, "the ", record, " at byte ", at,
                   " says that the zip file has several disks");
}

// Checks the record's number against the zip64 one, unless it only refers to it.
Status agree(std::uint64_t said, std::uint64_t elsewhere, std::uint64_t zip64,
             const std::string& what, std::uint64_t at) {
  if (said == elsewhere || said == zip64) return {};
  return malformed("zip-directory", at, "the end of the zip file contradicts itself on ", what,
                   ": ", said, " and, in its zip64 form, ", zip64);
}

struct Numbers {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

// Unset if there is no zip64 end before the end record.
Result<std::optional<std::uint64_t>> find_end64(const ByteSource& source, std::uint64_t end) {
  if (end < kLocator) return std::nullopt;
  std::array<std::byte, kLocator> locator;
  BTF_TRY(source.read_at(end - kLocator, locator));
  if (load_little<std::uint32_t>(locator.data()) != kLocatorMagic) return std::nullopt;
  if (load_little<std::uint32_t>(locator.data() + 4) != 0 ||
      load_little<std::uint32_t>(locator.data() + 16) > 1)
    return several_disks("zip64 locator", end - kLocator);
  const auto at = load_little<std::uint64_t>(locator.data() + 8);
  if (!fits(at, kEnd64, end - kLocator))
    return malformed("zip-directory", end - kLocator, "the zip64 end should be at byte ", at,
                     ", where there is no room for it");
  return at;
}

Result<Numbers> read_end64(const ByteSource& source, std::uint64_t at, std::uint64_t locator) {
  std::array<std::byte, kEnd64> record;
  BTF_TRY(source.read_at(at, record));
  if (load_little<std::uint32_t>(record.data()) != kEnd64Magic)
    return malformed("zip-directory", at, "the zip64 end should be at byte ", at,
                     ", where it is not");
  const Checked end = checked_add(at + kEnd64Head, load_little<std::uint64_t>(record.data() + 4));
  if (end != locator)
    return malformed("zip-directory", at, "the zip64 end at byte ", at,
                     " does not reach to its locator at byte ", locator);
  const auto entries = load_little<std::uint64_t>(record.data() + 32);
  if (load_little<std::uint32_t>(record.data() + 16) != 0 ||
      load_little<std::uint32_t>(record.data() + 20) != 0 ||
      load_little<std::uint64_t>(record.data() + 24) != entries)
    return several_disks("zip64 end", at);
  return Numbers{entries, load_little<std::uint64_t>(record.data() + 40),
                 load_little<std::uint64_t>(record.data() + 48)};
}

// The record must end the file, with its comment if any. The zip64 end takes precedence.
Result<EndRecord> read_end(const ByteSource& source) {
  BTF_ASSIGN(const std::uint64_t at, find_end(source));
  std::array<std::byte, kEnd> record;
  BTF_TRY(source.read_at(at, record));
  const auto entries = load_little<std::uint16_t>(record.data() + 10);
  Numbers numbers{entries, load_little<std::uint32_t>(record.data() + 12),
                  load_little<std::uint32_t>(record.data() + 16)};
  const auto disk = load_little<std::uint16_t>(record.data() + 4);
  const auto directory_disk = load_little<std::uint16_t>(record.data() + 6);
  const auto here = load_little<std::uint16_t>(record.data() + 8);
  std::uint64_t end = at;
  BTF_ASSIGN(const std::optional<std::uint64_t> end64, find_end64(source, at));
  const auto one_disk = [&](std::uint16_t number) {
    return number == 0 || (end64 && number == kElsewhere16);
  };
  if (!one_disk(disk) || !one_disk(directory_disk) || here != entries)
    return several_disks("end", at);
  if (end64) {
    BTF_ASSIGN(const Numbers zip64, read_end64(source, *end64, at - kLocator));
    BTF_TRY(agree(numbers.entries, kElsewhere16, zip64.entries, "how many members there are", at));
    BTF_TRY(agree(numbers.bytes, kElsewhere32, zip64.bytes, "how long the directory is", at));
    BTF_TRY(agree(numbers.offset, kElsewhere32, zip64.offset, "where the directory is", at));
    numbers = zip64;
    end = *end64;
  }
  const Checked directory_end = checked_add(numbers.offset, numbers.bytes);
  if (directory_end != end)
    return malformed("zip-directory", at, "the directory should have ", numbers.bytes,
                     " bytes from byte ", numbers.offset,
                     " on and end where its end record begins, at byte ", end,
                     ": something was put in front of the zip file, or into it");
  return EndRecord{numbers.entries, numbers.offset, end};
}

}  // namespace
}  // namespace btf::zip

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
    return malformed("zip-member", member.header_offset, what, " the ", member.size,
                     " bytes that the directory says");
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
  if (done < member.size) return wrong_size(concat("its content ends after ", done, " of"));
  if (inflater.left() > 0)
    return malformed("zip-member", place.data_offset + member.packed - inflater.left(),
                     "its deflated data end ", inflater.left(),
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

namespace {

// The most bytes that deflate can produce from one byte (1030), with a margin.
constexpr std::uint64_t kMaxOfAByte = 1032;

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
  std::string text = concat("method ", number);
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
    return malformed("zip-member", member.header_offset, "member ", name,
                     " is stored uncompressed, but has ", member.packed, " bytes in the file and ",
                     member.size, " by itself");
  const Checked most = checked_mul(member.packed, kMaxOfAByte);
  if (!stored && most && member.size > *most)
    return malformed("zip-member", member.header_offset, "member ", name, " is said to have ",
                     member.size, " bytes, which its ", member.packed,
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
      return malformed("zip-member", bytes_.size(), "its content ends after ", bytes_.size(),
                       " bytes, the directory says ", size_);
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
  constexpr std::size_t kMaxShown = 80;
  return name.size() > kMaxShown ? "'" + std::string(name.substr(0, kMaxShown)) + "...'"
                                 : "'" + std::string(name) + "'";
}

std::unexpected<Error> overlapping(std::string_view name, const ZipMember& member,
                                   const std::string& other) {
  return malformed("zip-overlap", member.header_offset, "the bytes of member ", quoted_member(name),
                   " from byte ", member.header_offset, " on overlap ", other, " at byte ",
                   member.limit);
}

Result<std::uint64_t> locate(const ByteSource& source, const ZipDirectory& directory,
                             const ZipMember& member) {
  const std::string_view name = directory.name(member);
  BTF_TRY(check_readable(quoted_member(name), member));
  const std::uint64_t at = member.header_offset;
  std::array<std::byte, zip::kLocalHeader> header;
  BTF_TRY(source.read_at(at, header));
  if (load_little<std::uint32_t>(header.data()) != zip::kLocalMagic)
    return malformed("zip-member", at, "member ", quoted_member(name), " should begin at byte ", at,
                     ", where no member does");
  const auto name_bytes = load_little<std::uint16_t>(header.data() + 26);
  const auto extra_bytes = load_little<std::uint16_t>(header.data() + 28);
  const std::uint64_t data = at + zip::kLocalHeader + name_bytes + extra_bytes;
  if (!fits(data, member.packed, member.limit)) return overlapping(name, member, "what follows");
  std::string local(name_bytes, '\0');
  BTF_TRY(source.read_at(at + zip::kLocalHeader, std::as_writable_bytes(std::span(local))));
  if (local != name)
    return malformed("zip-name", at, "member ", quoted_member(name), " is called ",
                     quoted_member(local), " in its local header, at byte ", at);
  return data;
}

std::unique_ptr<ByteSource> member_beginning(const ByteSource& source, const ZipMember& member,
                                             std::uint64_t data_offset) {
  return std::make_unique<Beginning>(source, member, data_offset);
}

namespace {

using zip::kElsewhere16;
using zip::kElsewhere32;
using zip::kEntry;

template <typename Unsigned>
Unsigned number_at(std::span<const std::byte> bytes, std::size_t at) {
  return load_little<Unsigned>(bytes.data() + at);
}

// Reads the directory front to back in blocks.
class Cursor {
 public:
  Cursor(const ByteSource& source, std::uint64_t begin, std::uint64_t end)
      : source_(source), next_(begin), end_(end) {}

  std::uint64_t at() const { return next_ - held_.size() + used_; }
  std::uint64_t left() const { return end_ - at(); }

  // Returns the next bytes, which must be there; valid until the next call.
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
  std::uint64_t next_;  // the next byte of the source that is not held yet
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
    if (bytes > kMaxBytes)
      return fail(ErrorCode::unsupported, "the zip file has a directory of ", bytes,
                  " bytes, at most ", kMaxBytes, " are read");
    if (end_.entries > bytes / kEntry)
      return wrong(concat("its ", bytes, " bytes cannot hold the ", end_.entries,
                          " members that the end of the zip file says"));
    found_.members_.reserve(end_.entries);
    found_.names_.reserve(bytes - end_.entries * kEntry);
    while (cursor_.left() > 0) BTF_TRY(take_member());
    if (found_.members_.size() != end_.entries)
      return wrong(concat("it has ", found_.members_.size(),
                          " members, the end of the zip file says ", end_.entries));
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
      return wrong(concat("an entry has at least ", kEntry, " bytes, but it ends ", cursor_.left(),
                          " bytes after byte ", at));
    BTF_ASSIGN(const auto entry, cursor_.take(kEntry));
    if (number_at<std::uint32_t>(entry, 0) != zip::kEntryMagic)
      return wrong(concat("there is no entry at byte ", at));
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
      return wrong(concat("the entry at byte ", at, " goes on beyond its end"));
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

  // Reads the numbers that did not fit the entry, in their order.
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

  // Members must not share bytes; otherwise a small file could contain endless content.
  Status check_places() {
    std::vector<ZipMember>& members = found_.members_;
    std::vector<std::uint32_t> order(members.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return members[i].header_offset; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      ZipMember& member = members[order[i]];
      const bool last = i + 1 == order.size();
      member.limit = last ? end_.directory_begin : members[order[i + 1]].header_offset;
      // Without the extra field of the local header, which may have another size.
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
  // As a number of BTF records this is larger than any file.
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
