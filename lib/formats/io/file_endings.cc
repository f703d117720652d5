#include "formats/io/file_endings.h"

#include <algorithm>
#include <array>

#include "btf/tensor_spec.h"
#include "core/names.h"

namespace btf {
namespace {

constexpr bool kTensorless = true;

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
    {".pbtxt", "a protocol buffer in text", "", kTensorless},
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
    {".pdiparams", "a file of Paddle's parameters", ""},
    {".pdmodel", "a Paddle model", ""},
    {".pdparams", "a Paddle state_dict", ""},
    {".caffemodel", "a Caffe model", ""},
    {".mnn", "an MNN model", ""},
    {".rknn", "an RKNN model", ""},
    {".tnnmodel", "a TNN model", ""},
    {".weights", "a file of Darknet's weights", ""},
    {".joblib", "a joblib file", ""},
    {".fvecs", "a file of vectors", ""},
    {".ivecs", "a file of vectors", ""},
    {".bvecs", "a file of vectors", ""},
    {".json", "a JSON file", "", kTensorless},
    {".jsonl", "a JSON file", "", kTensorless},
    {".yaml", "a YAML file", "", kTensorless},
    {".yml", "a YAML file", "", kTensorless},
    {".xml", "an XML file", "", kTensorless},
    {".html", "a page", "", kTensorless},
    {".csv", "a table in text", "", kTensorless},
    {".tsv", "a table in text", "", kTensorless},
    {".txt", "a text file", "", kTensorless},
    {".md", "a text file", "", kTensorless},
    {".pdf", "a PDF", "", kTensorless},
    {".png", "an image", "", kTensorless},
    {".jpg", "an image", "", kTensorless},
    {".jpeg", "an image", "", kTensorless},
    {".bmp", "an image", "", kTensorless},
    {".gif", "an image", "", kTensorless},
    {".webp", "an image", "", kTensorless},
    {".tif", "an image", "", kTensorless},
    {".tiff", "an image", "", kTensorless},
    {".exr", "an image", "", kTensorless},
    {".ppm", "an image", "", kTensorless},
    {".pgm", "an image", "", kTensorless},
    {".pfm", "an image", "", kTensorless},
    {".wav", "a sound", "", kTensorless},
    {".mp4", "a film", "", kTensorless},
    {".zip", "a zip archive", "", kTensorless},
    {".tar", "a tar archive", "", kTensorless},
    {".tgz", "a tar archive", "", kTensorless},
    {".7z", "a 7z archive", "", kTensorless},
    {".gz", "a gzip file", "", kTensorless},
    {".bz2", "a bzip2 file", "", kTensorless},
    {".xz", "an xz file", "", kTensorless},
    {".lz4", "an lz4 file", "", kTensorless},
    {".br", "a brotli file", "", kTensorless},
    {".so", "a shared library", "", kTensorless},
    {".py", "a Python program", "", kTensorless},
    {".sh", "a shell script", "", kTensorless},
    {".log", "a log", "", kTensorless},
    {".lock", "a lock", "", kTensorless},
    {".gitkeep", "a file that keeps a folder in Git", "", kTensorless},
});

// So the last '.' of a name tells its ending.
static_assert(std::ranges::all_of(kEndings, [](const FileEnding& row) {
  return row.ending.rfind('.') == 0;
}));

}  // namespace

bool ends_in(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         same_name(ending, path.substr(path.size() - ending.size()));
}

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
