#include "formats/zstd/seek_table.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <string>

#include "btf/try.h"
#include "formats/zstd/zstd_errors.h"
#include "formats/zstd/zstd_wire.h"

namespace btf::zstd {
namespace {

constexpr std::uint64_t kInterval = 1024;  // frames between two checkpoints
// Frame header, one empty block: no frame is shorter than a skippable one's header.
constexpr std::uint32_t kLeastFrame = kSkippableHeader;

// More than zstd makes of content that cannot be compressed.
std::uint64_t most_compressed(std::uint64_t content) {
  return content + content / 128 + (1U << 10);
}

}  // namespace

Result<bool> has_seek_table(const ByteSource& file) {
  if (file.size() < kSkippableHeader + kFooter) return false;
  std::array<std::byte, 4> magic;
  BTF_TRY(file.read_at(file.size() - magic.size(), magic));
  return load_u32(magic.data()) == kSeekableMagic;
}

struct SeekTable::LastBlock {
  std::mutex mutex;
  std::uint64_t number = 0;
  std::shared_ptr<const Block> places;  // nothing at first
};

SeekTable::SeekTable(const ByteSource& file) : file_(&file), last_(std::make_unique<LastBlock>()) {}
SeekTable::SeekTable(SeekTable&&) noexcept = default;
SeekTable::~SeekTable() = default;

Result<SeekTable> SeekTable::read(const ByteSource& file) {
  SeekTable table(file);
  BTF_TRY(table.read_footer());
  BTF_TRY(table.check_entries());
  return table;
}

Status SeekTable::read_footer() {
  const std::uint64_t size = file_->size();
  const std::uint64_t footer_at = size - kFooter;
  std::array<std::byte, kFooter> footer;
  BTF_TRY(file_->read_at(footer_at, footer));
  frames_ = load_u32(footer.data());
  const auto descriptor = std::to_integer<std::uint8_t>(footer[4]);
  if ((descriptor & kReservedBits) != 0)
    return wrong_table(footer_at + 4, "the reserved bits of its descriptor are not 0");
  checksums_ = (descriptor & kChecksumFlag) != 0;
  // 32 bits times 12: no 64 bits wrap here.
  const std::uint64_t body = frames_ * entry_bytes(checksums_) + kFooter;
  if (body + kSkippableHeader > size)
    return wrong_table(footer_at, std::to_string(frames_) + " frames need " +
                                      std::to_string(body + kSkippableHeader) +
                                      " bytes of table, the file has " + std::to_string(size));
  const std::uint64_t table_at = size - body - kSkippableHeader;
  std::array<std::byte, kSkippableHeader> header;
  BTF_TRY(file_->read_at(table_at, header));
  if (skippable(load_u32(header.data())) && load_u32(header.data()) != kSeekTableMagic)
    return wrong_table(table_at, "the skippable frame at byte " + std::to_string(table_at) +
                                     " is of another kind than that of a seek table");
  if (load_u32(header.data()) != kSeekTableMagic)
    return wrong_table(table_at, "no skippable frame begins at byte " + std::to_string(table_at) +
                                     ", where that of " + std::to_string(frames_) +
                                     " frames should");
  if (load_u32(header.data() + 4) != body)
    return wrong_table(
        table_at + 4, "its frame says " + std::to_string(load_u32(header.data() + 4)) + " bytes, " +
                          std::to_string(frames_) + " frames need " + std::to_string(body));
  entries_offset_ = table_at + kSkippableHeader;
  return {};
}

template <typename Visit>
Status SeekTable::for_entries(FramePlace place, std::uint64_t count, Visit&& visit) const {
  const std::uint64_t width = entry_bytes(checksums_);
  std::vector<std::byte> block;
  while (count > 0) {
    const std::uint64_t some = std::min(count, kInterval);
    block.resize(some * width);
    BTF_TRY(file_->read_at(entries_offset_ + place.index * width, block));
    for (const std::byte* entry = block.data(); entry != block.data() + block.size();
         entry += width) {
      place.compressed = load_u32(entry);
      place.content = load_u32(entry + 4);
      if (checksums_) place.checksum = load_u32(entry + 8);
      if (!visit(place)) return {};
      ++place.index;
      place.file_offset += place.compressed;
      place.content_offset += place.content;
    }
    count -= some;
  }
  return {};
}

Status SeekTable::check_entries() {
  Status status;
  std::uint64_t file_offset = 0;
  BTF_TRY(for_entries({}, frames_, [&](const FramePlace& place) {
    const auto refuse = [&](const std::string& fault) {
      status = wrong_table(entries_offset_ + place.index * entry_bytes(checksums_),
                           "frame " + std::to_string(place.index) + " has " +
                               std::to_string(place.compressed) + " compressed bytes" + fault);
    };
    if (place.compressed < kLeastFrame)
      refuse(", fewer than any frame");
    else if (place.content > 0 && place.compressed > most_compressed(place.content))
      refuse(" for " + std::to_string(place.content) +
             " bytes of content, more than they can hold");
    if (place.index % kInterval == 0) checkpoints_.push_back(place);
    file_offset = place.file_offset + place.compressed;
    content_bytes_ = place.content_end();
    largest_content_ = std::max(largest_content_, place.content);
    return status.has_value();
  }));
  BTF_TRY(std::move(status));
  const std::uint64_t before = entries_offset_ - kSkippableHeader;
  if (file_offset > before)
    return wrong_table(entries_offset_, "of the " + std::to_string(file_offset) +
                                            " bytes of its frames " + std::to_string(before) +
                                            " stand before it: the others are missing");
  if (file_offset < before)
    return wrong_table(entries_offset_, "its frames have " + std::to_string(file_offset) +
                                            " bytes, " + std::to_string(before) +
                                            " stand before it: the others belong to no frame");
  return {};
}

Result<std::shared_ptr<const SeekTable::Block>> SeekTable::block(std::uint64_t number) const {
  {
    const std::scoped_lock lock(last_->mutex);
    if (last_->places && last_->number == number) return last_->places;
  }
  const FramePlace& from = checkpoints_[number];
  auto places = std::make_shared<Block>();
  places->reserve(std::min(kInterval, frames_ - from.index));
  BTF_TRY(for_entries(from, std::min(kInterval, frames_ - from.index),
                      [&](const FramePlace& place) { return places->push_back(place), true; }));
  const std::scoped_lock lock(last_->mutex);
  last_->number = number;
  last_->places = places;
  return places;
}

Result<FramePlace> SeekTable::find(std::uint64_t content_offset) const {
  // The last checkpoint at or before the byte. Empty frames share their place with the next one.
  const auto after =
      std::ranges::upper_bound(checkpoints_, content_offset, {}, &FramePlace::content_offset);
  if (after == checkpoints_.begin()) return wrong_table(entries_offset_, "it has no frames");
  BTF_ASSIGN(const auto places,
             block(static_cast<std::uint64_t>(after - checkpoints_.begin()) - 1));
  const auto found =
      std::ranges::upper_bound(*places, content_offset, {}, &FramePlace::content_end);
  // It was there when the table was checked.
  if (found == places->end()) return file_changed();
  return *found;
}

Result<FramePlace> SeekTable::frame(std::uint64_t index) const {
  BTF_ASSIGN(const auto places, block(index / kInterval));
  return (*places)[index % kInterval];
}

}  // namespace btf::zstd
