#include "formats/table/endings.h"

#include <algorithm>
#include <array>

#include "btf/output.h"
#include "btf/tensor_spec.h"
#include "core/names.h"
#include "formats/io/compressed_name.h"
#include "formats/table/format_table.h"

namespace btf {
namespace {

constexpr bool kTensorless = true;

// .bin, .dat and .data are not here: they say nothing.
constexpr auto kEndings = std::to_array<FileEnding>({
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
    {".html", "a page", kTensorless},
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
    {".wav", "a sound", kTensorless},
    {".mp4", "a film", kTensorless},
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
    {".lock", "a lock", kTensorless},
    {".gitkeep", "a file that keeps a folder in Git", kTensorless},
});

constexpr bool is_one_ending(std::string_view ending) { return ending.rfind('.') == 0; }

// So the last '.' of a name tells its ending.
static_assert(std::ranges::all_of(kEndings, is_one_ending, &FileEnding::ending));

}  // namespace

std::span<const FileEnding> other_endings() { return kEndings; }

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
      kEndings, [&](const FileEnding& row) { return same_name(row.ending, ending); });
  return other == kEndings.end() ? std::nullopt : std::optional(*other);
}

bool has_unknown_ending(std::string_view output) {
  const std::string_view content = content_name(output);
  const std::string_view name = content.substr(content.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  // ".hidden" has none.
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
  // ".npy" is a name too.
  return path.substr(0, end > base ? end : path.size());
}

}  // namespace btf
