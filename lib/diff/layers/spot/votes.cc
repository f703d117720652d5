#include "diff/layers/spot/votes.h"

#include <cmath>

#include "btf/try.h"

namespace btf {
namespace {

using network::Estimate;
using network::Evaluation;
using network::StoredNumbers;
using network::Tensor;

class Question {
 public:
  Question(const SpotSide& side, const SpotDumps& golden, std::uint32_t value,
           std::uint32_t consumer, InPlace in_place, AskedLevels levels)
      : side_(side),
        golden_(golden),
        value_(value),
        consumer_(consumer),
        in_place_(in_place),
        arithmetic_(side.levels[levels.consumer].arithmetic),
        other_arithmetic_(side.levels[levels.other].arithmetic),
        as_dumped_(side.network, stored_in(side.input_dumps, read_), side.terms()),
        as_other_(side.network, stored_in(side.input_dumps, read_), side.terms()) {}
  ~Question() {
    if (side_.work == nullptr) return;
    side_.work->take(as_dumped_);
    side_.work->take(as_other_);
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

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
    if (in_place_ == InPlace::recomputed) {
      as_other_.leave_out(value_);
      return {};
    }
    const DumpedValue* const golden = golden_.find(value_);
    if (golden == nullptr) return network::not_computed("golden has it not");
    BTF_ASSIGN(StoredNumbers numbers, golden_.open(*golden));
    as_other_.replace(value_, std::move(numbers));
    return {};
  }

  // Only where the two are so far apart that it shows which one was taken.
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
    // Of Inf in the dump alone nothing is explained: does the consumer have it?
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
    // Golden's numbers are those of another run: near is all that can be asked.
    const bool other =
        in_place_ == InPlace::golden ? kNearer * to_other < to_dump : to_other <= other_explained;
    if (other && to_other < to_dump) ++votes.other;
  }

  const SpotSide& side_;
  const SpotDumps& golden_;
  std::uint32_t value_;
  std::uint32_t consumer_;
  InPlace in_place_;
  network::Arithmetic arithmetic_;
  network::Arithmetic other_arithmetic_;
  std::vector<std::uint32_t> read_;
  Evaluation as_dumped_;
  Evaluation as_other_;
};

}  // namespace

DumpVotes ask_consumer(const SpotSide& side, const SpotDumps& golden, std::uint32_t value,
                       std::uint32_t consumer, InPlace in_place, AskedLevels levels,
                       std::span<const std::uint64_t> sample) {
  const Result<DumpVotes> votes =
      Question(side, golden, value, consumer, in_place, levels).ask(sample);
  return votes ? *votes : DumpVotes{};
}

}  // namespace btf
