// Parts of `fit`: what they hold of a layer or a tensor is what was measured, which is judged when
// all are there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/fit/share.h"
#include "btf/shards/part.h"

namespace btf {

struct FitPartItem {
  std::uint64_t number = 0;  // of FitShare::plan()
  std::string name{};
  MeasuredFit measured{};
};

// Without the states of its files.
BTF_API PartLine part_line(const FitPartItem& item);
BTF_API Result<FitPartItem> read_fit_item(std::string_view line);

// As items of a plan, with these items' texts.
BTF_API std::vector<PlannedPair> plan_of(std::span<const PlannedFit> items);

// The items of all parts, for judge_measured().
class BTF_API MeasuredFitShare final : public FitShare {
 public:
  // `deciding`: as of plan_digest().
  static Result<MeasuredFitShare> read(const Parts& parts, std::vector<std::string> deciding,
                                       const Execution& execution = {});

  // An error: these are not the items of the parts.
  Status plan(std::span<const PlannedFit> items) override;
  bool is_own(std::uint64_t) const override { return false; }
  const MeasuredFit* known(std::uint64_t number) const override;
  void take(std::uint64_t, const MeasuredFit&) override {}

 private:
  MeasuredFitShare(const PartHead& head, std::vector<std::string> deciding);

  std::string plan_;
  std::uint64_t shards_;
  std::vector<std::string> deciding_;
  std::vector<MeasuredFit> items_;  // by number
};

}  // namespace btf
