#include <array>

#include "explain/explanations.h"

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

}  // namespace btftool
