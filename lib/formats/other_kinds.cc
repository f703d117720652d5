#include "formats/other_kinds.h"

#include <array>

#include "formats/other_structures.h"

namespace btf {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kArrays = "np.save and np.savez write arrays that it does";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kWeights = "export its tensors with np.savez or safetensors";
constexpr std::string_view kTensorRt =
    "trtexec --exportOutput and debug tensors write what it computes";
constexpr std::string_view kHdf5 = "h5py and np.savez make one that it does";
constexpr std::string_view kMat = "scipy.io.loadmat and np.savez make one that it does";
constexpr std::string_view kNetCdf = "scipy.io.netcdf_file and np.savez make one that it does";
constexpr std::string_view kGgml = "llama.cpp's convert_llama_ggml_to_gguf.py makes one that it does";
constexpr std::string_view kMxnet =
    "np.savez(OUT, **{k: v.asnumpy() for k, v in mx.nd.load(FILE).items()}) makes one that it does";
constexpr std::string_view kPaddleModel =
    "np.savez(OUT, **{k: v.numpy() for k, v in paddle.jit.load(PREFIX).state_dict().items()}) makes "
    "one that it does";
constexpr std::string_view kPaddleState =
    "np.savez(OUT, **{k: np.asarray(v) for k, v in paddle.load(FILE).items()}) makes one that it "
    "does";
constexpr std::string_view kFlax =
    "flax.serialization.msgpack_restore, flax.traverse_util.flatten_dict(.., sep='.') and "
    "safetensors.flax.save_file make one that it does";
constexpr std::string_view kCheckpoint =
    "r = tf.train.load_checkpoint(PREFIX), np.savez(OUT, **{k: r.get_tensor(k) for k in "
    "r.get_variable_to_shape_map()}) makes one that it does";
constexpr std::string_view kSavedModel =
    "its tensors are in variables/ beside it: r = tf.train.load_checkpoint('variables/variables'), "
    "np.savez(OUT, **{k: r.get_tensor(k) for k in r.get_variable_to_shape_map()})";
constexpr std::string_view kTensorProto =
    "t = tensor_pb2.TensorProto.FromString(open(FILE, 'rb').read()) of tensorflow.core.framework, "
    "np.save(OUT, tf.make_ndarray(t)) makes one that it does";
constexpr std::string_view kGraphDef =
    "tf.make_ndarray(node.attr['value'].tensor) of its Const nodes, and np.savez, make one that it "
    "does";
constexpr std::string_view kRecords =
    "tf.data.TFRecordDataset and tf.train.Example.FromString read it, np.savez writes their arrays";
constexpr std::string_view kCaffe =
    "net = caffe.Net(PROTOTXT, FILE, caffe.TEST), np.savez(OUT, **{f'{k}_{i}': b.data for k, v in "
    "net.params.items() for i, b in enumerate(v)}) makes one that it does";
constexpr std::string_view kPickledArrays =
    "np.savez of what pickle.load gives, if you trust it, makes one that it does";
constexpr std::string_view kJoblib =
    "np.savez of what joblib.load gives, if you trust it, makes one that it does";
constexpr std::string_view kIdx =
    "np.save(OUT, np.fromfile(FILE, 'u1', offset=4 + 4 * RANK).reshape(DIMS)) makes one that it does; "
    "types of more bytes are big-endian ('>f4')";
constexpr std::string_view kFvecs =
    "a = np.fromfile(FILE, 'i4'), np.save(OUT, a.reshape(-1, a[0] + 1)[:, 1:].view('f4')) makes one "
    "that it does";
constexpr std::string_view kIvecs =
    "a = np.fromfile(FILE, 'i4'), np.save(OUT, a.reshape(-1, a[0] + 1)[:, 1:]) makes one that it does";
constexpr std::string_view kBvecs =
    "a = np.fromfile(FILE, 'u1'), np.save(OUT, a.reshape(-1, a[:4].view('i4')[0] + 4)[:, 4:]) makes "
    "one that it does";
constexpr std::string_view kEtdump =
    "Inspector(etdump_path=FILE, debug_buffer_path=BUFFER) of executorch.devtools gives the debug_data "
    "of its events, np.savez writes them";
constexpr std::string_view kCoreMl =
    "coremltools.optimize.coreml.get_weights_metadata(MODEL) gives its arrays, np.savez(OUT, **{k: "
    "v.val for k, v in ..}) writes them";
constexpr std::string_view kEncodings =
    "encodings of QNN or AIMET: scales and offsets in JSON, which hold no tensors; a tensor's codes "
    "become numbers with convert, `dtype` fp32, `quantization.scale` SCALE and `quantization.zero_point` Z, which is minus its offset";
constexpr std::string_view kNcnn = "np.save(OUT, np.array(mat)) writes what an extractor gives";
constexpr std::string_view kMnn = "np.save(OUT, tensor.getNumpyData()) writes what a session computes";
constexpr std::string_view kRknn = "np.save writes what rknn.inference(..) gives";

constexpr std::string_view kTrtexecLog =
    "a log of trtexec in text and not the outputs in JSON; trtexec --exportOutput=FILE writes a file "
    "that btftool reads";
constexpr std::string_view kTensorRtLog =
    "a log of TensorRT in text, which btftool does not read; trtexec --exportOutput=FILE writes a "
    "file that it does";

constexpr bool kHasNone = true;

// The first that fits counts.
// clang-format off
constexpr auto kKinds = std::to_array<OtherKind>({
    {"an HDF5 file",                        kHdf5,             0, "\x89HDF\r\n\x1a\n"sv},
    {"a PNG image",                         kArrays,           0, "\x89PNG\r\n\x1a\n"sv, {}, nullptr, kHasNone},
    {"a JPEG image",                        kArrays,           0, "\xff\xd8\xff"sv, {}, nullptr, kHasNone},
    {"a GIF image",                         kArrays,           0, "GIF8"sv, {}, nullptr, kHasNone},
    {"a TIFF image",                        kArrays,           0, "II*\0"sv, {}, nullptr, kHasNone},
    {"a TIFF image",                        kArrays,           0, "MM\0*"sv, {}, nullptr, kHasNone},
    {"a WebP image",                        kArrays,           8, "WEBP"sv, {}, nullptr, kHasNone},
    {"a BMP image",                         kArrays,           0, "BM"sv, ".bmp", nullptr, kHasNone},
    {"a sound",                             kArrays,           8, "WAVE"sv, {}, nullptr, kHasNone},
    {"a PDF document",                      "",                0, "%PDF-"sv, {}, nullptr, kHasNone},
    {"an ELF program or library",           "",                0, "\x7f" "ELF"sv, {}, nullptr, kHasNone},
    {"a compiled Python program",           "",                2, "\r\n"sv, ".pyc", nullptr, kHasNone},
    {"an SQLite database",                  "",                0, "SQLite format 3"sv, {}, nullptr, kHasNone},
    {"macOS's view of a folder",            "",                4, "Bud1"sv, {}, nullptr, kHasNone},
    {"a SentencePiece tokenizer",           "",                0, "\n\x0e\n\5<unk>"sv, {}, nullptr, kHasNone},
    {"a SentencePiece tokenizer",           "",                0, "\n\x0e\n\5<pad>"sv, {}, nullptr, kHasNone},
    {"a gzip file",                         kUnpack,           0, "\x1f\x8b"sv, {}, nullptr, kHasNone},
    {"an xz file",                          kUnpack,           0, "\xfd" "7zXZ\0"sv, {}, nullptr, kHasNone},
    {"a bzip2 file",                        kUnpack,           0, "BZh"sv, {}, nullptr, kHasNone},
    {"an lz4 file",                         kUnpack,           0, "\x04\x22\x4d\x18"sv, {}, nullptr, kHasNone},
    {"a 7z archive",                        kUnpack,           0, "7z\xbc\xaf\x27\x1c"sv, {}, nullptr, kHasNone},
    {"a RAR archive",                       kUnpack,           0, "Rar!\x1a\7"sv, {}, nullptr, kHasNone},
    {"a tar archive",                       kUnpack,         257, "ustar"sv, {}, nullptr, kHasNone},
    {"a TensorFlow Lite model",             kWeights,          4, "TFL3"sv},
    {"an ExecuTorch program",               kWeights,          4, "ET12"sv},
    {"an ETDump of ExecuTorch",             kEtdump,           4, "ED00"sv},
    {"a bundled program of ExecuTorch",     kEtdump,           4, "BP08"sv},
    {"a file of ExecuTorch's weights (.ptd)", kWeights,        4, "FT01"sv},
    {"a file of Core ML's weights (weight.bin)", kCoreMl,     64, "\xef\xbe\xad\xde"sv, {}, is_core_ml_weights},
    {"an ONNX Runtime model",               "convert it back to .onnx",   4, "ORTM"sv},
    {"a TensorRT plan",                     kTensorRt,         0, "ptrt"sv},
    {"a TensorRT plan",                     kTensorRt,         0, "ftrt"sv},
    {"a Parquet file",                      kArrays,           0, "PAR1"sv},
    {"an Arrow file",                       kArrays,           0, "ARROW1"sv},
    {"a MATLAB file",                       kMat,              0, "MATLAB 5.0"sv},
    {"a MATLAB 7.3 file (HDF5)",            kHdf5,             0, "MATLAB 7.3"sv},
    {"a MATLAB 4 file",                     kMat,              0, {}, {}, is_matlab_4},
    {"a NetCDF file",                       kNetCdf,           0, "CDF\1"sv},
    {"a NetCDF file",                       kNetCdf,           0, "CDF\2"sv},
    {"a GGML file from before GGUF",        kGgml,             0, "lmgg"sv},
    {"a GGML file from before GGUF",        kGgml,             0, "fmgg"sv},
    {"a GGML file from before GGUF",        kGgml,             0, "tjgg"sv},
    {"a file of MXNet's parameters",        kMxnet,            0, "\x12\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv},
    {"an IDX file, as MNIST comes in",      kIdx,              0, {}, {}, is_idx},
    {"a file of float32 vectors (.fvecs)",  kFvecs,            0, {}, ".fvecs", is_vectors_of_words},
    {"a file of int32 vectors (.ivecs)",    kIvecs,            0, {}, ".ivecs", is_vectors_of_words},
    {"a file of uint8 vectors (.bvecs)",    kBvecs,            0, {}, ".bvecs", is_vectors_of_bytes},
    {"a log of TensorBoard",                "",                0, {}, {}, is_tensorboard_log, kHasNone},
    {"a file of TensorFlow's records",      kRecords,          0, {}, {}, is_tfrecord},
    {"a TensorFlow tensor (TensorProto)",   kTensorProto,      0, {}, {}, is_tensorflow_tensor},
    {"a TensorFlow SavedModel",             kSavedModel,       0, {}, "saved_model.pb", is_saved_model},
    {"a TensorFlow graph (GraphDef)",       kGraphDef,         0, {}, ".pb", is_graph_def},
    {"a shard of a TensorFlow checkpoint",  kCheckpoint,       0, {}, {}, is_checkpoint_shard},
    {"the index of a TensorFlow checkpoint", kCheckpoint,       0, "\0\0"sv, ".index"},
    {"a file of Paddle's parameters",       kPaddleModel,      0, {}, {}, is_paddle_parameters},
    {"a file of Paddle's parameters",       kPaddleModel,      0, {}, ".pdiparams"},
    {"a Paddle model",                      kPaddleModel,      0, {}, ".pdmodel"},
    {"a Paddle state_dict",                 kPaddleState,      0, "\x80"sv, ".pdparams"},
    {"a Paddle state_dict",                 kPaddleState,      0, "\x80"sv, ".pdopt"},
    {"a file of flax's parameters",         kFlax,             0, "\x81\xa6params"sv},
    {"a MessagePack file, as flax writes",  kFlax,             0, {}, ".msgpack"},
    {"a MessagePack file, as flax writes",  kFlax,             0, {}, {}, is_flax_msgpack},
    {"an ncnn net",                         kNcnn,             0, "\xdd\x85\x76\0"sv},
    {"a file of ncnn's weights",            kWeights,          0, "\x47\x6b\x30\1"sv},
    {"a file of ncnn's weights",            kWeights,          0, "\x38\x4b\x0d\0"sv},
    {"a file of ncnn's weights",            kWeights,          0, "\x56\xc0\2\0"sv},
    {"an MNN model",                        kMnn,              0, {}, ".mnn"},
    {"an RKNN model",                       kRknn,             0, "RKNN"sv},
    {"an RKNN model",                       kRknn,             0, {}, ".rknn"},
    {"a TNN model",                         kWeights,          0, "\4\0\xbc\xfa"sv},
    {"a TNN model",                         kWeights,          0, "\2\0\xbc\xfa"sv},
    {"a TNN model",                         kWeights,          0, {}, ".tnnmodel"},
    {"a file of Darknet's weights",         kWeights,          0, {}, ".weights"},
    {"a Caffe model",                       kCaffe,            0, {}, ".caffemodel"},
    {"a joblib file",                       kJoblib,           0, {}, {}, is_joblib},
    {"a joblib file",                       kJoblib,           0, {}, ".joblib"},
    {"a PyTorch file from before 1.6", "torch.load and torch.save write it in today's form, safetensors.torch.save_file in one that it reads", 0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"sv},
    {"a Python pickle of NumPy arrays",     kPickledArrays,    0, {}, {}, is_pickle_of_numpy},
    {"a Python pickle",              kArrays,                                         0, "\x80\2"sv},
    {"a Python pickle",              kArrays,                                         0, "\x80\3"sv},
    {"a Python pickle",              kArrays,                                         0, "\x80\4"sv},
    {"a Python pickle",              kArrays,                                         0, "\x80\5"sv},
    {"a protocol buffer or text of another kind than ONNX's models and tensors", "",  0, {}, ".onnx"},
    {"a protocol buffer or text of another kind than ONNX's models and tensors", "",  0, {}, ".pb"},
    {"a Core ML model",              kCoreMl,                                        0, {}, ".mlmodel"},
});

// Logs begin with '[' too, as JSON does.
constexpr auto kTexts = std::to_array<TextKind>({
    {"&&&& RUNNING TensorRT",  kTrtexecLog},
    {"=== Model Options ===",  kTrtexecLog},
    {"[I] Output Tensors:",    kTrtexecLog},
    {"[I] RUNNING | Command",  "a log of Polygraphy in text, which btftool does not read; polygraphy run --save-outputs FILE writes a file that it does"},
    {"[TRT]",                  kTensorRtLog},
    {"7767517\n",              "an ncnn net in text (.param), which btftool does not read; np.save(OUT, np.array(mat)) writes what an extractor gives"},
    {" 4206624770 ",           "a TNN net in text (.tnnproto), which btftool does not read"},
    {" 4206624772 ",           "a TNN net in text (.tnnproto), which btftool does not read"},
    {"<net name=",             "an OpenVINO model in XML, which btftool does not read; its weights are in the .bin file beside it"},
});

// JSON that other tools write without tensors in it, by a word within its first bytes.
constexpr auto kJsonKinds = std::to_array<TextKind>({
    {"\"timeMs\"",           "a profile of layers (trtexec --exportProfile), which holds no tensors"},
    {"\"startEnqMs\"",       "a list of times (trtexec --exportTimes), which holds no tensors"},
    {"\"activation_encodings\"", kEncodings},
    {"\"param_encodings\"",    kEncodings},
    {"\"Layers\"",           "a list of layers (trtexec --exportLayerInfo), which holds no tensors"},
});
// clang-format on

}  // namespace

std::span<const OtherKind> other_kinds() { return kKinds; }
std::span<const TextKind> text_kinds() { return kTexts; }
std::span<const TextKind> json_kinds() { return kJsonKinds; }

}  // namespace btf
