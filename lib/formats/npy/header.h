// The header of NumPy's .npy: a line of Python that describes one array. Nothing of it is executed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "btf/layout.h"
#include "formats/io/byte_source.h"

namespace btf {

struct NpyHeader {
  // NumPy's type string with the byte order: "<f4". For a structured dtype the whole list.
  std::string descr;
  bool fortran_order = false;
  Dims shape;
  std::uint64_t data_offset = 0;
};

// Bytes of a source that are a .npy, and what is said to hold them.
struct NpyPlace {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view holder = "file";
};

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Versions 1.0, 2.0 and 3.0. Offsets are those of the source.
Result<NpyHeader> read_npy_header(const ByteSource& source, const NpyPlace& place);

}  // namespace btf
