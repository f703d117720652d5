// Counts of the findings in one file by kind, and the choice of those that are shown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "btf/validate.h"
#include "io/json.h"
#include "io/log.h"

namespace btftool {

// A kind is shown once at least, so that many of one hide none of another.
class FindingTally {
 public:
  explicit FindingTally(bool all) : all_(all) {}

  // Counts it. Is it shown?
  bool take(const btf::Finding& finding);

  std::uint64_t errors() const { return errors_; }
  std::uint64_t warnings() const { return warnings_; }
  std::uint64_t hidden() const { return hidden_; }
  bool any() const { return errors_ + warnings_ > 0; }

  // "980 [data-past-end], 3 [padding-not-zero]", what is not shown
  std::string hidden_text() const;
  // How many there are of each kind.
  Json codes() const;

 private:
  struct Kind {
    std::uint64_t count = 0;
    std::uint64_t hidden = 0;
  };

  bool all_;
  std::map<std::string_view, Kind> kinds_;  // by code
  Limited shown_errors_;
  Limited shown_warnings_;
  std::uint64_t errors_ = 0;
  std::uint64_t warnings_ = 0;
  std::uint64_t hidden_ = 0;
};

}  // namespace btftool
