// GGUF: types of ggml, the header with its metadata, and the reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "btf/validate.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"

namespace btf {

// The types of ggml: plain numbers, and blocks of codes with their scales.

// Decodes all numbers of one block.
using DecodeBlock = void (*)(const std::byte* block, float* numbers);

struct GgmlType {
  std::uint32_t code = 0;
  std::string_view name;
  std::uint32_t elements = 1;  // number in a block
  std::uint32_t bytes = 0;
  std::optional<DType> dtype{};  // for blocks of one element
  DecodeBlock decode = nullptr;
  // True if no field of a block is larger than a byte, so that blocks are the same in big-endian
  // files. Some writers byte-swap the scales of other types and some do not.
  bool any_endian = false;
};

// nullptr if there is no such type, or no longer.
const GgmlType* find_ggml_type(std::uint32_t code);

// Represents all types that find_ggml_type() does not know. The size of their tensors is unknown.
inline constexpr GgmlType kUnknownGgmlType{};

inline constexpr std::size_t kMaxBlockElements = 256;

// The header of a GGUF file: keys with values, and the type, dims and offset of each tensor.
//
//   FILE   = "GGUF", u32 version, u64 tensors, u64 keys, KEYS, INFOS, padding, data
//   KEY    = string, u32 type, value        string = u64 length, bytes
//   array  = u32 type, u64 count, values
//   INFO   = string, u32 ndim, u64 dims[ndim] innermost first, u32 type, u64 offset in the data

inline constexpr std::string_view kGgufMagic = "GGUF";

// Models have a few thousand tensors, some dozens of keys and some megabytes of strings.
inline constexpr std::uint64_t kMaxGgufTensors = 1U << 20;
inline constexpr std::uint64_t kMaxGgufKeys = 1U << 16;
inline constexpr std::uint64_t kLongestGgufKey = 65535;
inline constexpr std::uint64_t kLongestGgufName = 65535;
inline constexpr std::uint64_t kDeepestGgufList = 16;

// The limits of ggml. Files beyond them are read with a warning.
inline constexpr std::uint64_t kLongestGgmlName = 63;  // of 64 bytes, the last of which is 0
inline constexpr std::uint64_t kMaxGgmlDims = 4;
inline constexpr std::uint64_t kLongestGgufHeader = 1U << 28;

struct GgufHeader {
  bool big_endian = false;
  bool end_known = true;             // the size of the last tensor is known
  std::uint64_t keys = 0;            // number of keys, which start at byte kGgufKeysAt
  std::vector<std::uint64_t> infos;  // offset of each tensor's description
  std::uint64_t data_offset = 0;
  std::uint64_t data_end = 0;  // end of the last tensor
  std::uint64_t end = 0;       // end including padding, which may be missing
};

inline constexpr std::uint64_t kGgufKeysAt = 24;

struct GgufTensor {
  NamePlace name;
  Dims dims;  // outermost first
  std::uint32_t type_code = 0;
  const GgmlType* type = nullptr;  // kUnknownGgmlType if it is unknown
  std::uint64_t offset = 0;        // offset in the data
  std::uint64_t bytes = 0;
};

enum class GgufKind : std::uint8_t { integer, real, boolean, text, list };

struct GgufValueType {
  std::string_view name;
  GgufKind kind{};
  std::uint8_t bytes = 0;  // size of a number
};

struct GgufValue {
  const GgufValueType* type = nullptr;
  const GgufValueType* of = nullptr;  // element type of a list
  bool nested = false;                // a list of lists
  std::uint64_t count = 1;
  std::uint64_t at = 0;  // offset of the first byte; of a text, after its length
  std::uint64_t bytes = 0;
};

// Describes the type of a kUnknownGgmlType tensor: "ggml's type 31, which ...".
std::string unknown_type_text(const GgufTensor& tensor);

// Reads the whole header and checks its consistency by ggml's rules and those of docs/formats.md.
// If the file is too short, the finding is data-past-end. `odd` receives what ggml refuses, and
// what only concerns single tensors or keys.
Result<GgufHeader> read_gguf_header(const ByteSource& source, const FindingSink& odd = {});

Result<GgufTensor> read_gguf_tensor(const ByteSource& source, const GgufHeader& header,
                                    std::uint64_t index);

using TakeGgufKey = std::function<Status(const NamePlace& key, const GgufValue& value)>;
Status for_gguf_keys(const ByteSource& source, const GgufHeader& header, const TakeGgufKey& take);

// GGUF: the tensors of a language model after a header of keys and values. Read only.

Result<bool> recognizes_gguf(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_gguf(const ByteSource& source,
                                                const OpenRequest& request);
Status check_gguf(const TensorFile& file, const FindingSink& report);

Result<bool> begins_as_gguf(const ByteSource& beginning);
std::unique_ptr<StreamBound> gguf_bound();

}  // namespace btf
