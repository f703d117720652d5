// One run with one fault, and whether what came of it may be.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "faults/child.h"
#include "faults/scenarios.h"

namespace faults {

struct Kind {
  int kind;
  const char* name;
  std::vector<int> errors;  // the first one is tried in the short sweep
};

const std::vector<Kind>& kinds();

// Everything that distinguishes one run from another.
struct Fault {
  int kind = FAULT_NONE;
  int error = 0;
  long first = 0;
  long last = 0;
  long step = 1;
  std::size_t most_bytes = 0;
  Limits limits = {};
  long kill_after_us = -1;

  std::string text() const;
};

// A directory of its own to run a scenario in.
class Bench {
 public:
  Bench(std::string directory, std::string btftool, std::string shim);

  // What the scenario does undisturbed; the counts of its calls are in calls().
  void undisturbed(const Scenario& scenario);
  const fault_orders& calls() const { return calls_; }
  long microseconds() const { return microseconds_; }
  int code() const { return expected_.outcome.code; }
  std::size_t output_bytes() const;

  // Empty: as it may be. Else what is wrong, in words.
  std::string disturbed(const Scenario& scenario, const Fault& fault);

  bool fired() const { return orders_.read().fired > 0; }
  int last_code() const { return last_.outcome.code; }
  const std::string& last_messages() const { return last_.outcome.err; }
  // What was printed, if it is not what is printed undisturbed.
  std::string other_output() const { return last_.out == expected_.out ? "" : last_.out; }

 private:
  struct Result {
    Outcome outcome;
    std::string out;
    std::map<std::string, std::string> files;  // in the directory of the run
  };

  Result run_once(const Scenario& scenario, const Fault& fault);
  void merge_part(const Scenario& scenario, Run what, Result& result) const;
  std::string judge(const Scenario& scenario, const Fault& fault) const;
  std::string judge_files(const Scenario& scenario, const Fault& fault, bool done) const;
  std::string judge_message(const Scenario& scenario, const Fault& fault) const;

  std::string directory_;
  std::string btftool_;
  std::string shim_;
  SharedOrders orders_;
  std::map<std::string, std::string> old_;  // outputs before a run
  Result expected_;
  Result last_;
  fault_orders calls_{};
  long microseconds_ = 0;
};

}  // namespace faults
