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
  // Gives up tensors of which it is not certain that they are whole. By default they are saved and
  // reported.
  bool strict = false;
  // For compressed files: also uses data of a truncated frame, which no checksum covers.
  bool unchecked = false;
  Duplicates duplicates = Duplicates::error;
  std::optional<int> compression{};  // see ConvertOptions
  bool sync = false;                 // see ConvertOptions
  Execution execution{};
};

// A tensor that is lost, in doubt, or was found in spite of a wrong offset.
struct RepairedTensor {
  std::uint64_t source = 0;             // index in the input
  std::optional<std::uint64_t> target;  // index in the output; unset if it is lost
  bool followed = false;  // found after the previous record, because its offset is wrong
  Finding finding;        // the reason
};

struct RepairSummary {
  std::uint64_t tensors = 0;  // of the input
  std::uint64_t saved = 0;
  std::uint64_t in_doubt = 0;  // saved, but not certain to be whole
  std::uint64_t followed = 0;  // saved in spite of a wrong offset
  std::uint64_t bytes = 0;     // of the output; 0 if it was not written
  // For a compressed input: its frames, and those of which nothing was used.
  std::uint64_t frames = 0;
  std::uint64_t lost_frames = 0;

  std::uint64_t lost() const { return tensors - saved; }
};

struct RepairReport {
  std::function<void(const Finding&)> file = {};           // damage outside of the tensors
  std::function<void(const RepairedTensor&)> tensor = {};  // in the order of the input
};

// Writes every complete tensor of a damaged file to a new, canonical one, as convert() would: "-"
// is stdout, the output may be the input, and it is replaced atomically. Reports are made before
// the output is written. If no tensor can be saved, nothing is written and that is no error. An
// error if the output cannot be written (before anything is read), and if the input is not BTF.
BTF_API Result<RepairSummary> repair(const std::string& input,
                                     const std::string& output_or_directory,
                                     const RepairOptions& options = {},
                                     const RepairReport& report = {});

}  // namespace btf
