// A comparison that is kept in memory, and its options from a dict.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/report.h"
#include "btf/set_diff.h"

namespace btf::python {

// The result of a comparison, and its options.
struct Comparison {
  SetDiffResult result;
  DiffOptions criteria;
  std::optional<std::int64_t> newest_input{};  // as PageOrigin has it
};

// Paths of the files that hold no tensors.
std::vector<std::string> others_of(const TwoSets& sets);

// Time of the last change of the newest file of both sets.
Result<std::optional<std::int64_t>> newest_input(const TwoSets& sets);

// `date` is the value of $SOURCE_DATE_EPOCH, or empty.
PageOrigin origin_of(const std::string& call, std::optional<std::int64_t> newest,
                     const std::string& date);

SetDiffOptions diff_options(const nanobind::dict& given);

// Keeps the whole comparison, and whether the sets are two files.
struct Keep : SetDiffSink {
  explicit Keep(SetDiffResult& kept) : result(kept) {}
  void begin(const FilePair& pair) override { result.begin(pair); }
  void take(const TensorDiff& diff) override;
  bool lists_missing() const override { return result.lists_missing(); }
  void missing(const TensorDiff& diff) override { result.missing(diff); }
  void end(const FilePair& pair, const PairOutcome& outcome) override;
  Status found(const PairsFound& pairs) override {
    result.directories = pairs.several;
    return {};
  }

  SetDiffResult& result;
};

}  // namespace btf::python
