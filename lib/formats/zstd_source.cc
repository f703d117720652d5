// Reads seekable zstd files. Frames that are needed repeatedly, as when a matrix is transposed, are
// written to a file without a name and read from there from the third time on.
#include "formats/zstd_source.h"

#include <xxhash.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/numbers.h"
#include "formats/io/byte_source.h"
#include "formats/zstd.h"

namespace btf::zstd {
namespace {

// Thread-safe. Stops keeping frames if there is no room for the file or no memory.
class FrameStore {
 public:
  explicit FrameStore(std::uint64_t frames) : frames_(frames) {}

  bool has(const FramePlace& place) const;
  // Reads [offset, offset + out.size()) of the content, which must be in a kept frame.
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;
  // Called when the frame was decompressed: the first call is noted, the second one keeps it.
  void offer(const FramePlace& place, std::span<const std::byte> content) noexcept;

 private:
  bool keep(const FramePlace& place, std::span<const std::byte> content);

  std::uint64_t frames_;
  mutable std::mutex mutex_;
  std::optional<Spool> spool_;  // frames at their content offsets
  bool given_up_ = false;
  std::vector<bool> seen_;
  std::vector<bool> stored_;  // empty, or one for each frame once the file exists
};

bool FrameStore::has(const FramePlace& place) const {
  const std::scoped_lock lock(mutex_);
  return !stored_.empty() && stored_[place.index];
}

Status FrameStore::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  return spool_->read_at(offset, out);
}

void FrameStore::offer(const FramePlace& place, std::span<const std::byte> content) noexcept {
  const std::scoped_lock lock(mutex_);
  if (given_up_) return;
  try {
    given_up_ = !keep(place, content);
  } catch (const std::exception&) {
    given_up_ = true;
  }
}

// Returns false if there is no room.
bool FrameStore::keep(const FramePlace& place, std::span<const std::byte> content) {
  if (seen_.empty()) seen_.resize(frames_);
  if (!seen_[place.index]) {
    seen_[place.index] = true;
    return true;
  }
  if (stored_.empty()) {
    std::vector<bool> kept(frames_);
    auto spool = Spool::create();
    if (!spool) return false;
    spool_.emplace(*std::move(spool));
    stored_ = std::move(kept);
  }
  if (stored_[place.index]) return true;
  if (!spool_->write_at(place.content_offset, content)) return false;
  stored_[place.index] = true;
  return true;
}

// A bit of the frame header's descriptor, which follows the magic number.
constexpr std::byte kHasChecksum{0x04};

// Far more than a frame without content needs.
constexpr std::uint32_t kMaxEmpty = 1U << 10;

std::unexpected<Error> explained(std::size_t code, const FramePlace& place,
                                 std::span<const std::byte> frame) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_checksum_wrong && place.checksum) {
    const bool same = load_u32(frame.data() + frame.size() - 4) == *place.checksum;
    return wrong_frame(place.index, place.file_offset,
                       std::string("its content does not match its checksum; the seek table has ") +
                           (same ? "the same one" : "another one"));
  }
  FrameWalk walk;
  walk.feed(frame);
  return frame_error(code, place.index, place.file_offset, walk);
}

std::unexpected<Error> wrong_length(const FramePlace& place, std::uint64_t length) {
  return wrong_frame(
      place.index, place.file_offset,
      concat("it ends after ", length, " bytes, the seek table says ", place.compressed));
}

Status check_header(const FramePlace& place, std::span<const std::byte> frame) {
  const auto wrong = [&](std::string what) {
    return wrong_frame(place.index, place.file_offset, std::move(what));
  };
  if (load_u32(frame.data()) != kFrameMagic)
    return wrong(concat("no frame with content begins here, but the seek table says that it has ",
                        place.content, " bytes"));
  const std::size_t length = ZSTD_findFrameCompressedSize(frame.data(), frame.size());
  if (ZSTD_isError(length) != 0) return explained(length, place, frame);
  if (length != frame.size()) return wrong_length(place, length);
  const unsigned long long content = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (content != ZSTD_CONTENTSIZE_UNKNOWN && content != place.content)
    return wrong(
        concat("its header says ", content, " bytes of content, the seek table ", place.content));
  return {};
}

}  // namespace

FrameDecoder::FrameDecoder() : context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}

Status FrameDecoder::read(const ByteSource& file, const FramePlace& place,
                          std::span<std::byte> out) {
  const std::span<std::byte> frame(compressed_.reserve(place.compressed), place.compressed);
  BTF_TRY(file.read_at(place.file_offset, frame));
  BTF_TRY(check_header(place, frame));
  const std::size_t got =
      ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0) return explained(got, place, frame);
  if (got != out.size())
    return wrong_frame(place.index, place.file_offset,
                       concat("it holds ", got, " bytes, the seek table says ", out.size()));
  if (!place.checksum) return {};
  // libzstd has already checked the frame's own checksum, which is the same 32 bits.
  const bool own = (frame[4] & kHasChecksum) != std::byte{};
  const std::uint32_t checksum = own ? load_u32(frame.data() + frame.size() - 4)
                                     : static_cast<std::uint32_t>(XXH64(out.data(), out.size(), 0));
  if (checksum == *place.checksum) return {};
  return wrong_frame(place.index, place.file_offset,
                     own ? "its checksum differs from that in the seek table"
                         : "its content does not match the checksum in the seek table");
}

// A frame without content may be skippable and of any length; its checksum in the table is ignored.
Status FrameDecoder::check(const ByteSource& file, const FramePlace& place) {
  if (place.content == 0) {
    std::array<std::byte, kSkippableHeader> header;
    BTF_TRY(file.read_at(place.file_offset, header));
    if (skippable(load_u32(header.data()))) {
      const std::uint64_t length = kSkippableHeader + load_u32(header.data() + 4);
      return length == place.compressed ? Status{} : wrong_length(place, length);
    }
    if (place.compressed > kMaxEmpty)
      return wrong_frame(
          place.index, place.file_offset,
          concat("it has ", place.compressed, " bytes and no content, by the seek table"));
  }
  return read(file, place, std::span(content_.reserve(place.content), place.content));
}

namespace {

constexpr std::uint64_t kInterval = 1024;  // frames between two checkpoints

// The header of a skippable frame is shorter than any frame with a header and an empty block.
constexpr std::uint32_t kMinFrame = kSkippableHeader;

// An upper bound of what zstd makes of incompressible content.
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
  std::shared_ptr<const Block> places;  // null at first
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
  // 32 bits times 12 fits 64 bits.
  const std::uint64_t body = frames_ * entry_bytes(checksums_) + kFooter;
  if (body + kSkippableHeader > size)
    return wrong_table(footer_at, concat(frames_, " frames need ", body + kSkippableHeader,
                                         " bytes of table, the file has ", size));
  const std::uint64_t table_at = size - body - kSkippableHeader;
  std::array<std::byte, kSkippableHeader> header;
  BTF_TRY(file_->read_at(table_at, header));
  if (skippable(load_u32(header.data())) && load_u32(header.data()) != kSeekTableMagic)
    return wrong_table(table_at, concat("the skippable frame at byte ", table_at,
                                        " is of another kind than that of a seek table"));
  if (load_u32(header.data()) != kSeekTableMagic)
    return wrong_table(table_at, concat("no skippable frame begins at byte ", table_at,
                                        ", where that of ", frames_, " frames should"));
  if (load_u32(header.data() + 4) != body)
    return wrong_table(table_at + 4, concat("its frame says ", load_u32(header.data() + 4),
                                            " bytes, ", frames_, " frames need ", body));
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
      status = wrong_table(
          entries_offset_ + place.index * entry_bytes(checksums_),
          concat("frame ", place.index, " has ", place.compressed, " compressed bytes", fault));
    };
    if (place.compressed < kMinFrame)
      refuse(", fewer than any frame");
    else if (place.content > 0 && place.compressed > most_compressed(place.content))
      refuse(concat(" for ", place.content, " bytes of content, more than they can hold"));
    if (place.index % kInterval == 0) checkpoints_.push_back(place);
    file_offset = place.file_offset + place.compressed;
    content_bytes_ = place.content_end();
    largest_content_ = std::max(largest_content_, place.content);
    return status.has_value();
  }));
  BTF_TRY(std::move(status));
  const std::uint64_t before = entries_offset_ - kSkippableHeader;
  if (file_offset > before)
    return wrong_table(entries_offset_, concat("its frames have ", file_offset, " bytes, but only ",
                                               before, " precede it: the others are missing"));
  if (file_offset < before)
    return wrong_table(entries_offset_,
                       concat("its frames have ", file_offset, " bytes, but ", before,
                              " precede it: the others belong to no frame"));
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
  // The last checkpoint at or before the byte. Empty frames have the same offset as the next one.
  const auto after =
      std::ranges::upper_bound(checkpoints_, content_offset, {}, &FramePlace::content_offset);
  if (after == checkpoints_.begin()) return wrong_table(entries_offset_, "it has no frames");
  BTF_ASSIGN(const auto places,
             block(static_cast<std::uint64_t>(after - checkpoints_.begin()) - 1));
  const auto found =
      std::ranges::upper_bound(*places, content_offset, {}, &FramePlace::content_end);
  // It existed when the table was checked.
  if (found == places->end()) return file_changed();
  return *found;
}

Result<FramePlace> SeekTable::frame(std::uint64_t index) const {
  BTF_ASSIGN(const auto places, block(index / kInterval));
  return (*places)[index % kInterval];
}

namespace {

// Lends out decoders, and has as many as threads ever needed one at the same time.
class Decoders {
 public:
  Status read(const ByteSource& file, const FramePlace& place, std::span<std::byte> out) {
    std::unique_ptr<FrameDecoder> decoder = take();
    Status status = decoder->read(file, place, out);
    give_back(std::move(decoder));
    return status;
  }

  Status check(const ByteSource& file, const FramePlace& place) {
    std::unique_ptr<FrameDecoder> decoder = take();
    Status status = decoder->check(file, place);
    give_back(std::move(decoder));
    return status;
  }

 private:
  void give_back(std::unique_ptr<FrameDecoder> decoder) {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(decoder));
  }

  std::unique_ptr<FrameDecoder> take() {
    const std::scoped_lock lock(mutex_);
    if (idle_.empty()) {
      idle_.reserve(made_ + 1);  // so that giving one back never fails
      auto decoder = std::make_unique<FrameDecoder>();
      ++made_;
      return decoder;
    }
    std::unique_ptr<FrameDecoder> decoder = std::move(idle_.back());
    idle_.pop_back();
    return decoder;
  }

  std::mutex mutex_;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<FrameDecoder>> idle_;
};

// A frame's content, or the error of a damaged frame, which may be requested just as often.
struct Frame {
  FramePlace place;
  Buffer content;
  std::optional<Error> damage = {};

  bool holds(std::uint64_t offset) const {
    return offset >= place.content_offset && offset < place.content_end();
  }
};

// The most recently used frames. If a frame is being decompressed, other threads wait for it.
class FrameCache {
 public:
  using Load = std::function<Result<std::shared_ptr<const Frame>>()>;

  std::shared_ptr<const Frame> find(std::uint64_t offset) {
    const std::scoped_lock lock(mutex_);
    for (Slot& slot : slots_)
      if (slot.frame && slot.frame->holds(offset)) {
        slot.used = ++clock_;
        return slot.frame;
      }
    return {};
  }

  Result<std::shared_ptr<const Frame>> get(std::uint64_t index, const Load& load) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto slot = std::ranges::find_if(
          slots_, [&](const Slot& s) { return s.index == index && (s.frame || s.loading); });
      if (slot == slots_.end()) break;
      if (slot->frame) return slot->frame;
      loaded_.wait(lock);
    }
    Slot* const slot = oldest();
    if (slot == nullptr) {  // more threads than slots
      lock.unlock();
      return load();
    }
    *slot = {.index = index, .used = ++clock_, .loading = true, .frame = {}};
    lock.unlock();
    const Loading loading(*this, *slot);
    auto frame = load();
    if (frame) loading.keep(*frame);
    return frame;
  }

 private:
  struct Slot {
    std::uint64_t index = 0;
    std::uint64_t used = 0;
    bool loading = false;
    std::shared_ptr<const Frame> frame;
  };

  // Ends the wait of others whatever happens.
  class Loading {
   public:
    Loading(FrameCache& cache, Slot& slot) : cache_(cache), slot_(slot) {}
    Loading(const Loading&) = delete;
    Loading& operator=(const Loading&) = delete;
    ~Loading() {
      const std::scoped_lock lock(cache_.mutex_);
      slot_.loading = false;
      cache_.loaded_.notify_all();
    }

    void keep(const std::shared_ptr<const Frame>& frame) const {
      const std::scoped_lock lock(cache_.mutex_);
      slot_.frame = frame;
    }

   private:
    FrameCache& cache_;
    Slot& slot_;
  };

  Slot* oldest() {
    Slot* best = nullptr;
    for (Slot& slot : slots_)
      if (!slot.loading && (best == nullptr || slot.used < best->used)) best = &slot;
    return best;
  }

  std::mutex mutex_;
  std::condition_variable loaded_;
  std::array<Slot, 8> slots_;
  std::uint64_t clock_ = 0;
};

class SeekableSource final : public ByteSource {
 public:
  SeekableSource(std::string name, std::unique_ptr<ByteSource> file, SeekTable table)
      : name_(std::move(name)),
        file_(std::move(file)),
        table_(std::move(table)),
        stored_(table_.frames()) {}

  std::uint64_t size() const override { return table_.content_bytes(); }
  bool compressed() const override { return true; }
  Status check_unchanged() const override { return file_->check_unchanged(); }
  std::optional<FileStamp> stamp() const override { return file_->stamp(); }

  std::uint64_t read_ahead_end(std::uint64_t offset) const override {
    if (offset >= size()) return size();
    const auto place = table_.find(offset);
    return place ? place->content_end() : offset;
  }

  std::uint64_t frame_count() const override { return table_.frames(); }

  Result<FrameCheck> check_frame(std::uint64_t index) const override {
    const auto place = table_.frame(index);
    if (!place) return std::unexpected(place.error().in_file(name_));
    Status status = decoders_.check(*file_, *place);
    if (!status) status = std::unexpected(status.error().in_file(name_));
    return FrameCheck{place->content_offset, place->content_end(), std::move(status)};
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return std::unexpected(Error{ErrorCode::malformed,
                                   concat("byte ", offset, ": ", out.size(),
                                          " bytes expected, the content ends at byte ", size()),
                                   name_});
    while (!out.empty()) {
      const auto some = read_some(offset, out);
      if (!some) return std::unexpected(some.error().in_file(name_));
      offset += *some;
      out = out.subspan(*some);
    }
    return {};
  }

 private:
  // Reads from a single frame and returns the number of bytes.
  Result<std::uint64_t> read_some(std::uint64_t offset, std::span<std::byte> out) const {
    if (const auto frame = cache_.find(offset)) return copy(*frame, offset, out);
    BTF_ASSIGN(const FramePlace place, table_.find(offset));
    if (stored_.has(place)) {
      const std::uint64_t some = std::min<std::uint64_t>(out.size(), place.content_end() - offset);
      BTF_TRY(stored_.read_at(offset, out.first(some)));
      return some;
    }
    // A frame that is requested completely needs no copy.
    if (place.content_offset == offset && place.content <= out.size()) {
      BTF_TRY(decoders_.read(*file_, place, out.first(place.content)));
      return place.content;
    }
    BTF_ASSIGN(const std::shared_ptr<const Frame> frame,
               cache_.get(place.index, [&]() -> Result<std::shared_ptr<const Frame>> {
                 auto fresh = std::make_shared<Frame>();
                 fresh->place = place;
                 const std::span content(fresh->content.reserve(place.content), place.content);
                 const Status status = decoders_.read(*file_, place, content);
                 if (status) {
                   stored_.offer(place, content);
                 } else {
                   // Errors that are not damage may not occur at the next attempt.
                   if (status.error().finding.empty()) return std::unexpected(status.error());
                   fresh->damage = status.error();
                   fresh->content = {};
                 }
                 return fresh;
               }));
    return copy(*frame, offset, out);
  }

  static Result<std::uint64_t> copy(const Frame& frame, std::uint64_t offset,
                                    std::span<std::byte> out) {
    if (frame.damage) return std::unexpected(*frame.damage);
    const std::uint64_t some =
        std::min<std::uint64_t>(out.size(), frame.place.content_end() - offset);
    std::memcpy(out.data(), frame.content.data() + (offset - frame.place.content_offset), some);
    return some;
  }

  std::string name_;
  std::unique_ptr<ByteSource> file_;
  SeekTable table_;
  mutable Decoders decoders_;
  mutable FrameCache cache_;
  mutable FrameStore stored_;
};

}  // namespace

std::unique_ptr<ByteSource> seekable_source(std::string name, std::unique_ptr<ByteSource> file,
                                            SeekTable table) {
  return std::make_unique<SeekableSource>(std::move(name), std::move(file), std::move(table));
}

}  // namespace btf::zstd
