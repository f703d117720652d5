// Runs btftool with one fault after another and says where it does what it must not
// (docs/testing.md).
//
//   btf_fault_sweep BTFTOOL SHIM TESTDATA [--all [--most N]] [--jobs N] [--scenario NAME]
//                   [--kind NAME] [--fault F]
//
// Without --all a part that takes some seconds; --most N with --all takes N calls of each kind,
// evenly spread, instead of every one. --fault allocate:17:17:1:12 (with --scenario) is one run, in
// the form in which a failure is reported, and shows what is printed. Exit codes: 0 all as it must
// be, 1 something is not, 2 the sweep cannot run.
#include "faults/sweep.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace faults {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string btftool;
  std::string shim;
  std::string testdata;
  bool all = false;
  long most = LONG_MAX;
  unsigned jobs = 2;
  std::string scenario = {};
  std::string kind = {};
  std::string fault = {};
};

// At most `most` numbers from first to last, evenly spread, both ends among them.
std::vector<long> spread(long first, long last, long most) {
  std::vector<long> numbers;
  const long count = last - first + 1;
  if (count <= 0) return numbers;
  const long n = std::min(count, most);
  for (long i = 0; i < n; ++i)
    numbers.push_back(n == 1 ? first : first + i * (count - 1) / (n - 1));
  return numbers;
}

// Each call of a kind once, and from it on for ever. What is interrupted for ever can only wait, so
// there it is every other call.
void add_calls(std::vector<Fault>& list, const Kind& kind, long first, long count, bool all,
               long most) {
  if (!all) most = kind.kind == FAULT_ALLOCATE ? 6 : 3;
  for (const int error : kind.errors) {
    const bool signal = error == EINTR;
    for (const long n : spread(first, count, most)) {
      list.push_back({.kind = kind.kind, .error = error, .first = n, .last = n});
      if (!signal)
        list.push_back({.kind = kind.kind, .error = error, .first = n, .last = LONG_MAX});
    }
    if (signal && count > 0)
      list.push_back({.kind = kind.kind, .error = error, .first = 1, .last = LONG_MAX, .step = 2});
    if (!all) break;
  }
}

void add_short(std::vector<Fault>& list, const Kind& kind, std::size_t bytes, bool all) {
  const bool large = bytes > (1U << 20);
  for (const std::size_t most :
       large ? std::vector<std::size_t>{4095, 65537} : std::vector<std::size_t>{7, 1, 4095}) {
    list.push_back({.kind = kind.kind, .first = 1, .last = LONG_MAX, .most_bytes = most});
    if (!all) break;
  }
}

// The faults of a group for a scenario: a kind of call, or a limit.
std::vector<Fault> faults_of(const std::string& group, const Scenario& scenario, const Bench& bench,
                             const Options& options) {
  const bool all = options.all;
  std::vector<Fault> list;
  for (const Kind& kind : kinds()) {
    if (group != kind.name) continue;
    const fault_orders& calls = bench.calls();
    // What every command does to read its arguments is gone through with one scenario of each.
    const bool from_start = scenario.name == scenario.arguments[0] || scenario.name == "inspect" ||
                            scenario.name == "copy" || scenario.name == "diff-same" || !all;
    const long first =
        kind.kind == FAULT_ALLOCATE && !from_start ? calls.allocations_before_open + 1 : 1;
    add_calls(list, kind, first, calls.calls[kind.kind], all, options.most);
    if (kind.kind == FAULT_READ || kind.kind == FAULT_WRITE)
      add_short(list, kind, std::max<std::size_t>(bench.output_bytes(), 2U << 20), all);
  }
  if (group == "address-space") {
    // Below this the system cannot even load the program.
    for (long megabytes = 12; megabytes <= (all ? 400 : 100); megabytes += all ? 4 : 30)
      list.push_back({.limits = {.address_space = megabytes << 20}});
  }
  if (group == "processes")
    for (long n = 1; n <= (all ? 8 : 1); ++n) list.push_back({.limits = {.processes = n}});
  if (group == "file-size" && !scenario.outputs.empty())
    for (const long n : spread(0, static_cast<long>(bench.output_bytes()), all ? 40 : 3))
      list.push_back({.limits = {.file_size = n}});
  if (group == "kill" && !scenario.outputs.empty())
    for (const long n : spread(0, bench.microseconds(), all ? std::min(options.most, 200L) : 3))
      list.push_back({.kill_after_us = n});
  return list;
}

struct Tally {
  long runs = 0;
  long fired = 0;
  long failures = 0;
  long refused = 0;  // exit code 2
};

class Sweep {
 public:
  Sweep(Options options, std::string scratch)
      : options_(std::move(options)), scratch_(std::move(scratch)) {
    for (const Kind& kind : kinds()) groups_.emplace_back(kind.name);
    for (const char* const name : {"address-space", "processes", "file-size", "kill"})
      groups_.emplace_back(name);
    // By scenario, since the undisturbed run of one is made once by each worker.
    for (const Scenario& scenario : scenarios())
      for (const std::string& group : groups_)
        if ((options_.kind.empty() ? options_.all || is_for(scenario, group)
                                   : options_.kind == group) &&
            (options_.scenario.empty() || options_.scenario == scenario.name))
          jobs_.push_back({&scenario, group});
  }

  void work(unsigned worker) {
    Bench bench(scratch_ + "/" + std::to_string(worker), options_.btftool, options_.shim);
    fs::create_directory_symlink(scratch_ + "/in", scratch_ + "/" + std::to_string(worker) + "/in");
    const Scenario* undisturbed = nullptr;
    for (std::size_t job = 0; (job = next_++) < jobs_.size();) {
      const auto& [scenario, group] = jobs_[job];
      try {
        if (undisturbed != scenario) bench.undisturbed(*scenario);
        undisturbed = scenario;
        sweep(bench, *scenario, group);
      } catch (const std::exception& error) {
        undisturbed = nullptr;
        report(group, *scenario, "sweep", error.what());
      }
    }
  }

  int finish() const {
    Tally total;
    for (const std::string& group : groups_) {
      const auto found = tallies_.find(group);
      if (found == tallies_.end()) continue;
      const Tally& tally = found->second;
      std::printf("%-14s %7ld runs, %7ld with the fault, %7ld refused, %ld wrong\n", group.c_str(),
                  tally.runs, tally.fired, tally.refused, tally.failures);
      total.runs += tally.runs;
      total.failures += tally.failures;
    }
    std::printf("%ld runs of %zu scenarios, %ld wrong\n", total.runs, scenarios().size(),
                total.failures);
    return total.failures == 0 ? 0 : 1;
  }

 private:
  // What has another input than other scenarios, and no other way to write, is for reading it.
  static bool is_for(const Scenario& scenario, const std::string& group) {
    return !scenario.only_inputs || group == "open" || group == "read" || group == "stat" ||
           group == "list";
  }

  static constexpr int kCannotStart = 125;  // child.cc
  static constexpr int kNotLoaded = 127;    // the dynamic loader

  void sweep(Bench& bench, const Scenario& scenario, const std::string& group) {
    Tally tally;
    for (const Fault& fault : faults_of(group, scenario, bench, options_)) {
      const std::string wrong = bench.disturbed(scenario, fault);
      if (bench.last_code() == kCannotStart) {
        // The program is not to be had by user 65534, or the limit is not to be set.
        report(group, scenario, fault.text(), "skipped: it cannot be started so here");
        return;
      }
      if (fault.limits.address_space >= 0 && bench.last_code() == kNotLoaded) continue;
      ++tally.runs;
      tally.fired += bench.fired() || fault.kind == FAULT_NONE ? 1 : 0;
      tally.refused += bench.last_code() == 2 ? 1 : 0;
      if (wrong.empty()) continue;
      ++tally.failures;
      report(group, scenario, fault.text(), wrong);
    }
    const std::scoped_lock lock(mutex_);
    Tally& sum = tallies_[group];
    sum.runs += tally.runs;
    sum.fired += tally.fired;
    sum.failures += tally.failures;
    sum.refused += tally.refused;
  }

  void report(const std::string& group, const Scenario& scenario, const std::string& fault,
              const std::string& wrong) {
    const std::scoped_lock lock(mutex_);
    if (fault == "sweep") ++tallies_[group].failures;
    if (++reported_[scenario.name + group] > (options_.all ? 20 : 3)) return;
    if (wrong.starts_with("skipped")) {
      if (skipped_.insert(group).second) std::printf("%s: %s\n", group.c_str(), wrong.c_str());
      return;
    }
    std::printf("WRONG --scenario %s --fault %s: %s\n", scenario.name.c_str(), fault.c_str(),
                wrong.c_str());
    std::fflush(stdout);
  }

  Options options_;
  std::string scratch_;
  std::vector<std::string> groups_;
  std::vector<std::pair<const Scenario*, std::string>> jobs_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::map<std::string, Tally> tallies_;
  std::map<std::string, int> reported_;
  std::set<std::string> skipped_;
};

Fault parsed(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
  if (parts.size() != 5) throw std::runtime_error("a fault is KIND:FIRST:LAST:STEP:ERROR");
  Fault fault;
  for (const Kind& kind : kinds())
    if (parts[0] == kind.name) fault.kind = kind.kind;
  fault.first = std::stol(parts[1]);
  fault.last = parts[2] == "end" ? LONG_MAX : std::stol(parts[2]);
  fault.step = std::stol(parts[3]);
  if (parts[4].starts_with("bytes="))
    fault.most_bytes = std::stoul(parts[4].substr(6));
  else
    fault.error = std::stoi(parts[4]);
  return fault;
}

int one(const Options& options, const std::string& scratch) {
  Bench bench(scratch + "/0", options.btftool, options.shim);
  fs::create_directory_symlink(scratch + "/in", scratch + "/0/in");
  for (const Scenario& scenario : scenarios()) {
    if (scenario.name != options.scenario) continue;
    bench.undisturbed(scenario);
    const std::string wrong = bench.disturbed(scenario, parsed(options.fault));
    std::printf("exit code %d\n%s%s%s\n", bench.last_code(), bench.other_output().c_str(),
                bench.last_messages().c_str(), wrong.empty() ? "as it may be" : wrong.c_str());
    return wrong.empty() ? 0 : 1;
  }
  throw std::runtime_error("no scenario '" + options.scenario + "'");
}

Options options_of(int argc, char** argv) {
  const auto usage = [] { throw std::runtime_error("wrong usage; see the top of sweep.cc"); };
  if (argc < 4) usage();
  Options options{.btftool = fs::absolute(argv[1]),
                  .shim = fs::absolute(argv[2]),
                  .testdata = fs::absolute(argv[3])};
  options.jobs = std::max(1U, std::thread::hardware_concurrency());
  for (int i = 4; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--all") {
      options.all = true;
      continue;
    }
    if (++i == argc) usage();
    if (name == "--most")
      options.most = std::stol(argv[i]);
    else if (name == "--jobs")
      options.jobs = static_cast<unsigned>(std::stoul(argv[i]));
    else if (name == "--scenario")
      options.scenario = argv[i];
    else if (name == "--kind")
      options.kind = argv[i];
    else if (name == "--fault")
      options.fault = argv[i];
    else
      usage();
  }
  return options;
}

int run_all(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  std::string scratch = (fs::temp_directory_path() / "btf-faults-XXXXXX").string();
  if (::mkdtemp(scratch.data()) == nullptr) throw std::runtime_error("no scratch directory");
  fs::permissions(scratch, fs::perms(0755));
  const struct Remove {
    std::string path;
    ~Remove() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  } remove{scratch};
  fs::create_directories(scratch + "/in");
  write_inputs(scratch + "/in", options.btftool, options.testdata);
  if (!options.fault.empty()) return one(options, scratch);
  Sweep sweep(options, scratch);
  {
    std::vector<std::jthread> workers;
    for (unsigned n = 0; n < options.jobs; ++n) workers.emplace_back([&, n] { sweep.work(n); });
  }
  return sweep.finish();
}

}  // namespace
}  // namespace faults

int main(int argc, char** argv) {
  try {
    return faults::run_all(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "btf_fault_sweep: %s\n", error.what());
    return 2;
  }
}
