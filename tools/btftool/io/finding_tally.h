// Counts of the findings in one file by kind, and the choice of those that are shown.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "btf/validate.h"
#include "io/json.h"
#include "io/log.h"

namespace btftool {

struct FindingCounts {
  struct Kind {
    std::uint64_t count = 0;
    std::uint64_t hidden = 0;  // of these, not shown
  };

  std::map<std::string, Kind, std::less<>> kinds{};  // by code
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;

  bool any() const { return errors + warnings > 0; }
  std::uint64_t hidden() const;
  // "980 [data-past-end], 3 [padding-not-zero]", what is not shown
  std::string hidden_text() const;
  // How many there are of each kind.
  Json codes() const;
};

// A kind is shown once at least, so that many of one hide none of another.
class FindingTally {
 public:
  explicit FindingTally(bool all) : all_(all) {}

  // Counts it. Is it shown?
  bool take(const btf::Finding& finding);

  const FindingCounts& counts() const { return counts_; }

 private:
  bool all_;
  FindingCounts counts_;
  Limited shown_errors_;
  Limited shown_warnings_;
};

}  // namespace btftool
