// Text helpers for reports and commands: characters and their width, colours, columns, XML.
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

// Decodes the first character of `text`, which must not be empty. Overlong forms, surrogates and
// codes beyond U+10FFFF are not UTF-8.
Character decode(std::string_view text);

// Returns true for characters that cannot be seen or may do harm: controls, line and paragraph
// separators, marks that change the direction of text, tags, byte order marks, noncharacters.
bool invisible(char32_t code);

// Removes the first character of `text` and returns it, as "\x1b" or "\u{202e}" if it is invisible,
// and as "\xff" if it is a byte that is not UTF-8.
std::string take_visible(std::string_view& text);

// Terminal colours, which may be off.
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

// A column of a table that must fit a terminal.
struct Column {
  std::size_t width = 0;  // width of the widest cell; after fit(), the width that is shown
  unsigned rank = 0;      // the highest rank is left out first; with 0, never
  std::size_t least = 0;  // cells may be shortened to this width; with 0, they may not
  bool right = false;     // aligned to the right
  bool shown = true;
};

inline constexpr std::size_t kColumnGap = 2;

// Makes each column at least as wide as its cell.
void widen(std::span<Column> columns, std::span<const std::string> cells);

// Shortens and leaves out columns until the others fit `room`. They may still be too wide if all
// ranked columns are left out. Columns of width 0 are left out.
void fit(std::span<Column> columns, std::size_t room);

// Returns a line of the table. Cells that are too long lose their middle.
std::string row_text(std::span<const Column> columns, std::span<const std::string> cells);

// Shortens names to this width by leaving out what they have in common, so that different names
// stay different.
std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t width);

// Returns text for XML 1.0: control characters that XML forbids become "\x1b", bytes that are not
// UTF-8 and noncharacters become U+FFFD.
std::string xml_text(std::string_view text);

// Translates the names of options in the text by `names` (see ReportOptions), if it is set.
std::string in_words(const std::function<std::string(std::string)>& names, std::string text);

// Pads `text` with blanks before it, or after it, to a width.
std::string pad_left(std::string_view text, std::size_t width);
std::string pad_right(std::string_view text, std::size_t width);

// The same, appended to `line`. These functions are for lines that come by the million.
void append_pad_left(std::string& line, std::string_view text, std::size_t width);
void append_pad_left(std::string& line, std::uint64_t number, std::size_t width);
void append_pad_right(std::string& line, std::string_view text, std::size_t width);
void append_number(std::string& line, std::uint64_t number);

// "1 tensor", "2 tensors"
std::string counted(std::uint64_t count, std::string_view noun);

// "64x128"
std::string by_x(const std::vector<std::uint64_t>& sizes);

// Returns a name with invisible characters and bytes that are not UTF-8 escaped.
std::string printable(std::string_view name);

// The same in quotes.
std::string quoted_name(std::string_view name);

// "kHWC8", or "kDLA_HWC4 (xavier)" for a name with two pitches.
std::string layout_text(Layout layout);

// "12.5%", never "0%" of something nor "100%" of less than all.
std::string percent(std::uint64_t part, std::uint64_t whole);

// 6 significant digits, or more if they would print 1, -1 or 0 for another number.
std::string short_number(double value);

// Returns the number of columns that a terminal needs for `text`, which must be printable.
std::size_t columns_of(std::string_view text);

// Leaves out the middle or the end of a text that is wider than `columns`.
std::string without_middle(std::string_view text, std::size_t columns);
std::string without_end(std::string_view text, std::size_t columns);

// Pads `text` with blanks after it, or before it, to this many columns.
std::string fill_right(std::string_view text, std::size_t columns);
std::string fill_left(std::string_view text, std::size_t columns);

// Breaks a line at blanks into lines that fit. All but the first are indented. A word that is
// longer than a line is broken.
std::vector<std::string> wrapped(std::string_view line, std::size_t columns, std::size_t indent);

// Quotes a word for bash and zsh. Invisible characters are escaped.
std::string shell_word(const std::string& word);

// The same for a path, so that no command takes it for an option.
std::string shell_path(const std::string& path);

// Breaks a command into lines that end in a backslash. `indent` is the number of columns before the
// first line. Words that are longer than a line are broken too, unless `whole_words` is set.
std::string continued(std::string_view command, std::size_t columns, std::size_t indent,
                      bool whole_words);

}  // namespace btf::report
