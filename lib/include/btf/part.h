// Commands that several processes or machines share: the plan that divides the work, and the files
// that hold what each process has found (docs/scaling.md).
//
// Each process, with the same sets and options:
//   SetDiffOptions::pick       numbers of its pairs: shards_of_pairs(), and plan_digest() for the
//   head PartWriter::create()       its part PartWriter::add()          part_line() of each pair,
//   as a SetDiffSink receives it PartWriter::finish()
// One process afterwards:
//   Parts::open()              checks that the parts are whole and belong together
//   Parts::each_pair()         all pairs, in the order of a single run
// For layers and fit, each process calls measure_layers() or measure_fit() with a share that writes
// what it takes; afterwards judge_measured() gets the share of read_measured_layers() or
// read_measured_fit(), which reads all parts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/fit.h"
#include "btf/layers.h"
#include "btf/report.h"
#include "btf/set_diff.h"
#include "btf/share.h"

namespace btf {

// One of `of` processes that share a command.
struct Shard {
  std::uint64_t number = 1;  // from 1
  std::uint64_t of = 1;
};

inline constexpr std::uint64_t kMaxShards = 1'000'000;

// The cost of opening the two files of a pair, in bytes read.
inline constexpr std::uint64_t kPairCost = 64U << 10;

// Divides pairs among shards and returns the shard of each pair, counted from 1. Pairs are assigned
// in order of descending cost, then by name, each to the shard with the least work so far; ties go
// to the first.
BTF_API std::vector<std::uint64_t> shards_of_pairs(std::span<const PlannedPair> pairs,
                                                   std::uint64_t shards);

// A hash, in hexadecimal, of everything that must be equal for results to belong together: names
// and sizes of the pairs, the number of shards, the command, and `deciding`: the options that
// affect results, with the contents of the files that they name.
BTF_API std::string plan_digest(std::string_view command, std::span<const std::string> deciding,
                                std::uint64_t shards, std::span<const PlannedPair> pairs);

// The first line of a part file.
struct PartHead {
  Shard shard{};
  std::string plan{};  // plan_digest()
  std::string version{};
  std::string command{};               // "diff"
  std::vector<std::string> options{};  // as given on the command line
  std::vector<std::string> operands{};
  bool directories = false;                    // see ReportOptions
  std::uint64_t items = 0;                     // of all shards together
  std::vector<std::string> tensor_criteria{};  // see ReportOptions
  std::vector<std::string> others{};           // files that hold no tensors
  std::vector<std::string> warnings{};         // warnings that the whole run prints first
};

// The result of one item of a plan, of any command.
struct PartLine {
  std::uint64_t number = 0;
  std::string result{};  // such as "same"; the last line of a part counts the results
  // A JSON object: `number` as the first member, `result`, and what the command found.
  std::string found{};
  // States of the files that `found` names, taken before they were read: `actual` and `golden`, or
  // `path`, then `inputs` and `outputs`.
  std::vector<std::optional<FileState>> files{};
  double seconds = 0;
};

// An item of `diff`: a pair.
struct PartItem {
  SetDiffResult::Pair pair{};
  std::optional<FileState> actual{};
  std::optional<FileState> golden{};
  double seconds = 0;
};

BTF_API PartLine part_line(const PartItem& item);

// A line of a part as text without the newline, and read back.
BTF_API std::string text(const PartLine& line);
BTF_API Result<PartLine> read_part_line(std::string_view text);

// Writes a part. FILE appears when it is complete; until then the items are in FILE.partial. An
// item that was added is kept even if the process is killed.
class BTF_API PartWriter {
 public:
  // With `resume` the items of an earlier part of the same plan, complete or not, are kept if their
  // files have not changed.
  static Result<PartWriter> create(const std::string& path, const PartHead& head, bool resume);

  PartWriter(PartWriter&&) noexcept;
  PartWriter& operator=(PartWriter&&) noexcept;
  ~PartWriter();

  // Returns true if the part already has the item.
  bool has(std::uint64_t number) const;
  // Why nothing of an earlier part was kept; empty if there was none, or if something was kept.
  const std::string& note() const;

  Status add(const PartLine& line);
  Status finish();

 private:
  struct State;
  explicit PartWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Processes a line that has been parsed.
using TakeItem = std::function<Status()>;

// All parts of one plan. Their lines are read on demand.
class BTF_API Parts {
 public:
  // An error if a part is missing, incomplete, damaged, of another plan, or present twice with
  // different results. The error names the shard and the command that makes its part again.
  static Result<Parts> open(std::span<const std::string> paths,
                            std::optional<std::uint64_t> expected = std::nullopt);

  Parts(Parts&&) noexcept;
  Parts& operator=(Parts&&) noexcept;
  ~Parts();

  // The head of the first shard.
  const PartHead& head() const;
  // Reads all items in the order of their numbers. `parse` is called on several threads, the
  // function that it returns on the caller's thread, in order. An error of either ends the walk.
  Status each(const std::function<Result<TakeItem>(std::string_view line)>& parse,
              const Execution& execution = {}) const;
  // The same for parts of `diff`.
  Status each_pair(const std::function<Status(const PartItem&)>& take,
                   const Execution& execution = {}) const;

 private:
  struct State;
  explicit Parts(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// An error if the items, or the options that affect results, are not those with which the parts
// were made. `deciding`: see plan_digest().
BTF_API Status check_plan_of_parts(const PartHead& head, std::span<const std::string> deciding,
                                   std::span<const PlannedPair> items, std::uint64_t measured);

// The measurements of all items, read from the parts of a command. plan_of() must convert `Planned`
// into items of a plan.
template <typename Planned, typename Measured>
class MeasuredItems final : public ItemShare<Planned, Measured> {
 public:
  // `items` are in the order of their numbers.
  MeasuredItems(PartHead head, std::vector<std::string> deciding, std::vector<Measured> items)
      : head_(std::move(head)), deciding_(std::move(deciding)), items_(std::move(items)) {}

  Status plan(std::span<const Planned> items) override {
    return check_plan_of_parts(head_, deciding_, plan_of(items), items_.size());
  }
  bool is_own(std::uint64_t) const override { return false; }
  const Measured* known(std::uint64_t number) const override {
    return number < items_.size() ? &items_[number] : nullptr;
  }
  void take(std::uint64_t, const Measured&) override {}

 private:
  PartHead head_;
  std::vector<std::string> deciding_;
  std::vector<Measured> items_;
};

// A pair of layers as a part holds it: its figures, which are judged when all parts are there.
struct LayerItem {
  std::uint64_t number = 0;  // in LayerShare::plan()
  std::string name{};        // golden's
  std::string actual_path{};
  std::string golden_path{};
  MeasuredLayer measured{};
};

// The caller adds the states of the files.
BTF_API PartLine part_line(const LayerItem& item);
BTF_API Result<LayerItem> read_layer_item(std::string_view line);

BTF_API std::vector<PlannedPair> plan_of(std::span<const PlannedLayer> layers);

// The items of all parts, for judge_measured().
using MeasuredLayers = MeasuredItems<PlannedLayer, MeasuredLayer>;

// `deciding`: see plan_digest().
BTF_API Result<MeasuredLayers> read_measured_layers(const Parts& parts,
                                                    std::vector<std::string> deciding,
                                                    const Execution& execution = {});

// A layer or a tensor as a part of `fit` holds it: its measurement, which is judged when all parts
// are there.
struct FitPartItem {
  std::uint64_t number = 0;  // in FitShare::plan()
  std::string name{};
  MeasuredFit measured{};
};

// The caller adds the states of the files.
BTF_API PartLine part_line(const FitPartItem& item);
BTF_API Result<FitPartItem> read_fit_item(std::string_view line);

// The result refers to texts of `items`, which must outlive it.
BTF_API std::vector<PlannedPair> plan_of(std::span<const PlannedFit> items);

// The items of all parts, for judge_measured().
using MeasuredFits = MeasuredItems<PlannedFit, MeasuredFit>;

// `deciding`: see plan_digest().
BTF_API Result<MeasuredFits> read_measured_fit(const Parts& parts,
                                               std::vector<std::string> deciding,
                                               const Execution& execution = {});

}  // namespace btf
