#include "explain/explanations.h"

#include <array>

namespace btftool {
namespace {

constexpr std::string_view kCutOff =
    "copy or download the file again; if a BTF file is all there is, 'btftool repair IN OUT' saves "
    "the tensors that are whole";
constexpr std::string_view kDamaged =
    "if it was sound once, copy it again, or save the other tensors with 'btftool repair IN OUT'; "
    "else correct the program that wrote it";
constexpr std::string_view kWriter =
    "correct the program that wrote it; 'btftool repair IN OUT' keeps the other tensors";
constexpr std::string_view kCanonical =
    "nothing for btftool; 'btftool convert IN OUT' writes it in canonical form for stricter "
    "readers";
constexpr std::string_view kNames =
    "tensors are whole and have numbers: 'btftool convert IN OUT --names FILE' gives them names "
    "again, a line for each";
constexpr std::string_view kForTfrt =
    "'btftool convert --for tfrt' writes what TFRT reads, or says which option it takes";

// clang-format off
constexpr auto kBtfRows = std::to_array<Explanation>({
    {"file-too-short", "fewer than 8 bytes: not even the number of tensors is there",
     "an empty file, left behind by a program that ended early", kCutOff},
    {"offset-table-too-long", "the number of tensors needs a longer table of offsets than the file is",
     "a count of 1000000 in a file of 96 bytes: no BTF, or cut off", kDamaged},
    {"not-btf", "nothing in it looks like BTF, and it is no other format that is known",
     "raw bytes of a device buffer, a text, an image",
     "say what raw bytes hold: '--input-spec fp16:hwc8:1x3x224x224'"},
    {"record-offset-past-end", "a tensor begins so near the end, or behind it, that its header does not fit",
     "mixed.btf cut off at 2700 bytes, where tensor 3 begins at 2688", kCutOff},
    {"record-overlaps-header", "a tensor begins within the count or the table of offsets",
     "an offset of 0", kDamaged},
    {"records-overlap", "two tensors have bytes in common",
     "two equal offsets, or a dim in a header that is too large", kDamaged},
    {"rank-too-large", "the tensor has more than 255 dims", "a header of random bytes", kDamaged},
    {"dims-past-end", "the file ends within the dims of the tensor",
     "a header that says rank 4, and 16 bytes behind it", kCutOff},
    {"size-overflow", "the number of elements, or of bytes, does not fit 64 bits",
     "dims [4294967296, 4294967296, 2]", kDamaged},
    {"data-past-end", "the data of the tensor does not lie in the file",
     "dims that need 4000 bytes, and 16 left in the file", kCutOff},
    {"unknown-dtype", "no type has this code",
     "code 42; or the file is of a newer btftool",
     "take the btftool that wrote it; else correct the code: 'btftool types' lists them"},
    {"unknown-layout", "no layout has this code",
     "code 99; or the file is of a newer btftool",
     "take the btftool that wrote it; else correct the code: 'btftool types' lists them"},
    {"layout-rank", "the tensor has fewer dims than its layout needs",
     "kHWC8, which needs three, with dims [64, 64]", kWriter},
    {"layout-dtype", "the layout does not hold elements of this type",
     "int4 in kHWC8", kWriter},
    {"layout-channels", "kDLA_HWC4 holds 1, 3 or 4 channels, and the tensor has another number",
     "dims [1, 16, 8, 8] in kDLA_HWC4", "take kCHW16 or kCHW32 for more channels on a DLA"},
    {"coo-indices-past-end", "the indices of a sparse tensor do not lie in the file",
     "20 indices of rank 2 need 320 bytes, and 100 are left", kCutOff},
    {"coo-rank-mismatch", "indices of a sparse tensor have another number of columns than it has dims",
     "dims [64, 64], and indices of three columns", kWriter},
    {"coo-count-mismatch", "a sparse tensor has another number of values than of indices",
     "20 indices, 19 values", kWriter},
    {"coo-values-past-end", "the values of a sparse tensor do not lie in the file",
     "the file ends behind the indices", kCutOff},
    {"offset-not-aligned", "a tensor does not begin at a multiple of 8 bytes",
     "a record of 25 bytes, and the next directly behind it", kCanonical},
    {"offsets-not-ascending", "a tensor begins in front of one with a lower number",
     "tensor 0 at byte 128, tensor 1 at byte 24", kCanonical},
    {"gap-between-records", "bytes in front of the tensor belong to none",
     "64 zero bytes between two records; after damage also a dim that is too small", kCanonical},
    {"trailing-bytes", "bytes follow behind the last tensor",
     "a text that was appended to the file", kCanonical},
    {"reserved-not-zero", "a byte of a header that has no meaning yet is not zero",
     "memory that the writer did not clear", kCanonical},
    {"padding-not-zero", "a byte that fills up a record to a multiple of 8 is not zero",
     "memory that the writer did not clear", kCanonical},
    {"tensorrt-limits", "TensorRT, or a DLA, takes no tensor of this size in this layout",
     "C of 9000 in kDLA_LINEAR, where 8192 is the most; 9 dims in kCHW32",
     "nothing to read it here; for a device split the tensor, or take another layout"},
    {"names-count", "the table of names is of another number of tensors",
     "a tool that knows no names has added a tensor", kNames},
    {"names-size", "the sizes in the table of names contradict each other or the file",
     "a table that claims more bytes than there are", kNames},
    {"names-overlap", "a tensor reaches into the table of names",
     "a dim in the header of the last tensor that is too large", kDamaged},
    {"names-checksum", "the table of names has changed since it was written",
     "one byte of it is damaged", kNames},
    {"names-order", "the ends of names in their table do not ascend, or lie outside it",
     "name 1 ends in front of name 0", kNames},
    {"names-utf8", "a name is not UTF-8, or has a zero byte", "a name in Latin-1", kNames},
    {"names-attributes", "an attribute of a tensor or of the file breaks a rule of the format",
     "a scale that belongs to a tensor that is not there", kNames},
    {"names-version", "the table of names is of a newer version",
     "a file of a newer btftool", "take the btftool that wrote it; tensors have numbers meanwhile"},
    {"names-duplicate", "two tensors have one name", "two called 'conv1'",
     "select them by their numbers; '--names FILE' of 'btftool convert' names all anew"},
    {"names-padding", "bytes of the table of names that have no meaning yet are not zero",
     "memory that the writer did not clear", kCanonical},
    {"names-cut-off", "a table of names begins behind the last tensor, and does not end",
     "the last bytes of the file are missing", kCutOff},
    {"coo-index-out-of-range", "an index of a sparse tensor is not below its dim",
     "index [64, 0] in dims [64, 64]", kWriter},
    {"element-nan", "elements are NaN; looked for with --nan only",
     "0 divided by 0 in a normalisation",
     "'btftool layers' says in which layer of a network the first one arises"},
    {"element-inf", "elements are Inf; looked for with --nan only",
     "100000 written as float16, whose largest number is 65504",
     "'btftool convert --overflow saturate' clamps; 'btftool layers' says where the first one arises"},
    {"lane-padding-not-zero", "padding within the data of a layout with blocks is not zero",
     "kHWC8 of 3 channels: lanes 3 to 7 hold old numbers",
     "nothing for btftool; a kernel that sums over all lanes goes wrong: 'btftool convert IN OUT' clears them"},
    {"spare-nibble-not-zero", "of an odd number of 4-bit elements the last half byte is not zero",
     "dims [3] of int4 in two bytes", kCanonical},
    {"bool-byte", "the byte of a bool is neither 0 nor 1", "a mask with 255 for true",
     "it is read as true here; elsewhere 255 may not equal 1: correct the program that wrote it"},
    {"coo-duplicate-index", "an index of a sparse tensor occurs more than once",
     "gradients that were not added up",
     "'btftool convert --duplicates sum IN OUT', or first or last"},
    {"tfrt-dtype", "the TensorFlow runtime has no such type", "float16: its codes end at 9", kForTfrt},
    {"tfrt-layout", "the TensorFlow runtime has dense row-major and sparse tensors only",
     "kHWC8", "'btftool convert --layout kLINEAR --for tfrt IN OUT'"},
    {"tfrt-coo-code", "the TensorFlow runtime numbers COO 1, the published format 2",
     "any sparse tensor that follows the format", "'btftool convert --coo-code tfrt IN OUT'"},
    {"tfrt-offset", "the TensorFlow runtime reads records at multiples of 8 only",
     "a record at byte 57", "'btftool convert IN OUT' aligns all of them"},
    {"tfrt-format", "the TensorFlow runtime reads plain BTF only", "a .npy, or a .btf.zst", kForTfrt},
    {"seek-table", "the seek table of a compressed file contradicts itself or the file",
     "the file was cut off, or another is appended to it", kCutOff},
    {"zstd-frame", "a frame of a compressed file is damaged or cut off",
     "one byte of it has changed: its checksum tells", kCutOff},
    {"decompression-bomb", "what is compressed goes on long after the last tensor",
     "one tensor and gigabytes of zeros", "do not trust the file; ask where it comes from"},
});

// clang-format on

}  // namespace

std::span<const Explanation> btf_findings() { return kBtfRows; }

namespace {

// clang-format off
constexpr auto kCauseRows = std::to_array<Explanation>({
    {"shape", "the elements are the same in other dims", "[1, 8, 1] against [8]",
     "compare with '--squeeze', '--permute' or '--reshape actual', as the evidence says"},
    {"padded", "one side has the other, and beyond that one number throughout",
     "300 boxes of which 100 are in use, the others 0",
     "cut it off with the slice that the evidence names: 'btftool convert --slice ...'"},
    {"layout", "the bytes were read in the wrong layout, or channels-last data have channels-first dims",
     "a kHWC8 buffer labelled kLINEAR", "label it right: '--actual-spec fp16:hwc8:1x3x8x8', or '--permute'"},
    {"permutation", "the elements are those of golden with its dims in another order",
     "a transpose too few: [K, C] against [C, K]",
     "'btftool diff --permute P' compares in that order; correct the export, or 'btftool convert --permute P'"},
    {"byte-order", "the bytes of every element are reversed, or its halves are swapped",
     "0x3f800000 (1) read as 0x0000803f", "dump on the device in its order, or swap the bytes before they are read"},
    {"nibble-order", "the two 4-bit elements of a byte are swapped",
     "the byte 0x21 read as 2, 1 in place of 1, 2", "correct the packing: the first element is the low half"},
    {"dtype-misread", "bits of one dtype were read as another of the same width",
     "float16 bits labelled bfloat16", "correct the dtype in the dump or in its spec: the evidence has both"},
    {"inverted", "two values are swapped", "an attention mask with 1 where golden has 0", "invert the mask on one side"},
    {"sign", "actual is minus golden", "a subtraction the wrong way round", "look for a difference, or a negated weight"},
    {"index-base", "every index of a sparse tensor is one too high on one side",
     "indices counted from 1, as in MATLAB", "count from 0 where it is written"},
    {"shift", "every element is some positions further",
     "a base address that is one row too high", "correct the offset or pitch: the evidence has how far, and along what"},
    {"mirrored", "one or more dims are reversed", "an image flipped from left to right",
     "look for a flip in the preprocessing; '::-1' in 'btftool convert --slice' reverses a dim"},
    {"rotated", "two dims are rotated by 180 or 90 degrees", "a picture with the orientation of a camera",
     "look for a rotation in the preprocessing, or for a kernel that is convolved in place of correlated"},
    {"channels-reversed", "channels are in reverse order", "RGB against BGR", "exchange them in the preprocessing"},
    {"shuffled", "parts of a dim are in another order",
     "heads that were not transposed: [T, H, D] against [H, T, D]", "look for a reshape without its transpose"},
    {"interleaved", "pairs on one side, halves on the other",
     "rotary embeddings: a b a b against a a b b", "take the same convention on both sides, or permute the weights"},
    {"repeated", "one index of a dim is repeated at all of them",
     "a batch whose items are all the first", "look for a stride of 0, or a loop that reads one item"},
    {"pitch", "rows are further apart than they are long, and were read as if they were not",
     "rows of 30 elements at multiples of 32", "say the strides: '--actual-spec fp16:1x3x8x30:strides=768,256,32,1'"},
    {"scale", "actual is golden times a factor", "a picture in 0 to 255 against 0 to 1: 1/255",
     "look for a normalisation or a scale that is applied twice, or not at all; '--actual-scale' compares codes"},
    {"offset", "actual is golden plus a number", "codes with a zero point of 128, read without it",
     "look for a bias, or a zero point: '--actual-scale S,Z'"},
    {"activation", "a function was applied to one side only", "logits against probabilities: softmax",
     "compare in front of it on both sides, or behind it"},
    {"affine", "actual is golden times a factor plus a number", "a normalisation with mean and deviation on one side only",
     "look for the normalisation that has this factor and this number"},
    {"channel-scale", "a factor or an offset of its own at every index of one dim",
     "weights per channel that were dequantised with one scale", "give each channel its scale and zero point"},
    {"scale-axis", "factors stand along another dim than in golden",
     "a scale for each of 24 rows, applied to columns", "correct the axis of the scales"},
    {"zero-tail", "from some element to the end all is zero", "a copy of half a buffer",
     "copy all bytes: the evidence has where it ends"},
    {"saturation", "numbers beyond a limit are at the limit, or Inf", "65504 where golden has 80000: float16",
     "take a larger type or a smaller scale there; below 0 look for a ReLU that one side lacks"},
    {"wrapped", "integers beyond the range came round at its other end", "200 as int8 is -56",
     "clamp before the cast: 'btftool convert --overflow saturate'; or take a larger type"},
    {"rounding", "all that differs is what a coarser dtype loses", "0.1 in float16 is 0.09998",
     "nothing, if that dtype is wanted: compare with '--close', or '--close-as fp16'"},
    {"reordered", "the indices of one dim are in another order", "boxes sorted by score against boxes as found",
     "sort both sides alike; the evidence has the order"},
    {"stale-padding", "only padding differs, where golden is zero",
     "channels 3 to 7 of a tensor of 3 that was read as 8", "clear the padding, or compare without it by '--slice' of 'btftool convert'"},
    {"region", "all that differs is in one part of the tensor", "one dead channel; the last tile of a kernel",
     "look at what computes that part; 'btftool diff --heatmap' draws it"},
});

// clang-format on

}  // namespace

std::span<const Explanation> causes() { return kCauseRows; }

namespace {

// clang-format off
constexpr auto kReasonRows = std::to_array<Explanation>({
    {"overflow-output", "a layer gives numbers above half the type's largest, and what reads them cannot take Inf",
     "squares of numbers up to 450: 2.0e+05, where float16 ends at 65504",
     "keep the layer in float32: 'btftool fit --emit FORM FILE' writes the list; or take bfloat16, or make the numbers smaller before it"},
    {"overflow-input", "a layer reads numbers above half the type's largest, and Inf in their place would not do",
     "the mean of squares that are up to 2.0e+05", "keep it in float32 with the layer that gives them: both are in the list of '--emit'"},
    {"overflow-inside", "a sum on the way to the result is above half the type's largest, while inputs and result are not",
     "a ReduceMean of 4096 numbers of about 100: their sum is 4.1e+05",
     "keep the layer in float32; or make the numbers smaller before the sum in place of after it"},
    {"variance", "the variance in a normalisation is too far off: of squares that are rounded, or with an epsilon that is",
     "LayerNormalization of numbers that are much alike, so that their variance is as small as epsilon",
     "keep the normalisation in float32; or take an epsilon that the type can hold"},
    {"nonfinite", "rounded inputs give Inf or NaN: a divisor that becomes 0, an epsilon that is lost",
     "x / (y + 1e-12) where y is 0: float16 has nothing between 0 and 6.0e-08",
     "keep the layer in float32, and what gives the small number; or take an epsilon that the type can hold"},
    {"lost", "numbers vanish below the type's smallest, and the result or an output is too far off without them",
     "numbers of about 1e-9 that are multiplied by 1e9", "keep the layer in float32; bfloat16 has the range of float32; or make the numbers larger before it"},
    {"rounding", "rounding an input takes the result further off than is borne, as where numbers cancel",
     "the difference of 400.1 and 400 in bfloat16, where 400 and 402 are neighbours",
     "keep the layer in float32, and those that the list has with it; or subtract before the numbers become large"},
    {"feeds", "another layer cannot bear what this one rounds",
     "an Add whose result is subtracted from its mean", "keep it in float32 with the layer that is named: one of them alone does not help"},
});

constexpr auto kFitLayerStateRows = std::to_array<Explanation>({
    {"narrow", "nothing speaks against the type", "a MatMul whose inputs and results are within 100",
     "nothing; other inputs may have larger numbers: give several dumps"},
    {"wide", "the layer must stay in float32", "the squares of a root mean square in float16",
     "its findings have the reasons; 'btftool fit --emit FORM FILE' writes the list as another tool takes it"},
    {"unjudged", "whether the layer fits cannot be said: 'why' has what is in the way",
     "a tensor that was not dumped; an operator of another domain",
     "dump the tensor, or put the weights beside the model; else keep the layer in float32, or try it: 'btftool layers' tells"},
});

constexpr auto kTensorStateRows = std::to_array<Explanation>({
    {"held", "codes with the best scale hold the numbers", "int8 with a scale for numbers of one size: 40 dB",
     "nothing; the scale is in the report"},
    {"poor", "with the best scale the signal-to-noise ratio is below 20 dB, or more than half of the numbers become 0",
     "one channel with numbers up to 449, the others up to 2",
     "give channels a scale each if that gains much, as 'channels' says, or keep what reads the tensor wide"},
    {"nonfinite", "the tensor has NaN or Inf, which no code stands for", "-Inf in a mask",
     "take a large number in place of Inf, or keep what reads the tensor wide; the scale is of the other numbers"},
    {"nothing", "the tensor is empty or all zero, and takes any scale", "a bias of zeros", "nothing"},
});

// clang-format on

}  // namespace

std::span<const Explanation> fit_reasons() { return kReasonRows; }
std::span<const Explanation> fit_layer_states() { return kFitLayerStateRows; }
std::span<const Explanation> fit_tensor_states() { return kTensorStateRows; }

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

namespace {

// clang-format off
constexpr auto kVerdictRows = std::to_array<Explanation>({
    {"clean", "no layer has more error than its inputs and its dtype explain",
     "a float16 run with 0.05 % of error in every layer", "nothing; an error below the limit that is said would not be seen"},
    {"broke", "a layer has much more error than its inputs and its dtype explain",
     "inputs agree to 0.05 %, the output of one MatMul is off by 18 %",
     "look at that layer: 'why' names a cause, 'next' the command that shows more; '--graph MODEL' tells more surely"},
    {"inputs", "the inputs of the network differ already", "another picture, or another normalisation of it",
     "give both runs the same inputs: 'btftool diff' of them names the cause"},
    {"dump-wrong", "a tensor is dumped wrongly, and what is computed from it is right",
     "a buffer that was used again before it was written to the file",
     "copy the tensor right behind its layer, or mark it as an output; the computation needs no change"},
    {"drift", "no single layer broke, but the outputs are too far off",
     "int8 in 50 layers, each a little off", "keep the layers with the largest growth in a wider type; '--max-error' is the limit"},
    {"amplified", "an error grew where numbers cancel, by no more than that explains",
     "the difference of two numbers that are nearly equal", "compute that layer in a wider type, if the outputs matter"},
    {"missing", "what both sides have is right, but an output is on one side only, or with '--require-all' any tensor",
     "golden's 'output' is called 'out' by the device", "'--map FILE' says which names belong together, or dump what is missing"},
    {"cannot-tell", "no layer could be judged, or the order or the dtype is a guess that decides",
     "names without an order, or int8 products in float16 files",
     "say what is missing: '--graph MODEL' or '--order FILE', '--compute int8', '--map FILE'"},
});

// clang-format on

}  // namespace

std::span<const Explanation> verdicts() { return kVerdictRows; }

namespace {

// clang-format off
constexpr auto kWorkRows = std::to_array<Explanation>({
    {"tensor-count", "the number of tensors was wrong, and repair took that of the table of offsets",
     "a count of 5 in front of a table of 4", "nothing: OUT has the right number"},
    {"gap-behind-record", "bytes behind a saved tensor belong to none, so that its header may be damaged",
     "dims [8, 8] that were [8, 16] before a bit changed",
     "look at the tensor, or compare it with 'btftool diff'; '--strict' counts it as lost"},
    {"offset-wrong", "the offset of a tensor was wrong, and repair found it behind the one before it",
     "an offset of which a bit has changed", "nothing: the tensor was saved"},
    {"zero-points-unread", "codes have a record of zero points behind their scales, which was not asked for",
     "codes of '--scale auto --zero-point auto', and '--dequantize' alone",
     "'--dequantize --zero-point auto' takes them; '--zero-point 0' says that the record is something else"},
});

// clang-format on

}  // namespace

std::span<const Explanation> work_findings() { return kWorkRows; }

namespace {

// clang-format off
constexpr auto kFigureRows = std::to_array<Explanation>({
    {"rmse", "the root of the mean of the squared errors, over the pairs of finite numbers",
     "errors of 3 and 4 in two elements: 3.54", "'--rmse X' fails if it is larger"},
    {"cosine", "the cosine of the angle between both tensors as vectors: 1 is the same direction",
     "actual = 2 x golden has 1: a factor does not show", "'--cosine X' fails if it is smaller; '--snr X' notices a factor"},
    {"psnr", "the range of golden over the root mean squared error, in dB",
     "a range of 2 and an RMSE of 0.002: 60 dB", "'--psnr X' fails if it is smaller"},
    {"snr", "the strength of golden over that of the error, in dB: 20 dB more is a tenth of the error",
     "40 dB: the error is 1 % of the signal", "'--snr X' fails if it is smaller"},
    {"mae", "the mean of the absolute errors", "errors of 3 and -4 in two elements: 3.5", "'--mae X' fails if it is larger"},
    {"bias", "the mean of actual - golden: errors that go one way do not cancel in it",
     "truncation in place of rounding: minus half a step", "'--bias X' fails if its magnitude is larger"},
    {"max-abs", "the largest absolute error of any element", "one element of a million is off by 3: 3",
     "'--max-abs X' fails if it is larger; '--rtol' and '--atol' judge each element"},
});
constexpr auto kLayersStateRows = std::to_array<Explanation>({
    {"healthy", "its error is what its inputs and its dtype explain", "0.05 % behind inputs that are off by 0.04 %, in float16", "nothing"},
    {"root", "a fault arises here: its inputs do not explain its error", "inputs agree to 0.05 %, the output is off by 18 %",
     "look at this layer first; those after it inherit the error"},
    {"dump", "the dump is wrong and the computation right: layers that read the tensor agree",
     "a buffer that was used again before it was written", "dump it right after its layer; the computation needs no change"},
    {"unjudged", "nothing can be said of it, for the reason beside it", "its inputs are too far off, or golden is all zero",
     "fix what comes before it, or dump with golden's inputs: '--isolated'"},
    {"missing", "only golden has the tensor", "golden's 'output' is called 'out' by the device", "'--map FILE' says which names belong together"},
    {"unmeasured", "its elements were not read", "its codes have no scales, or it cannot be decoded", "the message beside it says what is missing"},
});
constexpr auto kTermRows = std::to_array<Explanation>({
    {"actual", "the side under test, the first operand", "what the device gave out", "'btftool diff ACTUAL GOLDEN'"},
    {"golden", "the reference, the second operand", "the same tensors from the framework", "'btftool diff ACTUAL GOLDEN'"},
    {"rtol", "the tolerance as a part of golden's magnitude: |actual - golden| <= atol + rtol * |golden|",
     "1e-3 allows 0.1 beside 100", "'--rtol X'; with '--atol X' for numbers near zero, '--close' takes both from the dtypes"},
    {"atol", "the tolerance that does not depend on golden: |actual - golden| <= atol + rtol * |golden|",
     "1e-6 allows 0.000001 beside any number", "'--atol X'"},
    {"ulp", "units in the last place: steps between neighbouring numbers of a dtype", "1 and 1.0009765625 are one step apart in float16",
     "'--ulp N' allows N steps of the coarser dtype"},
    {"nnz", "the number of stored elements of a sparse (COO) tensor", "5 of 12 elements are not zero: 5", "'btftool inspect FILE' shows it"},
    {"noise", "the error that a layer may have without a fault: what its inputs bring along, and what its dtype rounds",
     "inputs off by 0.05 % and float16: up to 0.2 %", "'--compute TYPE' says what the device computes in"},
    {"tier", "the rule by which two names were taken for names of one tensor", "'conv1' and 'module.conv1': prefix",
     "'--map FILE' says it yourself"},
});

// clang-format on

}  // namespace

std::span<const Topic> topics() {
  static const auto kTopics = std::to_array<Topic>(
      {{"finding", "validate", "findings in BTF, compressed or not", "docs/format.md",
        btf_findings()},
       {"finding", "validate", "findings in files of other formats", "docs/formats.md",
        format_findings()},
       {"finding", "repair and convert", "findings of repair and convert",
        "docs/repair.md and docs/convert.md", work_findings()},
       {"cause", "diff", "causes that diff names", "docs/hints.md", causes()},
       {"figure", "diff", "figures of a difference", "docs/diff.md", kFigureRows},
       {"verdict", "layers", "verdicts of layers", "docs/layers.md", verdicts()},
       {"layer-state", "layers", "states of layers", "docs/layers.md and docs/json.md",
        kLayersStateRows},
       {"reason", "fit", "reasons of fit for which a layer must stay wide", "docs/fit.md",
        fit_reasons()},
       {"state", "fit", "states of layers in fit", "docs/fit.md and docs/json.md",
        fit_layer_states()},
       {"state", "fit", "states of tensors that take a scale in fit",
        "docs/fit.md and docs/json.md", fit_tensor_states()}});
  return kTopics;
}

}  // namespace btftool
