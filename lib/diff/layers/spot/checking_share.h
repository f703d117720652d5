// What a shard measures, with what its elements say: each layer is checked when it was measured.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "btf/layers/share.h"
#include "diff/layers/spot/first_checks.h"

namespace btf {

class CheckingShare final : public LayerShare {
 public:
  // `planned`: the report of `checks`. All of them outlive it.
  CheckingShare(const FirstChecks& checks, const LayerReport& planned, const LayerOptions& options,
                LayerShare& share);

  Status plan(std::span<const PlannedLayer> layers) override;
  bool is_own(std::uint64_t number) const override { return share_.is_own(number); }
  const MeasuredLayer* known(std::uint64_t number) const override { return share_.known(number); }
  // A few are checked together, on threads.
  void take(std::uint64_t number, const MeasuredLayer& layer) override;
  // Gives what is left. An error: a file was changed while it was read, or the caller has asked to
  // stop.
  Status finish();

 private:
  struct Taken {
    std::uint64_t number = 0;
    MeasuredLayer layer;
  };

  void check(Taken& taken, std::uint64_t most_terms) const;
  Status add_inputs(Taken& taken) const;
  Status give();

  const FirstChecks& checks_;
  const LayerReport& planned_;
  const LayerOptions& options_;
  LayerShare& share_;
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  // in the report, by number
  std::vector<Taken> taken_;
  // Terms that the shard's checks may take, as those of a run; and layers that may come.
  std::uint64_t left_ = kSpotTermsOfRun;
  std::uint64_t to_come_ = 0;
  Status status_{};
};

}  // namespace btf
