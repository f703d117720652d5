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
  std::string descr;  // NumPy's type string with the byte order: "<f4"
  bool fortran_order = false;
  Dims shape;
  std::uint64_t data_offset = 0;
};

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Versions 1.0, 2.0 and 3.0.
Result<NpyHeader> read_npy_header(const ByteSource& source);

}  // namespace btf
