// The table of findings and the documents, which must tell of the same codes.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "core/finding_table.h"

namespace {

std::string document(const std::string& name) {
  std::ifstream file(BTF_DOCS_DIR "/" + name);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Codes of docs/format.md by the head of the table that they stand in: "error" or "warning".
std::map<std::string, std::string> codes_of_tables() {
  std::map<std::string, std::string> codes;
  std::istringstream lines(document("format.md"));
  std::string table;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) table.clear();
    if (line.starts_with("| error | ")) table = "error";
    if (line.starts_with("| warning | ")) table = "warning";
    if (table.empty() || line.starts_with("|--") || line.starts_with("| " + table + " |")) continue;
    std::istringstream cell(line.substr(2, line.find(" |", 2) - 2));
    for (std::string code; std::getline(cell >> std::ws, code, ',');) codes[code] = table;
  }
  return codes;
}

}  // namespace

TEST_CASE("findings: each code stands in the table once") {
  std::set<std::string_view> codes;
  for (const auto& row : btf::kFindings) CHECK(codes.insert(row.code).second);
}

TEST_CASE("findings: docs/format.md has the codes of the table, with their severity") {
  const auto documented = codes_of_tables();
  REQUIRE(documented.size() > 30);
  for (const auto& [code, severity] : documented) {
    INFO(code);
    const auto* row = std::ranges::find(btf::kFindings, code, &btf::FindingRow::code);
    REQUIRE(row != btf::kFindings.end());
    CHECK((row->severity == btf::Severity::error ? "error" : "warning") == severity);
  }
}

TEST_CASE("findings: all others stand in other documents") {
  const auto documented = codes_of_tables();
  std::string others;
  for (const char* name : {"formats.md", "convert.md", "repair.md", "dtypes.md"})
    others += document(name);
  for (const auto& row : btf::kFindings) {
    INFO(row.code);
    const std::string code(row.code);
    CHECK((documented.contains(code) || others.find("`" + code + "`") != std::string::npos));
  }
}
