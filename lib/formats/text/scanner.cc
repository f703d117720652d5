#include "formats/text/scanner.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "btf/try.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "core/utf8.h"

namespace btf {
namespace {

constexpr std::size_t kTextBlock = 256U << 10;
constexpr std::size_t kLongestWord = 4096;
constexpr std::string_view kShapeBegins = "Shape is {";
constexpr auto kLabels = std::to_array<std::string_view>({"Dim5", "Batch", "Channel"});

// What a spreadsheet has in place of a number, and what is left of Inf and NaN of Windows where a comma
// is the decimal point: the rest of the line behind them is hardly a comment.
constexpr auto kNoComments =
    std::to_array<std::string_view>({"#N/A", "#NUM!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?",
                                     "#NULL!", "#INF", "#IND", "#QNAN", "#SNAN"});
constexpr std::size_t kLongestNoComment = 8;

constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr std::array<bool, 256> kEndsWord = [] {
  std::array<bool, 256> ends{};
  for (const char c : std::string_view(" \t\n\v\f\r,")) ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();

}  // namespace

TextScanner::TextScanner(const ByteSource& source) : source_(source), block_(kTextBlock) {
  refill();
  const auto begins = [&](std::string_view text) {
    return std::string_view(block_.data(), end_).substr(at_).starts_with(text);
  };
  if (begins(kByteOrderMark)) at_ += kByteOrderMark.size();
  while (at_ < end_ && is_space(block_[at_])) ++at_;
  if (begins(kShapeBegins)) read_shape();
}

void TextScanner::read_shape() {
  begin_ = at_;
  const std::string_view text(block_.data() + at_, std::min(end_ - at_, kLongestWord));
  const std::size_t close = std::min(text.find('}'), text.size());
  std::string_view list = text.substr(kShapeBegins.size(), close - kShapeBegins.size());
  Dims dims;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    const auto dim = parse_number<std::uint64_t>(list.substr(0, end));
    if (!dim || dims.size() == kMaxRank) break;
    dims.push_back(*dim);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  if (close == text.size() || !list.empty() || dims.empty()) {
    fail_at(offset(),
            "the first line begins as a shape and has none: expected 'Shape is "
            "{1 3 2 2}'");
    return;
  }
  shape_ = std::move(dims);
  skip_line();
}

bool TextScanner::next(std::string_view& number) {
  while (trouble_ && find_word()) {
    for (;;) {
      while (at_ < end_ && !kEndsWord[static_cast<unsigned char>(block_[at_])]) ++at_;
      if (at_ < end_ || at_ - begin_ > kLongestWord || !refill()) break;
    }
    if (!trouble_) return false;
    const std::string_view word(block_.data() + begin_, at_ - begin_);
    if (word.size() > kLongestWord)
      return fail_at(offset(), "a word of more than " + std::to_string(kLongestWord) +
                                   " characters is not a number");
    if (word.size() > 1 && word.find_first_not_of('-') == word.npos) continue;
    if (skip_label(word)) continue;
    comma_may_follow_ = true;
    number = word;
    return true;
  }
  return false;
}

bool TextScanner::find_word() {
  for (;;) {
    for (; at_ < end_; ++at_) {
      const char c = block_[at_];
      if (is_space(c)) continue;
      begin_ = at_;
      if (c == '#') {
        if (!check_comment() || !skip_line()) return false;
      } else if (c != ',') {
        return true;
      } else if (!comma_may_follow_) {
        return fail_at(offset(), "expected a number before this comma");
      } else {
        comma_may_follow_ = false;
      }
    }
    begin_ = at_;
    if (!refill()) return false;
  }
}

bool TextScanner::check_comment() {
  while (end_ - at_ <= kLongestNoComment && refill()) {
  }
  if (!trouble_) return false;
  const std::string_view text(block_.data() + at_, end_ - at_);
  for (const std::string_view word : kNoComments) {
    if (!text.starts_with(word)) continue;
    const std::string_view behind = text.substr(word.size());
    // Zeros are the decimals that were asked for.
    const std::size_t end = word.back() >= 'A' ? behind.find_first_not_of('0') : 0;
    if (end < behind.size() && !kEndsWord[static_cast<unsigned char>(behind[end])]) continue;
    return fail_at(offset(), "'" + std::string(word) +
                                 "' is not a number, and hardly a comment; a comment of this word "
                                 "would have a space behind the #");
  }
  return true;
}

// To its end, or behind the last byte.
bool TextScanner::skip_line() {
  for (;;) {
    const void* const end = std::memchr(block_.data() + at_, '\n', end_ - at_);
    if (end != nullptr) {
      at_ = static_cast<std::size_t>(static_cast<const char*>(end) - block_.data());
      return true;
    }
    begin_ = at_ = end_;
    if (!refill()) return false;
  }
}

bool TextScanner::skip_label(std::string_view word) {
  if (!shape_ || std::ranges::find(kLabels, word) == kLabels.end()) return false;
  skip_line();
  return true;
}

bool TextScanner::refill() {
  std::copy(block_.begin() + static_cast<std::ptrdiff_t>(begin_),
            block_.begin() + static_cast<std::ptrdiff_t>(end_), block_.begin());
  block_offset_ += begin_;
  end_ -= begin_;
  at_ -= begin_;
  begin_ = 0;
  const std::uint64_t left = source_.size() - block_offset_ - end_;
  const auto some =
      std::span(block_).subspan(end_, std::min<std::uint64_t>(block_.size() - end_, left));
  if (some.empty()) return false;
  trouble_ = source_.read_at(block_offset_ + end_, std::as_writable_bytes(some));
  if (trouble_) end_ += some.size();
  return trouble_.has_value();
}

bool TextScanner::fail_at(std::uint64_t offset, const std::string& what) {
  const auto place = text_place(source_, offset);
  trouble_ = place ? malformed("text-value", offset, *place + ": " + what)
                   : std::unexpected(place.error());
  return false;
}

Result<std::string> text_place(const ByteSource& source, std::uint64_t offset) {
  std::vector<char> block(std::min<std::uint64_t>(kTextBlock, offset));
  std::uint64_t line = 1;
  std::uint64_t line_begin = 0;
  for (std::uint64_t at = 0; at < offset; at += block.size()) {
    block.resize(std::min<std::uint64_t>(block.size(), offset - at));
    BTF_TRY(source.read_at(at, std::as_writable_bytes(std::span(block))));
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (block[i] != '\n') continue;
      ++line;
      line_begin = at + i + 1;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(offset - line_begin + 1);
}

std::string shown_word(std::string_view word) {
  constexpr std::size_t kMost = 40;
  return word.size() <= kMost ? std::string(word) : std::string(word.substr(0, kMost)) + "...";
}

}  // namespace btf
