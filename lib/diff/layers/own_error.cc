#include "diff/layers/own_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "btf/try.h"
#include "network/node.h"

namespace btf {
namespace {

// Measured on real engines (docs/layers.md, section 10): the largest own error of a healthy layer
// is 4 half steps of the type that products are computed in, 1.6e-2 for bfloat16; sums, functions
// and Winograd transforms of float32 reach 5.8e-5.
constexpr double kHalfSteps = 4;
constexpr double kFloat32Sums = 64;

// Convolutions with cancellation are up to six times as far off as most others.
constexpr double kUsual = 4;

// A larger error than bfloat16 products have is not arithmetic, however many layers have it: the
// model is another one.
constexpr double kMaxUsual = 0x1p-8;

// An error this large is a fault whatever it looks like: 95 of 100 faults are larger, and no
// healthy layer is.
constexpr double kLarge = 1.6e-2;
constexpr double kTimesExplained = 2;

// Of a channel or another region, relative to its own numbers.
constexpr double kLargePart = 1e-2;
constexpr double kPartHalfSteps = 8;

// Less than this part of the tensor's rms is not a broken region but what a function does in its
// tails.
constexpr double kVisible = 1e-3;

// A single element that is this far off, relative to the tensor's rms, and this many times the
// noise. Transforms reach 2e-3.
constexpr double kOutlier = 5e-2;
constexpr double kOutlierTimes = 32;

// This much of the error is proportional to the signal, or constant, if a scale or an offset is
// wrong. Truncated instead of rounded operands make products smaller by half a step.
constexpr double kAlongSignal = 0.9;
constexpr double kMinAlongProducts = 1e-3;
constexpr double kMinAlongSignal = 1e-4;

// Below this an engine's polynomials and transforms are not worth a remark.
constexpr double kMinCoarser = 1.2e-4;

// The same limit if no other layer of its kind has a comparable error.
constexpr double kMinCoarserAlone = 1e-5;
constexpr double kAlone = 16;

constexpr std::size_t kFew = 3;

double finite_square(double x) { return std::isfinite(x) ? x * x : 0; }

class OwnErrorAssessor {
 public:
  OwnErrorAssessor(std::span<const SpotPoint> points, const OwnErrorContext& own)
      : points_(points), own_(own), explained_(explained_own(own)) {
    double n = 0;
    for (const SpotPoint& point : points) {
      if (!std::isfinite(point.dumped) || !std::isfinite(point.recomputed)) continue;
      const double off = point.dumped - point.recomputed;
      off_square_ += off * off;
      square_ += point.recomputed * point.recomputed;
      along_ += off * point.recomputed;
      sum_ += off;
      n += 1;
    }
    finite_ = n;
    rms_ = n > 0 ? std::sqrt(square_ / n) : 0;
    error_ = square_ > 0 ? std::sqrt(off_square_ / square_)
                         : (off_square_ > 0 ? std::numeric_limits<double>::infinity() : 0);
    for (const SpotPoint& point : points)
      if (point.off) off_.push_back(&point);
  }

  OwnErrorAssessment assess_own_error() const {
    OwnErrorAssessment found{.own_error = error_};
    if (off_.empty()) return found;
    found.where = structure();
    if (!found.where.empty()) {
      found.outcome = OwnErrorAssessment::Outcome::matters;
      return found;
    }
    found.where = off_.size() == 1 ? "one element" : "spread";
    if (error_ >= std::max(kLarge, kTimesExplained * explained_))
      found.outcome = OwnErrorAssessment::Outcome::matters;
    else if (error_ > std::max(explained_, kMinCoarser) || is_alone())
      found.outcome = OwnErrorAssessment::Outcome::coarser;
    return found;
  }

 private:
  bool is_alone() const {
    return own_.usual && error_ > explained_ && error_ > kAlone * *own_.usual &&
           error_ > kMinCoarserAlone;
  }

  // What rounding cannot look like; empty if there is no sign of it.
  std::string structure() const {
    if (const std::uint64_t special = specials(); special > 0)
      return std::to_string(special) + " NaN or Inf";
    if (std::string part = one_value(); !part.empty()) return part;
    if (std::string part = region(); !part.empty()) return part;
    if (const std::size_t far = outliers(); far > 0)
      return std::to_string(far) + " of " + std::to_string(points_.size()) + " by far";
    const double least =
        std::max(own_.product ? kMinAlongProducts : kMinAlongSignal, kTimesExplained * explained_);
    if (error_ < least || off_.size() < kFew) return {};
    if (std::abs(along_) >= kAlongSignal * std::sqrt(off_square_ * square_))
      return "along the signal";
    if (std::abs(sum_) >= kAlongSignal * std::sqrt(off_square_ * finite_))
      return "the same everywhere";
    return {};
  }

  std::uint64_t specials() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(off_, [](const SpotPoint* point) {
      return !std::isfinite(point->dumped) || !std::isfinite(point->recomputed);
    }));
  }

  std::size_t outliers() const {
    const double least = rms_ * std::max(kOutlier, kOutlierTimes * noise());
    return static_cast<std::size_t>(std::ranges::count_if(off_, [&](const SpotPoint* point) {
      return std::abs(point->dumped - point->recomputed) > least;
    }));
  }

  // The error that can be told from the tensor's usual numbers and its noise.
  double visible() const { return rms_ * std::max(kVisible, kPartHalfSteps * noise()); }
  double noise() const {
    return std::max(own_.half_step, std::min(own_.usual.value_or(0), kMaxUsual));
  }

  // Numbers that should differ but are the same: a dead region, a limit.
  std::string one_value() const {
    std::vector<const SpotPoint*> sorted = off_;
    std::ranges::sort(sorted, {}, &SpotPoint::dumped);
    std::size_t most = 0;
    double value = 0;
    double square = 0;
    for (std::size_t begin = 0; begin < sorted.size();) {
      std::size_t end = begin;
      double own = 0;
      for (; end < sorted.size() && sorted[end]->dumped == sorted[begin]->dumped; ++end)
        own += finite_square(sorted[end]->dumped - sorted[end]->recomputed);
      if (end == begin) ++end;
      if (end - begin > most) {
        most = end - begin;
        value = sorted[begin]->dumped;
        square = own;
      }
      begin = end;
    }
    if (most < kFew || std::sqrt(square / static_cast<double>(most)) < visible()) return {};
    return std::to_string(most) + " of " + std::to_string(off_.size()) + " are " +
           (value == 0 ? "0" : "the same number");
  }

  // All in one channel, row or column, and a large part of it.
  std::string region() const {
    if (off_.size() < kFew) return {};
    for (std::size_t d = 0; d < own_.dims.size(); ++d) {
      if (own_.dims[d] < 2) continue;
      const std::uint64_t at = index(*off_.front(), d);
      if (!std::ranges::all_of(off_, [&](const SpotPoint* p) { return index(*p, d) == at; }))
        continue;
      double off = 0;
      double square = 0;
      double n = 0;
      bool others = false;
      for (const SpotPoint& point : points_) {
        if (index(point, d) != at) {
          others = true;
          continue;
        }
        off += finite_square(point.dumped - point.recomputed);
        square += finite_square(point.recomputed);
        n += 1;
      }
      const double part = square > 0 ? std::sqrt(off / square) : 1;
      if (others && part >= std::max(kLargePart, kPartHalfSteps * noise()) &&
          std::sqrt(off / n) >= visible())
        return "dim " + std::to_string(d) + " = " + std::to_string(at);
    }
    return {};
  }

  std::uint64_t index(const SpotPoint& point, std::size_t d) const {
    return network::index_of(point.number, own_.dims)[d];
  }

  std::span<const SpotPoint> points_;
  const OwnErrorContext& own_;
  double explained_;
  double off_square_ = 0;
  double square_ = 0;
  double along_ = 0;
  double sum_ = 0;
  double finite_ = 0;
  double rms_ = 0;
  double error_ = 0;
  std::vector<const SpotPoint*> off_;
};

}  // namespace

double explained_own(const OwnErrorContext& own) {
  const double of_type = std::max(kHalfSteps * own.half_step, kFloat32Sums * network::kFloat32);
  return std::max(of_type, kUsual * std::min(own.usual.value_or(0), kMaxUsual));
}

OwnErrorAssessment assess_own_error(std::span<const SpotPoint> points, const OwnErrorContext& own) {
  return OwnErrorAssessor(points, own).assess_own_error();
}

double own_error_of(const SideCheck& check) {
  if (check.off_square == 0) return 0;
  return check.square > 0 ? std::sqrt(check.off_square / check.square)
                          : std::numeric_limits<double>::infinity();
}

Peers::Kind Peers::kind_of(const network::Network& network, const network::Node& node, DType stored,
                           bool product) {
  const std::string type = " " + std::string(info(stored).name);
  Kind kind;
  kind.wide = node.op + (product ? " of products" : "") + type;
  kind.narrow = kind.wide;
  if (!node.op.contains("Conv")) return kind;
  // Winograd transforms exist for some windows only.
  if (const auto attributes = network.attributes(node))
    if (const auto window = attributes->find("kernel_shape"); window != attributes->end())
      for (const std::int64_t size : window->second.integers)
        kind.window += (kind.window.empty() ? "" : " x ") + std::to_string(size);
  if (!kind.window.empty()) kind.narrow += " " + kind.window;
  return kind;
}

void Peers::add(std::uint64_t layer, const Kind& kind, double own_error) {
  kinds_[kind.narrow].push_back({own_error, layer});
  if (kind.wide != kind.narrow) kinds_[kind.wide].push_back({own_error, layer});
}

void Peers::sort() {
  for (auto& [name, all] : kinds_) std::ranges::sort(all);
}

std::optional<double> Peers::usual(std::uint64_t layer, const Kind& kind) const {
  constexpr std::size_t kEnough = 3;
  for (const auto& [name, least] :
       {std::pair(kind.narrow, kEnough), std::pair(kind.wide, std::size_t{1})})
    if (const auto all = kinds_.find(name); all != kinds_.end())
      if (auto found = usual_of(all->second, layer, least)) return found;
  return std::nullopt;
}

std::optional<double> Peers::usual_of(const std::vector<One>& all, std::uint64_t layer,
                                      std::size_t least) {
  const bool own = std::ranges::find(all, layer, &One::layer) != all.end();
  const std::size_t others = all.size() - (own ? 1 : 0);
  if (others < std::max<std::size_t>(least, 1)) return std::nullopt;
  // One of two or three may be broken too.
  std::size_t wanted = others <= 3 ? (others - 1) / 2 : (4 * others - 1) / 5;
  for (const One& one : all) {
    if (one.layer == layer) continue;
    if (wanted-- == 0) return one.error;
  }
  return std::nullopt;
}

namespace {

using network::Estimate;
using network::Evaluation;
using network::StoredNumbers;
using network::Tensor;

class ConsumerPoll {
 public:
  ConsumerPoll(const SpotSide& side, const SpotDumps& golden, std::uint32_t value,
               std::uint32_t consumer, Replacement replacement, VoteLevels levels)
      : side_(side),
        golden_(golden),
        value_(value),
        consumer_(consumer),
        replacement_(replacement),
        arithmetic_(side.levels[levels.consumer].arithmetic),
        other_arithmetic_(side.levels[levels.other].arithmetic),
        as_dumped_(side.network, stored_in(side.input_dumps, read_), side.terms()),
        as_other_(side.network, stored_in(side.input_dumps, read_), side.terms()) {}
  ~ConsumerPoll() {
    if (side_.work == nullptr) return;
    side_.work->take(as_dumped_);
    side_.work->take(as_other_);
  }
  ConsumerPoll(const ConsumerPoll&) = delete;
  ConsumerPoll& operator=(const ConsumerPoll&) = delete;

  Result<DumpVotes> ask(std::span<const std::uint64_t> sample) {
    DumpVotes votes;
    const DumpedValue* const dumped = side_.dumps.find(consumer_);
    if (dumped == nullptr) return votes;
    BTF_ASSIGN(StoredNumbers stored, side_.dumps.open(*dumped));
    as_dumped_.set(arithmetic_);
    as_other_.set(other_arithmetic_);
    BTF_TRY(put_other());
    BTF_ASSIGN(Tensor* const left, as_dumped_.computed(consumer_));
    BTF_ASSIGN(Tensor* const right, as_other_.computed(consumer_));
    if (left->elements() != stored.elements() || right->elements() != stored.elements())
      return votes;
    for (const std::uint64_t number : sample) {
      BTF_ASSIGN(const double actual, stored.at(number));
      const Estimate from_dump = left->at(number);
      const Estimate from_other = right->at(number);
      if (!as_dumped_.effort().trouble.empty() || !as_other_.effort().trouble.empty()) break;
      const double explained = explained_distance(from_dump, stored, number, arithmetic_, {});
      const double other_explained =
          explained_distance(from_other, stored, number, other_arithmetic_, {});
      if (std::isfinite(from_dump.value) && std::isfinite(from_other.value) &&
          std::isfinite(actual)) {
        votes.to_dump += (actual - from_dump.value) * (actual - from_dump.value);
        votes.to_other += (actual - from_other.value) * (actual - from_other.value);
      }
      const bool near_other = std::abs(actual - from_other.value) <= other_explained;
      if (is_anything(from_dump) && !std::isnan(from_other.value))
        ++(near_other ? votes.other : votes.dump);
      else
        count(votes, actual, from_dump.value, explained, from_other.value, other_explained);
    }
    return votes;
  }

 private:
  Status put_other() {
    if (replacement_ == Replacement::recomputed) {
      as_other_.leave_out(value_);
      return {};
    }
    const DumpedValue* const golden = golden_.find(value_);
    if (golden == nullptr) return network::not_computed("golden does not have it");
    BTF_ASSIGN(StoredNumbers numbers, golden_.open(*golden));
    as_other_.replace(value_, std::move(numbers));
    return {};
  }

  // Counts only where the two versions are so far apart that the consumer shows which was used.
  void count(DumpVotes& votes, double actual, double from_dump, double explained, double from_other,
             double other_explained) const {
    constexpr double kNearer = 8;
    const double apart = std::abs(from_dump - from_other);
    if (std::isnan(from_dump) != std::isnan(from_other)) {
      if (std::isnan(actual))
        ++(std::isnan(from_dump) ? votes.dump : votes.other);
      else if (std::isnan(from_dump) && std::abs(actual - from_other) <= other_explained)
        ++votes.other;
      else if (std::isnan(from_other) && std::abs(actual - from_dump) <= explained)
        ++votes.dump;
      return;
    }
    // If the dump alone has Inf, no error is computed; what counts is whether the consumer has it.
    if (std::isinf(from_dump) && std::isfinite(from_other)) {
      if (std::isinf(actual))
        ++votes.dump;
      else if (std::abs(actual - from_other) <= other_explained)
        ++votes.other;
      return;
    }
    if (!(apart > explained + other_explained)) {
      ++(std::abs(actual - from_dump) <= explained ? votes.both : votes.neither);
      return;
    }
    const double to_dump = std::abs(actual - from_dump);
    const double to_other = std::abs(actual - from_other);
    if (to_dump <= explained && to_dump < to_other) ++votes.dump;
    // Golden's numbers come from another run, so only closeness can be tested.
    const bool other = replacement_ == Replacement::golden ? kNearer * to_other < to_dump
                                                           : to_other <= other_explained;
    if (other && to_other < to_dump) ++votes.other;
  }

  const SpotSide& side_;
  const SpotDumps& golden_;
  std::uint32_t value_;
  std::uint32_t consumer_;
  Replacement replacement_;
  network::Arithmetic arithmetic_;
  network::Arithmetic other_arithmetic_;
  std::vector<std::uint32_t> read_;
  Evaluation as_dumped_;
  Evaluation as_other_;
};

}  // namespace

DumpVotes consumer_votes(const SpotSide& side, const SpotDumps& golden, std::uint32_t value,
                         std::uint32_t consumer, Replacement replacement, VoteLevels levels,
                         std::span<const std::uint64_t> sample) {
  const Result<DumpVotes> votes =
      ConsumerPoll(side, golden, value, consumer, replacement, levels).ask(sample);
  return votes ? *votes : DumpVotes{};
}

}  // namespace btf
