// Files of tensors, opened, written and checked by tests of formats; what cannot be fails the test.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "btf/validate.h"
#include "support/said.h"

namespace files {

inline btf::TensorFile open(const std::string& path, const btf::OpenOptions& options = {}) {
  auto file = btf::TensorFile::open(path, options);
  if (!file) FAIL(file.error().text());
  return *std::move(file);
}

inline void write(const btf::TensorFile& file, const std::string& output,
                  const btf::ConvertOptions& options = {}) {
  const auto size = btf::convert(file, output, options);
  if (!size) FAIL(size.error().text());
  if (std::filesystem::is_regular_file(output)) CHECK(*size == std::filesystem::file_size(output));
}

// What validate() finds.
inline std::vector<std::string> codes_found(const std::string& path,
                                            const btf::OpenOptions& options = {}) {
  std::vector<std::string> found;
  const auto status = btf::validate(
      path, [&](const btf::Finding& f) { found.emplace_back(f.code); }, options);
  if (!status) FAIL(status.error().text());
  return found;
}

// Calls `judge` with each file of a folder and the finding that its expected.tsv has for it. All
// that lies there is a bad file or one of `others`. Returns how many bad ones there are.
template <typename Judge>
std::size_t for_each_bad_file(const std::string& folder, const Judge& judge,
                              std::set<std::string> others = {}) {
  std::ifstream table(folder + "expected.tsv");
  REQUIRE(table);
  std::size_t count = 0;
  others.insert("expected.tsv");
  std::string name, finding;
  while (std::getline(table, name, '\t') && std::getline(table, finding)) {
    CAPTURE(name);
    others.insert(name);
    judge(folder + name, finding);
    ++count;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    CHECK(others.contains(entry.path().filename().string()));
  return count;
}

// Of a file that cannot be opened: the error has its path and the finding. Returns what it says.
inline std::string refusal(const std::string& path, const std::string& finding) {
  const auto file = btf::TensorFile::open(path);
  REQUIRE_FALSE(file);
  CHECK(file.error().file == path);
  CHECK(file.error().finding == finding);
  return said(file.error());
}

}  // namespace files
