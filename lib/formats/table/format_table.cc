#include "formats/table/format_table.h"

#include <algorithm>
#include <array>

#include "formats/btf/check.h"
#include "formats/btf/reader.h"
#include "formats/btf/writer.h"
#include "formats/gguf/gguf.h"
#include "formats/json/json_bytes.h"
#include "formats/npy/npy.h"
#include "formats/npz/npz.h"
#include "formats/onnx/onnx.h"
#include "formats/polygraphy/polygraphy.h"
#include "formats/raw/raw.h"
#include "formats/safetensors/safetensors.h"
#include "formats/text/text.h"
#include "formats/torch/torch.h"
#include "formats/trtexec/trtexec.h"
#include "formats/tvm/tvm.h"

namespace btf {
namespace {

// For a form that is written only, and read by another row.
Result<bool> recognizes_none(const ByteSource&, const OpenRequest&) { return false; }

std::unique_ptr<TensorWriter> write_btf(const WriteRequest&) { return btf_writer(); }

constexpr unsigned kNumpyNamed = kRowMajorOnly | kNamed | kNumpyArrays | kInOrder;
constexpr bool kReadOnly = false;

constexpr auto kRows = std::to_array<FormatRow>({
    {.name = "npy",
     .title = "NumPy .npy",
     .traits = kSingle | kRowMajorOnly | kNumpyArrays | kSaysDims,
     .endings = {{{".npy", "a NumPy array"}}},
     .recognizes = recognizes_npy,
     .open = open_npy,
     .check = check_npy,
     .writer = npy_writer,
     .bound = npy_bound},
    {.name = "torch",
     .title = "PyTorch",
     .traits = kInOrder,
     .endings = {{{".pt", "a PyTorch file"}, {".pth", "a PyTorch file"}}},
     .recognizes = recognizes_torch,
     .open = open_torch,
     .check = check_torch},
    {.name = "npz",
     .title = "NumPy .npz",
     .traits = kNumpyNamed | kSaysDims,
     .endings = {{{".npz", "an archive of NumPy arrays"}}},
     .recognizes = recognizes_npz,
     .open = open_npz,
     .check = check_npz,
     .writer = npz_writer},
    {.name = "safetensors",
     .title = "safetensors",
     .traits = kRowMajorOnly | kNamed,
     .endings = {{{kSafetensorsEnding, "a safetensors file"}}},
     .recognizes = recognizes_safetensors,
     .open = open_safetensors,
     .check = check_safetensors,
     .writer = safetensors_writer,
     .begins = begins_as_safetensors,
     .bound = safetensors_bound,
     .misnamed = FindingCode("safetensors-header")},
    {.name = "tvm",
     .title = "TVM .params",
     .traits = kRowMajorOnly | kNamed,
     .endings = {{{".params", "a file of TVM's parameters"}}},
     .recognizes = recognizes_tvm,
     .open = open_tvm,
     .check = check_tvm,
     .writer = tvm_writer,
     .bound = tvm_bound},
    {.name = "gguf",
     .title = "GGUF",
     .endings = {{{".gguf", "a GGUF file"}}},
     .recognizes = recognizes_gguf,
     .open = open_gguf,
     .check = check_gguf,
     .begins = begins_as_gguf,
     .bound = gguf_bound},
    {.name = "onnx",
     .title = "ONNX",
     .traits = kSingle | kRowMajorOnly | kNamed | kDataBeside,
     .endings = {{{kOnnxModelEnding, "an ONNX model", kReadOnly},
                  {kOnnxTensorEnding, "an ONNX tensor"}}},
     .recognizes = recognizes_onnx,
     .open = open_onnx,
     .check = check_onnx,
     .writer = onnx_writer,
     .begins = begins_as_onnx,
     .bound = onnx_bound},
    {.name = "polygraphy",
     .title = "Polygraphy JSON",
     .traits = kNumpyNamed,
     .recognizes = recognizes_polygraphy,
     .open = open_polygraphy,
     .check = check_polygraphy,
     .writer = polygraphy_outputs_writer,
     .begins = stream_of_json},
    {.name = "polygraphy-inputs",
     .title = "Polygraphy JSON of inputs",
     .traits = kNumpyNamed,
     .recognizes = recognizes_none,
     .open = open_polygraphy,
     .check = check_polygraphy,
     .writer = polygraphy_inputs_writer},
    {.name = "trtexec",
     .title = "trtexec JSON",
     .traits = kInOrder | kSaysDims,
     .recognizes = recognizes_trtexec,
     .open = open_trtexec,
     .check = check_trtexec,
     .begins = stream_of_json},
    {.name = "text",
     .title = "numbers in text",
     .traits = kSingle | kSaysDims | kText,
     .recognizes = recognizes_text,
     .open = open_text,
     .check = check_text},
    {.name = "raw",
     .title = "raw bytes",
     .traits = kSingle | kUndescribed,
     .endings = {{{".raw", "a file of raw bytes"}}},
     .recognizes = recognizes_raw,
     .open = open_raw,
     .check = check_raw,
     .writer = raw_writer,
     .expected_bytes = raw_bytes},
    {.name = "btf",
     .title = "BTF",
     .traits = kShuffled | kNamed | kInOrder | kBtfCodes,
     .endings = {{{".btf", "a BTF file"}}},
     .recognizes = recognizes_btf,
     .open = open_btf,
     .check = check_btf,
     .writer = write_btf,
     .begins = begins_as_btf,
     .bound = btf_bound},
});

constinit std::span<const FormatRow> rows_in_use = kRows;

}  // namespace

std::span<const FormatRow> formats() { return rows_in_use; }

void replace_formats(std::span<const FormatRow> rows) { rows_in_use = rows; }

const FormatRow& default_format() { return formats().back(); }

const FormatRow& format_named(std::string_view name) {
  return *std::ranges::find(formats(), name, &FormatRow::name);
}

const FormatRow& format_with(FormatTrait trait) {
  return *std::ranges::find_if(formats(), [&](const FormatRow& row) { return row.has(trait); });
}

bool format_has(std::string_view format, FormatTrait trait) {
  return std::ranges::any_of(
      formats(), [&](const FormatRow& row) { return row.name == format && row.has(trait); });
}

}  // namespace btf
