// Whether a file is well-formed, and where it deviates from its format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layout.h"

namespace btf {

enum class Severity : std::uint8_t {
  warning,  // the library reads the file in spite of it
  error,    // the record, or the whole file, cannot be used
};

struct Finding {
  Severity severity{};
  std::string_view code;  // "data-past-end"; docs/format.md and docs/formats.md list all codes
  std::optional<std::uint64_t> tensor;  // unset if it concerns the file as a whole
  std::uint64_t offset = 0;             // in bytes from the start of the file
  std::string message;
  // If the finding counts elements: how many there are, and the logical index of the first.
  std::optional<std::uint64_t> count{};
  std::optional<Dims> index{};
};

using FindingSink = std::function<void(const Finding&)>;

// Checks beyond the format. None is made by default.
struct ValidateChecks {
  bool finite = false;                   // NaN and Inf among the elements are errors
  std::optional<Recipient> recipient{};  // tensors that this program cannot read are errors
};

// Reads the whole file, headers and elements, in bounded memory, and reports each finding when it
// is made. A malformed file is a finding; an error is returned only if the file is missing or
// cannot be read. "-" is stdin.
BTF_API Status validate(const std::string& path, const FindingSink& report,
                        const OpenOptions& options = {}, const Execution& execution = {},
                        const ValidateChecks& checks = {});

}  // namespace btf
