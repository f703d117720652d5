#include "formats/trtexec/outputs.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/json/json_bytes.h"
#include "formats/json/json_string.h"
#include "formats/trtexec/trtexec.h"

namespace btf {
namespace {

constexpr std::string_view kDimensions = "\"dimensions\"";
constexpr std::uint64_t kLongestName = 65535;
constexpr std::uint64_t kLongestDims = 8192;

bool is_space(int c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view without_spaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kTrtexecSpaces), text.size()));
  return text;
}

struct TextDims {
  Dims dims;
  bool open = false;  // -1 among them: it depends on data
};

// "1x3x2", nothing for a scalar, or "(1, 3)", of which versions write one or the other.
std::optional<TextDims> dims_in(std::string_view text) {
  TextDims found;
  Dims& dims = found.dims;
  const bool listed = text.starts_with('(') && text.ends_with(')');
  if (listed) text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    std::uint64_t dim = 0;
    const bool open = text.starts_with('-');
    if (open) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc{} || dims.size() == kMaxRank || (open && dim != 1)) return std::nullopt;
    found.open |= open;
    dims.push_back(dim);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (!text.starts_with(listed ? ',' : 'x')) return std::nullopt;
    text = without_spaces(text.substr(1));
    if (text.empty()) return std::nullopt;
  }
  return found;
}

class OutputScanner {
 public:
  explicit OutputScanner(const ByteSource& source)
      : source_(source), bytes_(source, {0, source.size()}) {}

  Result<std::vector<TrtexecOutput>> run() {
    BTF_TRY(expect('['));
    for (;;) {
      BTF_ASSIGN(TrtexecOutput output, take_output());
      outputs_.push_back(std::move(output));
      skip_spaces();
      if (bytes_.peek() != ',') break;
      bytes_.take();
    }
    BTF_TRY(expect(']'));
    skip_spaces();
    if (bytes_.peek() != JsonBytes::kEnd)
      return malformed("bytes-after-data", bytes_.offset(),
                       std::to_string(source_.size() - bytes_.offset()) +
                           " bytes follow after the end of the list");
    BTF_TRY(bytes_.trouble());
    return std::move(outputs_);
  }

 private:
  Result<TrtexecOutput> take_output() {
    TrtexecOutput output;
    skip_spaces();
    output.begin = bytes_.offset();
    BTF_TRY(expect('{'));
    BTF_TRY(expect("\"name\""));
    BTF_TRY(expect(':'));
    BTF_TRY(expect('"'));
    BTF_TRY(take_name(output));
    BTF_TRY(expect(','));
    BTF_TRY(expect(kDimensions));
    BTF_TRY(expect(':'));
    BTF_TRY(take_dims(output));
    BTF_TRY(expect(','));
    BTF_TRY(expect("\"values\""));
    BTF_TRY(expect(':'));
    BTF_TRY(expect('['));
    BTF_TRY(take_final_shape(output));
    BTF_TRY(take_values(output));
    BTF_TRY(expect('}'));
    output.end = bytes_.offset();
    return output;
  }

  // A quote may be part of the name: it ends where the next member begins.
  Status take_name(TrtexecOutput& output) {
    const std::uint64_t begin = bytes_.offset();
    for (std::uint64_t length = 512;; length *= 2) {
      std::string text(std::min({length, source_.size() - begin, kLongestName + 64}), '\0');
      BTF_TRY(source_.read_at(begin, std::as_writable_bytes(std::span(text))));
      for (std::size_t at = text.find('"'); at != text.npos; at = text.find('"', at + 1)) {
        const std::string_view behind = without_spaces(std::string_view(text).substr(at + 1));
        if (!behind.starts_with(',')) continue;
        if (!without_spaces(behind.substr(1)).starts_with(kDimensions)) continue;
        output.name = text.substr(0, at);
        skip_bytes(at + 1);
        return {};
      }
      if (text.size() < length)
        return wrong(begin, "the name of " + which() + " has no end: '" + std::string(kDimensions) +
                                "' does not follow within " + std::to_string(text.size()) +
                                " bytes");
    }
  }

  Status take_dims(TrtexecOutput& output) {
    BTF_TRY(expect('"'));
    const std::uint64_t begin = bytes_.offset();
    std::string text;
    for (int c = bytes_.peek(); c != '"'; c = bytes_.peek()) {
      if (c == JsonBytes::kEnd || text.size() == kLongestDims) return not_here("'\"'");
      text += static_cast<char>(c);
      bytes_.take();
    }
    bytes_.take();
    return set_dims(output, text, begin);
  }

  Status set_dims(TrtexecOutput& output, const std::string& text, std::uint64_t at) const {
    const auto dims = dims_in(text);
    if (!dims)
      return wrong(at, "output '" + json_shown(output.name) + "' has the dims '" +
                           json_shown(text) + "', which no result has");
    output.dims = dims->dims;
    output.open_dims = dims->open ? text : "";
    return {};
  }

  // Where the shape depends on data the program writes, among the values, what it became.
  Status take_final_shape(TrtexecOutput& output) {
    constexpr std::string_view kBefore = "Final shape is";
    constexpr std::string_view kBehind = "reported by the output allocator.";
    skip_spaces();
    if (bytes_.peek() != kBefore.front()) return {};
    BTF_TRY(expect(kBefore));
    skip_spaces();
    const std::uint64_t begin = bytes_.offset();
    std::string text;
    for (int c = bytes_.peek(); c != kBehind.front(); c = bytes_.peek()) {
      if (c == JsonBytes::kEnd || text.size() == kLongestDims) return not_here("the final shape");
      text += static_cast<char>(c);
      bytes_.take();
    }
    BTF_TRY(expect(kBehind));
    text.resize(text.find_last_not_of(kTrtexecSpaces) + 1);
    return set_dims(output, text, begin);
  }

  Status take_values(TrtexecOutput& output) {
    skip_spaces();
    output.values_at = bytes_.offset();
    bool any = bytes_.peek() != ']';
    std::uint64_t commas = 0;
    for (;;) {
      if (bytes_.peek() == JsonBytes::kEnd) {
        BTF_TRY(bytes_.trouble());
        return cut_off("the values of output '" + json_shown(output.name) + "' have no end");
      }
      const std::string_view held = bytes_.held();
      const std::size_t end = held.find(']');
      const std::string_view values = held.substr(0, end);
      commas += static_cast<std::uint64_t>(std::ranges::count(values, ','));
      bytes_.take(values.size());
      if (end != held.npos) break;
    }
    output.values_end = bytes_.offset();
    output.count = any ? commas + 1 : 0;
    bytes_.take();
    return {};
  }

  void skip_spaces() {
    while (is_space(bytes_.peek())) bytes_.take();
  }

  void skip_bytes(std::size_t count) {
    while (count > 0 && bytes_.peek() != JsonBytes::kEnd) {
      const std::size_t some = std::min(count, bytes_.held().size());
      bytes_.take(some);
      count -= some;
    }
  }

  Status expect(char c) { return expect(std::string_view(&c, 1)); }

  Status expect(std::string_view text) {
    skip_spaces();
    for (const char c : text) {
      if (bytes_.peek() != static_cast<unsigned char>(c))
        return not_here("'" + std::string(text) + "'");
      bytes_.take();
    }
    return {};
  }

  std::string which() const { return "output " + std::to_string(outputs_.size()); }

  Status not_here(const std::string& wanted) {
    const int found = bytes_.peek();
    BTF_TRY(bytes_.trouble());
    if (found == JsonBytes::kEnd) return cut_off(wanted + " was expected");
    return wrong(bytes_.offset(), wanted + " was expected in " + which());
  }

  Status cut_off(const std::string& what) const {
    return malformed("data-past-end", source_.size(),
                     "the file is cut off in " + which() + ": " + what);
  }

  static Status wrong(std::uint64_t at, const std::string& what) {
    return malformed("trtexec-outputs", at,
                     "this is not what trtexec --exportOutput writes: " + what + ", at byte " +
                         std::to_string(at));
  }

  const ByteSource& source_;
  JsonBytes bytes_;
  std::vector<TrtexecOutput> outputs_;
};

}  // namespace

bool begins_as_trtexec_outputs(std::string_view start) {
  for (const std::string_view word : {"[", "{", "\"name\"", ":", "\""}) {
    start = without_spaces(start);
    if (!start.starts_with(word)) return false;
    start.remove_prefix(word.size());
  }
  // A profile of layers has names too.
  return !start.contains("\"timeMs\"");
}

Result<std::vector<TrtexecOutput>> read_trtexec_outputs(const ByteSource& source) {
  return OutputScanner(source).run();
}

}  // namespace btf
