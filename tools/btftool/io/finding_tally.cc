#include "io/finding_tally.h"

#include <fmt/format.h>

namespace btftool {

std::uint64_t FindingCounts::hidden() const {
  std::uint64_t hidden = 0;
  for (const auto& [code, kind] : kinds) hidden += kind.hidden;
  return hidden;
}

std::string FindingCounts::hidden_text() const {
  std::string text;
  for (const auto& [code, kind] : kinds)
    if (kind.hidden > 0)
      text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", kind.hidden, code);
  return text;
}

Json FindingCounts::codes() const {
  Json codes = Json::object();
  for (const auto& [code, kind] : kinds) codes[code] = json_number(kind.count);
  return codes;
}

bool FindingTally::take(const btf::Finding& finding) {
  auto kind = counts_.kinds.find(finding.code);
  if (kind == counts_.kinds.end())
    kind = counts_.kinds.emplace(finding.code, FindingCounts::Kind()).first;
  const bool first = kind->second.count++ == 0;
  const bool error = finding.severity == btf::Severity::error;
  ++(error ? counts_.errors : counts_.warnings);
  const bool room = (error ? shown_errors_ : shown_warnings_).pass();
  if (first || room || all_) return true;
  ++kind->second.hidden;
  return false;
}

}  // namespace btftool
