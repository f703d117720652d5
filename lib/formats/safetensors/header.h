// The header of a safetensors file: JSON that says of each tensor what it is and where.
//
//   FILE = u64 N, N bytes of JSON, data
//   JSON = {"NAME":{"dtype":"F16","shape":[2,3],"data_offsets":[BEGIN,END]}, ..}, offsets into the
//   data;
//          "__metadata__" is an object of texts
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "formats/io/byte_source.h"
#include "formats/json/reader.h"

namespace btf {

inline constexpr std::uint64_t kSafetensorsWord = 8;  // bytes of N; the header is padded to it
inline constexpr std::uint64_t kLongestSafetensorsHeader = 100'000'000;
inline constexpr std::string_view kSafetensorsMetadata = "__metadata__";

// A tensor, as small as can be: there may be millions. Texts stay in the file, and these say where,
// from its start.
struct SafetensorsEntry {
  std::uint32_t name_at = 0;  // behind the quote
  std::uint32_t name_bytes = 0;
  std::uint32_t shape_at = 0;  // the bracket
  std::uint32_t shape_bytes = 0;
  std::uint32_t dtype_at = 0;  // behind the quote
  std::uint8_t type = 0;       // its index in kSafetensorsTypes; kUnknownType
  std::uint64_t begin = 0;     // of its bytes in the data
  std::uint64_t end = 0;
};

inline constexpr std::uint8_t kUnknownType = 0xff;

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their bytes
  std::optional<JsonExtent> metadata;
  std::uint64_t data_offset = 0;
};

// Could this be the beginning of a safetensors file, and of no BTF file that can be read? `start`:
// the first bytes of it, as many as there are up to kSafetensorsStart.
bool begins_as_safetensors(std::string_view start);
inline constexpr std::size_t kSafetensorsStart = 64;

// Bytes of the header with the 8 in front of it; an error if no file has that many.
Result<std::uint64_t> safetensors_data_offset(std::string_view start);

// All that the header says, checked against itself: every size is what dtype and shape need, and
// the data are the tensors' one behind the other. Not against the size of the file, which has the
// header.
Result<SafetensorsHeader> read_safetensors_header(const ByteSource& source);

// JsonOptions for texts of the header.
JsonOptions safetensors_json();

Result<std::string> safetensors_name(const ByteSource& source, const SafetensorsEntry& entry);

}  // namespace btf
