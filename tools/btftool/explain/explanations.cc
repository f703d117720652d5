#include "explain/explanations.h"

#include <array>

namespace btftool {
namespace {

constexpr std::string_view kCutOff =
    "copy or download the file again; if there is no other copy, 'btftool repair IN OUT' saves the "
    "tensors of a BTF file that are intact";
constexpr std::string_view kDamaged =
    "if the file was intact once, copy it again, or save the other tensors with 'btftool repair IN "
    "OUT'; otherwise fix the program that wrote it";
constexpr std::string_view kWriter =
    "fix the program that wrote it; 'btftool repair IN OUT' keeps the other tensors";
constexpr std::string_view kCanonical =
    "nothing for btftool; for stricter readers 'btftool convert IN OUT' writes the file in "
    "canonical form";
constexpr std::string_view kNames =
    "the tensors are intact and can be selected by number; 'btftool convert IN OUT --names FILE' "
    "gives them names again, one a line";
constexpr std::string_view kForTfrt =
    "'btftool convert --for tfrt' writes what TFRT reads, or says which option is needed";

// clang-format off
constexpr auto kBtfRows = std::to_array<Explanation>({
    {"file-too-short", "the file has fewer than 8 bytes, not even the number of tensors",
     "an empty file, left by a program that ended early", kCutOff},
    {"offset-table-too-long", "the table of offsets for this number of tensors is longer than the file",
     "a count of 1000000 in a file of 96 bytes: it is not BTF, or cut off", kDamaged},
    {"not-btf", "the file does not look like BTF, nor like any other known format",
     "raw bytes of a device buffer, a text, an image",
     "for raw bytes, say what they hold: '--input-spec fp16:hwc8:1x3x224x224'"},
    {"record-offset-past-end", "a tensor begins after the end of the file, or too near to it for its header",
     "mixed.btf cut off at 2700 bytes, where tensor 3 begins at 2688", kCutOff},
    {"record-overlaps-header", "a tensor begins inside the count or the table of offsets",
     "an offset of 0", kDamaged},
    {"records-overlap", "two tensors have bytes in common",
     "two equal offsets, or a dim in a header that is too large", kDamaged},
    {"rank-too-large", "the tensor has more than 255 dims", "a header of random bytes", kDamaged},
    {"dims-past-end", "the file ends inside the dims of the tensor",
     "a header with rank 4, and only 16 bytes after it", kCutOff},
    {"size-overflow", "the number of elements or of bytes does not fit in 64 bits",
     "dims [4294967296, 4294967296, 2]", kDamaged},
    {"data-past-end", "the data of the tensor ends after the end of the file",
     "dims that need 4000 bytes, and 16 left in the file", kCutOff},
    {"unknown-dtype", "no dtype has this code",
     "code 42; or the file was written by a newer btftool",
     "use the btftool that wrote it; otherwise correct the code: 'btftool types' lists them"},
    {"unknown-layout", "no layout has this code",
     "code 99; or the file was written by a newer btftool",
     "use the btftool that wrote it; otherwise correct the code: 'btftool types' lists them"},
    {"layout-rank", "the tensor has fewer dims than its layout needs",
     "kHWC8, which needs three, with dims [64, 64]", kWriter},
    {"layout-dtype", "the layout cannot hold elements of this dtype",
     "int4 in kHWC8", kWriter},
    {"layout-channels", "kDLA_HWC4 holds 1, 3 or 4 channels, but the tensor has another number",
     "dims [1, 16, 8, 8] in kDLA_HWC4", "use kCHW16 or kCHW32 for more channels on a DLA"},
    {"coo-indices-past-end", "the indices of a sparse tensor end after the end of the file",
     "20 indices of rank 2 need 320 bytes, and 100 are left", kCutOff},
    {"coo-rank-mismatch", "the indices of a sparse tensor have more or fewer columns than it has dims",
     "dims [64, 64], and indices with three columns", kWriter},
    {"coo-count-mismatch", "a sparse tensor has more or fewer values than indices",
     "20 indices, 19 values", kWriter},
    {"coo-values-past-end", "the values of a sparse tensor end after the end of the file",
     "the file ends after the indices", kCutOff},
    {"offset-not-aligned", "a tensor does not begin at a multiple of 8 bytes",
     "a record of 25 bytes, and the next one directly after it", kCanonical},
    {"offsets-not-ascending", "a tensor begins before one with a lower number",
     "tensor 0 at byte 128, tensor 1 at byte 24", kCanonical},
    {"gap-between-records", "bytes before the tensor belong to no tensor",
     "64 zero bytes between two records; in a damaged file also a dim that is too small", kCanonical},
    {"trailing-bytes", "there are bytes after the last tensor",
     "a text that was appended to the file", kCanonical},
    {"reserved-not-zero", "a reserved byte of a header is not zero",
     "memory that the writer did not clear", kCanonical},
    {"padding-not-zero", "a byte that pads a record to a multiple of 8 is not zero",
     "memory that the writer did not clear", kCanonical},
    {"tensorrt-limits", "TensorRT or a DLA does not accept a tensor of this size in this layout",
     "C of 9000 in kDLA_LINEAR, where the maximum is 8192; 9 dims in kCHW32",
     "nothing to read it here; for a device, split the tensor or use another layout"},
    {"names-count", "the table of names is for another number of tensors",
     "a tool that does not know names has added a tensor", kNames},
    {"names-size", "the sizes in the table of names contradict each other or the file",
     "a table that claims more bytes than there are", kNames},
    {"names-overlap", "a tensor reaches into the table of names",
     "a dim in the header of the last tensor that is too large", kDamaged},
    {"names-checksum", "the table of names has changed since it was written",
     "one byte of it is damaged", kNames},
    {"names-order", "the ends of names in their table do not ascend, or are outside of it",
     "name 1 ends before name 0", kNames},
    {"names-utf8", "a name is not UTF-8, or has a zero byte", "a name in Latin-1", kNames},
    {"names-attributes", "an attribute of a tensor or of the file breaks a rule of the format",
     "a scale for a tensor that does not exist", kNames},
    {"names-version", "the table of names has a newer version",
     "a file of a newer btftool", "use the btftool that wrote it; here, select tensors by number"},
    {"names-duplicate", "two tensors have the same name", "two called 'conv1'",
     "select them by number; 'btftool convert IN OUT --names FILE' gives all tensors new names"},
    {"names-padding", "reserved bytes of the table of names are not zero",
     "memory that the writer did not clear", kCanonical},
    {"names-cut-off", "a table of names begins after the last tensor, but its end is missing",
     "the last bytes of the file are missing", kCutOff},
    {"coo-index-out-of-range", "an index of a sparse tensor is outside of its dim",
     "index [64, 0] in dims [64, 64]", kWriter},
    {"element-nan", "elements are NaN; only checked with --nan",
     "0 divided by 0 in a normalisation",
     "'btftool layers' finds the layer of a network in which the first one arises"},
    {"element-inf", "elements are Inf; only checked with --nan",
     "100000 written as float16, whose largest number is 65504",
     "'btftool convert --overflow saturate' clamps; 'btftool layers' finds the layer in which the first one arises"},
    {"lane-padding-not-zero", "padding inside the data of a layout with blocks is not zero",
     "kHWC8 with 3 channels: lanes 3 to 7 hold old numbers",
     "nothing for btftool; a kernel that sums over all lanes computes wrong results: 'btftool convert IN OUT' clears them"},
    {"spare-nibble-not-zero", "an odd number of 4-bit elements leaves half a byte, which is not zero",
     "dims [3] of int4 in two bytes", kCanonical},
    {"bool-byte", "the byte of a bool is neither 0 nor 1", "a mask with 255 for true",
     "it is read as true here, but other programs may treat 255 and 1 as different: fix the program that wrote it"},
    {"coo-duplicate-index", "an index of a sparse tensor occurs more than once",
     "gradients that were not summed",
     "'btftool convert --duplicates sum IN OUT'; first and last keep one of the values"},
    {"tfrt-dtype", "the TensorFlow runtime does not have this dtype", "float16: its codes end at 9", kForTfrt},
    {"tfrt-layout", "the TensorFlow runtime only has dense row-major and sparse tensors",
     "kHWC8", "'btftool convert --layout kLINEAR --for tfrt IN OUT'"},
    {"tfrt-coo-code", "the layout code of COO is 1 in the TensorFlow runtime, but 2 in the specification",
     "any sparse tensor that follows the specification", "'btftool convert --coo-code tfrt IN OUT'"},
    {"tfrt-offset", "the TensorFlow runtime only reads records at multiples of 8 bytes",
     "a record at byte 57", "'btftool convert IN OUT' aligns all of them"},
    {"tfrt-format", "the TensorFlow runtime only reads plain BTF", "a .npy, or a .btf.zst", kForTfrt},
    {"seek-table", "the seek table of a compressed file contradicts itself or the file",
     "the file was cut off, or another one was appended to it", kCutOff},
    {"zstd-frame", "a frame of a compressed file is damaged or cut off",
     "one byte has changed, so the checksum is wrong", kCutOff},
    {"decompression-bomb", "the compressed data continues long after the last tensor",
     "one tensor and gigabytes of zeros", "do not trust the file; ask where it comes from"},
});

// clang-format on

}  // namespace

std::span<const Explanation> btf_findings() { return kBtfRows; }

namespace {

// clang-format off
constexpr auto kCauseRows = std::to_array<Explanation>({
    {"shape", "the elements are the same, but the dims differ", "[1, 8, 1] against [8]",
     "compare with '--squeeze', '--permute' or '--reshape actual', as the evidence says"},
    {"padded", "one side contains the other, and all its further elements have the same value",
     "300 boxes of which 100 are used and the others are 0",
     "cut the padding off with the slice in the evidence: 'btftool convert --slice ...'"},
    {"layout", "the bytes were read in the wrong layout, or channels-last data has channels-first dims",
     "a kHWC8 buffer labelled kLINEAR", "correct the layout: '--actual-spec fp16:hwc8:1x3x8x8', or '--permute'"},
    {"permutation", "the elements are those of golden with its dims in another order",
     "a missing transpose: [K, C] against [C, K]",
     "'btftool diff --permute P' compares in that order; fix the export, or use 'btftool convert --permute P'"},
    {"byte-order", "the bytes of every element are reversed, or its halves are swapped",
     "0x3f800000 (1) read as 0x0000803f", "dump in the byte order of the reader, or swap the bytes before they are read"},
    {"nibble-order", "the two 4-bit elements of a byte are swapped",
     "the byte 0x21 read as 2, 1 instead of 1, 2", "correct the packing: the first element is the low half"},
    {"dtype-misread", "the bits of one dtype were read as another dtype of the same width",
     "float16 bits labelled bfloat16", "correct the dtype in the dump or in its spec; the evidence has both dtypes"},
    {"inverted", "two values are swapped", "an attention mask with 1 where golden has 0", "invert the mask on one side"},
    {"sign", "actual is minus golden", "a subtraction with its operands swapped", "look for a subtraction, or a negated weight"},
    {"index-base", "every index of a sparse tensor is one too high on one side",
     "indices counted from 1, as in MATLAB", "count from 0 where the indices are written"},
    {"shift", "every element is moved by the same number of positions",
     "a base address that is one row too high", "correct the offset or pitch; the evidence has the distance and the dim"},
    {"mirrored", "one or more dims are reversed", "an image flipped from left to right",
     "look for a flip in the preprocessing; '::-1' in 'btftool convert --slice' reverses a dim"},
    {"rotated", "two dims are rotated by 180 or 90 degrees", "a picture with the orientation of the camera",
     "look for a rotation in the preprocessing, or for a convolution that should be a correlation"},
    {"channels-reversed", "the channels are in reverse order", "RGB against BGR", "swap them in the preprocessing"},
    {"shuffled", "blocks of a dim are in another order",
     "heads that were not transposed: [T, H, D] against [H, T, D]", "look for a reshape that needs a transpose"},
    {"interleaved", "values alternate on one side and are in two halves on the other",
     "rotary embeddings: a b a b against a a b b", "use the same convention on both sides, or permute the weights"},
    {"repeated", "all indices of a dim have the elements of one of them",
     "a batch in which every item is the first one", "look for a stride of 0, or for a loop that reads the same item"},
    {"pitch", "rows have a pitch larger than their length, but were read without it",
     "rows of 30 elements at multiples of 32", "give the strides: '--actual-spec fp16:1x3x8x30:strides=768,256,32,1'"},
    {"scale", "actual is golden times a factor", "a picture in 0 to 255 against 0 to 1: 1/255",
     "look for a normalisation or a scale that is applied twice or not at all; '--actual-scale' compares codes"},
    {"offset", "actual is golden plus a constant", "codes with a zero point of 128, read without it",
     "look for a bias or a zero point: '--actual-scale S,Z'"},
    {"activation", "a function was applied on one side only", "logits against probabilities: softmax",
     "compare both sides before the function, or both after it"},
    {"affine", "actual is golden times a factor plus a constant", "a normalisation by mean and deviation on one side only",
     "look for the normalisation that has this factor and this constant"},
    {"channel-scale", "every index of one dim has a factor or an offset of its own",
     "weights per channel that were dequantised with one scale", "give each channel its scale and zero point"},
    {"scale-axis", "the factors are along another dim than in golden",
     "a scale for each of 24 rows, applied to columns", "correct the axis of the scales"},
    {"zero-tail", "all elements from some position to the end are zero", "a copy of half a buffer",
     "copy all bytes; the evidence has the position"},
    {"saturation", "values beyond a limit are at the limit, or Inf", "65504 where golden has 80000: float16",
     "use a larger dtype or a smaller scale there; if the limit is 0, look for a ReLU that one side lacks"},
    {"wrapped", "integers out of range have wrapped around", "200 as int8 is -56",
     "clamp before the cast: 'btftool convert --overflow saturate'; or use a larger dtype"},
    {"rounding", "the differences are no larger than the rounding of a coarser dtype", "0.1 in float16 is 0.09998",
     "nothing, if that dtype is intended: compare with '--close' or '--close-as fp16'"},
    {"reordered", "the indices of one dim are in another order", "boxes sorted by score against boxes as found",
     "sort both sides in the same way; the evidence has the order"},
    {"stale-padding", "only padding differs, which is zero in golden",
     "channels 3 to 7 of a tensor with 3 channels that was read with 8", "clear the padding, or cut it off by 'btftool convert --slice'"},
    {"region", "all differences are in one part of the tensor", "one dead channel; the last tile of a kernel",
     "look at what computes that part; 'btftool diff --heatmap' draws it"},
});

// clang-format on

}  // namespace

std::span<const Explanation> causes() { return kCauseRows; }

namespace {

// clang-format off
constexpr auto kReasonRows = std::to_array<Explanation>({
    {"overflow-output", "a layer computes numbers above half of the dtype's largest, and the layers that read them cannot take Inf",
     "squares of numbers up to 450: 2.0e+05, where float16 ends at 65504",
     "keep the layer in float32: 'btftool fit --emit FORM FILE' writes the list; or use bfloat16, or make the numbers smaller before it"},
    {"overflow-input", "a layer reads numbers above half of the dtype's largest, and cannot take Inf instead",
     "the mean of squares that are up to 2.0e+05", "keep it in float32 together with the layer that computes them: both are in the list of '--emit'"},
    {"overflow-inside", "an intermediate sum is above half of the dtype's largest number, although inputs and result are not",
     "a ReduceMean of 4096 numbers of about 100: their sum is 4.1e+05",
     "keep the layer in float32; or scale the numbers down before the sum instead of after it"},
    {"variance", "the variance in a normalisation is too inaccurate: the squares or the epsilon are rounded",
     "LayerNormalization of numbers that are nearly equal, so that their variance is as small as epsilon",
     "keep the normalisation in float32; or use an epsilon that the dtype can hold"},
    {"nonfinite", "rounded inputs lead to Inf or NaN: a divisor becomes 0, or an epsilon is lost",
     "x / (y + 1e-12) where y is 0: float16 has no numbers between 0 and 6.0e-08",
     "keep the layer in float32, and the one that computes the small number; or use an epsilon that the dtype can hold"},
    {"lost", "numbers are below the dtype's smallest and become 0, which makes the result or an output too inaccurate",
     "numbers of about 1e-9 that are multiplied by 1e9", "keep the layer in float32; or use bfloat16, which has the range of float32; or scale the numbers up before it"},
    {"rounding", "rounding an input makes the result more inaccurate than is accepted, for example if numbers cancel",
     "the difference of 400.1 and 400 in bfloat16, where 400 and 402 are neighbours",
     "keep the layer in float32, and those that the list has with it; or subtract before the numbers become large"},
    {"feeds", "another layer is too sensitive to the rounding of this layer's result",
     "an Add whose result is subtracted from its mean", "keep both this layer and the one that is named in float32: one of them alone does not help"},
});

constexpr auto kFitLayerStateRows = std::to_array<Explanation>({
    {"narrow", "the layer can run in the smaller dtype", "a MatMul whose inputs and results are within 100",
     "nothing; other inputs may have larger numbers: give several dumps"},
    {"wide", "the layer must stay in float32", "the squares of a root mean square in float16",
     "see the reasons in its findings; 'btftool fit --emit FORM FILE' writes the list for another tool"},
    {"unjudged", "the layer could not be judged; 'why' has the reason",
     "a tensor that was not dumped; an operator of another domain",
     "dump the tensor, or put the weights next to the model; otherwise keep the layer in float32, or try it and check with 'btftool layers'"},
});

constexpr auto kTensorStateRows = std::to_array<Explanation>({
    {"held", "with the best scale, the codes represent the values well", "int8 with a scale for values of similar size: 40 dB",
     "nothing; the scale is in the report"},
    {"poor", "even with the best scale, the signal-to-noise ratio is below 20 dB, or more than half of the values become 0",
     "one channel with values up to 449, the others up to 2",
     "use a scale for each channel if 'channels' shows that it helps, or keep the layers that read the tensor in float32"},
    {"nonfinite", "the tensor has NaN or Inf, which no code can represent", "-Inf in a mask",
     "use a large number instead of Inf, or keep the layers that read the tensor in float32; the scale is that of the other values"},
    {"nothing", "the tensor is empty or all zero, so any scale will do", "a bias of zeros", "nothing"},
});

// clang-format on

}  // namespace

std::span<const Explanation> fit_reasons() { return kReasonRows; }
std::span<const Explanation> fit_layer_states() { return kFitLayerStateRows; }
std::span<const Explanation> fit_tensor_states() { return kTensorStateRows; }

namespace {

constexpr std::string_view kFetch = "copy or download the file again";
constexpr std::string_view kSaveAgain =
    "copy or download the file again; if that does not help, save it again with the program that "
    "wrote it";
constexpr std::string_view kProgram = "fix the program that wrote it";

// clang-format off
constexpr auto kFormatRows = std::to_array<Explanation>({
    {"npy-header", "the header of a .npy is damaged",
     "a dict without 'shape'", kSaveAgain},
    {"npy-version", "a .npy has an unknown version", "version 4.0", "save it again with a current NumPy"},
    {"npy-shape", "the shape in a .npy is not valid", "'shape': (-1, 3)", kProgram},
    {"bytes-after-data", "the file has bytes after the last tensor",
     "two files that were joined, or a .npy that was written over a longer one",
     "write it again; the bytes are not read, as the header does not describe them"},
    {"nibble-byte", "4-bit codes are stored one to a byte, but the other half of a byte is not zero",
     "two codes packed into a byte, 0x21, labelled int4",
     "label them uint8 with half as many elements, or unpack them first"},
    {"foreign-dtype", "the tensor has a type without a corresponding dtype; other tensors can be used",
     "complex64; a text in a .npz; Q4_K blocks of GGUF",
     "'--dequantize' converts blocks to float32; convert others with the program that wrote them"},
    {"safetensors-header", "the JSON header is damaged or incomplete",
     "a tensor without 'data_offsets'", kSaveAgain},
    {"safetensors-offsets", "two tensors share bytes, or bytes between them belong to no tensor",
     "[0, 16] and [8, 24]", kProgram},
    {"safetensors-size", "the size by dtype and shape is not that of the offsets",
     "F32 of [4] with data_offsets [0, 8]", kProgram},
    {"safetensors-index", "the index of a model in several files is damaged, or names files in other directories",
     "'../other.safetensors' as a file", "download the index again"},
    {"index-tensor-missing", "the index lists a tensor that is not in its file",
     "files of two versions of a model in one folder", "download the index and the files again, from one place"},
    {"index-tensor-more", "a file has a tensor that the index does not list",
     "files of two versions of a model in one folder", "download the index and the files again, from one place"},
    {"tvm-header", "parameters of TVM are damaged, or are for a device that is not the CPU",
     "a dim below 0", kSaveAgain},
    {"tvm-names", "two parameters of TVM have the same name", "two called 'p0'", kProgram},
    {"tvm-size", "the size of a parameter of TVM does not match its dims and dtype",
     "4 bytes for two float32", kSaveAgain},
    {"gguf-header", "the keys or tensors of a GGUF file are damaged, or have values that ggml refuses",
     "an alignment of 3", kSaveAgain},
    {"gguf-names", "two tensors or keys of a GGUF file have the same name, or a name is too long",
     "a name of 64 bytes, where ggml accepts 63", kProgram},
    {"gguf-offsets", "a tensor of a GGUF file does not begin where the previous one ends",
     "two tensors that share bytes", kSaveAgain},
    {"gguf-split", "a part of a GGUF model has another number than its name says",
     "x-00001-of-00003.gguf with split.no 1: the file was renamed",
     "give the parts their original names again"},
    {"manifest", "a manifest is incomplete or has unknown members",
     "a member 'sepc' instead of 'spec'", "the message has the place; 'btftool inspect --manifest' writes a manifest"},
    {"trtexec-summary", "trtexec's tensor_summary.json is damaged", "an entry that is not an object", kSaveAgain},
    {"trtexec-summary-cut-off", "trtexec's tensor_summary.json is cut off",
     "the program was aborted while it dumped",
     "the tensors that are there are used; let the program finish to get the others"},
    {"msprobe-dump", "msprobe's dump.json is damaged", "a shape that is a number", kSaveAgain},
    {"msprobe-dump-cut-off", "msprobe's dump.json is cut off",
     "the program was aborted while it dumped",
     "the tensors that are there are used; let the program finish to get the others"},
    {"engine-list", "the layer list of a TensorRT engine is damaged, or the file is not one",
     "JSON that is cut off",
     "use the JSON of 'trtexec --exportLayerInfo'"},
    {"trtexec-outputs", "an output of trtexec has more or fewer values than its dims need",
     "dimensions 1x3 and two values", "run trtexec again, or use a dump of raw bytes"},
    {"trtexec-value", "a value of trtexec's output is not of its dtype",
     "a character instead of an int8: trtexec up to 8.4 wrote these",
     "use a newer trtexec, or a dump of raw bytes"},
    {"polygraphy-json", "JSON of Polygraphy is damaged", "base64 that is cut off", kSaveAgain},
    {"torch-pickle", "the pickle in a PyTorch file is damaged, or has operations that tensors do not need",
     "a call of another function, in a malicious file",
     "save a state_dict() again; do not load the file with PyTorch unless you trust it"},
    {"torch-storage", "the bytes of a PyTorch tensor are missing, or too few",
     "a member data/3 that is not in the archive", kSaveAgain},
    {"torch-unlisted", "a PyTorch file has data that belongs to none of the listed tensors",
     "a tensor inside an object of an unknown class",
     "save a state_dict() with it; '--tensor' selects among the listed tensors"},
    {"zip-directory", "the directory at the end of a .npz or .pt is missing, or contradicts the file",
     "an interrupted download", kFetch},
    {"zip-name", "two members of an archive have the same name, or one has two names",
     "'x.npy' twice: NumPy would return the last one", "write the archive again, with one of them"},
    {"zip-overlap", "members of an archive share bytes", "a malicious archive", kProgram},
    {"zip-member", "a member of an archive is not where it should be, or cannot be inflated",
     "deflated data with a changed byte", kSaveAgain},
    {"zip-crc", "the checksum of a member does not match: its content has changed",
     "one wrong bit on a disk or in a transfer", kFetch},
    {"npz-skipped", "members of a .npz are not arrays", "a README in the archive",
     "nothing: the arrays are read"},
    {"protobuf", "an ONNX file is damaged, or is not a protocol buffer",
     "an interrupted download", kFetch},
    {"onnx-tensor", "a tensor of ONNX contradicts itself", "dims [4], and three values in float_data", kProgram},
    {"onnx-external", "external data of an ONNX model is in a file that is missing, too short, or in another directory",
     "model.onnx was copied without model.onnx.data", "put the data file next to the model"},
    {"onnx-names", "initializers of ONNX have no name, or the same name", "two called 'weight'", kProgram},
    {"onnx-graph", "an ONNX file has no graph, or one that is nested too deep", "a malicious model", kProgram},
    {"onnx-unknown-key", "external data of ONNX has an unknown key",
     "'lenght' for 'length'", "correct it; it is ignored now"},
    {"raw-size", "the size of a raw file is not that of its spec",
     "fp16:1x3x5x7 in kLINEAR takes 210 bytes, the file has 560",
     "the message names specs that fit, often a layout with padding: 'fp16:hwc8:1x3x5x7'"},
    {"text-count", "a text file has more or fewer numbers than the spec has elements",
     "text:fp32:2x3 for a file with five numbers", "correct the dims in the spec"},
    {"text-value", "a word in a text file is not a number, or does not fit the dtype",
     "'nan?' in line 3; 300 as uint8", "correct the dtype in the spec, or the line"},
});

// clang-format on

}  // namespace

std::span<const Explanation> format_findings() { return kFormatRows; }

namespace {

// clang-format off
constexpr auto kVerdictRows = std::to_array<Explanation>({
    {"clean", "no layer has a larger error than its inputs and its dtype explain",
     "a float16 run with an error of 0.05 % in every layer", "nothing; errors below the printed limit cannot be detected"},
    {"broke", "a layer has a much larger error than its inputs and its dtype explain",
     "inputs agree to 0.05 %, but the output of one MatMul is off by 18 %",
     "look at that layer: 'why' has a cause, 'next' the command that shows more; with '--graph MODEL' the verdict is more reliable"},
    {"inputs", "the inputs of the network already differ", "another picture, or a different normalisation",
     "give both runs the same inputs; 'btftool diff' on them finds the cause"},
    {"dump-wrong", "the dump of a tensor is wrong, but the layers that read it computed with the right values",
     "a buffer that was reused before it was written to the file",
     "copy the tensor right after its layer, or mark it as an output; the computation needs no change"},
    {"drift", "no single layer broke, but the errors of the outputs are too large",
     "int8 in 50 layers, each with a small error", "keep the layers with the largest growth in a larger dtype; '--max-error' sets the limit"},
    {"amplified", "an error grew because values cancel, and no more than that explains",
     "the difference of two nearly equal numbers", "compute that layer in a larger dtype, if the outputs matter"},
    {"missing", "the tensors on both sides are right, but an output (with '--require-all', any tensor) is on one side only",
     "the device calls golden's 'output' 'out'", "give the names that belong together by '--map FILE', or dump what is missing"},
    {"cannot-tell", "no layer could be judged, or the verdict depends on a guessed order or dtype",
     "names without an order, or int8 products in float16 files",
     "add what is missing: '--graph MODEL' or '--order FILE', '--compute int8', '--map FILE'"},
});

// clang-format on

}  // namespace

std::span<const Explanation> verdicts() { return kVerdictRows; }

namespace {

// clang-format off
constexpr auto kWorkRows = std::to_array<Explanation>({
    {"tensor-count", "the number of tensors was wrong, so repair used the length of the table of offsets",
     "a count of 5 before a table with 4 offsets", "nothing: OUT has the right number"},
    {"gap-behind-record", "bytes after a saved tensor belong to no tensor, so its header may be damaged",
     "dims [8, 8] that were [8, 16] before a bit changed",
     "look at the tensor, or compare it by 'btftool diff'; with '--strict' it is lost"},
    {"offset-wrong", "the offset of a tensor was wrong, but repair found the tensor after the previous one",
     "an offset in which a bit has changed", "nothing: the tensor was saved"},
    {"zero-points-unread", "the scales are followed by a record of zero points, which the options do not use",
     "codes of '--scale auto --zero-point auto', read with '--dequantize' alone",
     "'--dequantize --zero-point auto' uses them; '--zero-point 0' means that the record is something else"},
});

// clang-format on

}  // namespace

std::span<const Explanation> work_findings() { return kWorkRows; }

namespace {

// clang-format off
constexpr auto kFigureRows = std::to_array<Explanation>({
    {"rmse", "the root mean squared error, over the elements that are finite on both sides",
     "errors of 3 and 4 in two elements: 3.54", "'--rmse X' fails if it is larger"},
    {"cosine", "the cosine of the angle between both tensors as vectors: 1 means the same direction",
     "actual = 2 x golden has 1: the cosine does not notice a factor", "'--cosine X' fails if it is smaller; '--snr X' notices a factor"},
    {"psnr", "the peak signal-to-noise ratio: the range of golden divided by the root mean squared error, in dB",
     "a range of 2 and an RMSE of 0.002: 60 dB", "'--psnr X' fails if it is smaller"},
    {"snr", "the signal-to-noise ratio: the strength of golden divided by that of the error, in dB; 20 dB more is a tenth of the error",
     "40 dB: the error is 1 % of the signal", "'--snr X' fails if it is smaller"},
    {"mae", "the mean of the absolute errors", "errors of 3 and -4 in two elements: 3.5", "'--mae X' fails if it is larger"},
    {"bias", "the mean of actual - golden, which is not 0 if most errors have the same sign",
     "truncation instead of rounding: minus half a step", "'--bias X' fails if its magnitude is larger"},
    {"max-abs", "the largest absolute error of any element", "one element of a million is off by 3: 3",
     "'--max-abs X' fails if it is larger; '--rtol' and '--atol' judge each element"},
});
constexpr auto kLayersStateRows = std::to_array<Explanation>({
    {"healthy", "the error is no larger than its inputs and its dtype explain", "0.05 % after inputs that are off by 0.04 %, in float16", "nothing"},
    {"root", "a fault arises here: the inputs do not explain the error", "inputs agree to 0.05 %, but the output is off by 18 %",
     "look at this layer first; those after it inherit the error"},
    {"dump", "the dump is wrong, but the computation is right: the layers that read the tensor agree",
     "a buffer that was reused before it was written", "dump it right after its layer; the computation needs no change"},
    {"unjudged", "the layer could not be judged; the reason is next to it", "its inputs are too inaccurate, or golden is all zero",
     "fix what comes before it, or run each layer with the inputs of golden: '--isolated'"},
    {"missing", "only golden has the tensor", "the device calls golden's 'output' 'out'", "give the names that belong together by '--map FILE'"},
    {"unmeasured", "the elements were not read", "codes without scales, or a tensor that cannot be decoded", "see the message next to it"},
});
constexpr auto kTermRows = std::to_array<Explanation>({
    {"actual", "the side under test, the first operand", "what the device computed", "'btftool diff ACTUAL GOLDEN'"},
    {"golden", "the reference, the second operand", "the same tensors from the framework", "'btftool diff ACTUAL GOLDEN'"},
    {"rtol", "the relative tolerance, a fraction of golden's magnitude: |actual - golden| <= atol + rtol * |golden|",
     "1e-3 accepts an error of 0.1 where golden is 100", "'--rtol X', with '--atol X' for numbers near zero; '--close' derives both from the dtypes"},
    {"atol", "the absolute tolerance, which does not depend on golden: |actual - golden| <= atol + rtol * |golden|",
     "1e-6 accepts an error of 0.000001 anywhere", "'--atol X'"},
    {"ulp", "units in the last place: steps between neighbouring numbers of a dtype", "1 and 1.0009765625 are one step apart in float16",
     "'--ulp N' allows N steps of the coarser dtype"},
    {"nnz", "the number of stored elements of a sparse (COO) tensor", "5 of 12 elements are not zero: 5", "'btftool inspect FILE' prints it"},
    {"noise", "the error that a layer may have without a fault: that of its inputs, and the rounding of its dtype",
     "inputs off by 0.05 % and float16: up to 0.2 %", "'--compute TYPE' gives the dtype in which the device computes"},
    {"tier", "the rule by which two names were recognised as the same tensor", "'conv1' and 'module.conv1': prefix",
     "to pair names yourself, use '--map FILE'"},
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
       {"cause", "diff", "causes of a difference that diff finds", "docs/hints.md", causes()},
       {"figure", "diff", "figures of a difference", "docs/diff.md", kFigureRows},
       {"term", "reports", "terms of reports", "docs/diff.md and docs/layers.md and docs/glossary.md", kTermRows},
       {"verdict", "layers", "verdicts of layers", "docs/layers.md", verdicts()},
       {"layer-state", "layers", "states of layers", "docs/layers.md and docs/json.md",
        kLayersStateRows},
       {"reason", "fit", "reasons why a layer must stay in float32", "docs/fit.md", fit_reasons()},
       {"state", "fit", "states of layers in fit", "docs/fit.md and docs/json.md",
        fit_layer_states()},
       {"state", "fit", "states of tensors with a scale in fit", "docs/fit.md and docs/json.md",
        fit_tensor_states()}});
  return kTopics;
}

}  // namespace btftool
