// A comparison that is kept, and its options out of a dict.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "btf/diff/set_diff.h"
#include "btf/report/report.h"

namespace btf::python {

// What was compared, and by what.
struct Comparison {
  SetDiffResult result;
  DiffOptions criteria;
};

// Paths of the files beside the tensors.
std::vector<std::string> others_of(const TwoSets& sets);

SetDiffOptions diff_options(const nanobind::dict& given);

// The whole is kept, with whether it is of two files.
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
