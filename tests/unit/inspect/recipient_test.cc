// What programs do not take, by every code there can be: codes 0 to 9, layout 0 and COO as 1 are
// TFRT's.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/validate.h"
#include "support/btf_bytes.h"
#include "support/said.h"

namespace {

using btf::DType;
using btf::Layout;
using btf::Recipient;
using bytes::Bytes;
using bytes::Words;
using Codes = std::vector<std::string>;

// By tensor: the findings that are about TFRT.
std::map<std::uint64_t, Codes> findings(const std::string& path) {
  std::map<std::uint64_t, Codes> found;
  const auto note = [&](const btf::Finding& finding) {
    if (!finding.code.starts_with("tfrt-")) return;
    CHECK(finding.severity == btf::Severity::error);
    found[finding.tensor.value_or(~0ULL)].emplace_back(finding.code);
  };
  REQUIRE(btf::validate(path, note, {}, {}, {.recipient = Recipient::tfrt}));
  return found;
}

btf::ConvertOptions for_tfrt() {
  btf::ConvertOptions options;
  options.recipient = Recipient::tfrt;
  return options;
}

}  // namespace

TEST_CASE("recipient: of all dtype codes TFRT has the first ten") {
  const ScratchDir scratch;
  std::vector<Bytes> records;
  for (int code = 0; code < 256; ++code) records.push_back(bytes::dense(code, 0, {2}, Bytes(16)));
  const std::string path = bytes::save(scratch, "dtypes.btf", bytes::file(records));
  const auto found = findings(path);
  for (std::uint64_t code = 0; code < 256; ++code) {
    CAPTURE(code);
    CHECK(found.contains(code) == (code > 9));
    if (found.contains(code)) CHECK(found.at(code) == Codes{"tfrt-dtype"});
  }
}

TEST_CASE("recipient: of all layout codes TFRT has 0, and COO as 1") {
  const ScratchDir scratch;
  std::vector<Bytes> records;
  for (int code = 0; code < 256; ++code) {
    const bool coo = code == 1 || code == 2;
    records.push_back(coo ? bytes::coo(DType::float32, {4}, {{2}}, Bytes(4), code)
                          : bytes::dense(DType::float32, code, {1, 1, 4, 4, 4}, Bytes(8192)));
  }
  const std::string path = bytes::save(scratch, "layouts.btf", bytes::file(records));
  const auto found = findings(path);
  for (std::uint64_t code = 0; code < 256; ++code) {
    CAPTURE(code);
    REQUIRE(found.contains(code) == (code > 1));
    if (code > 1)
      CHECK(found.at(code) == (code == 2 ? Codes{"tfrt-coo-code"} : Codes{"tfrt-layout"}));
  }
}

TEST_CASE("recipient: one record can have several faults") {
  const ScratchDir scratch;
  const Bytes record = bytes::dense(DType::float16, Layout::hwc8, {1, 1, 1}, Bytes(16));
  const Bytes file = bytes::join({bytes::file_with_table({20}, {Bytes(4)}), record});
  CHECK(findings(bytes::save(scratch, "odd.btf", file)).at(0) ==
        Codes{"tfrt-offset", "tfrt-dtype", "tfrt-layout"});
}

TEST_CASE("recipient: what is written is read, and nothing else is written") {
  const ScratchDir scratch;
  const std::string out = scratch / "out.btf";
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    CAPTURE(row.name);
    const bool known = row.code() <= 9;
    const std::string own =
        bytes::save(scratch, "own.btf", bytes::file({bytes::dense(row.dtype, 0, {2}, Bytes(16))}));
    const auto kept = btf::convert(bytes::open(own), out, for_tfrt());
    CHECK(kept.has_value() == known);
    if (!kept) CHECK(said(kept.error()).find(row.name) != std::string::npos);
    CHECK(std::filesystem::exists(out) == known);
    if (known) CHECK(findings(out).empty());
    std::filesystem::remove(out);

    btf::ConvertOptions cast = for_tfrt();
    cast.dtype = row.dtype;
    CHECK(btf::check_options(cast).has_value() == known);
  }
}

TEST_CASE("recipient: options that would write something else are refused") {
  const auto refused = [](auto&& set, std::string_view format = "btf") {
    btf::ConvertOptions options = for_tfrt();
    set(options);
    return !btf::check_options(options, format);
  };
  CHECK_FALSE(refused([](auto&) {}));
  CHECK_FALSE(refused([](auto& options) { options.layout = Layout::coo; }));
  CHECK_FALSE(refused([](auto& options) { options.layout = Layout::linear; }));
  CHECK_FALSE(refused([](auto& options) { options.coo_code = btf::kCooCodeTfrt; }));
  CHECK(refused([](auto& options) { options.coo_code = btf::kCooCodeSpec; }));
  CHECK(refused([](auto& options) { options.layout = Layout::hwc8; }));
  CHECK_FALSE(refused([](auto& options) {
    options.layout = Layout::hwc8;
    options.plain = true;
  }));
  CHECK(refused([](auto& options) { options.shuffle = true; }));
  CHECK(refused([](auto& options) { options.compression = 3; }));
  CHECK(refused([](auto&) {}, "npy"));
  CHECK_FALSE(refused([](auto&) {}, ""));
}
