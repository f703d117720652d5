#include "diff/hints/models/shifts.h"

#include <algorithm>
#include <cstdlib>

#include "btf/try.h"
#include "diff/hints/evidence/agree_words.h"
#include "diff/pairs/rows.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kSmall = 512U << 10;  // elements; golden is loaded and every shift tried
constexpr std::uint64_t kWindow = 32U << 10;  // of larger ones, that far on either side
constexpr std::size_t kAnchors = 8;
constexpr std::int64_t kAlongDims = 16;          // of larger ones, so many steps along every dim
constexpr std::uint64_t kMostTrials = 8U << 20;  // pairs looked at
constexpr std::size_t kMostCandidates = 32;
constexpr std::size_t kAlwaysTried = 3;  // mismatches that nearly every shift is tried with

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
  // Wraps to something large where it is below zero.
  const std::uint64_t source = position - static_cast<std::uint64_t>(alignment.lag);
  if (source >= count) return std::nullopt;
  return source;
}

// By 1, -1, 2, -2, ... along every dim that has another before it; the first is the flat order.
// Until `look` says that it is enough.
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

// With which of golden's elements a number agrees.
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

  // visit(i), ascending
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t run = 0; run < bits_.size(); ++run)
      bits_[run].for_each([&](std::uint64_t i) { visit(run * kPairRun + i); });
  }

 private:
  std::vector<PairBits> bits_;
};

// The mismatches of the sample against a golden that is at hand.
template <typename Real>
class Trials {
 public:
  Trials(const Inquiry& inquiry, const ShiftSpace& space, std::vector<Real> golden)
      : inquiry_(inquiry), golden_(std::move(golden)) {
    for (const std::size_t i : inquiry.rarest) {
      positions_.push_back(position_of(space, inquiry.mismatches[i]));
      actual_.push_back(static_cast<Real>(inquiry.mismatches[i].actual));
    }
    for (std::size_t i = 0; i < std::min(kAlwaysTried, actual_.size()); ++i)
      partners_.emplace_back(actual_[i], golden_, inquiry.agreement);
  }

  bool exhausted() const { return trials_ > kMostTrials; }

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
                                : agrees(actual_[i], golden_[source], inquiry_.agreement);
  }

  const Inquiry& inquiry_;
  std::vector<Real> golden_;
  std::vector<std::uint64_t> positions_;
  std::vector<Real> actual_;
  std::vector<Partners<Real>> partners_;  // of the first ones
  std::uint64_t trials_ = 0;
};

template <typename Real>
Result<std::vector<Real>> read_golden(const Inquiry& inquiry, const ShiftSpace& space,
                                      std::uint64_t begin, std::uint64_t count) {
  const DiffSide& golden = inquiry.input.golden;
  BTF_ASSIGN(FlatStream stream, FlatStream::open(golden, space.streams.golden, begin));
  std::vector<std::byte> codes(count * info(golden.dtype()).buffer_bytes());
  BTF_TRY(stream.read(count, codes.data()));
  std::vector<Real> values(count);
  widener<Real>(golden.dtype())(codes.data(), 1, count, values.data());
  return values;
}

template <typename Real>
Result<ShiftCandidates> try_all(const Inquiry& inquiry, const ShiftSpace& space) {
  BTF_ASSIGN(std::vector<Real> golden, read_golden<Real>(inquiry, space, 0, space.count));
  Trials<Real> trials(inquiry, space, std::move(golden));
  ShiftCandidates candidates;
  const auto look = [&](const Shift& shift) {
    candidates.tried += 1;
    if (trials.explains(shift.alignment)) candidates.shifts.push_back(shift);
    return candidates.shifts.size() < kMostCandidates && !trials.exhausted();
  };
  if (!along_dims(space.dims, space.count, look)) return candidates;
  for (std::int64_t by = 1; by <= static_cast<std::int64_t>(space.count / 2); ++by)
    if (!look(flat_shift(by)) || !look(flat_shift(-by))) return candidates;
  return candidates;
}

// Shifts that explain all anchors but one: golden around each of them is compared with it.
template <typename Real>
Status look_around(const Inquiry& inquiry, const ShiftSpace& space, ShiftCandidates& candidates) {
  std::vector<std::uint8_t> hits(2 * kWindow + 1);  // by lag + kWindow
  std::vector<std::uint8_t> tries(hits.size());
  for (std::size_t i = 0; i < std::min(kAnchors, inquiry.rarest.size()); ++i) {
    const Point& anchor = inquiry.mismatches[inquiry.rarest[i]];
    const std::uint64_t position = position_of(space, anchor);
    const std::uint64_t begin = position > kWindow ? position - kWindow : 0;
    const std::uint64_t end = std::min(position + kWindow + 1, space.count);
    BTF_ASSIGN(const std::vector<Real> golden,
               read_golden<Real>(inquiry, space, begin, end - begin));
    const std::uint64_t first_lag = position + kWindow - begin;
    for (std::uint64_t at = 0; at < end - begin; ++at) ++tries[first_lag - at];
    const Partners<Real> partners(static_cast<Real>(anchor.actual), golden, inquiry.agreement);
    partners.for_each([&](std::uint64_t at) { ++hits[first_lag - at]; });
  }
  candidates.tried += static_cast<double>(hits.size());
  const std::size_t most = candidates.shifts.size() + kMostCandidates;
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

// One search of a COO side for all that a first look at these needs.
Status fetch_ahead(const Inquiry& inquiry, const ShiftSpace& space,
                   const std::vector<Shift>& shifts) {
  std::vector<std::uint64_t> numbers;
  for (const Shift& shift : shifts)
    for (std::size_t i = 0; i < std::min(kAnchors, inquiry.rarest.size()); ++i)
      if (const auto place = place_of(space, shift, inquiry.mismatches[inquiry.rarest[i]]))
        numbers.push_back(*place);
  auto fetched = space.golden->codes(numbers);
  if (!fetched) return std::unexpected(std::move(fetched).error());
  return {};
}

template <typename Real>
Result<ShiftCandidates> try_near(const Inquiry& inquiry, const ShiftSpace& space) {
  ShiftCandidates candidates;
  along_dims(space.dims, kAlongDims, [&](const Shift& shift) {
    candidates.shifts.push_back(shift);
    return true;
  });
  const std::vector<Shift> along = candidates.shifts;
  // A whole row or plane further on, in the order of all elements.
  for (const Shift& shift : along) candidates.shifts.push_back(flat_shift(shift.alignment.lag));
  candidates.tried += static_cast<double>(candidates.shifts.size());
  if (inquiry.input.golden.storage() != nullptr) {
    BTF_TRY(look_around<Real>(inquiry, space, candidates));
  } else {
    for (std::int64_t by = 1; by <= kAlongDims; ++by) {
      candidates.shifts.push_back(flat_shift(by));
      candidates.shifts.push_back(flat_shift(-by));
    }
    BTF_TRY(fetch_ahead(inquiry, space, candidates.shifts));
  }
  return candidates;
}

}  // namespace

std::optional<std::uint64_t> place_of(const ShiftSpace& space, const Shift& shift,
                                      const Point& point) {
  return source_of(position_of(space, point), space.count, shift.alignment);
}

Result<ShiftCandidates> shift_candidates(const Inquiry& inquiry, const ShiftSpace& space) {
  const bool narrow =
      fits_double(inquiry.input.actual.dtype()) && fits_double(inquiry.input.golden.dtype());
  if (space.count <= kSmall)
    return narrow ? try_all<double>(inquiry, space) : try_all<long double>(inquiry, space);
  return narrow ? try_near<double>(inquiry, space) : try_near<long double>(inquiry, space);
}

}  // namespace btf::hints
