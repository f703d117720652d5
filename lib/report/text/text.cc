#include "report/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "btf/value.h"
#include "report/text/characters.h"

namespace btf::report {
namespace {

constexpr std::size_t kMostDigits = 20;  // of 2^64 - 1

class Digits {
 public:
  explicit Digits(std::uint64_t number)
      : end_(std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr) {}

  std::string_view text() const { return {digits_.data(), end_}; }

 private:
  std::array<char, kMostDigits> digits_;
  char* end_;
};

}  // namespace

std::string in_words(const std::function<std::string(std::string)>& names, std::string text) {
  return names ? names(std::move(text)) : text;
}

std::string pad_left(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + std::string(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width - std::min(width, text.size()), ' ');
}

void append_pad_left(std::string& line, std::string_view text, std::size_t width) {
  line.append(width - std::min(width, text.size()), ' ').append(text);
}

void append_pad_left(std::string& line, std::uint64_t number, std::size_t width) {
  append_pad_left(line, Digits(number).text(), width);
}

void append_pad_right(std::string& line, std::string_view text, std::size_t width) {
  line.append(text).append(width - std::min(width, text.size()), ' ');
}

void append_number(std::string& line, std::uint64_t number) {
  const std::size_t size = line.size();
  const std::size_t most = size + kMostDigits;
  line.resize_and_overwrite(most, [&](char* text, std::size_t) {
    return std::to_chars(text + size, text + most, number).ptr - text;
  });
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string printable(std::string_view name) {
  std::string text;
  while (!name.empty()) text += take_visible(name);
  return text;
}

std::string quoted_name(std::string_view name) { return "'" + printable(name) + "'"; }

std::string layout_text(Layout layout) {
  const LayoutSpec& row = btf::spec(layout);
  const std::string name(row.name);
  return row.dla.empty() ? name : name + " (" + std::string(row.dla) + ")";
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (part == 0 || part == whole) return fmt::format("{:.0f}%", share);
  if (share < 0.001) return "<0.001%";
  return fmt::format("{:.3g}%", std::min(share, 99.9));
}

std::string short_number(double value) {
  for (const int digits : {6, 9, 12}) {
    const std::string text = fmt::format("{:.{}g}", value, digits);
    const bool round = text == "1" || text == "-1" || text == "0";
    if (!round) return text;
  }
  return number_text(value);
}

namespace {

constexpr std::string_view kLeftOut = "…";

struct Range {
  char32_t first = 0;
  char32_t last = 0;
};

// Combining characters: terminals draw them over the character before.
constexpr auto kNoColumn =
    std::to_array<Range>({{0x300, 0x36f}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}});
// East Asian characters and pictures.
constexpr auto kTwoColumns = std::to_array<Range>({{0x1100, 0x115f},
                                                   {0x2e80, 0x303e},
                                                   {0x3041, 0xa4cf},
                                                   {0xac00, 0xd7a3},
                                                   {0xf900, 0xfaff},
                                                   {0xfe30, 0xfe6f},
                                                   {0xff00, 0xff60},
                                                   {0xffe0, 0xffe6},
                                                   {0x1f300, 0x1f64f},
                                                   {0x1f900, 0x1f9ff},
                                                   {0x20000, 0x3fffd}});

bool within(std::span<const Range> ranges, char32_t code) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

struct Shown {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

// Colours take no room: what comes from files has none of their codes.
Shown first_shown(std::string_view text) {
  if (text.starts_with("\x1b[")) return {std::min(text.find('m'), text.size() - 1) + 1, 0};
  const Character character = decode(text);
  if (character.bytes == 0) return {};
  if (within(kNoColumn, character.code)) return {character.bytes, 0};
  return {character.bytes, within(kTwoColumns, character.code) ? 2U : 1U};
}

// Number of leading bytes that fit in this many columns.
std::size_t bytes_within(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Shown shown = first_shown(text.substr(at));
    if (shown.columns > columns) break;
    columns -= shown.columns;
    at += shown.bytes;
  }
  return at;
}

// Offset of the longest end that fits in this many columns.
std::size_t end_within(std::string_view text, std::size_t columns) {
  std::size_t all = columns_of(text);
  std::size_t at = 0;
  while (all > columns) {
    const Shown shown = first_shown(text.substr(at));
    all -= shown.columns;
    at += shown.bytes;
  }
  return at;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Shown shown = first_shown(text);
    columns += shown.columns;
    text.remove_prefix(shown.bytes);
  }
  return columns;
}

std::string without_middle(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  // The end tells names apart more often.
  const std::size_t front = (columns - 1) / 2;
  return std::string(text.substr(0, bytes_within(text, front)))
      .append(kLeftOut)
      .append(text.substr(end_within(text, columns - 1 - front)));
}

std::string without_end(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  return std::string(text.substr(0, bytes_within(text, columns - 1))).append(kLeftOut);
}

std::string fill_right(std::string_view text, std::size_t columns) {
  const std::size_t taken = columns_of(text);
  return std::string(text).append(columns > taken ? columns - taken : 0, ' ');
}

std::string fill_left(std::string_view text, std::size_t columns) {
  const std::size_t taken = columns_of(text);
  return std::string(columns > taken ? columns - taken : 0, ' ').append(text);
}

std::vector<std::string> wrapped(std::string_view line, std::size_t columns, std::size_t indent) {
  std::vector<std::string> pieces;
  while (true) {
    const std::string front(pieces.empty() ? 0 : indent, ' ');
    const std::size_t room = columns > front.size() ? columns - front.size() : 1;
    if (columns_of(line) <= room) {
      pieces.push_back(front + std::string(line));
      return pieces;
    }
    std::size_t end = std::max<std::size_t>(bytes_within(line, room), 1);
    // Not in the blanks that the line begins with.
    const std::size_t blank = line.rfind(' ', end);
    const std::size_t word = line.find_first_not_of(' ');
    if (blank != line.npos && word != line.npos && blank > word) end = blank;
    pieces.push_back(front + std::string(line.substr(0, end)));
    const std::size_t next = line.find_first_not_of(' ', end);
    line.remove_prefix(next == line.npos ? line.size() : next);
    if (line.empty()) return pieces;
  }
}

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/' || c == ':' || c == ',' || c == '=';
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

}  // namespace btf::report
