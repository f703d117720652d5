// Two sets compared by the library, against loops over codes: what is paired, reported and counted,
// in which order, and what trouble and cancellation leave.
#include "btf/set_diff.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "btf/tensor_set.h"
#include "sets/pairs/pair_queue.h"
#include "support/btf_bytes.h"
#include "support/diff_pair.h"
#include "support/said.h"
#include "support/scratch_dir.h"

namespace {

using btf::DType;
using btf::ErrorCode;
using btf::PairResult;
using btf::Result;
using btf::Status;
using pairs::Tensor;

struct Reported {
  std::string name;
  PairResult result = PairResult::same;
  std::vector<std::uint64_t> mismatched;  // of each tensor

  bool operator==(const Reported&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Reported& pair) {
  out << pair.name << " " << static_cast<int>(pair.result);
  for (const std::uint64_t count : pair.mismatched) out << " " << count;
  return out;
}

class Recorder final : public btf::SetDiffSink {
 public:
  std::vector<Reported> pairs;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  std::vector<std::string> missing_tensors;
  std::optional<btf::PairsFound> all;
  bool lists = false;
  std::function<void()> at_end;

  void warn(const std::string& text) override { warnings.push_back(text); }
  Status found(const btf::PairsFound& found) override {
    CHECK_FALSE(all);
    all = found;
    return {};
  }
  void begin(const btf::FilePair& pair) override {
    CHECK(all);
    CHECK_FALSE(open_);
    open_ = true;
    pairs.push_back({pair.name, PairResult::same, {}});
  }
  void take(const btf::TensorDiff& diff) override {
    CHECK(open_);
    pairs.back().mismatched.push_back(diff.mismatched);
  }
  bool lists_missing() const override { return lists; }
  void missing(const btf::TensorDiff& diff) override {
    missing_tensors.push_back((diff.actual ? diff.actual : diff.golden)->name);
  }
  void end(const btf::FilePair& pair, const btf::PairOutcome& outcome) override {
    CHECK(pair.name == pairs.back().name);
    open_ = false;
    pairs.back().result = outcome.result;
    if (outcome.cause) CHECK(outcome.error == outcome.cause->text());
    if (outcome.result == PairResult::trouble) errors.push_back(outcome.error);
    if (at_end) at_end();
  }

 private:
  bool open_ = false;
};

btf::SetDiffOptions set_options(unsigned jobs) {
  btf::SetDiffOptions options{.each = pairs::no_hints()};
  options.each.execution.jobs = jobs;
  return options;
}

Result<bool> compare(const std::string& actual, const std::string& golden,
                     const btf::SetDiffOptions& options, Recorder& recorder) {
  auto sets = btf::open_sets(actual, golden, options);
  if (!sets) return std::unexpected(sets.error());
  return btf::diff(sets->actual, sets->golden, options, recorder);
}

std::uint64_t count_differences(const Tensor& actual, const Tensor& golden) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < golden.codes.size(); ++i) count += actual.codes[i] != golden.codes[i];
  return count;
}

bytes::Bytes stored(const std::vector<Tensor>& tensors) {
  std::vector<bytes::Bytes> records;
  for (const Tensor& tensor : tensors)
    records.push_back(
        bytes::dense(tensor.dtype, btf::Layout::linear, tensor.dims, pairs::packed(tensor)));
  return bytes::file(records);
}

// Two directories of random files, and the report of them, in its order: "0.btf" before "10.btf".
class Directories {
 public:
  explicit Directories(std::uint64_t files) {
    std::filesystem::create_directories(dir_ / "a");
    std::filesystem::create_directories(dir_ / "g");
    Random random(31);
    for (std::uint64_t i = 0; i < files; ++i) add(std::to_string(i) + ".btf", i, random);
  }

  std::string actual() const { return dir_ / "a"; }
  std::string golden() const { return dir_ / "g"; }
  const std::vector<Reported>& expected() const { return expected_; }

 private:
  void add(const std::string& name, std::uint64_t i, Random& random) {
    std::vector<Tensor> left;
    std::vector<Tensor> right;
    Reported report{name, PairResult::same, {}};
    for (std::uint64_t k = 0; k <= random.below(3); ++k) {
      const std::uint64_t elements = 1 + random.below(i % 17 == 3 ? 90000 : 300);
      Tensor tensor{DType::int16, {elements}, {}};
      for (std::uint64_t e = 0; e < elements; ++e) tensor.codes.push_back(random.below(1 << 16));
      right.push_back(tensor);
      if (i % 3 != 0 && i / 40 % 2 == 0)
        for (std::uint64_t n = random.below(5); n > 0; --n)
          tensor.codes[random.below(elements)] = random.below(1 << 16);
      left.push_back(tensor);
      report.mismatched.push_back(count_differences(left.back(), right.back()));
      if (report.mismatched.back() > 0) report.result = PairResult::different;
    }
    const bool actual_missing = i % 29 == 5;
    const bool golden_missing = i % 29 == 6;
    const bool broken = i % 31 == 7;
    if (actual_missing || golden_missing) report = {name, PairResult::missing, {}};
    if (broken) report = {name, PairResult::trouble, {}};
    if (!actual_missing) bytes::save(dir_, "a/" + name, broken ? cut() : stored(left));
    if (!golden_missing) bytes::save(dir_, "g/" + name, stored(right));
    expected_.push_back(std::move(report));
  }

  static bytes::Bytes cut() {
    bytes::Bytes file = stored({pairs::line(DType::int16, {1, 2, 3})});
    file.resize(3);  // not even the count of tensors
    return file;
  }

  ScratchDir dir_;
  std::vector<Reported> expected_;
};

}  // namespace

TEST_CASE("set diff: directories are reported in order, whatever the number of threads") {
  const Directories files(260);
  for (const unsigned jobs : {1U, 2U, 7U}) {
    CAPTURE(jobs);
    Recorder recorder;
    const auto same = compare(files.actual(), files.golden(), set_options(jobs), recorder);
    REQUIRE(same);
    CHECK_FALSE(*same);
    CHECK(recorder.pairs == files.expected());
    CHECK(recorder.all->several);
    std::uint64_t whole = 0;
    std::vector<std::string> broken;
    for (const Reported& pair : files.expected()) {
      whole += pair.result != PairResult::missing;
      if (pair.result == PairResult::trouble) broken.push_back(pair.name);
    }
    CHECK(recorder.all->whole == whole);
    REQUIRE(recorder.errors.size() == broken.size());
    for (std::size_t i = 0; i < broken.size(); ++i)
      CHECK(recorder.errors[i].starts_with(files.actual() + "/" + broken[i] + ": "));
  }
}

TEST_CASE(
    "set diff: a comparison that is cancelled ends at once, with all that was reported whole") {
  const Directories files(120);
  for (const unsigned jobs : {1U, 2U, 7U}) {
    for (const std::size_t stop : {1U, 3U, 50U}) {
      CAPTURE(jobs, stop);
      std::atomic<bool> cancel = false;
      Recorder recorder;
      recorder.at_end = [&] { cancel = recorder.pairs.size() >= stop; };
      btf::SetDiffOptions options = set_options(jobs);
      options.each.execution.cancel = &cancel;
      const auto same = compare(files.actual(), files.golden(), options, recorder);
      REQUIRE_FALSE(same);
      CHECK(same.error().code == ErrorCode::cancelled);
      // One more may have begun; those of which only one side is there need no comparison.
      REQUIRE(recorder.pairs.size() < files.expected().size());
      for (std::size_t i = 0; i < stop; ++i) CHECK(recorder.pairs[i] == files.expected()[i]);
    }
  }
}

TEST_CASE("set diff: tensors of files that one side has are listed where that is asked for") {
  const Directories files(12);
  for (const bool lists : {false, true}) {
    Recorder recorder;
    recorder.lists = lists;
    CHECK(compare(files.actual(), files.golden(), set_options(2), recorder) == false);
    CHECK(recorder.missing_tensors.empty() != lists);
  }
}

TEST_CASE("set diff: of two files trouble is the error") {
  const ScratchDir dir;
  const std::string good =
      bytes::save(dir, "good.btf", stored({pairs::line(DType::int16, {1, 2})}));
  const std::string other =
      bytes::save(dir, "other.btf", stored({pairs::line(DType::int16, {1, 3})}));
  Recorder same;
  CHECK(compare(good, good, set_options(2), same) == true);
  CHECK_FALSE(same.all->several);
  Recorder different;
  CHECK(compare(good, other, set_options(2), different) == false);
  CHECK(different.pairs == std::vector<Reported>{{good, PairResult::different, {1}}});
  Recorder missing;
  const auto found = compare(good, dir / "none.btf", set_options(2), missing);
  REQUIRE_FALSE(found);
  CHECK(found.error().file == dir / "none.btf");
  CHECK(missing.pairs == std::vector<Reported>{{good, PairResult::trouble, {}}});
}

TEST_CASE(
    "set diff: selections, globs and tolerances that nothing has are errors before any report") {
  const Directories files(30);
  const auto error_of = [&](const std::function<void(btf::SetDiffOptions&)>& change) {
    btf::SetDiffOptions options = set_options(2);
    change(options);
    Recorder recorder;
    const auto same = compare(files.actual(), files.golden(), options, recorder);
    REQUIRE_FALSE(same);
    CHECK(recorder.pairs.empty());
    return said(same.error());
  };
  CHECK(error_of([](auto& options) { options.include = {"none*"}; }) ==
        "no file matches `include` 'none*'");
  CHECK(error_of([](auto& options) { options.tensors = "none"; }).contains("is called 'none'"));
  CHECK(error_of([](auto& options) { options.exclude = {"*"}; }).contains("nothing was compared"));
  btf::SetDiffOptions options = set_options(2);
  options.exclude = {"none*"};
  Recorder recorder;
  CHECK(compare(files.actual(), files.golden(), options, recorder) == false);
  CHECK(recorder.warnings == std::vector<std::string>{"no file matches `exclude` 'none*'"});
}

TEST_CASE("set diff: files are left out by globs, tensors by numbers") {
  const Directories files(30);
  btf::SetDiffOptions options = set_options(2);
  options.include = {"1*"};
  options.exclude = {"12.btf"};
  options.tensors = "0";
  std::vector<Reported> expected;
  for (Reported pair : files.expected()) {
    if (!pair.name.starts_with("1") || pair.name == "12.btf") continue;
    if (!pair.mismatched.empty()) {
      pair.mismatched.resize(1);
      pair.result = pair.mismatched[0] > 0 ? PairResult::different : PairResult::same;
    }
    expected.push_back(pair);
  }
  Recorder recorder;
  CHECK(compare(files.actual(), files.golden(), options, recorder).has_value());
  CHECK(recorder.pairs == expected);
}

TEST_CASE("set diff: nothing to compare is an error") {
  const ScratchDir dir;
  const Tensor empty{DType::int16, {0}, {}};
  for (const char* side : {"a", "g"}) {
    std::filesystem::create_directories(dir / side);
    bytes::save(dir, std::string(side) + "/x.btf", stored({empty}));
  }
  Recorder recorder;
  const auto same = compare(dir / "a", dir / "g", set_options(1), recorder);
  REQUIRE_FALSE(same);
  CHECK(same.error().message == "nothing was compared: no tensor in " + (dir / "a") + " and " +
                                    (dir / "g") + " has an element");
  CHECK(recorder.pairs == std::vector<Reported>{{"x.btf", PairResult::same, {0}}});
}

namespace {

class Numbered final : public btf::QueuedPair {
 public:
  Numbered(int number, std::vector<int>& delivered, const std::function<Status(int)>& work)
      : number_(number), delivered_(delivered), work_(work) {}

  Status compare() override { return work_(number_); }
  Status deliver(const Status& compared) override {
    if (compared) delivered_.push_back(number_);
    return compared;
  }

 private:
  int number_;
  std::vector<int>& delivered_;
  const std::function<Status(int)>& work_;
};

}  // namespace

TEST_CASE("pair queue: in order, up to the first error, whatever the threads and limits") {
  for (const unsigned workers : {1U, 2U, 5U}) {
    for (const std::size_t together : {1U, 7U}) {
      for (const int failing : {-1, 0, 40}) {
        CAPTURE(workers, together, failing);
        const std::function<Status(int)> work = [&](int number) -> Status {
          if (number % 10 == 3) std::this_thread::yield();
          if (number == failing) return btf::fail(ErrorCode::io, "fails");
          return {};
        };
        std::vector<int> delivered;
        btf::PairQueue queue({.workers = workers,
                              .max_batch = together,
                              .small = 10,
                              .max_waiting = 2,
                              .max_undelivered = 9},
                             {});
        Status status;
        for (int i = 0; i < 100 && status; ++i)
          status = queue.add(std::make_unique<Numbered>(i, delivered, work), i % 5 == 0 ? 100 : 1);
        if (status) status = queue.drain();
        CHECK(status.has_value() == (failing < 0));
        std::vector<int> expected;
        for (int i = 0; i < (failing < 0 ? 100 : failing); ++i) expected.push_back(i);
        CHECK(delivered == expected);
      }
    }
  }
}

TEST_CASE("pair queue: memory that runs out is the error of a pair, anything else is thrown") {
  for (const unsigned workers : {1U, 2U}) {
    const std::function<Status(int)> work = [](int number) -> Status {
      if (number == 1) throw std::bad_alloc();
      if (number == 2) throw std::runtime_error("a fault");
      return {};
    };
    std::vector<int> delivered;
    btf::PairQueue queue({.workers = workers, .max_batch = 4, .small = 1}, {});
    Status status = queue.add(std::make_unique<Numbered>(0, delivered, work), 0);
    if (status) status = queue.add(std::make_unique<Numbered>(1, delivered, work), 0);
    if (status) status = queue.drain();
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::no_space);
    btf::PairQueue other({.workers = workers, .max_batch = 4, .small = 1}, {});
    const auto all = [&] {
      const Status added = other.add(std::make_unique<Numbered>(2, delivered, work), 0);
      return added ? other.drain() : added;
    };
    CHECK_THROWS_AS(all(), std::runtime_error);
  }
}
