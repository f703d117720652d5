// What holds of every file that the library opens, whatever its format.
#pragma once

#include <array>
#include <string>

#include "memory_file.h"

namespace fuzz {

inline constexpr std::uint64_t kTensors = 6;  // so many are asked for one by one

// Findings of validate(), by what they are about.
struct Findings {
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;
  std::uint64_t bool_bytes = 0;          // warnings of what is copied as it is
  bool trouble = false;                  // it could not be opened, for no fault of its own
  std::array<bool, kTensors> tensors{};  // which of the first have an error
  std::string text;                      // of the first
};

Findings findings(const btf::Result<btf::TensorFile>& file);

// Opens, asks everything that can be asked of the first tensors, and compares the answers with one
// another and with what validate() says.
void check_file(BytesView bytes, const btf::OpenOptions& options = {},
                const std::string& name = "input");

// For what convert() has written: no error, and no warning but for elements.
void check_canonical(BytesView bytes, const btf::OpenOptions& options = {});

}  // namespace fuzz
