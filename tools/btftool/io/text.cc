#include "io/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "io/characters.h"

namespace btftool {
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

std::string layout_text(btf::Layout layout) {
  const btf::LayoutSpec& row = btf::spec(layout);
  const std::string name(row.name);
  return row.dla.empty() ? name : name + " (" + std::string(row.dla) + ")";
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (part == 0 || part == whole) return fmt::format("{:.0f}%", share);
  if (share < 0.001) return "<0.001%";
  return fmt::format("{:.3g}%", std::min(share, 99.9));
}

}  // namespace btftool
