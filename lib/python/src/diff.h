// A comparison that is kept, and its options out of a dict.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/report.h"
#include "btf/set_diff.h"

namespace btf::python {

// The result of a comparison, and the options that it was made by.
struct Comparison {
  SetDiffResult result;
  DiffOptions criteria;
  std::optional<std::int64_t> newest_input{};  // as PageOrigin has it
};

// Paths of the files beside the tensors.
std::vector<std::string> others_of(const TwoSets& sets);

// The newest of the files of both.
std::optional<std::int64_t> newest_input(const TwoSets& sets);

// `date`: $SOURCE_DATE_EPOCH, or empty.
PageOrigin origin_of(const std::string& call, std::optional<std::int64_t> newest,
                     const std::string& date);

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
