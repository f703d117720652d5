#include "diff/hints/models/rearrangement.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "btf/try.h"
#include "core/numbers.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/sides/rows.h"
#include "elements/cast.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kSmall =
    512U << 10;  // elements of golden that are loaded at once, so that every shift is tried
constexpr std::uint64_t kWindow =
    32U << 10;  // for larger tensors, the largest shift in either direction
constexpr std::size_t kAnchors = 8;
constexpr std::int64_t kAlongDims = 16;         // for larger tensors, the most steps along each dim
constexpr std::uint64_t kMaxTrials = 8U << 20;  // pairs compared
constexpr std::size_t kMaxCandidates = 32;
constexpr std::size_t kAlwaysTried = 3;  // mismatches with which nearly every shift is tried

Shift flat_shift(std::int64_t by) { return {.by = by, .alignment = {.lag = by}}; }

Shift dim_shift(const Dims& dims, std::uint32_t dim, std::int64_t by) {
  Shift shift{.by = by, .dim = dim, .alignment = {.extent = dims[dim], .end = dims[dim]}};
  for (std::size_t d = dim + 1; d < dims.size(); ++d) shift.alignment.inner *= dims[d];
  shift.alignment.lag = by * static_cast<std::int64_t>(shift.alignment.inner);
  if (by > 0)
    shift.alignment.begin = static_cast<std::uint64_t>(by);
  else
    shift.alignment.end -= static_cast<std::uint64_t>(-by);
  return shift;
}

std::uint64_t position_of(const ShiftSpace& space, const Point& point) {
  if (space.stored == nullptr) return point.number;
  return offset(*space.stored, index_of(space.stored->dims, point.number));
}

std::optional<std::uint64_t> source_of(std::uint64_t position, std::uint64_t count,
                                       const Alignment& alignment) {
  if (alignment.extent != UINT64_MAX) {
    const std::uint64_t along = position / alignment.inner % alignment.extent;
    if (along < alignment.begin || along >= alignment.end) return std::nullopt;
  }
  // Wraps to a large number if it is below zero.
  const std::uint64_t source = position - static_cast<std::uint64_t>(alignment.lag);
  if (source >= count) return std::nullopt;
  return source;
}

// Calls look() for shifts by 1, -1, 2, -2, ... along every dim but the outermost one that has more
// than one index, which is the flat order, until it returns false.
template <typename Look>
bool along_dims(const Dims& dims, std::uint64_t most, Look look) {
  std::uint64_t outer = 1;
  for (std::uint32_t d = 0; d < dims.size(); ++d) {
    const auto end = static_cast<std::int64_t>(std::min(most, dims[d] / 2));
    for (std::int64_t by = 1; outer > 1 && by <= end; ++by)
      if (!look(dim_shift(dims, d, by)) || !look(dim_shift(dims, d, -by))) return false;
    outer *= dims[d];
  }
  return true;
}

// The elements of golden that a number agrees with.
template <typename Real>
class Partners {
 public:
  Partners(Real actual, const std::vector<Real>& golden, const Agreement& agreement) {
    bits_.reserve(golden.size() / kPairRun + 1);
    const std::vector<Real> same(kPairRun, actual);
    for (std::size_t at = 0; at < golden.size(); at += kPairRun)
      bits_.push_back(agreeing(same.data(), golden.data() + at,
                               std::min<std::uint64_t>(kPairRun, golden.size() - at), agreement));
  }
  bool operator[](std::uint64_t i) const { return bits_[i / kPairRun][i % kPairRun]; }

  // Calls visit(i) for each of them, in ascending order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t run = 0; run < bits_.size(); ++run)
      bits_[run].for_each([&](std::uint64_t i) { visit(run * kPairRun + i); });
  }

 private:
  std::vector<PairBits> bits_;
};

// Tries shifts of the sampled mismatches within a golden that is in memory.
template <typename Real>
class Trials {
 public:
  Trials(const SearchContext& context, const ShiftSpace& space, std::vector<Real> golden)
      : context_(context), golden_(std::move(golden)) {
    for (const std::size_t i : context.rarest) {
      positions_.push_back(position_of(space, context.mismatches[i]));
      actual_.push_back(static_cast<Real>(context.mismatches[i].actual));
    }
    for (std::size_t i = 0; i < std::min(kAlwaysTried, actual_.size()); ++i)
      partners_.emplace_back(actual_[i], golden_, context.agreement);
  }

  bool exhausted() const { return trials_ > kMaxTrials; }

  bool explains(const Alignment& alignment) {
    std::size_t tried = 0;
    std::size_t failures = 0;
    for (std::size_t i = 0; i < actual_.size(); ++i) {
      const auto source = source_of(positions_[i], golden_.size(), alignment);
      if (!source) continue;
      ++trials_;
      ++tried;
      if (!agree(i, *source)) ++failures;
      if (failures * 32 > tried + 32) return false;
    }
    return 5 * tried >= 2 * actual_.size() && failures * 32 <= tried;
  }

 private:
  bool agree(std::size_t i, std::uint64_t source) const {
    return i < partners_.size() ? partners_[i][source]
                                : agrees(actual_[i], golden_[source], context_.agreement);
  }

  const SearchContext& context_;
  std::vector<Real> golden_;
  std::vector<std::uint64_t> positions_;
  std::vector<Real> actual_;
  std::vector<Partners<Real>> partners_;  // of the first mismatches
  std::uint64_t trials_ = 0;
};

template <typename Real>
Result<std::vector<Real>> read_golden(const SearchContext& context, const ShiftSpace& space,
                                      std::uint64_t begin, std::uint64_t count) {
  const DiffSide& golden = context.input.golden;
  BTF_ASSIGN(FlatStream stream, FlatStream::open(golden, space.streams.golden, begin));
  std::vector<std::byte> codes(count * info(golden.dtype()).buffer_bytes());
  BTF_TRY(stream.read(count, codes.data()));
  std::vector<Real> values(count);
  widener<Real>(golden.dtype())(codes.data(), 1, count, values.data());
  return values;
}

template <typename Real>
Result<ShiftCandidates> try_all(const SearchContext& context, const ShiftSpace& space) {
  BTF_ASSIGN(std::vector<Real> golden, read_golden<Real>(context, space, 0, space.count));
  Trials<Real> trials(context, space, std::move(golden));
  ShiftCandidates candidates;
  const auto look = [&](const Shift& shift) {
    candidates.tried += 1;
    if (trials.explains(shift.alignment)) candidates.shifts.push_back(shift);
    return candidates.shifts.size() < kMaxCandidates && !trials.exhausted();
  };
  if (!along_dims(space.dims, space.count, look)) return candidates;
  for (std::int64_t by = 1; by <= static_cast<std::int64_t>(space.count / 2); ++by)
    if (!look(flat_shift(by)) || !look(flat_shift(-by))) return candidates;
  return candidates;
}

// Finds shifts that explain all anchors but one, by comparing each anchor with golden around it.
template <typename Real>
Status look_around(const SearchContext& context, const ShiftSpace& space,
                   ShiftCandidates& candidates) {
  std::vector<std::uint8_t> hits(2 * kWindow + 1);  // by lag + kWindow
  std::vector<std::uint8_t> tries(hits.size());
  for (std::size_t i = 0; i < std::min(kAnchors, context.rarest.size()); ++i) {
    const Point& anchor = context.mismatches[context.rarest[i]];
    const std::uint64_t position = position_of(space, anchor);
    const std::uint64_t begin = position > kWindow ? position - kWindow : 0;
    const std::uint64_t end = std::min(position + kWindow + 1, space.count);
    BTF_ASSIGN(const std::vector<Real> golden,
               read_golden<Real>(context, space, begin, end - begin));
    const std::uint64_t first_lag = position + kWindow - begin;
    for (std::uint64_t at = 0; at < end - begin; ++at) ++tries[first_lag - at];
    const Partners<Real> partners(static_cast<Real>(anchor.actual), golden, context.agreement);
    partners.for_each([&](std::uint64_t at) { ++hits[first_lag - at]; });
  }
  candidates.tried += static_cast<double>(hits.size());
  const std::size_t most = candidates.shifts.size() + kMaxCandidates;
  const auto add = [&](std::int64_t by) {
    const auto lag = static_cast<std::size_t>(by + static_cast<std::int64_t>(kWindow));
    if (tries[lag] >= kAnchors / 2 && hits[lag] + 1 >= tries[lag] &&
        candidates.shifts.size() < most)
      candidates.shifts.push_back(flat_shift(by));
  };
  for (std::int64_t by = 1; by <= static_cast<std::int64_t>(kWindow); ++by) {
    add(by);
    add(-by);
  }
  return {};
}

// Looks up in one search of a COO side all elements that a first look at these shifts needs.
Status fetch_ahead(const SearchContext& context, const ShiftSpace& space,
                   const std::vector<Shift>& shifts) {
  std::vector<std::uint64_t> numbers;
  for (const Shift& shift : shifts)
    for (std::size_t i = 0; i < std::min(kAnchors, context.rarest.size()); ++i)
      if (const auto place = place_of(space, shift, context.mismatches[context.rarest[i]]))
        numbers.push_back(*place);
  auto fetched = space.golden->codes(numbers);
  if (!fetched) return std::unexpected(std::move(fetched).error());
  return {};
}

template <typename Real>
Result<ShiftCandidates> try_near(const SearchContext& context, const ShiftSpace& space) {
  ShiftCandidates candidates;
  along_dims(space.dims, kAlongDims, [&](const Shift& shift) {
    candidates.shifts.push_back(shift);
    return true;
  });
  const std::vector<Shift> along = candidates.shifts;
  // The same distances, as shifts in the order of all elements.
  for (const Shift& shift : along) candidates.shifts.push_back(flat_shift(shift.alignment.lag));
  candidates.tried += static_cast<double>(candidates.shifts.size());
  if (context.input.golden.storage() != nullptr) {
    BTF_TRY(look_around<Real>(context, space, candidates));
  } else {
    for (std::int64_t by = 1; by <= kAlongDims; ++by) {
      candidates.shifts.push_back(flat_shift(by));
      candidates.shifts.push_back(flat_shift(-by));
    }
    BTF_TRY(fetch_ahead(context, space, candidates.shifts));
  }
  return candidates;
}

}  // namespace

std::optional<std::uint64_t> place_of(const ShiftSpace& space, const Shift& shift,
                                      const Point& point) {
  return source_of(position_of(space, point), space.count, shift.alignment);
}

Result<ShiftCandidates> shift_candidates(const SearchContext& context, const ShiftSpace& space) {
  const bool narrow =
      fits_double(context.input.actual.dtype()) && fits_double(context.input.golden.dtype());
  if (space.count <= kSmall)
    return narrow ? try_all<double>(context, space) : try_all<long double>(context, space);
  return narrow ? try_near<double>(context, space) : try_near<long double>(context, space);
}

namespace {

constexpr std::uint64_t kGathered = 1U << 15;       // elements at a time
constexpr std::uint64_t kPiece = 256U << 10;        // bytes of golden
constexpr std::uint64_t kMinPiece = 16U << 10;      // bytes, where rows are read in any order
constexpr std::uint64_t kPieces = 4U << 20;         // bytes kept at a time
constexpr std::uint64_t kMaxExpanded = 512U << 10;  // elements of a COO golden that may be expanded

// Numbers and steps are signed 64-bit integers.
constexpr std::uint64_t kMaxElements = 1ULL << 60;

// Elements of each candidate that are looked up in the first search of a COO golden.
constexpr std::size_t kFirstElements = 8;

// Golden's codes by row-major number in any order; keeps the pieces used last.
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
  std::unique_ptr<StridedLayout> view_;  // on the heap, since the reader refers to it
  std::uint64_t bytes_;
  std::unique_ptr<StridedLayout> order_;
  std::optional<SlabGrid> grid_;
  std::unique_ptr<SlabReader> reader_;
  Buffer buffer_;
  std::vector<Piece> kept_;
  Piece* piece_ = kept_.data();
  std::uint64_t turn_ = 0;
};

std::optional<std::int64_t> steps_of(const Digit& digit, std::uint64_t at) {
  // An odometer may be one past the last number.
  if (at < digit.begin || at >= digit.end || (!digit.order.empty() && at >= digit.order.size()))
    return std::nullopt;
  const std::uint64_t turns = digit.order.empty() ? at : digit.order[at];
  if (turns == kNoIndex) return std::nullopt;
  return static_cast<std::int64_t>(turns) * digit.step;
}

// Elements to read at a time: where indices are in any order, about as many as one index has.
std::uint64_t piece_for(const Rearrangement& rule, std::uint64_t bytes) {
  std::uint64_t piece = kPiece;
  for (const Digit& digit : rule.digits)
    if (!digit.order.empty())
      piece =
          std::clamp(static_cast<std::uint64_t>(std::abs(digit.step)) * bytes, kMinPiece, kPiece);
  return piece;
}

// Steps through the digits of consecutive numbers.
class Odometer {
 public:
  explicit Odometer(const Rearrangement& rule) : rule_(rule), at_(rule.digits.size()) { turn(); }

  std::optional<std::uint64_t> source() const {
    if (!outer_) return std::nullopt;
    const auto last = steps_of(rule_.digits.back(), at_.back());
    if (!last) return std::nullopt;
    // Wraps to a large number if it is below zero.
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
      const auto by = steps_of(rule_.digits[d], at_[d]);
      outer_ = by ? std::optional(*outer_ + *by) : std::nullopt;
    }
  }

  const Rearrangement& rule_;
  std::vector<std::uint64_t> at_;
  std::optional<std::int64_t> outer_;
};

// Calls add(inside, actual, golden, count) for runs of actual's elements and their elements in
// golden.
template <typename Real, typename Add>
Status gather(const SearchContext& context, const Rearrangement& rule, const Add& add) {
  const HintInput& input = context.input;
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
  for (std::uint64_t at = 0; at < context.elements;) {
    BTF_TRY(check_cancelled(input.execution));
    const std::uint64_t n = std::min(kGathered, context.elements - at);
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
Result<RearrangementTally> compare_gathered(const SearchContext& context,
                                            const Rearrangement& rule) {
  RearrangementTally tally;
  BTF_TRY(gather<Real>(context, rule,
                       [&](const std::vector<bool>& inside, const Real* actual, const Real* golden,
                           std::uint64_t count) {
                         for (std::uint64_t i = 0; i < count; ++i) {
                           if (!inside[i]) {
                             ++tally.outside;
                             tally.outside_zero += actual[i] == 0 ? 1 : 0;
                             continue;
                           }
                           ++tally.all.compared;
                           if (!agrees(actual[i], golden[i], context.agreement)) continue;
                           ++tally.all.agreed;
                           if (!accepted(actual[i], golden[i], context.agreement))
                             ++tally.all.lenient;
                         }
                       }));
  return tally;
}

// Looks up in one search of a COO side what a first look at every candidate needs.
Status fetch_first(const SearchContext& context,
                   const std::vector<NamedRearrangement>& candidates) {
  if (context.input.golden.storage() != nullptr) return {};
  std::vector<std::uint64_t> numbers;
  const std::size_t few = std::min(kFirstElements, context.rarest.size());
  for (const NamedRearrangement& candidate : candidates)
    for (std::size_t i = 0; i < few; ++i)
      if (const auto source =
              candidate.rule.source_of(context.mismatches[context.rarest[i]].number))
        numbers.push_back(*source);
  auto fetched = context.golden->codes(numbers);
  if (!fetched) return std::unexpected(std::move(fetched).error());
  return {};
}

// Whether the places hold other numbers for most elements that are not 0. Where numbers repeat
// anyway, a match proves nothing.
Result<bool> changes_most(const SearchContext& context, const Places& places) {
  BTF_ASSIGN(const Predictions predicted,
             look_up_predictions(*context.golden, context.anywhere, places));
  std::size_t changed = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const Point& point = context.anywhere[i];
    if (!predicted[i] || places(point) == point.number || (*predicted[i] == 0 && point.golden == 0))
      continue;
    ++(sampled_agree(*predicted[i], point.golden, context.agreement) ? kept : changed);
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
    const auto by = steps_of(digits[d], at);
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

bool rearrangeable(const SearchContext& context) {
  return context.elements <= kMaxElements &&
         (context.input.golden.storage() != nullptr || context.elements <= kMaxExpanded);
}

Result<RearrangementTally> compare_rearranged(const SearchContext& context,
                                              const Rearrangement& rule) {
  const HintInput& input = context.input;
  return fits_double(input.actual.dtype()) && fits_double(input.golden.dtype())
             ? compare_gathered<double>(context, rule)
             : compare_gathered<long double>(context, rule);
}

Result<PairStatistics> rearranged_statistics(const SearchContext& context,
                                             const Rearrangement& rule,
                                             const Normalisation& normalisation) {
  PairStatistics statistics(normalisation);
  BTF_TRY(gather<double>(context, rule,
                         [&](const std::vector<bool>& inside, const double* actual,
                             const double* golden, std::uint64_t count) {
                           for (std::uint64_t i = 0; i < count; ++i)
                             if (inside[i]) statistics.add_run(actual + i, golden + i, 1);
                         }));
  return statistics;
}

SearchResult find_rearranged(const SearchContext& context,
                             const std::vector<NamedRearrangement>& candidates) {
  if (candidates.empty() || !rearrangeable(context)) return std::nullopt;
  BTF_TRY(fetch_first(context, candidates));
  const auto hypotheses = static_cast<double>(candidates.size());
  std::optional<Finding> best;
  for (const NamedRearrangement& candidate : candidates) {
    const Places places = [&](const Point& point) {
      return candidate.rule.source_of(point.number);
    };
    BTF_ASSIGN(const bool worth,
               worth_a_walk(context, TransformedSide::golden, *context.golden, places, hypotheses));
    if (!worth) continue;
    if (candidate.changes_most) {
      BTF_ASSIGN(const bool changes, changes_most(context, places));
      if (!changes) continue;
    }
    BTF_ASSIGN(const RearrangementTally tally, compare_rearranged(context, candidate.rule));
    if (tally.all.compared == 0 || tally.all.exceptions() > allowed_exceptions(context)) continue;
    const std::uint64_t unexplained = tally.all.exceptions() + tally.outside - tally.outside_zero;
    if (best && best->unexplained <= unexplained) continue;
    best = Finding{{candidate.cause,
                    candidate.words + ": " + agreed_text(context, tally.all) + outside_text(tally)},
                   unexplained};
    if (unexplained == 0) break;
  }
  return best;
}

}  // namespace btf::hints
