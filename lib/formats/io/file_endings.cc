#include "formats/io/file_endings.h"

#include <algorithm>
#include <array>

#include "btf/tensor_spec.h"
#include "core/names.h"

namespace btf {
namespace {

// .bin, .dat and .data are not here: they say nothing.
constexpr auto kEndings = std::to_array<FileEnding>({
    {".btf", "a BTF file", "btf"},
    {".npy", "a NumPy array", "npy"},
    {".raw", "a file of raw bytes", "raw"},
    {".npz", "an archive of NumPy arrays", "npz"},
    {".safetensors", "a safetensors file", "safetensors"},
    {".gguf", "a GGUF file", ""},
    {".ggml", "a GGML file", ""},
    {".pt", "a PyTorch file", ""},
    {".pth", "a PyTorch file", ""},
    {".ckpt", "a checkpoint", ""},
    {".pkl", "a pickle", ""},
    {".pickle", "a pickle", ""},
    {".onnx", "an ONNX model", ""},
    {".pb", "an ONNX tensor", "onnx"},
    {".pbtxt", "a protocol buffer in text", ""},
    {".tflite", "a TensorFlow Lite model", ""},
    {".params", "a file of TVM's parameters", "tvm"},
    {".engine", "a TensorRT engine", ""},
    {".plan", "a TensorRT engine", ""},
    {".trt", "a TensorRT engine", ""},
    {".uff", "a UFF model", ""},
    {".mlmodel", "a Core ML model", ""},
    {".keras", "a Keras model", ""},
    {".h5", "an HDF5 file", ""},
    {".hdf5", "an HDF5 file", ""},
    {".nc", "a NetCDF file", ""},
    {".mat", "a MATLAB file", ""},
    {".parquet", "a Parquet file", ""},
    {".arrow", "an Arrow file", ""},
    {".feather", "a Feather file", ""},
    {".tfrecord", "a file of TensorFlow records", ""},
    {".msgpack", "a MessagePack file", ""},
    {".json", "a JSON file", ""},
    {".jsonl", "a JSON file", ""},
    {".yaml", "a YAML file", ""},
    {".yml", "a YAML file", ""},
    {".xml", "an XML file", ""},
    {".html", "a page", ""},
    {".csv", "a table in text", ""},
    {".tsv", "a table in text", ""},
    {".txt", "a text file", ""},
    {".md", "a text file", ""},
    {".pdf", "a PDF", ""},
    {".png", "an image", ""},
    {".jpg", "an image", ""},
    {".jpeg", "an image", ""},
    {".bmp", "an image", ""},
    {".gif", "an image", ""},
    {".webp", "an image", ""},
    {".tif", "an image", ""},
    {".tiff", "an image", ""},
    {".exr", "an image", ""},
    {".ppm", "an image", ""},
    {".pgm", "an image", ""},
    {".pfm", "an image", ""},
    {".wav", "a sound", ""},
    {".mp4", "a film", ""},
    {".zip", "a zip archive", ""},
    {".tar", "a tar archive", ""},
    {".tgz", "a tar archive", ""},
    {".7z", "a 7z archive", ""},
    {".gz", "a gzip file", ""},
    {".bz2", "a bzip2 file", ""},
    {".xz", "an xz file", ""},
    {".lz4", "an lz4 file", ""},
    {".br", "a brotli file", ""},
    {".so", "a shared library", ""},
    {".py", "a Python program", ""},
    {".sh", "a shell script", ""},
});

// So the last '.' of a name tells its ending.
static_assert(std::ranges::all_of(kEndings, [](const FileEnding& row) {
  return row.ending.rfind('.') == 0;
}));

bool ends_in(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         same_name(ending, path.substr(path.size() - ending.size()));
}

}  // namespace

std::span<const FileEnding> file_endings() { return kEndings; }

const FileEnding* find_ending(std::string_view path) {
  const std::string_view ending = path.substr(std::min(path.rfind('.'), path.size()));
  const auto* row = std::ranges::find_if(
      kEndings, [&](const FileEnding& row) { return same_name(row.ending, ending); });
  return row == kEndings.end() ? nullptr : row;
}

bool ends_as_compressed(std::string_view path) { return ends_in(path, kCompressedEnding); }

std::string_view content_name(std::string_view path) {
  if (ends_as_compressed(path)) path.remove_suffix(kCompressedEnding.size());
  return path;
}

std::string_view name_in_path(std::string_view path) {
  const std::size_t base = path.rfind('/') + 1;
  const std::string_view content = content_name(path);
  std::size_t end = content.size();
  if (const auto dump = parse_dump_name(content))
    end = base + dump->name.size();
  else if (const FileEnding* const row = find_ending(content))
    end -= row->ending.size();
  // ".npy" is a name too.
  return path.substr(0, end > base ? end : path.size());
}

}  // namespace btf
