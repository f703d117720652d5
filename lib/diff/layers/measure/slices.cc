#include "diff/layers/measure/slices.h"

#include <algorithm>
#include <cmath>

#include "core/checked_math.h"

namespace btf {
namespace {

// Shorter pieces cost more than a sum for each place.
constexpr std::uint64_t kShortPiece = 64;
constexpr std::uint64_t kMostPlaces = 4096;
constexpr std::uint64_t kParts = 64;
constexpr std::uint64_t kLeastPart = 1024;

}  // namespace

Slices::Slices(std::uint64_t inner, std::uint64_t count)
    : inner_(std::max<std::uint64_t>(1, inner)), count_(count) {
  const Checked round = checked_mul(inner_, count_);
  if (inner_ < kShortPiece && round && *round > 0 && *round <= kMostPlaces)
    period_ = *round * ceil_div(kShortPiece, *round);
  const std::uint64_t kept = period_ != 0 ? period_ : std::min(count_, kMostSlices);
  error2_.assign(kept, 0);
  golden2_.assign(kept, 0);
}

template <typename Real>
void Slices::add(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n) {
  if (count_ < 2) return;
  period_ != 0 ? add_places(actual, golden, first, n) : add_slices(actual, golden, first, n);
}

template <typename Real>
void Slices::add(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n,
                 double error2, double golden2) {
  if (count_ < 2 || period_ != 0 || n > inner_ - first % inner_)
    return add(actual, golden, first, n);
  const std::uint64_t slice = first / inner_ % count_ % kMostSlices;
  error2_[slice] += error2;
  golden2_[slice] += golden2;
}

template <typename Real>
void Slices::add_places(const Real* actual, const Real* golden, std::uint64_t first,
                        std::uint64_t n) {
  std::uint64_t place = first % period_;
  for (std::uint64_t at = 0; at < n;) {
    const std::uint64_t piece = std::min(n - at, period_ - place);
    error_runs<Real>().squares(actual + at, golden + at, piece, error2_.data() + place,
                               golden2_.data() + place);
    at += piece;
    place = 0;
  }
}

template <typename Real>
void Slices::add_slices(const Real* actual, const Real* golden, std::uint64_t first,
                        std::uint64_t n) {
  for (std::uint64_t at = 0; at < n;) {
    const std::uint64_t slice = (first + at) / inner_ % count_ % kMostSlices;
    const std::uint64_t piece = std::min(n - at, inner_ - (first + at) % inner_);
    double error2 = 0;
    double golden2 = 0;
    if (piece >= kShortPiece) {
      error2 = error_runs<Real>().errors(actual + at, golden + at, piece, HUGE_VAL).square;
      golden2 = error_runs<Real>().side(golden + at, piece).square;
    } else {
      for (std::uint64_t i = at; i < at + piece; ++i) {
        const auto g = static_cast<double>(golden[i]);
        const double e = static_cast<double>(actual[i]) - g;
        error2 += e * e;
        golden2 += g * g;
      }
    }
    error2_[slice] += error2;
    golden2_[slice] += golden2;
    at += piece;
  }
}

void Slices::add(const Slices& other) {
  for (std::size_t i = 0; i < error2_.size(); ++i) {
    error2_[i] += other.error2_[i];
    golden2_[i] += other.golden2_[i];
  }
}

double Slices::worst() const {
  if (count_ < 2) return 0;
  const std::uint64_t kept = std::min(count_, kMostSlices);
  std::vector<double> error2(kept, 0);
  std::vector<double> golden2(kept, 0);
  for (std::uint64_t i = 0; i < error2_.size(); ++i) {
    const std::uint64_t slice = period_ != 0 ? i / inner_ % count_ : i;
    error2[slice] += error2_[i];
    golden2[slice] += golden2_[i];
  }
  double mean = 0;
  for (const double square : golden2) mean += square / static_cast<double>(kept);
  double worst = 0;
  for (std::uint64_t i = 0; i < kept; ++i)
    if (error2[i] > 0) worst = std::max(worst, error2[i] / std::max(golden2[i], mean));
  return std::sqrt(worst);
}

std::vector<Slices> layer_slices(const Dims& dims) {
  std::vector<Slices> slices;
  const std::uint64_t total = element_count(dims).value_or(0);
  if (total == 0) return slices;
  const std::size_t rank = dims.size();
  // Channels are the third dim from the end of images, and the last one of what is no image.
  if (rank >= 3 && dims[rank - 3] > 1)
    slices.emplace_back(dims[rank - 1] * dims[rank - 2], dims[rank - 3]);
  if (rank >= 1 && rank != 4 && dims[rank - 1] > 1 && dims[rank - 1] < total)
    slices.emplace_back(1, dims[rank - 1]);
  const std::uint64_t part = std::max(kLeastPart, ceil_div(total, kParts));
  if (part < total) slices.emplace_back(part, ceil_div(total, part));
  return slices;
}

template void Slices::add(const float*, const float*, std::uint64_t, std::uint64_t);
template void Slices::add(const double*, const double*, std::uint64_t, std::uint64_t);
template void Slices::add(const float*, const float*, std::uint64_t, std::uint64_t, double, double);
template void Slices::add(const double*, const double*, std::uint64_t, std::uint64_t, double,
                          double);

}  // namespace btf
