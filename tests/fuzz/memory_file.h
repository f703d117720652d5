// What the library opens lies in memory, and so does what it converts it to.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "convert/convert_set.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"
#include "formats/tensor_file.h"
#include "input.h"

namespace fuzz {

// No threads: what one input costs is what the target does.
inline btf::Execution alone() { return {.jobs = 1, .memory = 1U << 20}; }

// The bytes must be there as long as the file is.
inline btf::Result<btf::TensorFile> open(BytesView bytes, const btf::OpenOptions& options = {},
                                         const std::string& name = "input") {
  return btf::TensorFile::open(std::make_unique<btf::MemorySource>(bytes), name, options);
}

// What they are decompressed, if they are compressed.
inline btf::Result<Bytes> content(BytesView bytes, std::uint64_t most = 1U << 20) {
  const auto source =
      btf::unpacked_source("input", std::make_unique<btf::MemorySource>(bytes), std::nullopt);
  if (!source) return std::unexpected(source.error());
  Bytes all(std::min((*source)->size(), most));
  const auto read = (*source)->read_at(0, all);
  if (!read) return std::unexpected(read.error());
  return all;
}

// Grows, up to a limit.
class GrowingSink final : public btf::ByteSink {
 public:
  GrowingSink(Bytes& bytes, bool random_access) : bytes_(bytes), random_access_(random_access) {}

  bool random_access() const override { return random_access_; }

  btf::Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (!random_access_ && offset != bytes_.size())
      broken("a sink that must be written front to back was not");
    if (offset + bytes.size() > bytes_.size()) bytes_.resize(offset + bytes.size());
    if (!bytes.empty()) std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
    return {};
  }

  btf::Status commit() override { return {}; }

 private:
  Bytes& bytes_;
  bool random_access_;
};

struct Converted {
  btf::Status status;
  Bytes bytes;
  bool too_large = false;  // not written: it would take too long
  std::vector<btf::TensorReport> reports;
};

inline Converted convert(const btf::TensorFile& input, const std::string& name,
                         btf::ConvertOptions options, bool random_access = true,
                         std::uint64_t most = 1U << 16) {
  Converted result;
  options.execution = alone();
  std::uint64_t promised = 0;
  const auto make =
      [&](const btf::SinkOptions& sink) -> btf::Result<std::unique_ptr<btf::ByteSink>> {
    promised = sink.size;
    result.too_large = promised > most;
    if (result.too_large) return btf::fail(btf::ErrorCode::no_space, "too large for a fuzzer");
    result.bytes.reserve(promised);
    return std::make_unique<GrowingSink>(result.bytes, random_access);
  };
  const auto written =
      btf::convert_into(input, name, make, options,
                        [&](const btf::TensorReport& report) { result.reports.push_back(report); });
  if (!written) {
    result.status = std::unexpected(written.error());
    return result;
  }
  require(*written == result.bytes.size(), "convert() tells another size than it writes");
  require(options.compression || promised == *written,
          "convert() announces another size than it writes");
  return result;
}

}  // namespace fuzz
