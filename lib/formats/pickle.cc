// Runs the operations of a pickle without importing or calling anything.
#include "formats/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "formats/pickle_values.h"

namespace btf {
namespace {

// Operations that make a value from the bytes that follow them.

class PickleLiterals {
 public:
  using Node = Pickle::Node;

  PickleLiterals(PickleBytes& bytes, PickleValues& values) : bytes_(bytes), values_(values) {}

  Result<Node> constant(std::uint64_t number);  // None, False and True are 0 to 2
  // Little-endian, with this many bytes; a long one after its length of this many bytes.
  Result<Node> integer(std::uint64_t bytes);
  Result<Node> long_integer(std::uint64_t length_bytes);
  Result<Node> number(std::uint64_t);
  Result<Node> text(std::uint64_t length_bytes);
  Result<Node> bytes(std::uint64_t length_bytes);
  // Protocol 0: one line each.
  Result<Node> integer_line(std::uint64_t);
  Result<Node> number_line(std::uint64_t);
  Result<Node> text_line(std::uint64_t);
  Result<Node> quoted_line(std::uint64_t);
  // Two lines: a module and a name in it.
  Result<Node> global_lines(std::uint64_t);

  Result<Node> global(std::string_view module, std::string_view name);

 private:
  Result<Node> named(PickleKind kind, std::string_view text);
  Result<Node> run_of(PickleKind kind, std::uint64_t length_bytes);

  PickleBytes& bytes_;
  PickleValues& values_;
};

// The memo of a pickle: values that are used again.

// Values by number; Python numbers them from 0.
class PickleMemo {
 public:
  using Node = Pickle::Node;

  // Returns false if the number is already used.
  bool keep(std::uint64_t key, Node node) {
    if (find(key) != Pickle::kNoNode) return false;
    ++count_;
    if (key >= kNear) {
      far_.emplace(key, node);
    } else {
      if (key >= near_.size()) near_.resize(key + 1, Pickle::kNoNode);
      near_[key] = node;
    }
    return true;
  }

  // kNoNode if there is none.
  Node find(std::uint64_t key) const {
    if (key < near_.size()) return near_[key];
    const auto found = far_.find(key);
    return found == far_.end() ? Pickle::kNoNode : found->second;
  }

  std::uint64_t count() const { return count_; }
  bool too_far() const { return far_.size() > kMaxFar; }

 private:
  static constexpr std::uint64_t kNear = std::uint64_t{1} << 22;  // more than a model has values
  static constexpr std::size_t kMaxFar = 65536;

  std::vector<Node> near_;
  std::unordered_map<std::uint64_t, Node> far_;
  std::uint64_t count_ = 0;
};

std::uint8_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

bool is_negative(std::string_view bytes) {
  return !bytes.empty() && (byte_at(bytes, bytes.size() - 1) & 0x80U) != 0;
}

// Removes redundant sign bytes at the end.
std::string_view shortest(std::string_view bytes) {
  while (bytes.size() > 1) {
    const std::uint8_t sign = is_negative(bytes.substr(0, bytes.size() - 1)) ? 0xff : 0;
    if (byte_at(bytes, bytes.size() - 1) != sign) break;
    bytes.remove_suffix(1);
  }
  return bytes;
}

std::string magnitude(std::string_view bytes) {
  std::string absolute(bytes);
  if (!is_negative(bytes)) return absolute;
  unsigned carry = 1;
  for (char& c : absolute) {
    const unsigned sum = (~static_cast<unsigned>(static_cast<std::uint8_t>(c)) & 0xffU) + carry;
    c = static_cast<char>(sum & 0xffU);
    carry = sum >> 8;
  }
  return absolute;
}

std::string decimal(std::string_view bytes) {
  __extension__ using Wide = unsigned __int128;
  Wide value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | byte_at(bytes, i);
  std::string digits;
  do digits += static_cast<char>('0' + static_cast<int>(value % 10));
  while ((value /= 10) != 0);
  std::ranges::reverse(digits);
  return digits;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits = "0x";
  for (std::size_t i = bytes.size(); i-- > 0;) {
    digits += kDigits[byte_at(bytes, i) >> 4];
    digits += kDigits[byte_at(bytes, i) & 0xf];
  }
  return digits;
}

// Two's complement, little-endian; no bytes are 0. Unset if it does not fit.
std::optional<std::int64_t> short_integer(std::string_view bytes) {
  bytes = shortest(bytes);
  if (bytes.size() > 8) return std::nullopt;
  std::uint64_t value = is_negative(bytes) ? ~std::uint64_t{0} : 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | byte_at(bytes, i);
  return static_cast<std::int64_t>(value);
}

// Decimal digits; hexadecimal for more than 16 bytes.
std::string integer_digits(std::string_view bytes) {
  std::string absolute = magnitude(shortest(bytes));
  while (absolute.size() > 1 && absolute.back() == '\0') absolute.pop_back();
  return (is_negative(bytes) ? "-" : "") +
         (absolute.size() <= 16 ? decimal(absolute) : hexadecimal(absolute));
}

// Decimal digits with an optional sign.
bool is_integer(std::string_view digits) {
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  return !digits.empty() &&
         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

// Python names joined by dots; non-ASCII characters count as letters.
bool is_dotted(std::string_view text) {
  bool begins = true;
  for (const char c : text) {
    if (c == '.' && begins) return false;
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                        static_cast<unsigned char>(c) >= 0x80;
    if (c != '.' && !letter && (!digit || begins)) return false;
    begins = c == '.';
  }
  return !begins;
}

}  // namespace

using Node = Pickle::Node;

namespace {

Result<Node> PickleLiterals::constant(std::uint64_t number) {
  return number == 0 ? values_.none() : values_.integer(PickleKind::boolean, number == 2 ? 1 : 0);
}

Result<Node> PickleLiterals::integer(std::uint64_t bytes) {
  BTF_ASSIGN(const std::uint64_t value, bytes_.number(bytes));
  // Only the four-byte form is signed.
  return values_.integer(PickleKind::integer,
                         bytes == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value))
                                    : static_cast<std::int64_t>(value));
}

Result<Node> PickleLiterals::long_integer(std::uint64_t length_bytes) {
  BTF_ASSIGN(const std::uint64_t bytes, bytes_.number(length_bytes));
  BTF_TRY(bytes_.check_length(bytes, "an integer"));
  if (bytes > kLongestPickleText / 4) {
    BTF_TRY(bytes_.skip(bytes, false));
    return values_.integer(PickleKind::long_text, static_cast<std::int64_t>(bytes));
  }
  BTF_ASSIGN(const std::string value, bytes_.text(bytes));
  if (const auto fits = short_integer(value)) return values_.integer(PickleKind::integer, *fits);
  return named(PickleKind::long_integer, integer_digits(value));
}

// Big-endian, unlike all other numbers.
Result<Node> PickleLiterals::number(std::uint64_t) {
  BTF_ASSIGN(const std::uint64_t bits, bytes_.number(8));
  return values_.number(std::bit_cast<double>(__builtin_bswap64(bits)));
}

Result<Node> PickleLiterals::named(PickleKind kind, std::string_view text) {
  if (values_.too_much_text(text.size())) return bytes_.wrong("it has too much text");
  if (kind == PickleKind::text && !is_utf8(text)) return bytes_.wrong("a text is not UTF-8");
  return values_.text(kind, text);
}

Result<Node> PickleLiterals::run_of(PickleKind kind, std::uint64_t length_bytes) {
  BTF_ASSIGN(const std::uint64_t bytes, bytes_.number(length_bytes));
  BTF_TRY(bytes_.check_length(bytes, kind == PickleKind::text ? "a text" : "a run of bytes"));
  if (bytes > kLongestPickleText) {
    BTF_TRY(bytes_.skip(bytes, kind == PickleKind::text));
    return values_.integer(PickleKind::long_text, static_cast<std::int64_t>(bytes));
  }
  BTF_ASSIGN(const std::string text, bytes_.text(bytes));
  return named(kind, text);
}

Result<Node> PickleLiterals::text(std::uint64_t length_bytes) {
  return run_of(PickleKind::text, length_bytes);
}

Result<Node> PickleLiterals::bytes(std::uint64_t length_bytes) {
  return run_of(PickleKind::bytes, length_bytes);
}

Result<Node> PickleLiterals::integer_line(std::uint64_t) {
  BTF_ASSIGN(std::string digits, bytes_.line());
  if (digits == "00" || digits == "01")
    return values_.integer(PickleKind::boolean, digits == "01" ? 1 : 0);
  if (digits.ends_with('L')) digits.pop_back();
  if (digits.starts_with('+')) digits.erase(0, 1);
  if (!is_integer(digits)) return bytes_.wrong("an integer is malformed");
  std::int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc())
    return values_.integer(PickleKind::integer, value);
  return named(PickleKind::long_integer, digits);
}

Result<Node> PickleLiterals::number_line(std::uint64_t) {
  BTF_ASSIGN(const std::string digits, bytes_.line());
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  // Python reads a number that is too large for a double as infinity.
  if (read.ptr != end || read.ec == std::errc::invalid_argument)
    return bytes_.wrong("a number is malformed");
  return values_.number(value);
}

Result<Node> PickleLiterals::text_line(std::uint64_t) {
  BTF_ASSIGN(const std::string text, bytes_.line());
  return named(PickleKind::text, text);
}

Result<Node> PickleLiterals::quoted_line(std::uint64_t) {
  BTF_ASSIGN(const std::string text, bytes_.line());
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') || text.back() != text[0])
    return bytes_.wrong("a text is not in quotes");
  return named(PickleKind::text, std::string_view(text).substr(1, text.size() - 2));
}

Result<Node> PickleLiterals::global_lines(std::uint64_t) {
  BTF_ASSIGN(const std::string module, bytes_.line());
  BTF_ASSIGN(const std::string name, bytes_.line());
  return global(module, name);
}

Result<Node> PickleLiterals::global(std::string_view module, std::string_view name) {
  const std::string both = std::string(module) + " " + std::string(name);
  if (!is_utf8(both) || !is_dotted(module) || !is_dotted(name))
    return bytes_.wrong("the name of a function or class is malformed");
  return named(PickleKind::global, both);
}

using Node = Pickle::Node;
using Literals = PickleLiterals;

constexpr std::uint64_t kLongestPickle = std::uint64_t{256} << 20;
constexpr std::size_t kMaxHeld = std::size_t{1} << 22;  // on the stack

std::string hex(std::uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 0xf]};
}

class Machine {
 public:
  explicit Machine(const ByteSource& source) : bytes_(source), literals_(bytes_, values_) {}

  Result<Pickle> run() {
    while (!stopped_) {
      BTF_ASSIGN(const std::uint64_t code, bytes_.next_operation());
      const auto* const row =
          std::ranges::find(kOpcodes, static_cast<std::uint8_t>(code), &Opcode::code);
      if (row == kOpcodes.end())
        return bytes_.wrong("opcode " + hex(static_cast<std::uint8_t>(code)) +
                            " is not used by a state_dict");
      BTF_TRY((this->*row->run)(row->argument));
      if (values_.too_many() || stack_.size() > kMaxHeld || marks_.size() > kMaxHeld ||
          memo_.too_far())
        return bytes_.wrong("it makes too many values");
    }
    if (bytes_.left() > 0)
      return bytes_.wrong_behind(concat(bytes_.left(), " bytes follow after its end"));
    return values_.finish(root_);
  }

 private:
  using Run = Status (Machine::*)(std::uint64_t);
  struct Opcode {
    std::uint8_t code;
    Run run;
    std::uint64_t argument = 0;  // bytes that follow, items that are popped, or a value
  };

  PickleKind kind(Node node) const { return values_.made().kind(node); }
  const std::vector<Node>& parts(Node node) const { return values_.made().parts(node); }

  // --- The stack.

  Status push(Node node) {
    stack_.push_back(node);
    return {};
  }

  Result<Node> top() const {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) return bytes_.wrong("its stack is empty where a value is needed");
    return stack_.back();
  }

  Result<Node> pop() {
    BTF_ASSIGN(const Node node, top());
    stack_.pop_back();
    return node;
  }

  // The values pushed since the last mark.
  Result<std::vector<Node>> pop_to_mark() {
    if (marks_.empty()) return bytes_.wrong("it has no MARK where one is needed");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Node> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  Status mark(std::uint64_t) {
    marks_.push_back(stack_.size());
    return {};
  }

  // Removes the last mark if nothing was pushed since.
  Status drop(std::uint64_t) {
    if (marks_.empty() || stack_.size() > marks_.back()) {
      BTF_TRY(pop());
    } else {
      marks_.pop_back();
    }
    return {};
  }

  Status drop_to_mark(std::uint64_t) {
    BTF_TRY(pop_to_mark());
    return {};
  }

  Status again(std::uint64_t) {
    BTF_ASSIGN(const Node node, top());
    return push(node);
  }

  // --- Values.

  Status proto(std::uint64_t) {
    BTF_ASSIGN(const std::uint64_t version, bytes_.number(1));
    if (version <= 5) return {};
    return bytes_.wrong(concat("protocol ", version, " is unknown"));
  }

  template <Result<Node> (Literals::*kMake)(std::uint64_t)>
  Status literal(std::uint64_t argument) {
    BTF_ASSIGN(const Node node, (literals_.*kMake)(argument));
    return push(node);
  }

  Status frame(std::uint64_t) {
    BTF_ASSIGN(const std::uint64_t length, bytes_.number(8));
    return bytes_.check_length(length, "a frame");
  }

  Status global_of_texts(std::uint64_t) {
    BTF_ASSIGN(const Node name, pop());
    BTF_ASSIGN(const Node module, pop());
    if (kind(name) != PickleKind::text || kind(module) != PickleKind::text)
      return bytes_.wrong("the name of a function or class is not a string");
    const Pickle& made = values_.made();
    const std::string of(made.text(module));
    BTF_ASSIGN(const Node node, literals_.global(of, std::string(made.text(name))));
    return push(node);
  }

  // --- Containers.

  Status empty(std::uint64_t kind) {
    return push(values_.parts(static_cast<PickleKind>(kind), {}));
  }

  Status of_mark(std::uint64_t kind) {
    BTF_ASSIGN(std::vector<Node> items, pop_to_mark());
    if (static_cast<PickleKind>(kind) == PickleKind::dict) BTF_TRY(check_items(items));
    return push(values_.parts(static_cast<PickleKind>(kind), std::move(items)));
  }

  Status short_tuple(std::uint64_t count) {
    std::vector<Node> items(count);
    for (std::uint64_t i = count; i-- > 0;) {
      BTF_ASSIGN(items[i], pop());
    }
    return push(values_.parts(PickleKind::tuple, std::move(items)));
  }

  Status check_items(const std::vector<Node>& items) const {
    if (items.size() % 2 != 0) return bytes_.wrong("a dict gets a key without a value");
    for (std::size_t i = 0; i < items.size(); i += 2) BTF_TRY(check_key(items[i]));
    return {};
  }

  Status check_key(Node node) const {
    if (kind(node) != PickleKind::list && kind(node) != PickleKind::dict) return {};
    return bytes_.wrong("a key is a list or a dict, which cannot be one");
  }

  // The result of a call can be extended, too.
  Status extend(PickleKind wanted, const std::vector<Node>& items, std::string_view what) {
    BTF_ASSIGN(const Node holder, top());
    if (kind(holder) != PickleKind::call && kind(holder) != wanted)
      return bytes_.wrong(std::string(what) + " for a value of another kind");
    values_.extend(holder, wanted, items);
    return {};
  }

  Status set_items(std::uint64_t) {
    BTF_ASSIGN(const std::vector<Node> items, pop_to_mark());
    BTF_TRY(check_items(items));
    return extend(PickleKind::dict, items, "items of a dict");
  }

  Status set_item(std::uint64_t) {
    BTF_ASSIGN(const Node value, pop());
    BTF_ASSIGN(const Node key, pop());
    BTF_TRY(check_key(key));
    return extend(PickleKind::dict, {key, value}, "an item of a dict");
  }

  Status append_items(std::uint64_t) {
    BTF_ASSIGN(const std::vector<Node> items, pop_to_mark());
    return extend(PickleKind::list, items, "items of a list");
  }

  Status append_item(std::uint64_t) {
    BTF_ASSIGN(const Node item, pop());
    return extend(PickleKind::list, {item}, "an item of a list");
  }

  Status add_items(std::uint64_t) {
    BTF_ASSIGN(const std::vector<Node> items, pop_to_mark());
    for (const Node item : items) BTF_TRY(check_key(item));
    return extend(PickleKind::set, items, "items of a set");
  }

  // --- What Python would call.

  // The result of another call may be a function unless it is known to be something else.
  bool may_be_called(Node node) const {
    if (kind(node) != PickleKind::call) return kind(node) == PickleKind::global;
    const std::string_view made_by = values_.made().called(node);
    return made_by != "collections OrderedDict" && !find_torch_maker(made_by);
  }

  Status push_call(const Pickle::Call& call) {
    if (!may_be_called(call.called))
      return bytes_.wrong("the called value is not a function or class of a module");
    if (kind(call.arguments) != PickleKind::tuple)
      return bytes_.wrong("a call has no tuple of arguments");
    return push(values_.call(call));
  }

  Status reduce(std::uint64_t) {
    BTF_ASSIGN(const Node arguments, pop());
    BTF_ASSIGN(const Node called, pop());
    return push_call({.called = called, .arguments = arguments});
  }

  Status reduce_with_keywords(std::uint64_t) {
    BTF_ASSIGN(const Node keywords, pop());
    BTF_ASSIGN(const Node arguments, pop());
    BTF_ASSIGN(const Node called, pop());
    if (kind(keywords) != PickleKind::dict)
      return bytes_.wrong("keywords of a call are not a dict");
    return push_call({.called = called, .arguments = arguments, .keywords = keywords});
  }

  Status instance(std::uint64_t) {
    BTF_ASSIGN(const Node called, literals_.global_lines(0));
    BTF_ASSIGN(std::vector<Node> items, pop_to_mark());
    return push_call(
        {.called = called, .arguments = values_.parts(PickleKind::tuple, std::move(items))});
  }

  Status object(std::uint64_t) {
    BTF_ASSIGN(std::vector<Node> items, pop_to_mark());
    if (items.empty()) return bytes_.wrong("its stack is empty where a value is needed");
    const Node called = items.front();
    items.erase(items.begin());
    return push_call(
        {.called = called, .arguments = values_.parts(PickleKind::tuple, std::move(items))});
  }

  Status build(std::uint64_t) {
    BTF_ASSIGN(const Node state, pop());
    BTF_ASSIGN(const Node object, top());
    if (kind(object) != PickleKind::call)
      return bytes_.wrong("a state for a value that takes none");
    Pickle::Call& call = values_.call_of(object);
    if (call.state != Pickle::kNoNode) return bytes_.wrong("a second state of one object");
    call.state = state;
    return {};
  }

  Status persistent(std::uint64_t) {
    BTF_ASSIGN(const Node id, pop());
    if (kind(id) != PickleKind::tuple) return bytes_.wrong("the name of a storage is not a tuple");
    return push(values_.parts(PickleKind::persistent, parts(id)));
  }

  // --- The memo.

  Status keep(std::uint64_t key) {
    BTF_ASSIGN(const Node node, top());
    if (!memo_.keep(key, node))
      return bytes_.wrong(concat("it stores value ", key, " of the memo twice"));
    return {};
  }

  Status push_kept(std::uint64_t key) {
    const Node node = memo_.find(key);
    if (node == Pickle::kNoNode)
      return bytes_.wrong(concat("it reads value ", key, " of the memo, which it did not store"));
    return push(node);
  }

  // The key in a line of protocol 0.
  Result<std::uint64_t> key_of_line() {
    BTF_ASSIGN(const std::string digits, bytes_.line());
    std::uint64_t key = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, key);
    if (read.ptr != end || read.ec != std::errc())
      return bytes_.wrong("'" + digits + "' is not the number of a value");
    return key;
  }

  Result<std::uint64_t> key_of(std::uint64_t bytes) {
    return bytes == 0 ? key_of_line() : bytes_.number(bytes);
  }

  Status put(std::uint64_t bytes) {
    BTF_ASSIGN(const std::uint64_t key, key_of(bytes));
    return keep(key);
  }

  Status get(std::uint64_t bytes) {
    BTF_ASSIGN(const std::uint64_t key, key_of(bytes));
    return push_kept(key);
  }

  Status memoize(std::uint64_t) { return keep(memo_.count()); }

  Status stop(std::uint64_t) {
    BTF_ASSIGN(root_, pop());
    if (!stack_.empty() || !marks_.empty()) return bytes_.wrong("it leaves values on its stack");
    stopped_ = true;
    return {};
  }

  static const std::array<Opcode, 62> kOpcodes;

  PickleBytes bytes_;
  PickleValues values_;
  Literals literals_;
  bool stopped_ = false;
  Node root_ = 0;
  std::vector<Node> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  PickleMemo memo_;
};

// clang-format off
constexpr std::uint64_t kOfTuple = static_cast<std::uint64_t>(PickleKind::tuple);
constexpr std::uint64_t kOfList = static_cast<std::uint64_t>(PickleKind::list);
constexpr std::uint64_t kOfSet = static_cast<std::uint64_t>(PickleKind::set);
constexpr std::uint64_t kOfDict = static_cast<std::uint64_t>(PickleKind::dict);

const std::array<Machine::Opcode, 62> Machine::kOpcodes{{
    {0x80, &Machine::proto},
    {0x95, &Machine::frame},
    {'c',  &Machine::literal<&Literals::global_lines>},
    {0x93, &Machine::global_of_texts},                                 // STACK_GLOBAL
    {'N',  &Machine::literal<&Literals::constant>,         0},
    {0x89, &Machine::literal<&Literals::constant>,         1},         // NEWFALSE
    {0x88, &Machine::literal<&Literals::constant>,         2},         // NEWTRUE
    {'K',  &Machine::literal<&Literals::integer>,          1},         // BININT1
    {'M',  &Machine::literal<&Literals::integer>,          2},         // BININT2
    {'J',  &Machine::literal<&Literals::integer>,          4},         // BININT
    {0x8a, &Machine::literal<&Literals::long_integer>,     1},         // LONG1
    {0x8b, &Machine::literal<&Literals::long_integer>,     4},         // LONG4
    {'I',  &Machine::literal<&Literals::integer_line>},
    {'L',  &Machine::literal<&Literals::integer_line>},
    {'G',  &Machine::literal<&Literals::number>},                      // BINFLOAT
    {'F',  &Machine::literal<&Literals::number_line>},
    {'X',  &Machine::literal<&Literals::text>,             4},         // BINUNICODE
    {0x8c, &Machine::literal<&Literals::text>,             1},         // SHORT_BINUNICODE
    {0x8d, &Machine::literal<&Literals::text>,             8},         // BINUNICODE8
    {'U',  &Machine::literal<&Literals::text>,             1},         // SHORT_BINSTRING
    {'T',  &Machine::literal<&Literals::text>,             4},         // BINSTRING
    {'V',  &Machine::literal<&Literals::text_line>},
    {'S',  &Machine::literal<&Literals::quoted_line>},
    {'C',  &Machine::literal<&Literals::bytes>,            1},         // SHORT_BINBYTES
    {'B',  &Machine::literal<&Literals::bytes>,            4},         // BINBYTES
    {0x8e, &Machine::literal<&Literals::bytes>,            8},         // BINBYTES8
    {0x96, &Machine::literal<&Literals::bytes>,            8},         // BYTEARRAY8
    {')',  &Machine::empty,                                kOfTuple},
    {']',  &Machine::empty,                                kOfList},
    {'}',  &Machine::empty,                                kOfDict},
    {0x8f, &Machine::empty,                                kOfSet},
    {'(',  &Machine::mark},
    {'0',  &Machine::drop},                                            // POP
    {'1',  &Machine::drop_to_mark},
    {'2',  &Machine::again},                                           // DUP
    {'t',  &Machine::of_mark,                              kOfTuple},
    {'l',  &Machine::of_mark,                              kOfList},
    {'d',  &Machine::of_mark,                              kOfDict},
    {0x91, &Machine::of_mark,                              kOfSet},    // FROZENSET
    {0x85, &Machine::short_tuple,                          1},
    {0x86, &Machine::short_tuple,                          2},
    {0x87, &Machine::short_tuple,                          3},
    {'s',  &Machine::set_item},
    {'u',  &Machine::set_items},
    {'a',  &Machine::append_item},
    {'e',  &Machine::append_items},
    {0x90, &Machine::add_items},
    {'R',  &Machine::reduce},
    {0x81, &Machine::reduce},                                          // NEWOBJ: of a class
    {0x92, &Machine::reduce_with_keywords},                            // NEWOBJ_EX
    {'i',  &Machine::instance},
    {'o',  &Machine::object},
    {'b',  &Machine::build},
    {'Q',  &Machine::persistent},                                      // BINPERSID
    {'p',  &Machine::put,                                  0},
    {'q',  &Machine::put,                                  1},
    {'r',  &Machine::put,                                  4},
    {0x94, &Machine::memoize},
    {'g',  &Machine::get,                                  0},
    {'h',  &Machine::get,                                  1},
    {'j',  &Machine::get,                                  4},
    {'.',  &Machine::stop},
}};

// clang-format on

}  // namespace

Result<Pickle> Pickle::read(const ByteSource& source) {
  if (source.size() > kLongestPickle)
    return malformed(kPickleFinding, 0, "the pickle: it has ", source.size(), " bytes; at most ",
                     kLongestPickle, " are read, at its byte 0");
  return Machine(source).run();
}

}  // namespace btf
