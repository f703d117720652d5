#include "formats/format_table.h"

#include <algorithm>
#include <array>
#include <string>

#include "btf/file.h"
#include "btf/output.h"
#include "btf/tensor_spec.h"
#include "core/names.h"
#include "formats/btf_reader.h"
#include "formats/btf_writer.h"
#include "formats/gguf.h"
#include "formats/io/file_names.h"
#include "formats/json.h"
#include "formats/npy.h"
#include "formats/onnx.h"
#include "formats/readers.h"
#include "formats/tvm.h"

namespace btf {

namespace {

constexpr bool kTensorless = true;

// Extensions of files in none of the formats below. .bin, .dat and .data are missing since they do
// not imply a kind of file.
constexpr auto kForeignEndings = std::to_array<FileEnding>({
    {".ggml", "a GGML file"},
    {".ckpt", "a checkpoint"},
    {".pkl", "a pickle"},
    {".pickle", "a pickle"},
    {".pbtxt", "a protocol buffer in text", kTensorless},
    {".tflite", "a TensorFlow Lite model"},
    {".engine", "a TensorRT engine"},
    {".plan", "a TensorRT engine"},
    {".trt", "a TensorRT engine"},
    {".uff", "a UFF model"},
    {".mlmodel", "a Core ML model"},
    {".keras", "a Keras model"},
    {".h5", "an HDF5 file"},
    {".hdf5", "an HDF5 file"},
    {".nc", "a NetCDF file"},
    {".mat", "a MATLAB file"},
    {".parquet", "a Parquet file"},
    {".arrow", "an Arrow file"},
    {".feather", "a Feather file"},
    {".tfrecord", "a file of TensorFlow records"},
    {".msgpack", "a MessagePack file"},
    {".pdiparams", "a file of Paddle's parameters"},
    {".pdmodel", "a Paddle model"},
    {".pdparams", "a Paddle state_dict"},
    {".caffemodel", "a Caffe model"},
    {".mnn", "an MNN model"},
    {".rknn", "an RKNN model"},
    {".tnnmodel", "a TNN model"},
    {".weights", "a file of Darknet's weights"},
    {".joblib", "a joblib file"},
    {".fvecs", "a file of vectors"},
    {".ivecs", "a file of vectors"},
    {".bvecs", "a file of vectors"},
    {".json", "a JSON file", kTensorless},
    {".jsonl", "a JSON file", kTensorless},
    {".yaml", "a YAML file", kTensorless},
    {".yml", "a YAML file", kTensorless},
    {".xml", "an XML file", kTensorless},
    {".html", "an HTML page", kTensorless},
    {".csv", "a table in text", kTensorless},
    {".tsv", "a table in text", kTensorless},
    {".txt", "a text file", kTensorless},
    {".md", "a text file", kTensorless},
    {".rst", "a text file", kTensorless},
    {".jinja", "a template in text", kTensorless},
    {".toml", "a TOML file", kTensorless},
    {".cfg", "a file of settings", kTensorless},
    {".ini", "a file of settings", kTensorless},
    {".pdf", "a PDF", kTensorless},
    {".png", "an image", kTensorless},
    {".jpg", "an image", kTensorless},
    {".jpeg", "an image", kTensorless},
    {".bmp", "an image", kTensorless},
    {".gif", "an image", kTensorless},
    {".webp", "an image", kTensorless},
    {".tif", "an image", kTensorless},
    {".tiff", "an image", kTensorless},
    {".exr", "an image", kTensorless},
    {".ppm", "an image", kTensorless},
    {".pgm", "an image", kTensorless},
    {".pfm", "an image", kTensorless},
    {".wav", "an audio file", kTensorless},
    {".mp4", "a video", kTensorless},
    {".zip", "a zip archive", kTensorless},
    {".tar", "a tar archive", kTensorless},
    {".tgz", "a tar archive", kTensorless},
    {".7z", "a 7z archive", kTensorless},
    {".gz", "a gzip file", kTensorless},
    {".bz2", "a bzip2 file", kTensorless},
    {".xz", "an xz file", kTensorless},
    {".lz4", "an lz4 file", kTensorless},
    {".br", "a brotli file", kTensorless},
    {".so", "a shared library", kTensorless},
    {".py", "a Python program", kTensorless},
    {".sh", "a shell script", kTensorless},
    {".log", "a log", kTensorless},
    {".lock", "a lock file", kTensorless},
    {".gitkeep", "a file that keeps a folder in Git", kTensorless},
});

constexpr bool is_one_ending(std::string_view ending) { return ending.rfind('.') == 0; }

// The extension therefore begins at the last '.' of a name.
static_assert(std::ranges::all_of(kForeignEndings, is_one_ending, &FileEnding::ending));

}  // namespace

std::span<const FileEnding> other_endings() { return kForeignEndings; }

std::optional<FileEnding> find_ending(std::string_view path) {
  const std::string_view ending = path.substr(std::min(path.rfind('.'), path.size()));
  if (ending.empty()) return std::nullopt;
  for (const FormatRow& row : formats())
    for (const NameEnding& name : row.endings)
      if (same_name(name.ending, ending))
        return FileEnding{.ending = name.ending,
                          .title = name.title,
                          .format = row.writes_under(name) ? row.name : std::string_view()};
  const auto* other = std::ranges::find_if(
      kForeignEndings, [&](const FileEnding& row) { return same_name(row.ending, ending); });
  return other == kForeignEndings.end() ? std::nullopt : std::optional(*other);
}

bool has_unknown_extension(std::string_view output) {
  const std::string_view content = content_name(output);
  const std::string_view name = content.substr(content.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  // ".hidden" has no extension.
  return dot != name.npos && dot > 0 && dot + 1 < name.size() && !find_ending(name);
}

std::string_view name_in_path(std::string_view path) {
  const std::size_t base = path.rfind('/') + 1;
  const std::string_view content = content_name(path);
  std::size_t end = content.size();
  if (const auto dump = parse_dump_name(content))
    end = base + dump->name.size();
  else if (const auto known = find_ending(content))
    end -= known->ending.size();
  // ".npy" alone is a name.
  return path.substr(0, end > base ? end : path.size());
}

namespace {

// For a variant that is write-only: another row reads it.
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
