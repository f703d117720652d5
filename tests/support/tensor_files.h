// Files of tensors, opened, written and checked by tests of formats; what cannot be fails the test.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "btf/validate.h"

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

}  // namespace files
