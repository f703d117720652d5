#include "formats/other_kinds.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "btf/try.h"
#include "core/utf8.h"
#include "formats/io/file_endings.h"

namespace btf {
namespace {

using std::string_view_literals::operator""sv;

struct OtherKind {
  std::string_view what;    // "is ..."
  std::string_view advice;  // what makes a file that is read
  std::size_t offset = 0;   // of the bytes that it is known by
  std::string_view bytes{};
  std::string_view ending{};  // of its name, where no bytes tell it
};

constexpr std::string_view kArrays = "np.save and np.savez write arrays that it does";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kWeights = "export its tensors with np.savez or safetensors";

// clang-format off
constexpr auto kKinds = std::to_array<OtherKind>({
    {"an HDF5 file",                 "h5py and np.savez make one that it does",       0, "\x89HDF\r\n\x1a\n"sv},
    {"a PNG image",                  kArrays,                                         0, "\x89PNG\r\n\x1a\n"sv},
    {"a JPEG image",                 kArrays,                                         0, "\xff\xd8\xff"sv},
    {"a GIF image",                  kArrays,                                         0, "GIF8"sv},
    {"a TIFF image",                 kArrays,                                         0, "II*\0"sv},
    {"a TIFF image",                 kArrays,                                         0, "MM\0*"sv},
    {"a PDF document",               "",                                              0, "%PDF-"sv},
    {"an ELF program or library",    "",                                              0, "\x7f" "ELF"sv},
    {"a gzip file",                  kUnpack,                                         0, "\x1f\x8b"sv},
    {"an xz file",                   kUnpack,                                         0, "\xfd" "7zXZ\0"sv},
    {"a bzip2 file",                 kUnpack,                                         0, "BZh"sv},
    {"an lz4 file",                  kUnpack,                                         0, "\x04\x22\x4d\x18"sv},
    {"a tar archive",                kUnpack,                                       257, "ustar"sv},
    {"a TensorFlow Lite model",      kWeights,                                        4, "TFL3"sv},
    {"an ExecuTorch program",        kWeights,                                        4, "ET12"sv},
    {"an ONNX Runtime model",        "convert it back to .onnx",                      4, "ORTM"sv},
    {"a TensorRT plan",              "trtexec --exportOutput and debug tensors write what it computes", 0, "ptrt"sv},
    {"a TensorRT plan",              "trtexec --exportOutput and debug tensors write what it computes", 0, "ftrt"sv},
    {"a Parquet file",               kArrays,                                         0, "PAR1"sv},
    {"an Arrow file",                kArrays,                                         0, "ARROW1"sv},
    {"a MATLAB file",                "scipy.io.loadmat and np.savez make one that it does", 0, "MATLAB 5.0"sv},
    {"a PyTorch file from before 1.6", "torch.load and torch.save write it in today's form, safetensors.torch.save_file in one that it reads", 0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"sv},
    {"a Python pickle",              kArrays,                                         0, "\x80\2"sv},
    {"a Python pickle",              kArrays,                                         0, "\x80\3"sv},
    {"a Python pickle",              kArrays,                                         0, "\x80\4"sv},
    {"a Python pickle",              kArrays,                                         0, "\x80\5"sv},
    {"a protocol buffer or text of another kind than ONNX's models and tensors", "",  0, {}, ".onnx"},
    {"a protocol buffer or text of another kind than ONNX's models and tensors", "",  0, {}, ".pb"},
    {"a Core ML model",              kWeights,                                        0, {}, ".mlmodel"},
});

// JSON that other tools write without tensors in it, by a word within its first bytes.
struct JsonMark {
  std::string_view word;
  std::string_view what;
};

constexpr auto kJsonKinds = std::to_array<JsonMark>({
    {"\"timeMs\"",           "a profile of layers (trtexec --exportProfile), which holds no tensors"},
    {"\"startEnqMs\"",       "a list of times (trtexec --exportTimes), which holds no tensors"},
    {"\"Layers\"",           "a list of layers (trtexec --exportLayerInfo), which holds no tensors"},
});
// clang-format on

constexpr std::size_t kStart = 4096;
constexpr std::size_t kLeastText = 8;

bool is_text(std::string_view start, bool whole) {
  const auto control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && (c < '\t' || c > '\r')) || byte == 0x7f;
  };
  if (start.empty() || std::ranges::any_of(start, control)) return false;
  // The last character may be cut off.
  for (unsigned cut = 0; cut < (whole ? 1U : 4U); ++cut)
    if (is_utf8(start.substr(0, start.size() - cut))) return true;
  return false;
}

Status refuse(const std::string& what) { return fail(ErrorCode::unsupported, "is " + what); }

}  // namespace

Status refuse_other_kinds(const ByteSource& source, std::string_view path) {
  std::string start(std::min<std::uint64_t>({kStart, source.size(), source.read_ahead_end(0)}),
                    '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  const std::string_view name = content_name(path);
  for (const OtherKind& kind : kKinds) {
    const bool by_bytes = !kind.bytes.empty() && start.size() >= kind.offset &&
                          std::string_view(start).substr(kind.offset).starts_with(kind.bytes);
    const bool by_name = !kind.ending.empty() && name.ends_with(kind.ending);
    if (by_bytes || by_name)
      return refuse(std::string(kind.what) + ", which btftool does not read" +
                    (kind.advice.empty() ? "" : "; " + std::string(kind.advice)));
  }
  // A few bytes may be anything, and what is called BTF is a bad one.
  if (start.size() < kLeastText || name.ends_with(".btf")) return {};
  if (!is_text(start, start.size() == source.size())) return {};
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first == start.npos || (start[first] != '{' && start[first] != '['))
    return refuse(
        "text, which btftool reads as numbers where that is said: --input-spec text:fp32:DIMS");
  for (const JsonMark& kind : kJsonKinds)
    if (start.find(kind.word) != start.npos) return refuse(std::string(kind.what));
  return refuse("JSON of a kind that btftool does not read");
}

}  // namespace btf
