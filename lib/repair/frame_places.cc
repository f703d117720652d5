#include "repair/frame_places.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/btf/reader.h"
#include "formats/btf/wire.h"

namespace btf::zstd {
namespace {

using wire::kWord;

// Frames at which a first record is looked for, and records that are read or compared.
constexpr std::size_t kMostStarts = 4096;
constexpr std::uint64_t kMostSteps = 1U << 24;

// The content of the run behind a word of nothing, so that a record may begin at its first byte:
// an empty table takes as much.
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

// Records one behind the other; the first begins with a frame, the last ends with one.
struct Chain {
  std::uint64_t begin = 0;             // in the run
  std::vector<std::uint64_t> lengths;  // with padding
  std::uint64_t end = 0;
};

// From there on, as far as it goes, but not for ever.
Result<Chain> follow(const BtfRecords& records, const Run& run, std::uint64_t begin,
                     std::uint64_t& steps) {
  Chain chain{begin, {}, begin};
  std::size_t complete = 0;  // records up to the last end of a frame
  std::uint64_t at = begin;
  const auto between = [&](std::uint64_t at) {
    return at == run.content ||
           std::ranges::binary_search(run.pieces, at, {}, &Piece::content_offset);
  };
  for (; at < run.content && steps < kMostSteps; ++steps) {
    const auto info = records.at(0, kWord + at);
    if (!info && info.error().code != ErrorCode::malformed) return std::unexpected(info.error());
    if (!info || !info->known()) break;
    // Zeros would do for a scalar.
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

// Are the records `first` and on as long as those of the chain?
Result<bool> matches(const Table& table, std::uint64_t first, const Chain& chain,
                     std::uint64_t& steps) {
  BTF_ASSIGN(std::uint64_t begin, table.begin(first));
  for (std::size_t i = 0; i < chain.lengths.size(); ++i, ++steps) {
    if (first + i + 1 == table.count()) return true;  // the last one ends with the file
    BTF_ASSIGN(const std::uint64_t next, table.begin(first + i + 1));
    if (next < begin || next - begin != chain.lengths[i]) return false;
    begin = next;
  }
  return true;
}

// Which record the chain begins with, if that is certain.
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
    if (++steps > kMostSteps) return std::nullopt;
    BTF_ASSIGN(const bool fits_there, possible(first));
    if (!fits_there) continue;
    if (found) return std::nullopt;
    found = first;
  }
  return found;
}

bool damaged(const Error& error) { return error.code == ErrorCode::malformed; }

}  // namespace

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
  for (std::size_t i = 0; i < std::min(run.pieces.size(), kMostStarts); ++i) {
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

}  // namespace btf::zstd
