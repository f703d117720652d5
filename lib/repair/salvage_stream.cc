#include "repair/salvage_stream.h"

#include <zstd.h>

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "btf/try.h"
#include "core/buffer.h"
#include "core/checked_math.h"
#include "formats/io/spool.h"
#include "formats/table/content_bound.h"
#include "formats/zstd/frame_walk.h"
#include "formats/zstd/zstd_errors.h"
#include "repair/frame_scan.h"

namespace btf::zstd {
namespace {

constexpr std::size_t kPlain = 256U << 10;  // decompressed at once

class StreamContent final : public SalvagedContent {
 public:
  StreamContent(std::string name, std::unique_ptr<ByteSource> file, Spool spool)
      : name_(std::move(name)), file_(std::move(file)), spool_(std::move(spool)) {}

  std::uint64_t size() const override { return size_; }
  bool compressed() const override { return true; }
  Status check_unchanged() const override { return file_->check_unchanged(); }
  std::uint64_t frames() const override { return frames_; }
  std::uint64_t lost_frames() const override { return lost_; }
  const std::vector<Error>& damage() const override { return damage_; }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size_))
      return fail(ErrorCode::malformed,
                  "byte " + std::to_string(offset) + ": " + std::to_string(out.size()) +
                      " bytes expected, the content ends at byte " + std::to_string(size_));
    return spool_.read_at(offset, out);
  }

  Status whole(std::uint64_t, std::uint64_t) const override { return {}; }

  Status unpack(const SalvageOptions& options);

 private:
  Status append(std::span<const std::byte> bytes);
  void lose(Error error) {
    ++lost_;
    damage_.push_back(std::move(error));
  }

  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  std::string name_;
  std::unique_ptr<ByteSource> file_;
  Spool spool_;
  std::uint64_t room_ = Spool::room();
  ContentBound bound_{std::nullopt, room_};
  std::uint64_t allowed_ = 1U << 20;
  bool enough_ = false;  // more content than the records need
  std::uint64_t size_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<Error> damage_;
};

Status StreamContent::append(std::span<const std::byte> bytes) {
  if (bytes.size() > room_ - spool_.size())
    return fail(ErrorCode::no_space, "decompressing it takes more than the " +
                                         std::to_string(room_) + " bytes that may be used in " +
                                         temporary_directory());
  BTF_TRY(spool_.append(bytes));
  if (spool_.size() <= allowed_) return {};
  // A damaged header says nothing of how much there is.
  allowed_ = bound_.most(spool_).value_or(UINT64_MAX);
  enough_ = spool_.size() > allowed_ && bound_.complete();
  return {};
}

Status StreamContent::unpack(const SalvageOptions& options) {
  const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  Buffer packed_memory;
  Buffer plain_memory;
  const std::span packed(packed_memory.reserve(ZSTD_DStreamInSize()), ZSTD_DStreamInSize());
  const std::span plain(plain_memory.reserve(kPlain), kPlain);
  FrameWalk walk;
  std::uint64_t frame_at = 0;
  std::size_t wanted = 0;  // 0: between two frames
  for (std::uint64_t at = 0; at < file_->size();) {
    const std::uint64_t some = std::min<std::uint64_t>(packed.size(), file_->size() - at);
    BTF_TRY(go_on(options.execution, some));
    BTF_TRY(file_->read_at(at, packed.first(some)));
    ZSTD_inBuffer in{packed.data(), some, 0};
    // A full output buffer may leave content behind in the context.
    bool more = true;
    while (in.pos < in.size || more) {
      ZSTD_outBuffer out{plain.data(), plain.size(), 0};
      const std::size_t before = in.pos;
      wanted = ZSTD_decompressStream(context.get(), &out, &in);
      const bool wrong = ZSTD_isError(wanted) != 0;
      walk.feed(packed.subspan(before, (wrong ? some : in.pos) - before));
      if (wrong) {
        lose(frame_error(wanted, frames_, frame_at, walk).error());
        ++frames_;
        return {};
      }
      BTF_TRY(append(plain.first(out.pos)));
      if (enough_) {
        lose(Error{ErrorCode::malformed,
                   "the compressed file goes on after " + std::to_string(allowed_) +
                       " bytes of content, more than " + std::string(bound_.whose()) + " needs",
                   {},
                   "decompression-bomb"});
        if (options.cut_frame) size_ = spool_.size();
        return {};
      }
      more = out.pos == out.size && wanted != 0;
      if (wanted == 0) {
        if (spool_.size() > size_) ++frames_;
        size_ = spool_.size();
        frame_at = at + in.pos;
        walk = {};
      }
    }
    at += some;
  }
  if (wanted == 0) return {};
  lose(wrong_frame(frames_, frame_at,
                   "the file ends within " + std::string(walk.inside()) + ", at byte " +
                       std::to_string(file_->size()))
           .error());
  ++frames_;
  if (options.cut_frame) size_ = spool_.size();
  return {};
}

}  // namespace

Result<std::unique_ptr<SalvagedContent>> salvage_stream(std::string name,
                                                        std::unique_ptr<ByteSource> file,
                                                        const SalvageOptions& options) {
  auto content =
      std::make_unique<StreamContent>(std::move(name), std::move(file), Spool::in_memory());
  BTF_TRY(content->unpack(options));
  return content;
}

}  // namespace btf::zstd
