// Recovers the content of damaged compressed files. The place of frames after lost ones of unknown
// size is found by their records: each record, or several small ones that share frames, begins and
// ends with a frame, and the offset table implies its length.
#include "repair/salvage.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "core/resources.h"
#include "formats/btf_reader.h"
#include "formats/io/byte_source.h"
#include "formats/stream_bound.h"
#include "formats/zstd.h"
#include "repair/frame_scan.h"

namespace btf::zstd {
namespace {

// The beginning of a file whose frames are too large to be checked one by one.

using wire::kWord;

// Limits the frames at which a first record is looked for, and the records that are read or
// compared.
constexpr std::size_t kMaxStarts = 4096;
constexpr std::uint64_t kMaxSteps = 1U << 24;

// The content of a run after a word of zeros, so that a record may begin at its first byte; an
// empty offset table has that size.
class RunSource final : public ByteSource {
 public:
  RunSource(const ByteSource& file, const Run& run) : file_(file), run_(run) {}

  std::uint64_t size() const override { return kWord + run_.content; }
  Status check_unchanged() const override { return {}; }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset < kWord || !fits(offset, out.size(), size()))
      return fail(ErrorCode::malformed, "outside the frames");
    offset -= kWord;
    while (!out.empty()) {
      const auto piece =
          std::ranges::upper_bound(run_.pieces, offset, {}, &Piece::content_offset) - 1;
      if (piece->lost()) return malformed("zstd-frame", offset, "a frame is lost");
      BTF_TRY(load(*piece));
      const std::uint64_t some = std::min<std::uint64_t>(out.size(), piece->end() - offset);
      std::memcpy(out.data(), content_.data() + (offset - piece->content_offset), some);
      offset += some;
      out = out.subspan(some);
    }
    return {};
  }

 private:
  Status load(const Piece& piece) const {
    if (loaded_ == &piece) return {};
    std::vector<std::byte> packed(piece.compressed);
    BTF_TRY(file_.read_at(piece.file_offset, packed));
    content_.resize(piece.content);
    loaded_ = nullptr;
    const std::size_t got =
        ZSTD_decompress(content_.data(), content_.size(), packed.data(), packed.size());
    if (got != piece.content) return file_changed();
    loaded_ = &piece;
    return {};
  }

  const ByteSource& file_;
  const Run& run_;
  mutable const Piece* loaded_ = nullptr;
  mutable std::vector<std::byte> content_;
};

class Table {
 public:
  explicit Table(const ByteSource& content) : content_(content) {}

  Status open() {
    std::array<std::byte, kWord> word;
    BTF_TRY(content_.read_at(0, word));
    count_ = wire::load_u64(word.data());
    if (count_ > content_.size() / kWord)
      return malformed("offset-table-too-long", 0, "the offset table does not fit");
    entries_ = btf_records(content_, count_);
    return {};
  }

  std::uint64_t count() const { return count_; }
  Result<std::uint64_t> begin(std::uint64_t index) const { return entries_->entry(index); }

 private:
  const ByteSource& content_;
  std::uint64_t count_ = 0;
  std::unique_ptr<BtfRecords> entries_;
};

// Consecutive records; the first begins with a frame, and the last ends with one.
struct Chain {
  std::uint64_t begin = 0;             // offset in the run
  std::vector<std::uint64_t> lengths;  // including padding
  std::uint64_t end = 0;
};

// Follows records from `begin` on, within limits.
Result<Chain> follow(const BtfRecords& records, const Run& run, std::uint64_t begin,
                     std::uint64_t& steps) {
  Chain chain{begin, {}, begin};
  std::size_t complete = 0;  // number of records up to the last end of a frame
  std::uint64_t at = begin;
  const auto between = [&](std::uint64_t at) {
    return at == run.content ||
           std::ranges::binary_search(run.pieces, at, {}, &Piece::content_offset);
  };
  for (; at < run.content && steps < kMaxSteps; ++steps) {
    const auto info = records.at(0, kWord + at);
    if (!info && info.error().code != ErrorCode::malformed) return std::unexpected(info.error());
    if (!info || !info->known()) break;
    // Zeros would be a valid scalar.
    const bool blank = info->dims.empty() && info->dtype_code == 0 && info->layout_code == 0;
    if (blank && chain.lengths.empty()) break;
    const Checked length = round_up(info->end() - kWord - at, kWord);
    if (!length || *length > run.content - at) break;
    chain.lengths.push_back(*length);
    at += *length;
    if (!between(at)) continue;
    chain.end = at;
    complete = chain.lengths.size();
  }
  chain.lengths.resize(complete);
  return chain;
}

// Returns true if the records from `first` on have the lengths of the chain.
Result<bool> matches(const Table& table, std::uint64_t first, const Chain& chain,
                     std::uint64_t& steps) {
  BTF_ASSIGN(std::uint64_t begin, table.begin(first));
  for (std::size_t i = 0; i < chain.lengths.size(); ++i, ++steps) {
    if (first + i + 1 == table.count()) return true;  // the last record ends with the file
    BTF_ASSIGN(const std::uint64_t next, table.begin(first + i + 1));
    if (next < begin || next - begin != chain.lengths[i]) return false;
    begin = next;
  }
  return true;
}

// The number of the record that the chain begins with, if it is unambiguous.
Result<std::optional<std::uint64_t>> identify(const Table& table, const Chain& chain,
                                              const Run& run, std::uint64_t behind,
                                              std::uint64_t& steps) {
  const std::uint64_t length = chain.lengths.size();
  if (length > table.count()) return std::nullopt;
  const auto possible = [&](std::uint64_t first) -> Result<bool> {
    BTF_ASSIGN(const std::uint64_t begin, table.begin(first));
    if (begin < chain.begin || begin - chain.begin < behind) return false;
    return matches(table, first, chain, steps);
  };
  if (run.reaches_end && chain.end == run.content) {
    const std::uint64_t first = table.count() - length;
    BTF_ASSIGN(const bool fits_there, possible(first));
    return fits_there ? std::optional(first) : std::nullopt;
  }
  std::optional<std::uint64_t> found;
  for (std::uint64_t first = 0; first + length <= table.count(); ++first) {
    if (++steps > kMaxSteps) return std::nullopt;
    BTF_ASSIGN(const bool fits_there, possible(first));
    if (!fits_there) continue;
    if (found) return std::nullopt;
    found = first;
  }
  return found;
}

bool damaged(const Error& error) { return error.code == ErrorCode::malformed; }

// `known` is the content up to the run, including the offset table; `file` has the frames. Unset if
// the lengths of the records in the run fit no offset, or several.
Result<std::optional<std::uint64_t>> place_of(const ByteSource& known, const ByteSource& file,
                                              const Run& run) {
  Table table(known);
  if (const Status opened = table.open(); !opened) {
    if (damaged(opened.error())) return std::nullopt;
    return std::unexpected(opened.error());
  }
  const RunSource source(file, run);
  const auto records = btf_records(source, 0);
  std::uint64_t steps = 0;
  for (std::size_t i = 0; i < std::min(run.pieces.size(), kMaxStarts); ++i) {
    if (run.pieces[i].lost()) continue;
    BTF_ASSIGN(const Chain chain, follow(*records, run, run.pieces[i].content_offset, steps));
    if (chain.lengths.empty()) continue;
    const auto first = identify(table, chain, run, known.size(), steps);
    if (!first && damaged(first.error())) return std::nullopt;
    if (!first) return std::unexpected(first.error());
    if (!*first) continue;
    BTF_ASSIGN(const std::uint64_t begin, table.begin(**first));
    return begin - chain.begin;
  }
  return std::nullopt;
}

constexpr std::size_t kPlain = 256U << 10;  // bytes decompressed at once

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
      return fail(ErrorCode::malformed, "byte ", offset, ": ", out.size(),
                  " bytes expected, the content ends at byte ", size_);
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
    return fail(ErrorCode::no_space, "decompressing it takes more than the ", room_,
                " bytes that may be used in ", temporary_directory());
  BTF_TRY(spool_.append(bytes));
  if (spool_.size() <= allowed_) return {};
  // A damaged header does not tell how much is needed.
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
  std::size_t wanted = 0;  // 0 between two frames
  for (std::uint64_t at = 0; at < file_->size();) {
    const std::uint64_t some = std::min<std::uint64_t>(packed.size(), file_->size() - at);
    BTF_TRY(report_progress(options.execution, some));
    BTF_TRY(file_->read_at(at, packed.first(some)));
    ZSTD_inBuffer in{packed.data(), some, 0};
    // A full output buffer may leave content in the context.
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
                   concat("the compressed file goes on after ", allowed_,
                          " bytes of content, more than ", bound_.subject(), " needs"),
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
                   concat("the file ends within ", walk.inside(), ", at byte ", file_->size()))
           .error());
  ++frames_;
  if (options.cut_frame) size_ = spool_.size();
  return {};
}

// Unpacks the frames before the first damaged one into a file without a name, but not more than its
// records can need.
Result<std::unique_ptr<SalvagedContent>> salvage_stream(std::string name,
                                                        std::unique_ptr<ByteSource> file,
                                                        const SalvageOptions& options) {
  auto content =
      std::make_unique<StreamContent>(std::move(name), std::move(file), Spool::in_memory());
  BTF_TRY(content->unpack(options));
  return content;
}

// Limits of the cache of decompressed frames: bytes, and a number that can be searched quickly.
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

  // Places frames after others of unknown size by their records.
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
                             concat(sound,
                                    " sound frames after a damaged one: where "
                                    "their content belongs is not known"),
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
      return fail(ErrorCode::malformed, "byte ", offset, ": ", out.size(),
                  " bytes expected, the content ends at byte ", size());
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

  // It was valid when the file was scanned.
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
    const std::size_t got = ZSTD_decompressDCtx(
        context_.get(), fresh.content.data(), fresh.content.size(), packed_.data(), packed_.size());
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
  mutable std::mutex mutex_;  // guards the following members
  mutable std::unique_ptr<ZSTD_DCtx, Free> context_;
  mutable std::vector<std::byte> packed_;
  mutable std::list<Cached> cache_;  // most recently used first
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
