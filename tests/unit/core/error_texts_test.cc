// Whoever reads an error must be able to tell it from every other: each bad file in testdata has a
// text of its own, whatever its name is.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "btf/tensor_spec.h"
#include "btf/validate.h"
#include "support/btf_bytes.h"
#include "support/said.h"
#include "support/scratch_dir.h"

namespace fs = std::filesystem;

namespace {

// All that is said of a file, without its name.
std::string said_of(const std::string& path, const btf::OpenOptions& options = {}) {
  std::string text;
  const auto add = [&](const std::string& message) { text += message + "\n"; };
  const auto status = btf::validate(
      path,
      [&](const btf::Finding& finding) {
        const std::string where = finding.tensor ? "tensor " + std::to_string(*finding.tensor) : "";
        if (finding.severity == btf::Severity::error) add(where + ": " + finding.message);
      },
      options);
  if (!status) add(said(status.error()));
  for (std::size_t at = 0; (at = text.find(path)) != std::string::npos;)
    text.erase(at, path.size());
  return text;
}

void check_folder(const std::string& folder, const std::string& begin, std::size_t least) {
  std::map<std::string, std::string> files;  // by text
  for (const auto& entry : fs::directory_iterator(std::string(BTF_TESTDATA_DIR) + "/" + folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || name.ends_with(".tsv")) continue;
    const std::string text = said_of(entry.path().string());
    CAPTURE(name, text);
    CHECK(!text.empty());
    const auto [other, fresh] = files.emplace(text, name);
    CAPTURE(other->second);
    CHECK(fresh);
  }
  CHECK(files.size() >= least);
}

}  // namespace

TEST_CASE("errors: every bad BTF file has a text of its own") { check_folder("bad", "", 29); }

TEST_CASE("errors: every bad .npy file has a text of its own") { check_folder("npy-bad", "", 40); }

TEST_CASE("errors: every bad zstd file has a text of its own") { check_folder("zstd", "bad-", 35); }

TEST_CASE("errors: every wrong size of raw bytes has a text of its own") {
  ScratchDir scratch;
  btf::OpenOptions options;
  options.spec = btf::parse_tensor_spec("fp16:hwc8:1x3x4x4").value();
  std::map<std::string, std::size_t> sizes;
  for (const std::size_t size : {0U, 1U, 255U, 257U, 128U, 512U, 96U, 192U}) {
    const std::string path = bytes::save(scratch, "raw", bytes::Bytes(size));
    CAPTURE(size);
    CHECK(sizes.emplace(said_of(path, options), size).second);
  }
}
