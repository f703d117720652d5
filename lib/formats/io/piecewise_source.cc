#include "formats/io/piecewise_source.h"

#include <algorithm>
#include <string>
#include <utility>

#include "btf/try.h"
#include "core/checked_math.h"

namespace btf {
namespace {

class PiecewiseSource final : public ByteSource {
 public:
  explicit PiecewiseSource(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

  std::uint64_t size() const override {
    return pieces_.empty() ? 0 : pieces_.back().begin + pieces_.back().length;
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    for (std::size_t i = piece_at(offset); !out.empty(); ++i) {
      if (i == pieces_.size() || offset < pieces_[i].begin)
        return fail(ErrorCode::malformed, "there is nothing at byte " + std::to_string(offset));
      const Piece& piece = pieces_[i];
      const std::uint64_t inside = offset - piece.begin;
      const std::uint64_t some = std::min<std::uint64_t>(piece.length - inside, out.size());
      BTF_TRY(piece.source->read_at(piece.offset + inside, out.first(some)));
      out = out.subspan(some);
      offset += some;
    }
    return {};
  }

  std::uint64_t read_ahead_end(std::uint64_t offset) const override {
    const std::size_t i = piece_at(offset);
    if (i == pieces_.size() || offset < pieces_[i].begin) return offset;
    const Piece& piece = pieces_[i];
    const std::uint64_t end = piece.source->read_ahead_end(piece.offset + (offset - piece.begin));
    return piece.begin + std::min(piece.length, end - piece.offset);
  }

  // Pieces of one source mostly stand side by side.
  Status check_unchanged() const override {
    const ByteSource* last = nullptr;
    for (const Piece& piece : pieces_)
      if (std::exchange(last, piece.source.get()) != piece.source.get())
        BTF_TRY(piece.source->check_unchanged());
    return {};
  }

 private:
  // The first piece that ends behind the offset.
  std::size_t piece_at(std::uint64_t offset) const {
    const auto found = std::ranges::upper_bound(
        pieces_, offset, {}, [](const Piece& piece) { return piece.begin + piece.length; });
    return static_cast<std::size_t>(found - pieces_.begin());
  }

  std::vector<Piece> pieces_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> piecewise_source(std::vector<Piece> pieces) {
  std::uint64_t end = 0;
  for (const Piece& piece : pieces) {
    const Checked piece_end = checked_add(piece.begin, piece.length);
    if (piece.begin < end || !piece_end || !fits(piece.offset, piece.length, piece.source->size()))
      return fail(ErrorCode::invalid_argument, "pieces of a source overlap, or lie outside of it");
    end = *piece_end;
  }
  return std::make_unique<PiecewiseSource>(std::move(pieces));
}

}  // namespace btf
