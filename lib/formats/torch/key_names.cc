#include "formats/torch/key_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "formats/pickle/latin_1.h"

namespace btf {
namespace {

using Node = Pickle::Node;

// A tuple may hold another many times over, which holds others so.
constexpr std::size_t kLongest = 256;

class Printer {
 public:
  explicit Printer(const Pickle& pickle) : pickle_(pickle) {}

  std::string take() { return std::move(text_); }

  void print(Node node) {
    if (text_.size() >= kLongest) return cut();
    switch (pickle_.kind(node)) {
      case PickleKind::none:
        return add("None");
      case PickleKind::boolean:
        return add(pickle_.integer(node) != 0 ? "True" : "False");
      case PickleKind::integer:
        return add(std::to_string(pickle_.integer(node)));
      case PickleKind::number:
        return number(pickle_.number(node));
      case PickleKind::long_integer:
        return add(pickle_.text(node));
      case PickleKind::text:
        return add("'" + std::string(pickle_.text(node)) + "'");
      case PickleKind::bytes:
        return bytes(pickle_.text(node));
      case PickleKind::long_text:
        return add(std::to_string(pickle_.integer(node)) + " bytes");
      case PickleKind::global:
        return global(pickle_.text(node));
      case PickleKind::tuple:
        return parts(node, '(', pickle_.parts(node).size() == 1 ? ",)" : ")");
      case PickleKind::list:
        return parts(node, '[', "]");
      case PickleKind::set:
      case PickleKind::dict:
        return parts(node, '{', "}");
      case PickleKind::persistent:
        return add("storage");
      case PickleKind::call:
        return call(node);
    }
  }

 private:
  void add(std::string_view more) { text_ += more; }

  void cut() {
    if (!text_.ends_with("...")) add("...");
  }

  void number(double value) {
    if (!std::isfinite(value)) return add(std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    const double size = std::abs(value);
    const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
    std::array<char, 64> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value,
                      fixed ? std::chars_format::fixed : std::chars_format::scientific);
    const std::string_view text(digits.data(), end.ptr);
    add(text);
    if (fixed && !text.contains('.')) add(".0");
  }

  void bytes(std::string_view run) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    add("b'");
    for (const char c : run.substr(0, kLongest)) {
      const auto byte = static_cast<std::uint8_t>(c);
      if (byte >= 0x20 && byte < 0x7f)
        text_ += c;
      else
        text_.append("\\x").append({kDigits[byte >> 4], kDigits[byte & 0xf]});
    }
    add(run.size() > kLongest ? "...'" : "'");
  }

  void global(std::string_view name) {
    std::string dotted(name);
    std::ranges::replace(dotted, ' ', '.');
    add(dotted);
  }

  void parts(Node node, char begin, std::string_view end) {
    if (!open()) return;
    const std::vector<Node>& all = pickle_.parts(node);
    text_ += begin;
    for (std::size_t i = 0; i < all.size() && text_.size() < kLongest; ++i) {
      if (i > 0) add(", ");
      print(all[i]);
    }
    if (text_.size() >= kLongest) cut();
    text_ += end;
    --depth_;
  }

  void call(Node node) {
    const std::string_view called = pickle_.called(node);
    const std::vector<Node>& arguments = pickle_.arguments(node);
    if (const auto run = latin_1_of(pickle_, node)) return bytes(*run);
    // Members of an enum are so written from Python 3.11 on.
    if ((called == "builtins getattr" || called == "__builtin__ getattr") &&
        arguments.size() == 2 && pickle_.kind(arguments[1]) == PickleKind::text) {
      print_deeper(arguments[0]);
      text_ += '.';
      return add(pickle_.text(arguments[1]));
    }
    print_deeper(pickle_.call(node).called);
    parts(pickle_.call(node).arguments, '(', ")");
  }

  void print_deeper(Node node) {
    if (!open()) return;
    print(node);
    --depth_;
  }

  bool open() {
    constexpr unsigned kMostDepth = 16;
    if (depth_ == kMostDepth) {
      cut();
      return false;
    }
    ++depth_;
    return true;
  }

  const Pickle& pickle_;
  std::string text_;
  unsigned depth_ = 0;
};

}  // namespace

std::string key_name(const Pickle& pickle, Node key) {
  if (pickle.kind(key) == PickleKind::text) return std::string(pickle.text(key));
  Printer printer(pickle);
  printer.print(key);
  return printer.take();
}

}  // namespace btf
