#include "formats/zip/checked_member.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"

namespace btf {
namespace {

// Bytes just read are still in the cache when their crc is computed.
constexpr std::size_t kBlock = 256U << 10;
// About 300 KiB. Who reads a member in more pieces that do not touch pays less for reading it once
// more than for each piece.
constexpr std::size_t kMostStretches = 4096;

}  // namespace

Status CheckedMember::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const ByteSource& file = place_.source;
  if (sound_) return file.read_at(offset, out);
  BTF_ASSIGN(const bool fresh, begin_piece(offset, out.size()));
  if (!fresh) return file.read_at(offset, out);
  // A frame of a compressed file is best taken at once.
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

Status CheckedMember::read_up_to(std::uint64_t offset) const {
  std::vector<std::byte> block;
  for (std::uint64_t at = place_.data_offset; at < offset && !sound_; at += block.size()) {
    block.resize(std::min<std::uint64_t>(kBlock, offset - at));
    BTF_TRY(read_at(at, block));
  }
  return {};
}

// False: it tells nothing new.
Result<bool> CheckedMember::begin_piece(std::uint64_t offset, std::uint64_t bytes) const {
  const std::scoped_lock lock(mutex_);
  if (damage_) return std::unexpected(*damage_);
  if (sound_ || bytes == 0 || offset < place_.data_offset || !fits(offset, bytes, end()))
    return false;
  read_ = checked_add(read_, bytes).value_or(UINT64_MAX);
  if (scattered_) {
    BTF_TRY(settle_scattered());
    return false;
  }
  return !known(offset, offset + bytes);
}

Status CheckedMember::end_piece(std::uint64_t offset, std::span<const std::byte> bytes,
                                std::uint32_t crc) const {
  const std::scoped_lock lock(mutex_);
  if (damage_) return std::unexpected(*damage_);
  if (sound_) return {};
  if (scattered_) return settle_scattered();
  const std::uint64_t end = offset + bytes.size();
  for (std::uint64_t at = offset; at < end;) {
    const auto next = stretches_.upper_bound(at);
    const std::uint64_t known_end = next == stretches_.begin() ? at : std::prev(next)->second.end;
    if (known_end > at) {
      at = known_end;
      continue;
    }
    const std::uint64_t stop = next == stretches_.end() ? end : std::min(end, next->first);
    const bool all = at == offset && stop == end;
    add(at, stop, all ? crc : crc_of(bytes.subspan(at - offset, stop - at)));
    at = stop;
  }
  if (known(place_.data_offset, this->end()))
    return settle(check_crc(place_, stretches_.begin()->second.crc));
  if (stretches_.size() <= kMostStretches) return {};
  stretches_.clear();
  scattered_ = true;
  return settle_scattered();
}

bool CheckedMember::known(std::uint64_t begin, std::uint64_t end) const {
  const auto next = stretches_.upper_bound(begin);
  return next != stretches_.begin() && std::prev(next)->second.end >= end;
}

void CheckedMember::add(std::uint64_t begin, std::uint64_t end, std::uint32_t crc) const {
  const auto next = stretches_.lower_bound(begin);
  auto here = next == stretches_.begin() ? stretches_.end() : std::prev(next);
  if (here == stretches_.end() || here->second.end != begin)
    here = stretches_.emplace_hint(next, begin, Stretch{end, crc});
  else
    here->second = {end, join_(here->second.crc, crc, end - begin)};
  if (next == stretches_.end() || next->first != end) return;
  const Stretch& last = next->second;
  here->second = {last.end, join_(here->second.crc, last.crc, last.end - end)};
  stretches_.erase(next);
}

Status CheckedMember::settle(const Status& verdict) const {
  stretches_.clear();
  if (verdict)
    sound_ = true;
  else if (!verdict.error().finding.empty())
    damage_ = verdict.error();
  return verdict;
}

// When it may have been read all.
Status CheckedMember::settle_scattered() const {
  return read_ < place_.member.size ? Status{} : settle(read_content(place_, {}));
}

}  // namespace btf
