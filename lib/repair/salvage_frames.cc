#include "repair/salvage_frames.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <new>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/io/spool.h"
#include "repair/frame_places.h"
#include "repair/frame_scan.h"
#include "repair/salvage_stream.h"

namespace btf::zstd {
namespace {

// Limits of the decompressed frames kept: bytes, and a number that is quick to search.
constexpr std::uint64_t kCacheBytes = 16U << 20;
constexpr std::size_t kCacheFrames = 32;

class FrameContent final : public SalvagedContent {
 public:
  FrameContent(std::string name, std::unique_ptr<ByteSource> file, FrameScan& scan)
      : name_(std::move(name)),
        file_(std::move(file)),
        frames_(scan.frames()),
        lost_(scan.lost()),
        damage_(std::move(scan.damage())) {
    pieces_ = std::move(scan.runs().front().pieces);
  }

  // Frames that stand behind others of unknown size, where the records say.
  Status place(std::vector<Run>& runs) {
    for (std::size_t i = 1; i < runs.size(); ++i) {
      Run& run = runs[i];
      BTF_ASSIGN(const auto at, place_of(*this, *file_, run));
      const auto sound = static_cast<std::uint64_t>(
          std::ranges::count_if(run.pieces, [](const Piece& piece) { return !piece.lost(); }));
      if (!at) {
        lost_ += sound;
        if (sound > 0)
          damage_.push_back({ErrorCode::malformed,
                             std::to_string(sound) + " sound frames behind a damaged one: where "
                                                     "their content belongs is not known",
                             {},
                             "zstd-frame",
                             run.pieces.front().file_offset});
        continue;
      }
      if (*at > size()) pieces_.push_back({0, size(), *at - size(), 0, run.damage});
      for (Piece piece : run.pieces) {
        piece.content_offset += *at;
        pieces_.push_back(piece);
      }
      run.pieces = {};
    }
    return {};
  }

  std::uint64_t size() const override { return pieces_.empty() ? 0 : pieces_.back().end(); }
  bool compressed() const override { return true; }
  Status check_unchanged() const override { return file_->check_unchanged(); }
  std::uint64_t frames() const override { return frames_; }
  std::uint64_t lost_frames() const override { return lost_; }
  const std::vector<Error>& damage() const override { return damage_; }

  Status whole(std::uint64_t offset, std::uint64_t bytes) const override {
    if (bytes == 0) return {};
    const std::uint64_t end = offset + bytes;
    for (auto piece = at(offset); piece != pieces_.end() && piece->content_offset < end; ++piece)
      if (piece->lost()) return std::unexpected(damage_[piece->damage]);
    return {};
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return fail(ErrorCode::malformed, "byte " + std::to_string(offset) + ": " +
                                            std::to_string(out.size()) +
                                            " bytes expected, the content ends at byte " +
                                            std::to_string(size()));
    while (!out.empty()) {
      const auto piece = at(offset);
      if (piece->lost()) return std::unexpected(damage_[piece->damage]);
      const std::uint64_t some = std::min<std::uint64_t>(out.size(), piece->end() - offset);
      {
        const std::scoped_lock lock(mutex_);
        BTF_ASSIGN(const std::byte* content, load(*piece));
        std::memcpy(out.data(), content + (offset - piece->content_offset), some);
      }
      offset += some;
      out = out.subspan(some);
    }
    return {};
  }

 private:
  std::vector<Piece>::const_iterator at(std::uint64_t offset) const {
    return std::ranges::upper_bound(pieces_, offset, {}, &Piece::content_offset) - 1;
  }

  struct Cached {
    std::uint64_t content_offset = 0;
    std::vector<std::byte> content;
  };

  // It was sound when the file was looked through.
  Result<const std::byte*> load(const Piece& piece) const {
    const auto found = std::ranges::find(cache_, piece.content_offset, &Cached::content_offset);
    if (found != cache_.end()) {
      cache_.splice(cache_.begin(), cache_, found);
      return cache_.front().content.data();
    }
    packed_.resize(piece.compressed);
    BTF_TRY(file_->read_at(piece.file_offset, packed_));
    Cached fresh{piece.content_offset, std::vector<std::byte>(piece.content)};
    if (context_ == nullptr) context_.reset(ZSTD_createDCtx());
    if (context_ == nullptr) throw std::bad_alloc();
    const std::size_t got =
        ZSTD_decompressDCtx(context_.get(), fresh.content.data(), fresh.content.size(),
                            packed_.data(), packed_.size());
    if (ZSTD_isError(got) != 0 || got != piece.content)
      return std::unexpected(file_changed().error().in_file(name_));
    cached_bytes_ += piece.content;
    cache_.push_front(std::move(fresh));
    while (cache_.size() > 1 && (cached_bytes_ > kCacheBytes || cache_.size() > kCacheFrames)) {
      cached_bytes_ -= cache_.back().content.size();
      cache_.pop_back();
    }
    return cache_.front().content.data();
  }

  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  std::string name_;
  std::unique_ptr<ByteSource> file_;
  std::vector<Piece> pieces_;  // without gaps
  std::uint64_t frames_;
  std::uint64_t lost_;
  std::vector<Error> damage_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::unique_ptr<ZSTD_DCtx, Free> context_;
  mutable std::vector<std::byte> packed_;
  mutable std::list<Cached> cache_;  // used last first
  mutable std::uint64_t cached_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<SalvagedContent>> salvage(std::string name, std::unique_ptr<ByteSource> file,
                                                 const SalvageOptions& options) {
  FrameScan scan(*file, options.execution);
  BTF_TRY(scan.run());
  if (scan.too_large() || (options.cut_frame && scan.only_cut()))
    return salvage_stream(std::move(name), std::move(file), options);
  auto content = std::make_unique<FrameContent>(std::move(name), std::move(file), scan);
  BTF_TRY(content->place(scan.runs()));
  return content;
}

}  // namespace btf::zstd
