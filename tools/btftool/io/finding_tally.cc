#include "io/finding_tally.h"

#include <fmt/format.h>

namespace btftool {

bool FindingTally::take(const btf::Finding& finding) {
  Kind& kind = kinds_[finding.code];
  const bool first = kind.count++ == 0;
  const bool error = finding.severity == btf::Severity::error;
  ++(error ? errors_ : warnings_);
  const bool room = (error ? shown_errors_ : shown_warnings_).pass();
  if (first || room || all_) return true;
  ++kind.hidden;
  ++hidden_;
  return false;
}

std::string FindingTally::hidden_text() const {
  std::string text;
  for (const auto& [code, kind] : kinds_)
    if (kind.hidden > 0)
      text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", kind.hidden, code);
  return text;
}

Json FindingTally::codes() const {
  Json codes = Json::object();
  for (const auto& [code, kind] : kinds_) codes[std::string(code)] = json_number(kind.count);
  return codes;
}

}  // namespace btftool
