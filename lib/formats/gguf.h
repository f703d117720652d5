// GGUF: the types of ggml, header and metadata, and the reader.
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
#include "formats/io/names.h"

namespace btf {

// The types of ggml: numbers as they are, and blocks of codes with their scales.

// The numbers of one block, all of them.
using DecodeBlock = void (*)(const std::byte* block, float* numbers);

struct GgmlType {
  std::uint32_t code = 0;
  std::string_view name;
  std::uint32_t elements = 1;  // of a block
  std::uint32_t bytes = 0;
  std::optional<DType> dtype{};  // of a block of one element
  DecodeBlock decode = nullptr;
  // Its blocks have no field of more than a byte, so they are the same in big-endian files. Of the
  // scales of others writers turn round some, or none.
  bool any_endian = false;
};

// nullptr: there is no such type, or none any more.
const GgmlType* find_ggml_type(std::uint32_t code);

// Stands for all that find_ggml_type() does not know. Nobody knows how large its tensors are.
inline constexpr GgmlType kUnknownGgmlType{};

inline constexpr std::size_t kMaxBlockElements = 256;

// The header of a GGUF file: keys with values, and the type, dims and offset of each tensor.
//
//   FILE   = "GGUF", u32 version, u64 tensors, u64 keys, KEYS, INFOS, padding, data
//   KEY    = string, u32 type, value        string = u64 length, bytes
//   array  = u32 type, u64 count, values
//   INFO   = string, u32 ndim, u64 dims[ndim] innermost first, u32 type, u64 offset in the data

inline constexpr std::string_view kGgufMagic = "GGUF";

// A model has a few thousand tensors, some dozens of keys and some megabytes of words.
inline constexpr std::uint64_t kMaxGgufTensors = 1U << 20;
inline constexpr std::uint64_t kMaxGgufKeys = 1U << 16;
inline constexpr std::uint64_t kLongestGgufKey = 65535;
inline constexpr std::uint64_t kLongestGgufName = 65535;
inline constexpr std::uint64_t kDeepestGgufList = 16;

// The limits of ggml. Files beyond them are odd, and read.
inline constexpr std::uint64_t kLongestGgmlName = 63;  // of 64 bytes, the last of them 0
inline constexpr std::uint64_t kMaxGgmlDims = 4;
inline constexpr std::uint64_t kLongestGgufHeader = 1U << 28;

struct GgufHeader {
  bool big_endian = false;
  bool end_known = true;             // the last tensor is of a known size
  std::uint64_t keys = 0;            // from byte kGgufKeysAt on
  std::vector<std::uint64_t> infos;  // of each tensor, where it is said what it is
  std::uint64_t data_offset = 0;
  std::uint64_t data_end = 0;  // of the last tensor
  std::uint64_t end = 0;       // with padding, which may be missing
};

inline constexpr std::uint64_t kGgufKeysAt = 24;

struct GgufTensor {
  NamePlace name;
  Dims dims;  // outermost first
  std::uint32_t type_code = 0;
  const GgmlType* type = nullptr;  // of none that is known: kUnknownGgmlType
  std::uint64_t offset = 0;        // in the data
  std::uint64_t bytes = 0;
};

enum class GgufKind : std::uint8_t { integer, real, boolean, text, list };

struct GgufValueType {
  std::string_view name;
  GgufKind kind{};
  std::uint8_t bytes = 0;  // of numbers
};

struct GgufValue {
  const GgufValueType* type = nullptr;
  const GgufValueType* of = nullptr;  // a list's
  bool nested = false;                // a list of lists
  std::uint64_t count = 1;
  std::uint64_t at = 0;  // of the first byte, of a text behind its length
  std::uint64_t bytes = 0;
};

// "ggml's type 31, which ...", of a tensor of kUnknownGgmlType.
std::string unknown_type_text(const GgufTensor& tensor);

// All of it, checked for consistency: by ggml's rules and those of docs/formats.md. That more
// of the file is needed than there is has the finding data-past-end. `odd`: what ggml refuses, and
// what concerns one tensor or key only and keeps nobody from the others.
Result<GgufHeader> read_gguf_header(const ByteSource& source, const FindingSink& odd = {});

Result<GgufTensor> read_gguf_tensor(const ByteSource& source, const GgufHeader& header,
                                    std::uint64_t index);

using TakeGgufKey = std::function<Status(const NamePlace& key, const GgufValue& value)>;
Status for_gguf_keys(const ByteSource& source, const GgufHeader& header, const TakeGgufKey& take);

// GGUF: the tensors of a language model behind a header of keys and values. Read only.

Result<bool> recognizes_gguf(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_gguf(const ByteSource& source,
                                                const OpenRequest& request);
Status check_gguf(const TensorFile& file, const FindingSink& report);

Result<bool> begins_as_gguf(const ByteSource& beginning);
std::unique_ptr<StreamBound> gguf_bound();

}  // namespace btf
