#include "formats/zstd/seekable_source.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/zstd/frame_decoder.h"
#include "formats/zstd/kept_frames.h"

namespace btf::zstd {
namespace {

// Hands out decoders, so that there are as many as threads that ever needed one at once.
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

// Or why it has no content: a damaged one, which may be asked for as often as a sound one.
struct Frame {
  FramePlace place;
  Buffer content;
  std::optional<Error> damage = {};

  bool holds(std::uint64_t offset) const {
    return offset >= place.content_offset && offset < place.content_end();
  }
};

// The frames used last. One that is being decompressed is waited for and not decompressed twice.
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

  // Whatever becomes of it, others must not wait for ever.
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
        kept_(table_.frames()) {}

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
      return std::unexpected(
          Error{ErrorCode::malformed,
                "byte " + std::to_string(offset) + ": " + std::to_string(out.size()) +
                    " bytes expected, the content ends at byte " + std::to_string(size()),
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
  // From one frame; returns how many bytes.
  Result<std::uint64_t> read_some(std::uint64_t offset, std::span<std::byte> out) const {
    if (const auto frame = cache_.find(offset)) return copy(*frame, offset, out);
    BTF_ASSIGN(const FramePlace place, table_.find(offset));
    if (kept_.has(place)) {
      const std::uint64_t some = std::min<std::uint64_t>(out.size(), place.content_end() - offset);
      BTF_TRY(kept_.read_at(offset, out.first(some)));
      return some;
    }
    // A frame that is wanted whole needs no copy.
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
                   kept_.offer(place, content);
                 } else {
                   // Errors that are no damage may be gone at the next try.
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
  mutable KeptFrames kept_;
};

}  // namespace

std::unique_ptr<ByteSource> seekable_source(std::string name, std::unique_ptr<ByteSource> file,
                                            SeekTable table) {
  return std::make_unique<SeekableSource>(std::move(name), std::move(file), std::move(table));
}

}  // namespace btf::zstd
