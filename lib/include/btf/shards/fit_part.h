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
#include "btf/shards/measured_items.h"
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

// Those of all parts, for judge_measured().
using MeasuredFits = MeasuredItems<PlannedFit, MeasuredFit>;

// `deciding`: as of plan_digest().
BTF_API Result<MeasuredFits> read_measured_fit(const Parts& parts,
                                               std::vector<std::string> deciding,
                                               const Execution& execution = {});

}  // namespace btf
