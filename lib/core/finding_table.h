// The table of findings: one row for each code that findings and errors carry.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "btf/validate.h"

namespace btf {

struct FindingRow {
  std::string_view code;
  Severity severity{};
};

// Their meanings are in docs/format.md, docs/formats.md, docs/convert.md and docs/repair.md.
// clang-format off
inline constexpr auto kFindings = std::to_array<FindingRow>({
    // BTF, headers
    {"file-too-short",         Severity::error},
    {"offset-table-too-long",  Severity::error},
    {"not-btf",                Severity::error},
    {"record-offset-past-end", Severity::error},
    {"record-overlaps-header", Severity::error},
    {"records-overlap",        Severity::error},
    {"rank-too-large",         Severity::error},
    {"dims-past-end",          Severity::error},
    {"size-overflow",          Severity::error},
    {"data-past-end",          Severity::error},
    {"unknown-dtype",          Severity::error},
    {"unknown-layout",         Severity::error},
    {"layout-rank",            Severity::error},
    {"layout-dtype",           Severity::error},
    {"layout-channels",        Severity::error},
    {"coo-indices-past-end",   Severity::error},
    {"coo-rank-mismatch",      Severity::error},
    {"coo-count-mismatch",     Severity::error},
    {"coo-values-past-end",    Severity::error},
    {"offset-not-aligned",     Severity::warning},
    {"offsets-not-ascending",  Severity::warning},
    {"gap-between-records",    Severity::warning},
    {"trailing-bytes",         Severity::warning},
    {"reserved-not-zero",      Severity::warning},
    {"padding-not-zero",       Severity::warning},
    {"tensorrt-limits",        Severity::warning},
    // BTF, names
    {"names-count",            Severity::error},
    {"names-size",             Severity::error},
    {"names-overlap",          Severity::error},
    {"names-checksum",         Severity::error},
    {"names-order",            Severity::error},
    {"names-utf8",             Severity::error},
    {"names-attributes",       Severity::error},
    {"names-version",          Severity::warning},
    {"names-duplicate",        Severity::warning},
    {"names-padding",          Severity::warning},
    {"names-cut-off",          Severity::warning},
    // elements
    {"coo-index-out-of-range", Severity::error},
    {"element-nan",            Severity::error},
    {"element-inf",            Severity::error},
    {"nibble-byte",            Severity::error},
    {"lane-padding-not-zero",  Severity::warning},
    {"spare-nibble-not-zero",  Severity::warning},
    {"bool-byte",              Severity::warning},
    {"coo-duplicate-index",    Severity::warning},
    // `--for tfrt`: what TFRT does not accept
    {"tfrt-dtype",             Severity::error},
    {"tfrt-layout",            Severity::error},
    {"tfrt-coo-code",          Severity::error},
    {"tfrt-offset",            Severity::error},
    {"tfrt-format",            Severity::error},
    // compressed files
    {"seek-table",             Severity::error},
    {"zstd-frame",             Severity::error},
    {"decompression-bomb",     Severity::error},
    // .npy
    {"npy-header",             Severity::error},
    {"npy-version",            Severity::error},
    {"npy-shape",              Severity::error},
    {"bytes-after-data",       Severity::error},
    // safetensors
    {"safetensors-header",     Severity::error},
    {"safetensors-offsets",    Severity::error},
    {"safetensors-size",       Severity::error},
    {"safetensors-index",      Severity::error},
    {"index-tensor-missing",   Severity::error},
    {"index-tensor-more",      Severity::warning},
    // TVM parameters
    {"tvm-header",             Severity::error},
    {"tvm-names",              Severity::error},
    {"tvm-size",               Severity::error},
    // GGUF
    {"gguf-header",            Severity::error},
    {"gguf-names",             Severity::error},
    {"gguf-offsets",           Severity::error},
    {"gguf-split",             Severity::error},
    // manifests, and trtexec's tensor_summary.json
    {"manifest",               Severity::error},
    {"trtexec-summary",         Severity::error},
    {"trtexec-summary-cut-off", Severity::warning},
    // dump.json of msprobe
    {"msprobe-dump",            Severity::error},
    {"msprobe-dump-cut-off",    Severity::warning},
    // layer lists of TensorRT engines
    {"engine-list",            Severity::error},
    // JSON of trtexec --exportOutput, and of Polygraphy
    {"trtexec-outputs",        Severity::error},
    {"trtexec-value",          Severity::error},
    {"polygraphy-json",        Severity::error},
    // PyTorch files
    {"torch-pickle",           Severity::error},
    {"torch-storage",          Severity::error},
    {"torch-unlisted",         Severity::warning},
    // zip files, and .npz
    {"zip-directory",          Severity::error},
    {"zip-name",               Severity::error},
    {"zip-overlap",            Severity::error},
    {"zip-member",             Severity::error},
    {"zip-crc",                Severity::error},
    {"npz-skipped",            Severity::warning},
    {"foreign-dtype",          Severity::warning},
    // ONNX
    {"protobuf",               Severity::error},
    {"onnx-tensor",            Severity::error},
    {"onnx-external",          Severity::error},
    {"onnx-names",             Severity::error},
    {"onnx-graph",             Severity::error},
    {"onnx-unknown-key",       Severity::warning},
    // raw bytes
    {"raw-size",               Severity::error},
    // numbers in text
    {"text-count",             Severity::error},
    {"text-value",             Severity::error},
    // `repair`; the last is a warning if the tensor was recovered
    {"tensor-count",           Severity::error},
    {"gap-behind-record",      Severity::error},
    {"offset-wrong",           Severity::error},
    // `convert --dequantize`
    {"zero-points-unread",     Severity::error},
});
// clang-format on

// A code of the table; any other does not compile.
class FindingCode {
 public:
  consteval FindingCode(const char* code) : row_(&row_of(code)) {}

  constexpr operator std::string_view() const { return row_->code; }
  constexpr Severity severity() const { return row_->severity; }

 private:
  static consteval const FindingRow& row_of(std::string_view code) {
    for (const FindingRow& row : kFindings)
      if (row.code == code) return row;
    throw "a code that is not in the table";
  }

  const FindingRow* row_;
};

[[nodiscard]] std::unexpected<Error> malformed(FindingCode finding, std::uint64_t offset,
                                               std::string message);

}  // namespace btf
