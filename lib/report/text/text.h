// Pieces of text that reports and commands share: characters and their width, colours, columns,
// XML.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/layout.h"

namespace btf::report {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The first character of `text`, which is not empty. The shortest form only, no surrogates, nothing
// beyond U+10FFFF.
Character decode(std::string_view text);

// Neither seen nor harmless: controls, line and paragraph separators, marks that change the
// direction of text, tags, byte order marks, and codes that are no characters.
bool invisible(char32_t code);

// "\x1b" or "\u{202e}" for what is invisible, "\xff" for a byte that is not UTF-8; others as they
// are. Reads one character off the front of `text`.
std::string take_visible(std::string_view& text);

// Colours of a terminal, if they are wanted.

struct Paint {
  bool on = false;

  std::string red(std::string_view text) const { return paint(text, "31"); }
  std::string green(std::string_view text) const { return paint(text, "32"); }
  std::string yellow(std::string_view text) const { return paint(text, "33"); }

 private:
  std::string paint(std::string_view text, const char* code) const {
    if (!on) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
};

// The columns of a table that has to fit a terminal.

struct Column {
  std::size_t width = 0;  // of its widest cell; afterwards, of what is shown
  unsigned rank = 0;      // the column of the highest is left out first; 0: none of these
  std::size_t least = 0;  // its cells may be shortened to this; 0: they may not
  bool right = false;     // aligned so
  bool shown = true;
};

inline constexpr std::size_t kColumnGap = 2;

// Makes each as wide as its cell, if it is not.
void widen(std::span<Column> columns, std::span<const std::string> cells);

// Leaves columns out, and shortens what may be, until the others fit `room`. Without the ranked
// columns it may still not fit. Columns of no width are left out.
void fit(std::span<Column> columns, std::size_t room);

// A line of the table, as far as its columns are shown. What may be shortened loses its middle.
std::string row_text(std::span<const Column> columns, std::span<const std::string> cells);

// Names in a column of this width: those that are too long are shortened, by what they have in
// common, so that names that differ still do.
std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t width);

// Text as XML 1.0 can hold it.

// Control characters that XML forbids as "\x1b"; U+FFFD for what is not UTF-8 or no character.
std::string xml_text(std::string_view text);

// Pieces of text that reports and commands have in common.

// Pieces of text that reports and commands have in common.

// The text as `names` has the members of options in it (btf/report.h); empty: as it is.
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
