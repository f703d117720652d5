// Findings: errors and oddities of a file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "btf/layout.h"

namespace btf {

enum class Severity : std::uint8_t {
  warning,  // every reader of this library copes with it
  error,    // the record, or the whole file, cannot be used
};

struct Finding {
  Severity severity{};
  std::string_view code;                // "data-past-end"; all are in docs/format.md and formats.md
  std::optional<std::uint64_t> tensor;  // nothing: the file as a whole
  std::uint64_t offset = 0;             // bytes from the start of the file
  std::string message;
  // For findings about counted elements: how many, and the logical index of the first.
  std::optional<std::uint64_t> count{};
  std::optional<Dims> index{};
};

using FindingSink = std::function<void(const Finding&)>;

}  // namespace btf
