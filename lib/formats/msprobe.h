// msprobe's dump.json: inputs and outputs of each call of a module or function, in the order of
// execution, with statistics of every tensor and, if they were dumped, files of elements
// (docs/formats.md).
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
  std::string file{};   // file of its elements; empty if they were not dumped
  std::string dtype{};  // as written
  Dims dims{};
  // Unset if not given. May be NaN or Inf.
  std::optional<double> max{};
  std::optional<double> min{};
  std::optional<double> mean{};
  std::optional<double> norm{};
  std::string checksum{};  // CRC-32, or a different one of its bits
  std::uint64_t call = 0;  // number of the call in the file
  ProbePart part{};
  bool from_outside = false;  // an input that is no output of a call in the file
  std::uint64_t offset = 0;   // of its object in the file
};

struct ProbeDump {
  std::string task{};                  // "tensor", "statistics"
  std::string framework{};             // "pytorch", "mindspore"
  std::string folder{};                // folder of the files with elements; empty if not given
  std::vector<std::string> calls{};    // as written
  std::vector<ProbeTensor> tensors{};  // in the order of execution
  bool cut_off = false;                // the program was aborted, so the dump is incomplete
};

// "weight" for a tensor that existed before the run, "outside" for an input that no call in the
// file returned; else empty.
std::string_view role_of(const ProbeTensor& tensor);

// The warning for a dump that is cut off.
std::string cut_off_text(const std::string& path, const ProbeDump& dump);

// Returns true if the beginning of a text looks like a dump.
bool begins_as_msprobe_dump(std::string_view start);

// `construct` is the construct.json next to it, which lists the caller of each call; nullptr if
// there is none.
Result<ProbeDump> read_msprobe_dump(const ByteSource& source, const ByteSource* construct);

}  // namespace btf
