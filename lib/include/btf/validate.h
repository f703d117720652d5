// Is a file well-formed, and where does it deviate?
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

struct Finding {
  Severity severity{};
  std::string_view code;                // of finding.h
  std::optional<std::uint64_t> tensor;  // nothing: the file as a whole
  std::uint64_t offset = 0;             // bytes from the start of the file
  std::string message;
  // Of findings about elements that are counted: how many, and the logical index of the first.
  std::optional<std::uint64_t> count{};
  std::optional<Dims> index{};
};

// What is looked for beyond the format.
struct ValidateChecks {
  bool finite = false;                   // NaN and Inf among the elements are errors
  std::optional<Recipient> recipient{};  // what it does not take is an error
};

using FindingSink = std::function<void(const Finding&)>;

// Reads the whole file, headers and elements, in bounded memory, and reports findings as they come.
// An error only for trouble with the file itself (missing, unreadable); a malformed file is a
// finding. "-" is stdin.
BTF_API Status validate(const std::string& path, const FindingSink& report,
                        const OpenOptions& options = {}, const Execution& execution = {},
                        const ValidateChecks& checks = {});

}  // namespace btf
