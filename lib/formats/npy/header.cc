#include "formats/npy/header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"

namespace btf {
namespace {

// More than any array's description takes.
constexpr std::uint64_t kLongestHeader = 64U << 10;

// As much of Python's syntax as the header may use: a dict of a string or list, a bool and a tuple.
class Parser {
 public:
  Parser(std::string_view text, std::uint64_t offset) : text_(text), offset_(offset) {}

  Result<NpyHeader> parse() {
    BTF_TRY(expect('{'));
    while (!take('}')) {
      if (at_ == text_.size()) return wrong("it ends without a '}'");
      BTF_ASSIGN(const std::string_view key, quoted());
      BTF_TRY(expect(':'));
      BTF_TRY(value_of(key));
      if (!take(',') && !at('}')) return wrong("',' or '}' was expected");
    }
    skip_spaces();
    if (at_ != text_.size()) return wrong("unexpected text after the '}'");
    if (!descr_ || !order_ || !shape_)
      return malformed("npy-header", offset_,
                       std::string("the header has no '") +
                           (!descr_   ? "descr"
                            : !order_ ? "fortran_order"
                                      : "shape") +
                           "'");
    return NpyHeader{*std::move(descr_), *order_, *std::move(shape_), 0};
  }

 private:
  std::unexpected<Error> wrong(const std::string& what) const {
    return malformed("npy-header", offset_ + at_,
                     "the header is not a description of an array: " + what + " at byte " +
                         std::to_string(offset_ + at_));
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }

  bool at(char c) {
    skip_spaces();
    return at_ < text_.size() && text_[at_] == c;
  }

  bool take(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }

  bool take(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Status expect(char c) {
    if (take(c)) return {};
    return wrong(std::string("'") + c + "' was expected");
  }

  Result<std::string_view> quoted() {
    for (const char quote : {'\'', '"'}) {
      if (!take(quote)) continue;
      const std::size_t end = text_.find(quote, at_);
      if (end == std::string_view::npos) return wrong("a string has no end");
      const std::string_view text = text_.substr(at_, end - at_);
      if (text.find('\\') != std::string_view::npos) return wrong("a string has an escape");
      at_ = end + 1;
      return text;
    }
    return wrong("a string was expected");
  }

  // A list of whatever, as it stands there.
  Result<std::string_view> list() {
    const std::size_t begin = at_;
    for (std::size_t depth = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        BTF_TRY(quoted());
        continue;
      }
      ++at_;
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
      if (depth == 0) return text_.substr(begin, at_ - begin);
    }
    return wrong("a list has no end");
  }

  Status value_of(std::string_view key) {
    const bool twice = (key == "descr" && descr_) || (key == "fortran_order" && order_) ||
                       (key == "shape" && shape_);
    if (twice) return wrong("'" + std::string(key) + "' occurs twice");
    if (key == "descr") return parse_descr();
    if (key == "fortran_order") {
      order_ = take("True");
      if (!*order_ && !take("False")) return wrong("True or False was expected");
      return {};
    }
    if (key == "shape") return parse_shape();
    return wrong("unknown key '" + std::string(key) + "'");
  }

  Status parse_descr() {
    BTF_ASSIGN(descr_, at('[') ? list() : quoted());
    return {};
  }

  Status parse_shape() {
    Dims shape;
    BTF_TRY(expect('('));
    bool comma = true;
    while (!take(')')) {
      if (!comma) return wrong("',' or ')' was expected");
      skip_spaces();
      if (at('-')) return malformed("npy-shape", offset_ + at_, "a dim of the shape is negative");
      std::uint64_t dim = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), dim);
      if (error == std::errc::result_out_of_range)
        return malformed("npy-shape", offset_ + at_, "a dim of the shape does not fit 64 bits");
      if (error != std::errc{}) return wrong("a number was expected");
      at_ += static_cast<std::size_t>(end - begin);
      take('L');  // Python 2 wrote long integers so
      if (shape.size() == kMaxRank)
        return malformed("npy-shape", offset_ + at_,
                         "the shape has more than " + std::to_string(kMaxRank) + " dims");
      shape.push_back(dim);
      comma = take(',');
    }
    // (3) is a number and not a tuple.
    if (shape.size() == 1 && !comma) return wrong("a tuple of one number needs a ','");
    shape_ = std::move(shape);
    return {};
  }

  std::string_view text_;
  std::uint64_t offset_;  // of the text, in the file
  std::size_t at_ = 0;
  std::optional<std::string> descr_;
  std::optional<bool> order_;
  std::optional<Dims> shape_;
};

}  // namespace

Result<NpyHeader> read_npy_header(const ByteSource& source, const NpyPlace& place) {
  std::array<std::byte, 12> start{};
  const std::string holder(place.holder);
  const std::uint64_t size = place.end - place.begin;
  const std::size_t some = std::min<std::uint64_t>(size, start.size());
  BTF_TRY(source.read_at(place.begin, std::span(start).first(some)));
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint64_t>(start[i]); };
  if (size < 10)
    return malformed(
        "npy-header", place.begin,
        "a .npy " + holder + " has at least 10 bytes, this one has " + std::to_string(size));
  if (std::memcmp(start.data(), kNpyMagic.data(), kNpyMagic.size()) != 0)
    return malformed("npy-header", place.begin,
                     "the " + holder + " does not begin as a .npy file does");
  const std::uint64_t major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0)
    return malformed("npy-version", place.begin + 6,
                     "version " + std::to_string(major) + "." + std::to_string(byte(7)) +
                         " of .npy is unknown; there are 1.0, 2.0 and 3.0");
  const std::uint64_t before = major == 1 ? 10 : 12;
  const std::uint64_t length = major == 1
                                   ? byte(8) | byte(9) << 8
                                   : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (size < before || size - before < length)
    return malformed("npy-header", place.begin + 8,
                     "the header should have " + std::to_string(length) + " bytes, the " + holder +
                         " has " + std::to_string(size - std::min(size, before)) + " left");
  if (length > kLongestHeader)
    return malformed("npy-header", place.begin + 8,
                     "a header of " + std::to_string(length) + " bytes is too long");
  const std::uint64_t text_offset = place.begin + before;
  std::string copy;
  std::string_view text;
  if (const auto held = source.held(); fits(text_offset, length, held.size())) {
    text = {reinterpret_cast<const char*>(held.data()) + text_offset, length};
  } else {
    copy.resize(length);
    BTF_TRY(source.read_at(text_offset, std::as_writable_bytes(std::span(copy))));
    text = copy;
  }
  BTF_ASSIGN(NpyHeader header, Parser(text, text_offset).parse());
  header.data_offset = text_offset + length;
  return header;
}

}  // namespace btf
