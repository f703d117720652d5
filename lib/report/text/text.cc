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

std::string by_x(const std::vector<std::uint64_t>& sizes) {
  std::string text;
  for (const std::uint64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
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
    const std::size_t shown = line.find_last_not_of(' ', end - 1);
    pieces.push_back(front + std::string(line.substr(0, shown == line.npos ? end : shown + 1)));
    const std::size_t next = line.find_first_not_of(' ', end);
    line.remove_prefix(next == line.npos ? line.size() : next);
    if (line.empty()) return pieces;
  }
}

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word[0] != '=' && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/' || c == ':' || c == ',' || c == '=';
  });
  if (plain) return word;
  // Byte by byte in the form that has escapes, where something cannot be seen.
  std::string escaped;
  bool visible = true;
  for (std::string_view rest = word; !rest.empty();) {
    const std::string_view before = rest;
    const std::string shown = take_visible(rest);
    const std::string_view bytes = before.substr(0, before.size() - rest.size());
    if (shown == bytes) {
      escaped += bytes == "'" || bytes == "\\" ? "\\" + shown : shown;
      continue;
    }
    visible = false;
    for (const char byte : bytes)
      escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  if (!visible) return "$'" + escaped + "'";
  std::string quoted = "'";
  for (const char c : word) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

std::string shell_path(const std::string& path) {
  return shell_word(path.starts_with('-') ? "./" + path : path);
}

namespace {

enum class Quotes : std::uint8_t { none, plain, escaping };

// One character of a command, or an escape; and in which quotes what follows is.
struct ShellCharacter {
  std::size_t bytes = 1;
  std::size_t columns = 1;
  Quotes then = Quotes::none;
};

ShellCharacter shell_character(std::string_view command, std::size_t at, Quotes quotes) {
  const std::string_view rest = command.substr(at);
  if (quotes != Quotes::plain && rest[0] == '\\') {
    const std::size_t bytes = std::min<std::size_t>(rest.size(), rest.substr(1, 1) == "x" ? 4 : 2);
    return {bytes, bytes, quotes};
  }
  if (quotes == Quotes::none && rest.starts_with("$'")) return {2, 2, Quotes::escaping};
  if (rest[0] == '\'') return {1, 1, quotes == Quotes::none ? Quotes::plain : Quotes::none};
  const Shown shown = first_shown(rest);
  return {shown.bytes, shown.columns, quotes};
}

// The end of the shell's word that begins there.
std::size_t end_of_word(std::string_view command, std::size_t at) {
  Quotes quotes = Quotes::none;
  while (at < command.size() && (command[at] != ' ' || quotes != Quotes::none)) {
    const ShellCharacter next = shell_character(command, at, quotes);
    at += next.bytes;
    quotes = next.then;
  }
  return std::min(at, command.size());
}

// A word over lines that a shell joins again, from `column` on. The lines have no indent, which
// would part it.
std::string broken_word(std::string_view word, std::size_t columns, std::size_t& column) {
  constexpr std::size_t kClosing = 2;  // a quote and the backslash
  std::string lines;
  Quotes quotes = Quotes::none;
  for (std::size_t at = 0; at < word.size();) {
    const ShellCharacter next = shell_character(word, at, quotes);
    if (column + next.columns + kClosing > columns) {
      lines += quotes == Quotes::none ? "\\\n" : "'\\\n";
      if (quotes != Quotes::none) lines += quotes == Quotes::escaping ? "$'" : "'";
      column = quotes == Quotes::none ? 0 : quotes == Quotes::escaping ? 2 : 1;
    }
    lines += word.substr(at, next.bytes);
    column += next.columns;
    quotes = next.then;
    at += next.bytes;
  }
  return lines;
}

}  // namespace

std::string continued(std::string_view command, std::size_t columns, std::size_t indent,
                      bool whole_words) {
  std::string lines;
  std::size_t column = indent;
  for (std::size_t at = 0; at < command.size();) {
    const std::size_t end = end_of_word(command, at);
    const std::string_view word = command.substr(at, end - at);
    const std::size_t width = columns_of(word);
    constexpr std::size_t kMark = 2;  // a blank and the backslash
    if (at > 0 && column + 1 + width + kMark > columns) {
      lines += " \\\n" + std::string(indent + 2, ' ');
      column = indent + 2;
    } else if (at > 0) {
      lines += ' ';
      ++column;
    }
    if (!whole_words && column + width + kMark > columns) {
      lines += broken_word(word, columns, column);
    } else {
      lines += word;
      column += width;
    }
    at = end + 1;
  }
  return lines;
}

}  // namespace btf::report
