#include "formats/pickle/pickle.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/pickle/makers.h"
#include "formats/pickle/bytes.h"
#include "formats/pickle/literals.h"
#include "formats/pickle/memo.h"
#include "formats/pickle/values.h"

namespace btf {
namespace {

using Node = Pickle::Node;
using Literals = PickleLiterals;

constexpr std::uint64_t kLongestPickle = std::uint64_t{256} << 20;
constexpr std::size_t kMostHeld = std::size_t{1} << 22;  // on the stack

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
      if (values_.too_many() || stack_.size() > kMostHeld || marks_.size() > kMostHeld ||
          memo_.too_far())
        return bytes_.wrong("it makes too many values");
    }
    if (bytes_.left() > 0)
      return bytes_.wrong_behind(std::to_string(bytes_.left()) + " bytes follow behind its end");
    return values_.finish(root_);
  }

 private:
  using Run = Status (Machine::*)(std::uint64_t);
  struct Opcode {
    std::uint8_t code;
    Run run;
    std::uint64_t argument = 0;  // bytes that follow, items that are taken, or a value
  };

  PickleKind kind(Node node) const { return values_.made().kind(node); }
  const std::vector<Node>& parts(Node node) const { return values_.made().parts(node); }

  // --- the stack

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

  // Where nothing was pushed since the last mark, that goes.
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

  // --- values

  Status proto(std::uint64_t) {
    BTF_ASSIGN(const std::uint64_t version, bytes_.number(1));
    if (version <= 5) return {};
    return bytes_.wrong("protocol " + std::to_string(version) + " is unknown");
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

  // --- what holds values

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

  // The result of a call takes them too.
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

  // --- what Python would call

  // The result of another call may be a function, unless it is known to be something else.
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

  // --- what is wanted again

  Status keep(std::uint64_t key) {
    BTF_ASSIGN(const Node node, top());
    if (!memo_.keep(key, node))
      return bytes_.wrong("it stores value " + std::to_string(key) + " of the memo twice");
    return {};
  }

  Status push_kept(std::uint64_t key) {
    const Node node = memo_.find(key);
    if (node == Pickle::kNoNode)
      return bytes_.wrong("it reads value " + std::to_string(key) +
                          " of the memo, which it did not store");
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
    return malformed(kPickleFinding, 0,
                     "the pickle: it has " + std::to_string(source.size()) + " bytes; at most " +
                         std::to_string(kLongestPickle) + " are read, at its byte 0");
  return Machine(source).run();
}

}  // namespace btf
