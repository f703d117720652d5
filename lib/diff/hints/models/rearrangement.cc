#include "diff/hints/models/rearrangement.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/hints/evidence/wording.h"
#include "diff/pairs/rows.h"
#include "elements/parallel.h"
#include "elements/row_major.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kGathered = 1U << 15;        // elements at a time
constexpr std::uint64_t kPiece = 256U << 10;         // bytes of golden
constexpr std::uint64_t kLeastPiece = 16U << 10;     // where rows are read in any order
constexpr std::uint64_t kPieces = 4U << 20;          // kept at a time
constexpr std::uint64_t kMostSpeltOut = 512U << 10;  // elements of a COO golden
// Numbers and steps are signed.
constexpr std::uint64_t kMostElements = 1ULL << 60;
// Candidates whose first elements are looked up in one search of a COO golden.
constexpr std::size_t kFirstElements = 8;

// Golden's codes by row-major number, in any order: pieces of it that were used last stay.
class Pieces {
 public:
  static Result<Pieces> open(const DiffSide& side, std::uint64_t piece) {
    BTF_ASSIGN(StridedLayout view, own_view(side));
    Pieces pieces(side, std::move(view), piece);
    if (side.storage() == nullptr) {
      BTF_TRY(pieces.spell_out());
      return pieces;
    }
    BTF_ASSIGN(StridedLayout order, linear_view(side.dims(), side.dtype()));
    pieces.order_ = std::make_unique<StridedLayout>(std::move(order));
    pieces.grid_.emplace(choose_slabs({pieces.view_.get(), pieces.bytes_},
                                      {pieces.order_.get(), pieces.bytes_},
                                      {.bytes = piece, .target_contiguous = true}));
    BTF_ASSIGN(pieces.reader_, side.reader(*pieces.view_));
    return pieces;
  }

  // Copies the code of element `number`.
  Status copy(std::uint64_t number, std::byte* out) {
    if (number - piece_->begin >= piece_->count) BTF_TRY(turn_to(number));
    std::memcpy(out, piece_->codes.data() + (number - piece_->begin) * bytes_, bytes_);
    return {};
  }

 private:
  struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t count = 0;
    std::uint64_t used = 0;
    std::vector<std::byte> codes{};
  };

  Pieces(const DiffSide& side, StridedLayout view, std::uint64_t piece)
      : side_(&side),
        view_(std::make_unique<StridedLayout>(std::move(view))),
        bytes_(info(side.dtype()).buffer_bytes()),
        kept_(kPieces / piece) {}

  Status spell_out() {
    Piece all{.count = *element_count(side_->dims())};
    all.codes.resize(all.count * bytes_);
    BTF_ASSIGN(FlatStream stream, FlatStream::open(*side_, *view_, 0));
    BTF_TRY(stream.read(all.count, all.codes.data()));
    kept_[0] = std::move(all);
    return {};
  }

  Status turn_to(std::uint64_t number) {
    ++turn_;
    auto found = std::ranges::find_if(
        kept_, [&](const Piece& piece) { return number - piece.begin < piece.count; });
    if (found == kept_.end()) {
      found = std::ranges::min_element(kept_, {}, &Piece::used);
      BTF_TRY(load(number, *found));
    }
    piece_ = &*found;
    piece_->used = turn_;
    return {};
  }

  Status load(std::uint64_t number, Piece& piece) {
    std::uint64_t low = 0;
    std::uint64_t high = grid_->count();
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (footprint(*order_, grid_->box(middle)).base <= number ? low : high) = middle;
    }
    const Box box = grid_->box(low);
    const Footprint place = footprint(*order_, box);
    BTF_ASSIGN(const SourceSlab slab, reader_->read(box));
    const std::byte* codes = in_row_major(slab, box.counts(), side_->dtype(), buffer_).data;
    piece.begin = place.base;
    piece.count = place.elements;
    piece.codes.assign(codes, codes + piece.count * bytes_);
    return {};
  }

  const DiffSide* side_;
  std::unique_ptr<StridedLayout> view_;  // the reader holds on to it
  std::uint64_t bytes_;
  std::unique_ptr<StridedLayout> order_;
  std::optional<SlabGrid> grid_;
  std::unique_ptr<SlabReader> reader_;
  Buffer buffer_;
  std::vector<Piece> kept_;
  Piece* piece_ = kept_.data();
  std::uint64_t turn_ = 0;
};

std::optional<std::int64_t> moved_by(const Digit& digit, std::uint64_t at) {
  // An odometer may be one past the last number.
  if (at < digit.begin || at >= digit.end || (!digit.order.empty() && at >= digit.order.size()))
    return std::nullopt;
  const std::uint64_t turns = digit.order.empty() ? at : digit.order[at];
  if (turns == kNowhere) return std::nullopt;
  return static_cast<std::int64_t>(turns) * digit.step;
}

// Elements read at a time: where indices are in any order, about as many as one of them has.
std::uint64_t piece_for(const Rearrangement& rule, std::uint64_t bytes) {
  std::uint64_t piece = kPiece;
  for (const Digit& digit : rule.digits)
    if (!digit.order.empty())
      piece = std::clamp(static_cast<std::uint64_t>(std::abs(digit.step)) * bytes, kLeastPiece,
                         kPiece);
  return piece;
}

// The digits of one number after the other.
class Odometer {
 public:
  explicit Odometer(const Rearrangement& rule) : rule_(rule), at_(rule.digits.size()) { turn(); }

  std::optional<std::uint64_t> source() const {
    if (!outer_) return std::nullopt;
    const auto last = moved_by(rule_.digits.back(), at_.back());
    if (!last) return std::nullopt;
    // Wraps to something large where it is below zero.
    const auto source = static_cast<std::uint64_t>(*outer_ + *last);
    return source < rule_.count ? std::optional(source) : std::nullopt;
  }

  void advance() {
    std::size_t d = at_.size() - 1;
    if (++at_[d] < rule_.digits[d].size || d == 0) return;
    while (d > 0 && at_[d] == rule_.digits[d].size) {
      at_[d] = 0;
      ++at_[--d];
    }
    turn();
  }

 private:
  // Sums up all digits but the last.
  void turn() {
    outer_ = rule_.base;
    for (std::size_t d = 0; d + 1 < at_.size() && outer_; ++d) {
      const auto by = moved_by(rule_.digits[d], at_[d]);
      outer_ = by ? std::optional(*outer_ + *by) : std::nullopt;
    }
  }

  const Rearrangement& rule_;
  std::vector<std::uint64_t> at_;
  std::optional<std::int64_t> outer_;
};

// add(inside, actual, golden, count) for runs of actual's elements and what golden has for them.
template <typename Real, typename Add>
Status gather(const Inquiry& inquiry, const Rearrangement& rule, const Add& add) {
  const HintInput& input = inquiry.input;
  const std::uint64_t actual_bytes = info(input.actual.dtype()).buffer_bytes();
  const std::uint64_t golden_bytes = info(input.golden.dtype()).buffer_bytes();
  BTF_ASSIGN(const StridedLayout view, own_view(input.actual));
  BTF_ASSIGN(FlatStream stream, FlatStream::open(input.actual, view, 0));
  BTF_ASSIGN(Pieces pieces, Pieces::open(input.golden, piece_for(rule, golden_bytes)));
  std::vector<std::byte> actual_codes(kGathered * actual_bytes);
  std::vector<std::byte> golden_codes(kGathered * golden_bytes);
  std::vector<Real> actual(kGathered);
  std::vector<Real> golden(kGathered);
  std::vector<bool> inside(kGathered);
  Odometer odometer(rule);
  for (std::uint64_t at = 0; at < inquiry.elements;) {
    BTF_TRY(check_cancelled(input.execution));
    const std::uint64_t n = std::min(kGathered, inquiry.elements - at);
    BTF_TRY(stream.read(n, actual_codes.data()));
    for (std::uint64_t i = 0; i < n; ++i, odometer.advance()) {
      const std::optional<std::uint64_t> source = odometer.source();
      inside[i] = source.has_value();
      if (source) BTF_TRY(pieces.copy(*source, golden_codes.data() + i * golden_bytes));
    }
    widener<Real>(input.actual.dtype())(actual_codes.data(), 1, n, actual.data());
    widener<Real>(input.golden.dtype())(golden_codes.data(), 1, n, golden.data());
    add(inside, actual.data(), golden.data(), n);
    at += n;
  }
  return {};
}

template <typename Real>
Result<RearrangementTally> compare_gathered(const Inquiry& inquiry, const Rearrangement& rule) {
  RearrangementTally tally;
  BTF_TRY(gather<Real>(inquiry, rule,
                       [&](const std::vector<bool>& inside, const Real* actual, const Real* golden,
                           std::uint64_t count) {
                         for (std::uint64_t i = 0; i < count; ++i) {
                           if (!inside[i]) {
                             ++tally.outside;
                             tally.outside_zero += actual[i] == 0 ? 1 : 0;
                             continue;
                           }
                           ++tally.all.compared;
                           if (!agrees(actual[i], golden[i], inquiry.agreement)) continue;
                           ++tally.all.agreed;
                           if (!accepted(actual[i], golden[i], inquiry.agreement))
                             ++tally.all.lenient;
                         }
                       }));
  return tally;
}

// One search of a COO side for what a first look at any candidate needs.
Status fetch_first(const Inquiry& inquiry, const std::vector<RearrangedAs>& candidates) {
  if (inquiry.input.golden.storage() != nullptr) return {};
  std::vector<std::uint64_t> numbers;
  const std::size_t few = std::min(kFirstElements, inquiry.rarest.size());
  for (const RearrangedAs& candidate : candidates)
    for (std::size_t i = 0; i < few; ++i)
      if (const auto source =
              candidate.rule.source_of(inquiry.mismatches[inquiry.rarest[i]].number))
        numbers.push_back(*source);
  auto fetched = inquiry.golden->codes(numbers);
  if (!fetched) return std::unexpected(std::move(fetched).error());
  return {};
}

// Does it change most numbers that are not 0? Where they repeat anyhow, a fit proves nothing.
Result<bool> changes_most(const Inquiry& inquiry, const Places& places) {
  BTF_ASSIGN(const Moved moved, look_up_moved(*inquiry.golden, inquiry.anywhere, places));
  std::size_t changed = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const Point& point = inquiry.anywhere[i];
    if (!moved[i] || places(point) == point.number || (*moved[i] == 0 && point.golden == 0))
      continue;
    ++(sampled_agree(*moved[i], point.golden, inquiry.agreement) ? kept : changed);
  }
  return changed > kept;
}

std::string outside_text(const RearrangementTally& tally) {
  if (tally.outside == 0) return "";
  const std::string from = std::to_string(tally.outside) + " more are not in golden";
  return ", " + from + (tally.outside_zero == tally.outside ? ", all 0" : "");
}

}  // namespace

std::optional<std::uint64_t> Rearrangement::source_of(std::uint64_t number) const {
  std::int64_t source = base;
  for (std::size_t d = digits.size(); d-- > 0;) {
    const std::uint64_t at = d == 0 ? number : number % digits[d].size;
    number /= digits[d].size;
    const auto by = moved_by(digits[d], at);
    if (!by) return std::nullopt;
    source += *by;
  }
  if (source < 0 || static_cast<std::uint64_t>(source) >= count) return std::nullopt;
  return static_cast<std::uint64_t>(source);
}

std::int64_t stride_of(const Dims& dims, std::size_t dim) {
  std::int64_t stride = 1;
  for (std::size_t d = dim + 1; d < dims.size(); ++d) stride *= static_cast<std::int64_t>(dims[d]);
  return stride;
}

Rearrangement unchanged(const Dims& dims) {
  Rearrangement rule;
  rule.count = *element_count(dims);
  for (std::size_t d = 0; d < dims.size(); ++d)
    rule.digits.push_back({.size = dims[d], .step = stride_of(dims, d)});
  return rule;
}

bool rearrangeable(const Inquiry& inquiry) {
  return inquiry.elements <= kMostElements &&
         (inquiry.input.golden.storage() != nullptr || inquiry.elements <= kMostSpeltOut);
}

Result<RearrangementTally> compare_rearranged(const Inquiry& inquiry, const Rearrangement& rule) {
  const HintInput& input = inquiry.input;
  return fits_double(input.actual.dtype()) && fits_double(input.golden.dtype())
             ? compare_gathered<double>(inquiry, rule)
             : compare_gathered<long double>(inquiry, rule);
}

Result<Likeness> likeness_of_rearranged(const Inquiry& inquiry, const Rearrangement& rule,
                                        const Yardstick& yardstick) {
  Likeness likeness(yardstick);
  BTF_TRY(gather<double>(inquiry, rule,
                         [&](const std::vector<bool>& inside, const double* actual,
                             const double* golden, std::uint64_t count) {
                           for (std::uint64_t i = 0; i < count; ++i)
                             if (inside[i]) likeness.add_run(actual + i, golden + i, 1);
                         }));
  return likeness;
}

SearchResult find_rearranged(const Inquiry& inquiry, const std::vector<RearrangedAs>& candidates) {
  if (candidates.empty() || !rearrangeable(inquiry)) return std::nullopt;
  BTF_TRY(fetch_first(inquiry, candidates));
  const auto hypotheses = static_cast<double>(candidates.size());
  std::optional<Finding> best;
  for (const RearrangedAs& candidate : candidates) {
    const Places places = [&](const Point& point) {
      return candidate.rule.source_of(point.number);
    };
    BTF_ASSIGN(const bool worth,
               worth_a_walk(inquiry, MovedSide::golden, *inquiry.golden, places, hypotheses));
    if (!worth) continue;
    if (candidate.changes_most) {
      BTF_ASSIGN(const bool changes, changes_most(inquiry, places));
      if (!changes) continue;
    }
    BTF_ASSIGN(const RearrangementTally tally, compare_rearranged(inquiry, candidate.rule));
    if (tally.all.compared == 0 || tally.all.exceptions() > allowed_exceptions(inquiry)) continue;
    const std::uint64_t unexplained = tally.all.exceptions() + tally.outside - tally.outside_zero;
    if (best && best->unexplained <= unexplained) continue;
    best = Finding{{candidate.cause, candidate.words + ": " +
                                         agreed_text(inquiry, tally.all) +
                                         outside_text(tally)},
                   unexplained};
    if (unexplained == 0) break;
  }
  return best;
}

}  // namespace btf::hints
