// Recovery of tensors from a damaged BTF file, compressed or not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/cast.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/validate.h"

namespace btf {

struct RepairOptions {
  bool strict = false;     // tensors in doubt are lost
  bool unchecked = false;  // compressed: also data without a checksum, in a truncated frame
  Duplicates duplicates = Duplicates::error;  // value of an index that occurs twice
  std::optional<int> compression{};           // as ConvertOptions
  bool sync = false;                          // survive a power cut
  Execution execution{};
};

// A tensor that is lost, in doubt, or found in spite of a wrong offset.
struct RepairedTensor {
  std::uint64_t source = 0;             // its index in the input
  std::optional<std::uint64_t> target;  // in the output; nothing: it is lost
  bool followed = false;  // found after the previous record; its offset in the table is wrong
  Finding finding;        // the reason why it is lost, in doubt, or followed
};

struct RepairSummary {
  std::uint64_t tensors = 0;  // of the input
  std::uint64_t saved = 0;
  std::uint64_t in_doubt = 0;  // of the saved ones
  std::uint64_t followed = 0;  // likewise
  std::uint64_t bytes = 0;     // of the output; 0: it was not written
  // A compressed input: its frames, and those of which nothing was used.
  std::uint64_t frames = 0;
  std::uint64_t lost_frames = 0;

  std::uint64_t lost() const { return tensors - saved; }
};

struct RepairReport {
  std::function<void(const Finding&)> file = {};           // damage that is no single tensor's
  std::function<void(const RepairedTensor&)> tensor = {};  // in the order of the input
};

// Writes every complete tensor to `output_or_directory`, a canonical file, as convert() writes it:
// "-" is stdout, it may be the input, it holds the old file or the whole new one; an unwritable
// output is an error before anything is read. If no tensor can be saved, nothing is written, and
// that is no error. An input that is not BTF is one. Reports come before the output is written.
BTF_API Result<RepairSummary> repair(const std::string& input,
                                     const std::string& output_or_directory,
                                     const RepairOptions& options = {},
                                     const RepairReport& report = {});

}  // namespace btf
