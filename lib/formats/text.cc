// Reads numbers in text, and finds how many digits they were printed with.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/decoded_cache.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/readers.h"
#include "formats/text_codes.h"

namespace btf {
namespace {

// Numbers with fewer digits than these are round rather than rounded, and count as exact.
constexpr unsigned kMinDigits = 4;    // significant digits
constexpr unsigned kMinDecimals = 3;  // after the point, where all numbers have the same number

class PrintedDigits {
 public:
  void see(std::string_view number);

  // True if all numbers seen have no exponent and equally many decimals ("%.4f").
  bool fixed() const { return fixed_ && numbers_ >= 4 && decimals_ >= kMinDecimals; }
  // The number of decimals if fixed(), else of significant digits; 0 if there are too few to tell,
  // or as many as are needed to represent a float with `mantissa_bits` exactly.
  unsigned count(int mantissa_bits) const;

 private:
  std::uint64_t numbers_ = 0;
  bool fixed_ = true;
  unsigned decimals_ = 0;  // of the first number
  unsigned significant_ = 0;
};

// The numbers of a text, one after another, ignoring what is between them.

// Numbers are separated by white space or by a comma, which may also end a line. The rest of a line
// after a '#' that begins a word, and words that only consist of dashes, are ignored, as is the
// text that Tengine writes next to numbers:
//
//   Shape is {1 2 2 3}, data type is fp32
//   Batch 0:
//           Channel 0:
//                    0.5000 -1.2500  3.0000
class TextScanner {
 public:
  explicit TextScanner(const ByteSource& source);

  // The shape in the first line, if it has one.
  const std::optional<Dims>& shape() const { return shape_; }

  // The next number as written, valid until the next call. Returns false at the end or on errors,
  // see trouble().
  bool next(std::string_view& number);
  const Status& trouble() const { return trouble_; }
  // The offset of the number that next() returned.
  std::uint64_t offset() const { return block_offset_ + begin_; }

 private:
  bool find_word();
  // Checks that the text after this '#' is a comment and not a value that a program could not
  // print.
  bool check_comment();
  bool skip_line();
  bool skip_label(std::string_view word);
  void read_shape();
  // Reads more and keeps the bytes from `begin_` on. Returns false at the end.
  bool refill();
  bool fail_at(std::uint64_t offset, const std::string& what);

  const ByteSource& source_;
  std::vector<char> block_;
  std::uint64_t block_offset_ = 0;  // offset of the block in the source
  std::size_t begin_ = 0;           // begin of the word in the block
  std::size_t at_ = 0;              // end of the word
  std::size_t end_ = 0;             // end of the block
  bool comma_may_follow_ = false;
  std::optional<Dims> shape_;
  Status trouble_;
};

// "line 3, column 14" for a byte of the text.
Result<std::string> text_place(const ByteSource& source, std::uint64_t offset);

// Numbers of a text as elements of a dtype.

void PrintedDigits::see(std::string_view number) {
  unsigned significant = 0;
  unsigned decimals = 0;
  bool point = false;
  for (const char c : number) {
    if (c == '.') {
      point = true;
    } else if (c == 'e' || c == 'E') {
      fixed_ = false;
      break;
    } else if (c >= '0' && c <= '9') {
      if (significant > 0 || c != '0') ++significant;
      if (point) ++decimals;
    } else if (c != '-' && c != '+') {
      return;  // nan, inf
    }
  }
  if (numbers_++ == 0) decimals_ = decimals;
  fixed_ = fixed_ && decimals == decimals_;
  significant_ = std::max(significant_, significant);
}

unsigned PrintedDigits::count(int mantissa_bits) const {
  if (fixed()) return decimals_;
  const double needed = 1 + std::ceil((mantissa_bits + 1) * std::log10(2.0));
  return significant_ >= kMinDigits && significant_ < needed ? significant_ : 0;
}

constexpr std::size_t kTextBlock = 256U << 10;
constexpr std::size_t kLongestWord = 4096;
constexpr std::string_view kShapeBegins = "Shape is {";
constexpr auto kLabels = std::to_array<std::string_view>({"Dim5", "Batch", "Channel"});

// What spreadsheets write in place of a number, and what remains of Inf and NaN of Windows if the
// comma is the decimal point: a '#' with these words hardly begins a comment.
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
      return fail_at(offset(),
                     concat("a word of more than ", kLongestWord, " characters is not a number"));
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
    // Zeros are padding to the requested number of decimals.
    const std::size_t end = word.back() >= 'A' ? behind.find_first_not_of('0') : 0;
    if (end < behind.size() && !kEndsWord[static_cast<unsigned char>(behind[end])]) continue;
    return fail_at(offset(), "'" + std::string(word) +
                                 "' is not a number, and hardly a comment; a comment of this word "
                                 "would have a space after the #");
  }
  return true;
}

// Skips to the end of the line or of the text.
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
  return concat("line ", line, ", column ", offset - line_begin + 1);
}

// A word of the text, shortened for messages.
std::string shown_word(std::string_view word) {
  constexpr std::size_t kMaxShown = 40;
  return word.size() <= kMaxShown ? std::string(word)
                                  : std::string(word.substr(0, kMaxShown)) + "...";
}

std::string why(TextFault wrong, std::string_view word, const DTypeInfo& row) {
  const std::string name(row.name);
  if (wrong == TextFault::no_number) {
    const std::string reason = why_not_number(word);
    return reason.empty() ? "is not a number; white space or commas separate numbers" : reason;
  }
  // NaN and Inf, as whatever program spells them.
  if (wrong != TextFault::fraction && !row.floating() && word.find_first_of("nN#\xE2") != word.npos)
    return "is NaN or infinite, and " + name + " has neither";
  return wrong == TextFault::fraction ? "is not an integer, as " + name + " needs"
                                      : "is out of the range of " + name;
}

// Reads `count` numbers, which is how many were counted before. Each is rounded once from its
// decimal digits; one that the dtype cannot represent is an error with its line and column.
Result<Spool> read_text_values(const ByteSource& source, DType dtype, std::uint64_t count) {
  const DTypeInfo& row = info(dtype);
  BTF_TRY(check_room_for(stream_bytes(count, row.bits).value_or(UINT64_MAX)));
  const ParseText parse = text_parser(row);
  TextScanner text(source);
  CodeSpool codes(row.bits);
  std::string_view word;
  std::uint64_t found = 0;
  for (; text.next(word); ++found) {
    std::uint64_t code = 0;
    const TextFault wrong = parse(normalised_number(word), row, code);
    if (wrong != TextFault::nothing) {
      BTF_ASSIGN(const std::string place, text_place(source, text.offset()));
      return malformed("text-value", text.offset(),
                       place + ": '" + shown_word(word) + "' " + why(wrong, word, row));
    }
    BTF_TRY(codes.add(code));
  }
  BTF_TRY(text.trouble());
  if (found != count) return file_changed();
  return codes.finish();
}

class TextReader final : public TensorReader {
 public:
  TextReader(const ByteSource& source, TensorInfo info, std::uint64_t count)
      : info_(std::move(info)),
        elements_(
            contents_.source(0, info_.data_bytes, source, [&source, dtype = *info_.dtype, count] {
              return read_text_values(source, dtype, count);
            })) {}

  std::uint64_t tensor_count() const override { return 1; }
  // Sizes and dtypes are those of the parsed numbers, not of the text.
  Result<TensorInfo> tensor(std::uint64_t) const override { return info_; }
  Result<const ByteSource*> elements(std::uint64_t) const override { return elements_.get(); }

 private:
  TensorInfo info_;
  DecodedCache contents_;
  std::unique_ptr<ByteSource> elements_;
};

// Numbers whose digits are counted: the first ones, and a sample of the rest.
constexpr std::uint64_t kSeen = 4096;

std::unexpected<Error> wrong_count(const std::string& what) {
  return malformed("text-count", 0, what);
}

}  // namespace

Result<bool> recognizes_text(const ByteSource&, const OpenRequest& request) {
  return request.options.spec && request.options.spec->as_text;
}

bool begins_with_number(const ByteSource& source) {
  TextScanner text(source);
  std::string_view word;
  return text.next(word) && is_number(word);
}

Result<std::unique_ptr<TensorReader>> open_text(const ByteSource& source,
                                                const OpenRequest& request) {
  const TensorSpec& said = *request.options.spec;
  TextScanner text(source);
  std::uint64_t count = 0;
  PrintedDigits digits;
  for (std::string_view number; text.next(number); ++count)
    if (count < kSeen || count % kSeen == 0) digits.see(number);
  BTF_TRY(text.trouble());
  std::optional<Dims> dims = text.shape();
  if (dims && said.storage && *dims != said.storage->dims)
    return wrong_count("the first line says the shape " + dims_text(*dims) + ", the spec " +
                       dims_text(said.storage->dims));
  if (!dims && said.storage) dims = said.storage->dims;
  if (!dims && count == 0) return wrong_count("the text has no numbers");
  if (!dims) dims = Dims{count};

  TensorInfo info;
  info.dtype = said.dtype;
  info.dtype_code = btf::info(said.dtype).code();
  info.layout = Layout::linear;
  info.layout_code = btf::spec(Layout::linear).code();
  info.dims = *dims;
  info.text_digits = digits.count(btf::info(said.dtype).fp.mantissa_bits);
  info.text_fixed = digits.fixed();
  BTF_ASSIGN(info.storage, resolve(Layout::linear, info.dims, said.dtype));
  info.data_bytes = storage_bytes(*info.storage, said.dtype);
  if (info.storage->elements() != count)
    return wrong_count(concat(dims_text(info.dims), " has ", info.storage->elements(),
                              " numbers, the text has ", count));
  return std::make_unique<TextReader>(source, std::move(info), count);
}

Status check_text(const TensorFile& file, const FindingSink& report) {
  BTF_TRY(check_tensors(file, "foreign-dtype", report));
  return check_elements(file, report);
}

}  // namespace btf
