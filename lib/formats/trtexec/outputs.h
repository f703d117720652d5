// The text of trtexec --exportOutput. It is not quite JSON: names are not escaped, and NaN and Inf
// stand bare.
//
//   [
//     { "name" : "prob"
//     , "dimensions" : "1x3x2"
//     , "values" : [ 0.5, nan, -inf ]
//     }
//   , ..
//   ]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "formats/io/byte_source.h"

namespace btf {

inline constexpr std::string_view kTrtexecSpaces = " \t\r\n";  // between the parts of the text

struct TrtexecOutput {
  std::uint64_t begin = 0;  // the brace
  std::uint64_t end = 0;    // behind it
  std::string name;
  Dims dims;
  std::string open_dims{};       // as they were written, if some of them are not known
  std::uint64_t values_at = 0;   // behind the bracket, and behind a sentence of the final shape
  std::uint64_t values_end = 0;  // the closing bracket
  std::uint64_t count = 0;       // of values
};

// All outputs; their values are counted and not read.
Result<std::vector<TrtexecOutput>> read_trtexec_outputs(const ByteSource& source);

}  // namespace btf
