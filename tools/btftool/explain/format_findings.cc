#include <array>

#include "explain/explanations.h"

namespace btftool {
namespace {

constexpr std::string_view kFetch = "copy or download the file again";
constexpr std::string_view kSaveAgain =
    "copy or download the file again; if that is no help, save it again with the program it is "
    "from";
constexpr std::string_view kProgram = "correct the program that wrote it";

// clang-format off
constexpr auto kFormatRows = std::to_array<Explanation>({
    {"npy-header", "what stands in front of the numbers of a .npy is no such header",
     "a dict without 'shape'", kSaveAgain},
    {"npy-version", "a .npy of a version that is not known", "version 4.0", "save it with NumPy as it is now"},
    {"npy-shape", "the shape in a .npy is none", "'shape': (-1, 3)", kProgram},
    {"bytes-after-data", "the file goes on behind the last tensor",
     "two files that were joined, or a .npy that was written over a longer one",
     "write it anew; if the rest matters, it is data that the header does not tell of"},
    {"nibble-byte", "4-bit codes, of which each has a byte, have bits in its other half",
     "two codes packed in a byte, 0x21, labelled int4",
     "label them uint8 with half as many elements, or unpack them first"},
    {"foreign-dtype", "the tensor has a type that no dtype stands for; the others can be used",
     "complex64; a text in a .npz; Q4_K blocks of GGUF",
     "of blocks '--dequantize' makes float32; others are converted with the program they are from"},
    {"safetensors-header", "the JSON in front of the data is damaged, or does not say what it must",
     "a tensor without 'data_offsets'", kSaveAgain},
    {"safetensors-offsets", "two tensors share bytes, or bytes between them belong to none",
     "[0, 16] and [8, 24]", kProgram},
    {"safetensors-size", "dtype and shape need another number of bytes than the offsets have",
     "F32 of [4] with data_offsets [0, 8]", kProgram},
    {"safetensors-index", "the index of a model in several files is damaged, or names files elsewhere",
     "'../other.safetensors' as a file", "download the index again"},
    {"index-tensor-missing", "the index has a tensor for a file, and the file has not",
     "files of two versions of a model in one folder", "download index and files again, from one place"},
    {"index-tensor-more", "a file has a tensor that the index does not name",
     "files of two versions of a model in one folder", "download index and files again, from one place"},
    {"tvm-header", "TVM's parameters are damaged, or of a device that is not the CPU",
     "a dim below 0", kSaveAgain},
    {"tvm-names", "two of TVM's parameters have one name", "two called 'p0'", kProgram},
    {"tvm-size", "one of TVM's parameters has another size than its dims and type say",
     "4 bytes for two float32", kSaveAgain},
    {"gguf-header", "the keys or tensors of a GGUF file are damaged, or what ggml would refuse",
     "an alignment of 3", kSaveAgain},
    {"gguf-names", "two tensors or keys of a GGUF file have one name, or one is too long",
     "a name of 64 bytes, where ggml takes 63", kProgram},
    {"gguf-offsets", "a tensor of a GGUF file does not begin where the one before it ends",
     "two tensors that share bytes", kSaveAgain},
    {"gguf-split", "a part of a GGUF model is not the one that its name says",
     "x-00001-of-00003.gguf, which has split.no 1: a file that was given another name",
     "give the parts their own names again"},
    {"manifest", "a manifest does not say what it must",
     "a member 'sepc', where 'spec' is meant", "the message has its place; 'btftool inspect --manifest' writes one"},
    {"trtexec-summary", "trtexec's tensor_summary.json is damaged", "an entry that is no object", kSaveAgain},
    {"trtexec-summary-cut-off", "trtexec's tensor_summary.json has no end",
     "the program was aborted while it dumped",
     "what is there is used; run it to its end for the rest"},
    {"msprobe-dump", "msprobe's dump.json is damaged", "a shape that is a number", kSaveAgain},
    {"msprobe-dump-cut-off", "msprobe's dump.json has no end",
     "the program was aborted while it dumped",
     "what is there is used; run it to its end for the rest"},
    {"engine-list", "the layer list of a TensorRT engine is damaged, or is none",
     "JSON that is cut off",
     "take the JSON of 'trtexec --exportLayerInfo', or the list alone"},
    {"trtexec-outputs", "an output of trtexec has another number of values than its dims",
     "dimensions 1x3 and two values", "run trtexec again, or take a dump of raw bytes"},
    {"trtexec-value", "a value of trtexec's output is none of its type",
     "a character where int8 is wanted: trtexec up to 8.4 wrote these",
     "take a newer trtexec, or a dump of raw bytes"},
    {"polygraphy-json", "JSON of Polygraphy is damaged", "base64 that is cut off", kSaveAgain},
    {"torch-pickle", "the pickle in a PyTorch file is damaged, or does what none does for tensors",
     "an operation of another kind, in a file that was made to harm",
     "save a state_dict() again; do not load the file elsewhere if you do not trust it"},
    {"torch-storage", "the bytes of a PyTorch tensor are missing, or are fewer than it needs",
     "a member data/3 that is not in the archive", kSaveAgain},
    {"torch-unlisted", "a PyTorch file has bytes that no tensor that is listed has",
     "a tensor within an object of a form that is not known",
     "save a state_dict() with it; '--tensor' takes those that are listed"},
    {"zip-directory", "the directory at the end of a .npz or .pt is missing, or contradicts the file",
     "a download that was broken off", kFetch},
    {"zip-name", "two members of an archive have one name, or one has two",
     "'x.npy' twice: NumPy would return the last", "write the archive anew, with one of them"},
    {"zip-overlap", "members of an archive share bytes", "an archive that was made to harm", kProgram},
    {"zip-member", "a member of an archive is not where it should be, or cannot be inflated",
     "deflated data with a byte that has changed", kSaveAgain},
    {"zip-crc", "the content of a member has changed since it was written: its checksum tells",
     "one bit on a disk or a line", kFetch},
    {"npz-skipped", "members of a .npz are no arrays", "a README in the archive",
     "nothing: the arrays are read"},
    {"protobuf", "an ONNX file is damaged, or is no protocol buffer",
     "a download that was broken off", kFetch},
    {"onnx-tensor", "a tensor of ONNX contradicts itself", "dims [4], and three values in float_data", kProgram},
    {"onnx-external", "data of an ONNX model are in a file that is missing, too short, or elsewhere",
     "model.onnx was copied without model.onnx.data", "put the file of data beside the model"},
    {"onnx-names", "initializers of ONNX have no name, or one name", "two called 'weight'", kProgram},
    {"onnx-graph", "an ONNX file has no graph, or one nested too deep", "a model that was made to harm", kProgram},
    {"onnx-unknown-key", "external data of ONNX have a key that means nothing",
     "'lenght' for 'length'", "correct it: it is ignored"},
    {"raw-size", "raw bytes are not as many as their spec says",
     "fp16:1x3x5x7 in kLINEAR takes 210 bytes, the file has 560",
     "the message names specs that fit, often a layout with padding: 'fp16:hwc8:1x3x5x7'"},
    {"text-count", "a text has more or fewer numbers than the spec has elements",
     "text:fp32:2x3 of a file with five numbers", "correct the dims in the spec"},
    {"text-value", "what stands in a text is no number, or none of the type",
     "'nan?' at line 3; 300 as uint8", "correct the type in the spec, or the line that is named"},
});
// clang-format on

}  // namespace

std::span<const Explanation> format_findings() { return kFormatRows; }

}  // namespace btftool
