// Pieces of text that several commands print.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "btf/layout.h"

namespace btftool {

std::string dims_text(const btf::Dims& dims);  // "[1, 3, 224, 224]"

std::string pad_left(std::string_view text, std::size_t width);
std::string pad_right(std::string_view text, std::size_t width);

// "1 tensor", "2 tensors"
std::string counted(std::uint64_t count, std::string_view noun);

// A file's name as it may be printed: control characters escaped.
std::string printable(std::string_view name);

// "12.5%", never "0%" of something nor "100%" of less than all.
std::string percent(std::uint64_t part, std::uint64_t whole);

}  // namespace btftool
