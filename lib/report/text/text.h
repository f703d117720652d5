// Pieces of text that reports and commands have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/layout.h"

namespace btf::report {

// The text as `names` has the members of options in it (btf/report/report.h); empty: as it is.
std::string in_words(const std::function<std::string(std::string)>& names, std::string text);

// Pads `text` with blanks before it, or after it, to a width.
std::string pad_left(std::string_view text, std::size_t width);
std::string pad_right(std::string_view text, std::size_t width);

// The same behind what `line` has. These and the next are for lines that come by the million.
void append_pad_left(std::string& line, std::string_view text, std::size_t width);
void append_pad_left(std::string& line, std::uint64_t number, std::size_t width);
void append_pad_right(std::string& line, std::string_view text, std::size_t width);
void append_number(std::string& line, std::uint64_t number);

// "1 tensor", "2 tensors"
std::string counted(std::uint64_t count, std::string_view noun);

// "64x128"
std::string by_x(const std::vector<std::uint64_t>& sizes);

// A name as it may be printed: what cannot be seen, or is not UTF-8, escaped.
std::string printable(std::string_view name);
// A tensor's name in quotes, likewise.
std::string quoted_name(std::string_view name);

// "kHWC8"; "kDLA_HWC4 (xavier)" where one name has two pitches.
std::string layout_text(Layout layout);

// "12.5%", never "0%" of something nor "100%" of less than all.
std::string percent(std::uint64_t part, std::uint64_t whole);

// 6 significant digits; never "1" of what is not 1, and the like.
std::string short_number(double value);

// How many columns a terminal takes for `text`, in which nothing is invisible.
std::size_t columns_of(std::string_view text);

// The text with its middle left out, or its end, if it takes more columns than there are.
std::string without_middle(std::string_view text, std::size_t columns);
std::string without_end(std::string_view text, std::size_t columns);

// Pads `text` with blanks after it, or before it, to this many columns.
std::string fill_right(std::string_view text, std::size_t columns);
std::string fill_left(std::string_view text, std::size_t columns);

// The line in pieces that fit, broken at blanks; all but the first begin with `indent` blanks. A
// word that fits nowhere is broken.
std::vector<std::string> wrapped(std::string_view line, std::size_t columns, std::size_t indent);

// As a shell (bash, zsh) takes it for one word; what cannot be seen is escaped.
std::string shell_word(const std::string& word);
// The same for a path, which no command takes for an option.
std::string shell_path(const std::string& path);

// A command over lines that a shell takes for one; `indent`: columns before the first. Words that
// are longer than a line are broken too, in lines without an indent, unless they are to be whole.
std::string continued(std::string_view command, std::size_t columns, std::size_t indent,
                      bool whole_words);

}  // namespace btf::report
