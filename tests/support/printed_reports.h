// Reports as btftool prints them (tests/cli/cases/report_bytes).
#pragma once

#include <array>
#include <fstream>
#include <map>
#include <string>
#include <utility>

// The lines of the expected output below "[name]".
inline const std::map<std::string, std::string>& printed() {
  static const std::map<std::string, std::string> kSections = [] {
    std::ifstream file(BTF_TESTDATA_DIR "/../tests/cli/cases/report_bytes.stdout");
    std::map<std::string, std::string> sections;
    std::string name;
    for (std::string line; std::getline(file, line);)
      if (line.starts_with('[') && line.ends_with(']'))
        name = line.substr(1, line.size() - 2);
      else
        sections[name] += line + "\n";
    return sections;
  }();
  return kSections;
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The line with the version of the tool and the date of its inputs is not in the case, nor is the
// viewer: its style, its script and the hash of that.
inline std::string without_program(std::string page) {
  const auto erase = [&](const char* from, const std::string& to) {
    const std::size_t at = page.find(from);
    if (at != std::string::npos) page.erase(at, page.find(to, at) + to.size() - at);
  };
  erase("<p class=tool>", "\n");
  erase("<meta http-equiv=Content-Security-Policy", "\n");
  erase("<style>", "</style>\n");
  erase("<script>", "</script>\n");
  return page;
}

// What to type next is the tool's own: its line is the last.
inline std::string without_next(const std::string& text) {
  return text.substr(0, text.find("\nnext: ") + 1);
}

// Members of options in backticks as the options of the command line.
inline std::string in_options(std::string text) {
  static const std::array<std::pair<const char*, const char*>, 6> kOptions{{
      {"`tolerance.atol`", "--atol"},
      {"`tolerance.rtol`", "--rtol"},
      {"`tolerance.ulp`", "--ulp"},
      {"`text.all`", "--all"},
      {"`judge.isolated`", "--isolated"},
      {"`tensors`", "--tensor"},
  }};
  for (const auto& [member, option] : kOptions) text = replaced(std::move(text), member, option);
  return text;
}
