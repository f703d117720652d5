// msprobe's dump.json: what each call of a module or of a function took and gave, in the order of
// execution, with statistics of every tensor, and with files of their elements where those were
// dumped (docs/formats.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "formats/io/byte_source.h"

namespace btf {

enum class ProbePart : std::uint8_t { input, weight, output };

struct ProbeTensor {
  std::string name{};   // "Module.conv1.Conv2d.forward.0.output.0"
  std::string file{};   // that holds its elements; empty: they were not dumped
  std::string dtype{};  // as it is written
  Dims dims{};
  // Nothing: not said. NaN and Inf are numbers here.
  std::optional<double> max{};
  std::optional<double> min{};
  std::optional<double> mean{};
  std::optional<double> norm{};
  std::string checksum{};  // CRC-32 or another one of its bits
  std::uint64_t call = 0;  // of the calls in the file
  ProbePart part{};
  bool from_outside = false;  // an input that no call in the file gave
  std::uint64_t offset = 0;   // of its object in the file
};

struct ProbeDump {
  std::string task{};                  // "tensor", "statistics"
  std::string framework{};             // "pytorch", "mindspore"
  std::string folder{};                // of the files with elements, as a name; empty: not said
  std::vector<std::string> calls{};    // as they are written
  std::vector<ProbeTensor> tensors{};  // in the order in which they came to be
  bool cut_off = false;  // the program that wrote it was aborted: this is what there is
};

// "weight" of what is there before the run, "outside" of an input that no call in the file gave; or
// nothing.
std::string_view role_of(const ProbeTensor& tensor);

// What is to be said of one that was cut off.
std::string cut_off_text(const std::string& path, const ProbeDump& dump);

// Does a text that begins so look like one?
bool begins_as_msprobe_dump(std::string_view start);

// `construct`: of the construct.json beside it, which may say which module made which call;
// nullptr: there is none.
Result<ProbeDump> read_msprobe_dump(const ByteSource& source, const ByteSource* construct);

}  // namespace btf
