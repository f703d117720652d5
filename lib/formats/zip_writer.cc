#include "formats/zip_writer.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "btf/try.h"
#include "core/errors.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/zip.h"
#include "formats/zip_crc.h"

namespace btf {

Status CrcSink::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  // The contribution to the CRC: that of these bytes, shifted by the bytes after them.
  const std::uint64_t behind = end_ - offset - bytes.size();
  sum_ ^= CrcJoin()(crc_of(bytes), 0, behind);
  missing_ -= bytes.size();
  return sink_.write_at(offset, bytes);
}

Result<std::uint32_t> CrcSink::crc() const {
  if (missing_ == 0) return sum_.load();
  return fail(ErrorCode::io, "a member of the zip file was not written as a whole: ",
              static_cast<std::int64_t>(missing_), " bytes are missing");
}

namespace {

// Bytes just read are still in the cache when their CRC is computed.
constexpr std::size_t kBlock = 256U << 10;

// Needs about 300 KiB. If a member is read in more separate pieces, reading it once more costs less
// than tracking them.
constexpr std::size_t kMaxRanges = 4096;

}  // namespace

Status CrcCheckedSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const ByteSource& file = place_.source;
  if (sound_) return file.read_at(offset, out);
  BTF_ASSIGN(const bool fresh, begin_piece(offset, out.size()));
  if (!fresh) return file.read_at(offset, out);
  // A frame of a compressed file is best read at once.
  const std::size_t most = compressed() ? out.size() : kBlock;
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < out.size();) {
    const auto block = out.subspan(at, std::min(most, out.size() - at));
    BTF_TRY(file.read_at(offset + at, block));
    crc = crc_of(block, crc);
    at += block.size();
  }
  return end_piece(offset, out, crc);
}

Status CrcCheckedSource::read_up_to(std::uint64_t offset) const {
  std::vector<std::byte> block;
  for (std::uint64_t at = place_.data_offset; at < offset && !sound_; at += block.size()) {
    block.resize(std::min<std::uint64_t>(kBlock, offset - at));
    BTF_TRY(read_at(at, block));
  }
  return {};
}

// Returns false if all these bytes are already known.
Result<bool> CrcCheckedSource::begin_piece(std::uint64_t offset, std::uint64_t bytes) const {
  const std::scoped_lock lock(mutex_);
  if (damage_) return std::unexpected(*damage_);
  if (sound_ || bytes == 0 || offset < place_.data_offset || !fits(offset, bytes, end()))
    return false;
  read_ = checked_add(read_, bytes).value_or(UINT64_MAX);
  if (scattered_) {
    BTF_TRY(check_whole_member());
    return false;
  }
  return !known(offset, offset + bytes);
}

Status CrcCheckedSource::end_piece(std::uint64_t offset, std::span<const std::byte> bytes,
                                   std::uint32_t crc) const {
  const std::scoped_lock lock(mutex_);
  if (damage_) return std::unexpected(*damage_);
  if (sound_) return {};
  if (scattered_) return check_whole_member();
  const std::uint64_t end = offset + bytes.size();
  for (std::uint64_t at = offset; at < end;) {
    const auto next = ranges_.upper_bound(at);
    const std::uint64_t known_end = next == ranges_.begin() ? at : std::prev(next)->second.end;
    if (known_end > at) {
      at = known_end;
      continue;
    }
    const std::uint64_t stop = next == ranges_.end() ? end : std::min(end, next->first);
    const bool all = at == offset && stop == end;
    add(at, stop, all ? crc : crc_of(bytes.subspan(at - offset, stop - at)));
    at = stop;
  }
  if (known(place_.data_offset, this->end()))
    return settle(check_crc(place_, ranges_.begin()->second.crc));
  if (ranges_.size() <= kMaxRanges) return {};
  ranges_.clear();
  scattered_ = true;
  return check_whole_member();
}

bool CrcCheckedSource::known(std::uint64_t begin, std::uint64_t end) const {
  const auto next = ranges_.upper_bound(begin);
  return next != ranges_.begin() && std::prev(next)->second.end >= end;
}

void CrcCheckedSource::add(std::uint64_t begin, std::uint64_t end, std::uint32_t crc) const {
  const auto next = ranges_.lower_bound(begin);
  auto here = next == ranges_.begin() ? ranges_.end() : std::prev(next);
  if (here == ranges_.end() || here->second.end != begin)
    here = ranges_.emplace_hint(next, begin, CrcRange{end, crc});
  else
    here->second = {end, join_(here->second.crc, crc, end - begin)};
  if (next == ranges_.end() || next->first != end) return;
  const CrcRange& last = next->second;
  here->second = {last.end, join_(here->second.crc, last.crc, last.end - end)};
  ranges_.erase(next);
}

Status CrcCheckedSource::settle(const Status& verdict) const {
  ranges_.clear();
  if (verdict)
    sound_ = true;
  else if (!verdict.error().finding.empty())
    damage_ = verdict.error();
  return verdict;
}

// Called when the whole member may have been read.
Status CrcCheckedSource::check_whole_member() const {
  return read_ < place_.member.size ? Status{} : settle(read_content(place_, {}));
}

namespace {

constexpr std::uint16_t kVersion = 45;  // version that a reader needs: zip64
constexpr std::uint16_t kUnix = 3U << 8;
constexpr std::uint16_t kDate = 1U << 5 | 1U;  // 1980-01-01
constexpr std::uint32_t kAttributes = 0600U << 16;
constexpr std::uint64_t kLocalExtra = 20;
constexpr std::uint64_t kDescriptor = 24;
constexpr std::uint64_t kNarrow = 0x7fffffff;  // larger numbers in the directory go to zip64

class Bytes {
 public:
  template <typename Unsigned>
  Bytes& add(Unsigned value) {
    bytes_.resize(bytes_.size() + sizeof(Unsigned));
    store_little(bytes_.data() + bytes_.size() - sizeof(Unsigned), value);
    return *this;
  }
  Bytes& u16(std::uint64_t value) { return add(static_cast<std::uint16_t>(value)); }
  Bytes& u32(std::uint64_t value) { return add(static_cast<std::uint32_t>(value)); }
  Bytes& u64(std::uint64_t value) { return add(value); }
  Bytes& text(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  Bytes& bytes(const Bytes& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }
  const std::vector<std::byte>& get() const { return bytes_; }
  std::uint64_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

bool ascii(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::uint64_t flags_of(const std::string& name, bool streamed) {
  return (ascii(name) ? 0U : zip::kUtf8) | (streamed ? zip::kSizesAfterData : 0U);
}

Bytes local_header(const std::string& name, std::uint64_t size, std::uint32_t crc, bool streamed) {
  const std::uint64_t local_size = streamed ? 0 : size;
  Bytes header;
  header.u32(zip::kLocalMagic).u16(kVersion).u16(flags_of(name, streamed)).u16(zip::kStored);
  header.u16(0).u16(kDate).u32(streamed ? 0 : crc).u32(zip::kElsewhere32).u32(zip::kElsewhere32);
  header.u16(name.size()).u16(kLocalExtra).text(name);
  header.u16(zip::kZip64Extra).u16(kLocalExtra - 4).u64(local_size).u64(local_size);
  return header;
}

// An entry of the directory; numbers that are too large are in its extra field.
Bytes entry(const std::string& name, std::uint64_t size, std::uint32_t crc, std::uint64_t offset,
            bool streamed) {
  const bool wide_size = size > kNarrow;
  const bool wide_offset = offset > kNarrow;
  Bytes numbers;
  if (wide_size) numbers.u64(size).u64(size);
  if (wide_offset) numbers.u64(offset);
  Bytes extra;
  if (numbers.size() > 0) extra.u16(zip::kZip64Extra).u16(numbers.size()).bytes(numbers);
  const std::uint64_t short_size = wide_size ? zip::kElsewhere32 : size;
  Bytes bytes;
  bytes.u32(zip::kEntryMagic).u16(kUnix | kVersion).u16(kVersion).u16(flags_of(name, streamed));
  bytes.u16(zip::kStored).u16(0).u16(kDate).u32(crc).u32(short_size).u32(short_size);
  bytes.u16(name.size()).u16(extra.size()).u16(0).u16(0).u16(0).u32(kAttributes);
  bytes.u32(wide_offset ? zip::kElsewhere32 : offset).text(name).bytes(extra);
  return bytes;
}

// The end after a directory of `count` members, which has `size` bytes from `offset` on.
Bytes end_of(std::uint64_t count, std::uint64_t offset, std::uint64_t size) {
  Bytes bytes;
  if (count > zip::kElsewhere16 || offset > kNarrow || size > kNarrow) {
    bytes.u32(zip::kEnd64Magic).u64(zip::kEnd64 - zip::kEnd64Head).u16(kVersion).u16(kVersion);
    bytes.u32(0).u32(0).u64(count).u64(count).u64(size).u64(offset);
    bytes.u32(zip::kLocatorMagic).u32(0).u64(offset + size).u32(1);
  }
  const std::uint64_t short_count = std::min<std::uint64_t>(count, zip::kElsewhere16);
  bytes.u32(zip::kEndMagic).u16(0).u16(0).u16(short_count).u16(short_count);
  bytes.u32(std::min<std::uint64_t>(size, zip::kElsewhere32));
  bytes.u32(std::min<std::uint64_t>(offset, zip::kElsewhere32)).u16(0);
  return bytes;
}

std::uint64_t before_content(const std::string& name) {
  return zip::kLocalHeader + name.size() + kLocalExtra;
}

}  // namespace

Status ZipWriter::announce(std::string name, std::uint64_t size) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::unsupported, "the name " + quoted_member(name) + " " + why);
  };
  if (name.size() > zip::kElsewhere16)
    return refuse(concat("has ", name.size(), " bytes, a zip file takes 65535"));
  if (name.find('\0') != std::string::npos)
    return refuse("has a NUL byte, at which readers of zip files cut it");
  if (name.ends_with('/')) return refuse("ends in '/', as folders do in a zip file");
  if (!is_utf8(name)) return refuse("is not UTF-8, which a zip file needs");
  if (!names_.insert(name).second)
    return refuse("occurs twice, and readers of a zip file find one only");
  members_.push_back({std::move(name), size, 0});
  return {};
}

std::uint64_t ZipWriter::member_bytes(const Member& member) const {
  return before_content(member.name) + member.size + (streamed_ ? kDescriptor : 0);
}

Result<std::uint64_t> ZipWriter::total_bytes() const {
  Checked offset = 0;
  std::uint64_t directory = 0;
  for (const Member& member : members_) {
    if (offset) directory += entry(member.name, member.size, 0, *offset, streamed_).size();
    const Checked content = checked_add(member.size, before_content(member.name) + kDescriptor);
    offset = content ? checked_add(offset, member_bytes(member)) : Checked{};
  }
  const Checked total = offset ? checked_add(checked_add(offset, directory),
                                             end_of(members_.size(), *offset, directory).size())
                               : Checked{};
  if (!total) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
  return *total;
}

Result<std::uint64_t> ZipWriter::begin_member(ByteSink& sink) {
  const Member& member = members_[next_];
  const std::uint64_t data = offset_ + before_content(member.name);
  if (streamed_)
    BTF_TRY(sink.write_at(offset_, local_header(member.name, member.size, 0, true).get()));
  content_ = std::make_unique<CrcSink>(sink, data, data + member.size);
  return data;
}

Status ZipWriter::end_member(ByteSink& sink) {
  Member& member = members_[next_++];
  BTF_ASSIGN(member.crc, content_->crc());
  if (streamed_) {
    Bytes descriptor;
    descriptor.u32(zip::kDescriptorMagic).u32(member.crc).u64(member.size).u64(member.size);
    BTF_TRY(sink.begin_piece(descriptor.size()));
    BTF_TRY(sink.write_at(offset_ + before_content(member.name) + member.size, descriptor.get()));
  } else {
    BTF_TRY(
        sink.write_at(offset_, local_header(member.name, member.size, member.crc, false).get()));
  }
  offset_ += member_bytes(member);
  return {};
}

Status ZipWriter::end(ByteSink& sink) {
  const std::uint64_t begin = offset_;
  BTF_TRY(sink.begin_piece(zip::kEntry * members_.size()));
  std::uint64_t place = 0;
  for (const Member& member : members_) {
    const Bytes bytes = entry(member.name, member.size, member.crc, place, streamed_);
    BTF_TRY(sink.write_at(offset_, bytes.get()));
    offset_ += bytes.size();
    place += member_bytes(member);
  }
  return sink.write_at(offset_, end_of(members_.size(), begin, offset_ - begin).get());
}

}  // namespace btf
