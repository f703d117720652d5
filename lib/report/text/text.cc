#include "report/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "btf/dtype.h"

namespace btf::report {
namespace {

bool in(char32_t code, char32_t first, char32_t last) { return code >= first && code <= last; }

}  // namespace

Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char head = byte(0);
  if (head < 0x80) return {head, 1};
  const std::size_t bytes = head >= 0xf0 ? 4 : head >= 0xe0 ? 3 : 2;
  if (head < 0xc2 || head > 0xf4 || text.size() < bytes) return {};
  char32_t code = head & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t kMin[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kMin[bytes] || code > 0x10ffff || in(code, 0xd800, 0xdfff)) return {};
  return {code, bytes};
}

bool invisible(char32_t code) {
  return code < 0x20 || in(code, 0x7f, 0x9f) || code == 0xad || code == 0x61c ||
         in(code, 0x200b, 0x200f) || in(code, 0x2028, 0x202e) || in(code, 0x2060, 0x206f) ||
         code == 0xfeff || in(code, 0xfff0, 0xfffb) || (code & 0xfffe) == 0xfffe ||
         in(code, 0xfdd0, 0xfdef) || in(code, 0xe0000, 0xe0fff);
}

std::string take_visible(std::string_view& text) {
  const Character next = decode(text);
  const std::string_view bytes = text.substr(0, next.bytes == 0 ? 1 : next.bytes);
  text.remove_prefix(bytes.size());
  if (next.bytes == 0) return fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
  if (!invisible(next.code)) return std::string(bytes);
  return next.code < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(next.code))
                          : fmt::format("\\u{{{:x}}}", static_cast<unsigned>(next.code));
}

namespace {

// Returns the width if every cell is shortened as far as it may be.
std::size_t least_width(const Column& column) {
  return column.least == 0 ? column.width : std::min(column.width, column.least);
}

constexpr std::string_view kOmitted = "\u2026";

// Returns the characters of a name, each with its combining characters.
std::vector<std::string_view> characters_of(std::string_view name) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + 1;
    while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) ++end;
    found.push_back(name.substr(at, end - at));
    at = end;
  }
  return found;
}

// Names that would become equal if their middles were left out.
class AlikeNames {
 public:
  AlikeNames(std::vector<std::string> names, std::size_t width)
      : names_(std::move(names)), width_(width) {
    for (const std::string& name : names_) characters_.push_back(characters_of(name));
    const auto& first = characters_.front();
    std::size_t shortest = first.size();
    for (const auto& name : characters_) shortest = std::min(shortest, name.size());
    const auto all_have = [&](auto same) { return std::ranges::all_of(characters_, same); };
    while (begin_ < shortest &&
           all_have([&](const auto& name) { return name[begin_] == first[begin_]; }))
      ++begin_;
    while (end_ < shortest - begin_ && all_have([&](const auto& name) {
             return name[name.size() - 1 - end_] == first[first.size() - 1 - end_];
           }))
      ++end_;
  }

  // Returns the part in which each name differs, with as much text around it as there is room for.
  // If that part is too long, only its beginning is kept.
  std::vector<std::string> texts() const {
    std::vector<std::string> found;
    for (const auto& name : characters_) found.push_back(text_of(name));
    return found;
  }

 private:
  std::string text_of(const std::vector<std::string_view>& name) const {
    std::size_t from = begin_;
    std::size_t to = name.size() - end_;
    std::size_t left = width_ > 2 ? width_ - 2 : 0;
    std::size_t at = from;
    while (at < to && columns_of(name[at]) <= left) left -= columns_of(name[at++]);
    to = at;
    // The text before it says more than the text after it, such as the layer.
    while (from > 0 && columns_of(name[from - 1]) <= left) left -= columns_of(name[--from]);
    while (to < name.size() && columns_of(name[to]) <= left) left -= columns_of(name[to++]);
    std::string text(from > 0 ? kOmitted : "");
    for (std::size_t i = from; i < to; ++i) text += name[i];
    return text.append(to < name.size() ? kOmitted : "");
  }

  std::vector<std::string> names_;
  std::size_t width_;
  std::vector<std::vector<std::string_view>> characters_;
  std::size_t begin_ = 0;  // characters that all begin with
  std::size_t end_ = 0;    // and end with, of the rest
};

// Names by the text to which they would be shortened.
using NamesByText = std::map<std::string, std::vector<std::string>>;

}  // namespace

std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t width) {
  const std::set<std::string> distinct(names.begin(), names.end());
  NamesByText open;
  for (const std::string& name : distinct) open[without_middle(name, width)].push_back(name);
  std::map<std::string, std::string> found;
  std::set<std::string> taken;
  const auto give = [&](const std::string& name, std::string text) {
    // In so few columns only a number can distinguish them.
    const std::string whole = text;
    for (std::uint64_t number = 2; !taken.insert(text).second; ++number) {
      const std::string mark = "~" + std::to_string(number);
      text = without_end(whole, width > mark.size() ? width - mark.size() : 0) + mark;
    }
    found.emplace(name, std::move(text));
  };
  for (const std::string& name : distinct)
    if (columns_of(name) <= width) give(name, name);
  while (!open.empty()) {
    NamesByText next;
    for (auto& [text, group] : open) {
      std::erase_if(group, [&](const std::string& name) { return found.contains(name); });
      if (group.size() == 1 && !taken.contains(text)) {
        give(group.front(), text);
        continue;
      }
      if (group.empty()) continue;
      const std::vector<std::string> texts = AlikeNames(group, width).texts();
      NamesByText parts;
      for (std::size_t i = 0; i < group.size(); ++i) parts[texts[i]].push_back(group[i]);
      for (auto& [part, alike] : parts) {
        if (alike.size() == 1 || parts.size() == 1)
          for (const std::string& name : alike) give(name, part);
        else
          next[part].insert(next[part].end(), alike.begin(), alike.end());
      }
    }
    open = std::move(next);
  }
  std::vector<std::string> texts;
  texts.reserve(names.size());
  for (const std::string& name : names) texts.push_back(found.at(name));
  return texts;
}

void widen(std::span<Column> columns, std::span<const std::string> cells) {
  for (std::size_t c = 0; c < columns.size(); ++c)
    columns[c].width = std::max(columns[c].width, columns_of(cells[c]));
}

void fit(std::span<Column> columns, std::size_t room) {
  for (Column& column : columns) column.shown = column.width > 0;
  for (;;) {
    std::size_t least = 0;
    Column* next = nullptr;
    for (Column& column : columns) {
      if (!column.shown) continue;
      least += least_width(column) + (least == 0 ? 0 : kColumnGap);
      if (column.rank > 0 && (next == nullptr || column.rank > next->rank)) next = &column;
    }
    if (least > room && next != nullptr) {
      next->shown = false;
      continue;
    }
    // The remaining room goes to the shortened columns, in their order.
    std::size_t left = room > least ? room - least : 0;
    for (Column& column : columns) {
      if (!column.shown) continue;
      const std::size_t short_width = least_width(column);
      const std::size_t more = std::min(left, column.width - short_width);
      column.width = short_width + more;
      left -= more;
    }
    return;
  }
}

std::string row_text(std::span<const Column> columns, std::span<const std::string> cells) {
  std::string line;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    if (!column.shown) continue;
    const std::string cell = column.least > 0 ? without_middle(cells[c], column.width) : cells[c];
    line.append(line.empty() ? 0 : kColumnGap, ' ')
        .append(column.right ? fill_left(cell, column.width) : fill_right(cell, column.width));
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

namespace {

// Returns the size of the first character of `text` in bytes, or 0 if it is not UTF-8 or not
// allowed in XML.
std::size_t character(std::string_view text) {
  const Character next = decode(text);
  return next.code == 0xfffe || next.code == 0xffff ? 0 : next.bytes;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const std::size_t size = character(text);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else if (size == 0)
      result += "\xef\xbf\xbd";
    else
      result += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result;
}

namespace {

constexpr std::size_t kMaxDigits = 20;  // of 2^64 - 1

class Digits {
 public:
  explicit Digits(std::uint64_t number)
      : end_(std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr) {}

  std::string_view text() const { return {digits_.data(), end_}; }

 private:
  std::array<char, kMaxDigits> digits_;
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
  const std::size_t most = size + kMaxDigits;
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

// Combining characters, which terminals draw over the character before.
constexpr auto kNoColumn =
    std::to_array<Range>({{0x300, 0x36f}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}});

// East Asian characters and emoji.
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

// Escape sequences for colours have no width. Text from files has no escape characters.
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
  // The end is more often what distinguishes names.
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
    // Does not break in the blanks at the beginning of the line.
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
  // If something is invisible, the word is written with $'...', which has escapes.
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

// One character of a command, or an escape, and the quotes that are open after it.
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

// Returns the end of the shell word that begins at `at`.
std::size_t end_of_word(std::string_view command, std::size_t at) {
  Quotes quotes = Quotes::none;
  while (at < command.size() && (command[at] != ' ' || quotes != Quotes::none)) {
    const ShellCharacter next = shell_character(command, at, quotes);
    at += next.bytes;
    quotes = next.then;
  }
  return std::min(at, command.size());
}

// Breaks a word into lines that a shell joins again. The first begins at `column`. The lines have
// no indent, because it would split the word.
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
