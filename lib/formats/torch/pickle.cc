#include "formats/torch/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <unordered_map>
#include <utility>

#include "btf/try.h"
#include "core/little_endian.h"
#include "core/utf8.h"
#include "formats/io/window.h"

namespace btf {
namespace {

// A model of a hundred thousand tensors has a pickle of some 20 MB with 2 million values.
constexpr std::uint64_t kLongestPickle = std::uint64_t{256} << 20;
constexpr std::size_t kMostNodes = std::size_t{1} << 22;
constexpr std::size_t kMostParts = std::size_t{1} << 24;  // of all tuples, lists and dicts together
constexpr std::uint64_t kLongestText = 65535;
constexpr std::uint64_t kMostTextBytes = std::uint64_t{64} << 20;

std::string hex(std::uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 0xf]};
}

std::unexpected<Error> wrong(std::uint64_t at, const std::string& what) {
  return malformed(kPickleFinding, at, "the pickle: " + what + ", at its byte " + std::to_string(at));
}

}  // namespace

std::string_view Pickle::text(Node node) const {
  const Entry& entry = nodes_[node];
  return std::string_view(texts_).substr(entry.text.at, entry.text.bytes);
}

class Pickle::Machine {
 public:
  explicit Machine(const ByteSource& source) : source_(source), window_(source, source.size()) {}

  Result<Pickle> run() {
    while (!stopped_) {
      at_ = next_;
      BTF_ASSIGN(const std::uint64_t code, number(1));
      const auto* const row = std::ranges::find(kOpcodes, static_cast<std::uint8_t>(code),
                                                &Opcode::code);
      if (row == kOpcodes.end())
        return wrong(at_, "opcode " + hex(static_cast<std::uint8_t>(code)) +
                              " is none that a state_dict needs");
      BTF_TRY((this->*row->run)(row->argument));
      if (pickle_.nodes_.size() > kMostNodes || part_count_ > kMostParts ||
          memo_.size() > kMostNodes)
        return wrong(at_, "it makes more values than a state_dict has");
    }
    if (next_ != source_.size())
      return wrong(next_, std::to_string(source_.size() - next_) + " bytes follow behind its end");
    return std::move(pickle_);
  }

 private:
  using Run = Status (Machine::*)(std::uint64_t);
  struct Opcode {
    std::uint8_t code;
    Run run;
    std::uint64_t argument = 0;  // bytes that follow, items that are taken, or a value
  };

  // Bytes that follow, little-endian.
  Result<std::uint64_t> number(std::uint64_t bytes) {
    if (source_.size() - next_ < bytes) return wrong(next_, "it ends without a STOP");
    BTF_ASSIGN(const std::byte* const from, window_.at(next_, bytes));
    next_ += bytes;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes; ++i)
      value |= std::to_integer<std::uint64_t>(from[i]) << 8 * i;
    return value;
  }

  Node add(Entry entry) {
    pickle_.nodes_.push_back(entry);
    return static_cast<Node>(pickle_.nodes_.size() - 1);
  }

  Status push(Node node) {
    stack_.push_back(node);
    return {};
  }

  Node add_parts(PickleKind kind, std::vector<Node> parts) {
    part_count_ += parts.size();
    pickle_.parts_.push_back(std::move(parts));
    Entry entry{};
    entry.kind = kind;
    entry.part = static_cast<std::uint32_t>(pickle_.parts_.size() - 1);
    return add(entry);
  }

  Result<Node> pop() {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) return wrong(at_, "its stack is empty where a value is needed");
    const Node node = stack_.back();
    stack_.pop_back();
    return node;
  }

  // What was pushed since the last mark.
  Result<std::vector<Node>> pop_to_mark() {
    if (marks_.empty()) return wrong(at_, "it has no MARK where one is needed");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Node> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  Result<Node> top() const {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) return wrong(at_, "its stack is empty where a value is needed");
    return stack_.back();
  }

  // --- values

  Status proto(std::uint64_t) {
    BTF_ASSIGN(const std::uint64_t version, number(1));
    if (version <= 5) return {};
    return wrong(at_, "protocol " + std::to_string(version) + " is none of Python's");
  }

  Status constant(std::uint64_t kind) {
    Entry entry{};
    entry.kind = kind == 0 ? PickleKind::none : PickleKind::boolean;
    entry.integer = kind == 2 ? 1 : 0;
    return push(add(entry));
  }

  Status integer(std::uint64_t bytes) {
    BTF_ASSIGN(const std::uint64_t value, number(bytes));
    // Only the four-byte form has a sign.
    return push_integer(bytes == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value))
                                   : static_cast<std::int64_t>(value));
  }

  Status push_integer(std::int64_t value) {
    Entry entry{};
    entry.kind = PickleKind::integer;
    entry.integer = value;
    return push(add(entry));
  }

  Status long_integer(std::uint64_t) {
    BTF_ASSIGN(const std::uint64_t bytes, number(1));
    if (bytes > 8) return wrong(at_, "an integer has " + std::to_string(bytes) + " bytes");
    BTF_ASSIGN(std::uint64_t value, number(bytes));
    const bool negative = bytes > 0 && (value >> (8 * bytes - 1) & 1U) != 0;
    if (negative && bytes < 8) value |= ~std::uint64_t{0} << 8 * bytes;
    return push_integer(static_cast<std::int64_t>(value));
  }

  // The one number that stands big-endian.
  Status floating(std::uint64_t) {
    BTF_ASSIGN(const std::uint64_t bits, number(8));
    Entry entry{};
    entry.kind = PickleKind::number;
    entry.number = std::bit_cast<double>(__builtin_bswap64(bits));
    return push(add(entry));
  }

  Result<Node> text_of(PickleKind kind, std::uint64_t bytes) {
    if (bytes > source_.size() - next_)
      return wrong(at_, "a text has " + std::to_string(bytes) + " bytes, and " +
                            std::to_string(source_.size() - next_) + " are left");
    if (bytes > kLongestText)
      return wrong(at_, "a text of " + std::to_string(bytes) + " bytes is too long to be a name");
    std::string& texts = pickle_.texts_;
    if (texts.size() + bytes > kMostTextBytes) return wrong(at_, "it has more text than names need");
    Entry entry{};
    entry.kind = kind;
    entry.text = {static_cast<std::uint32_t>(texts.size()), static_cast<std::uint32_t>(bytes)};
    texts.resize(texts.size() + bytes);
    const auto to = std::as_writable_bytes(std::span(texts).last(bytes));
    if (bytes <= Window::kBytes) {
      BTF_ASSIGN(const std::byte* const from, window_.at(next_, bytes));
      std::copy_n(from, bytes, to.begin());
    } else {
      BTF_TRY(source_.read_at(next_, to));
    }
    next_ += bytes;
    if (!is_utf8(std::string_view(texts).substr(texts.size() - bytes)))
      return wrong(at_, "a text is not UTF-8");
    return add(entry);
  }

  Status text(std::uint64_t length_bytes) {
    BTF_ASSIGN(const std::uint64_t bytes, number(length_bytes));
    BTF_ASSIGN(const Node node, text_of(PickleKind::text, bytes));
    return push(node);
  }

  // Two lines: the module, and what is in it.
  Status global(std::uint64_t) {
    std::string name;
    for (int lines = 0; lines < 2;) {
      BTF_ASSIGN(const std::uint64_t c, number(1));
      if (c != '\n') name += static_cast<char>(c);
      if (c == '\n' && ++lines == 1) name += ' ';
      if (name.size() > kLongestText) return wrong(at_, "the name of a class is too long");
    }
    std::string& texts = pickle_.texts_;
    if (texts.size() + name.size() > kMostTextBytes)
      return wrong(at_, "it has more text than names need");
    Entry entry{};
    entry.kind = PickleKind::global;
    entry.text = {static_cast<std::uint32_t>(texts.size()),
                  static_cast<std::uint32_t>(name.size())};
    texts += name;
    return push(add(entry));
  }

  // --- what holds values

  Status empty(std::uint64_t kind) {
    return push(add_parts(static_cast<PickleKind>(kind), {}));
  }

  Status mark(std::uint64_t) {
    marks_.push_back(stack_.size());
    if (marks_.size() > kMostNodes) return wrong(at_, "it makes more values than a state_dict has");
    return {};
  }

  Status tuple(std::uint64_t) {
    BTF_ASSIGN(std::vector<Node> items, pop_to_mark());
    return push(add_parts(PickleKind::tuple, std::move(items)));
  }

  Status short_tuple(std::uint64_t count) {
    std::vector<Node> items(count);
    for (std::uint64_t i = count; i-- > 0;) {
      BTF_ASSIGN(items[i], pop());
    }
    return push(add_parts(PickleKind::tuple, std::move(items)));
  }

  // What a call would return takes them too, and nobody knows what it would do with them.
  Status extend(PickleKind wanted, const std::vector<Node>& items, std::string_view what) {
    BTF_ASSIGN(const Node holder, top());
    const PickleKind kind = pickle_.kind(holder);
    if (kind == PickleKind::call) return {};
    if (kind != wanted) return wrong(at_, std::string(what) + " of something that is none");
    std::vector<Node>& parts = pickle_.parts_[pickle_.nodes_[holder].part];
    parts.insert(parts.end(), items.begin(), items.end());
    part_count_ += items.size();
    return {};
  }

  Status set_items(std::uint64_t) {
    BTF_ASSIGN(const std::vector<Node> items, pop_to_mark());
    if (items.size() % 2 != 0) return wrong(at_, "a dict gets a key without a value");
    return extend(PickleKind::dict, items, "items of a dict");
  }

  Status set_item(std::uint64_t) {
    BTF_ASSIGN(const Node value, pop());
    BTF_ASSIGN(const Node key, pop());
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

  // --- what Python would call

  Status reduce(std::uint64_t) {
    BTF_ASSIGN(const Node arguments, pop());
    BTF_ASSIGN(const Node called, pop());
    if (pickle_.kind(arguments) != PickleKind::tuple)
      return wrong(at_, "a call has no tuple of arguments");
    if (pickle_.kind(called) != PickleKind::global)
      return wrong(at_, "what is called is no function or class of a module");
    // The one class that is known is a dict.
    if (pickle_.text(called) == "collections OrderedDict" && pickle_.parts(arguments).empty())
      return push(add_parts(PickleKind::dict, {}));
    return push(add_parts(PickleKind::call, {called, arguments}));
  }

  // The state of an object is nothing that a tensor needs.
  Status build(std::uint64_t) {
    BTF_TRY(pop());
    BTF_TRY(top());
    return {};
  }

  Status persistent(std::uint64_t) {
    BTF_ASSIGN(const Node id, pop());
    if (pickle_.kind(id) != PickleKind::tuple) return wrong(at_, "a storage is named by no tuple");
    return push(add_parts(PickleKind::persistent, pickle_.parts(id)));
  }

  // --- what is wanted again

  Status put(std::uint64_t bytes) {
    BTF_ASSIGN(const std::uint64_t key, number(bytes));
    BTF_ASSIGN(memo_[key], top());
    return {};
  }

  Status get(std::uint64_t bytes) {
    BTF_ASSIGN(const std::uint64_t key, number(bytes));
    const auto found = memo_.find(key);
    if (found == memo_.end())
      return wrong(at_, "it wants value " + std::to_string(key) + " again, which it did not keep");
    return push(found->second);
  }

  Status stop(std::uint64_t) {
    BTF_ASSIGN(pickle_.root_, pop());
    if (!stack_.empty() || !marks_.empty()) return wrong(at_, "it leaves values on its stack");
    stopped_ = true;
    return {};
  }

  static const std::array<Opcode, 34> kOpcodes;

  const ByteSource& source_;
  Window window_;
  std::uint64_t next_ = 0;  // byte
  std::uint64_t at_ = 0;    // of the opcode
  bool stopped_ = false;
  Pickle pickle_;
  std::vector<Node> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::unordered_map<std::uint64_t, Node> memo_;
  std::size_t part_count_ = 0;
};

// clang-format off
constexpr std::uint64_t kOfTuple = static_cast<std::uint64_t>(PickleKind::tuple);
constexpr std::uint64_t kOfList = static_cast<std::uint64_t>(PickleKind::list);
constexpr std::uint64_t kOfDict = static_cast<std::uint64_t>(PickleKind::dict);

const std::array<Pickle::Machine::Opcode, 34> Pickle::Machine::kOpcodes{{
    {0x80, &Machine::proto},
    {'c',  &Machine::global},
    {'N',  &Machine::constant,     0},
    {0x89, &Machine::constant,     1},         // NEWFALSE
    {0x88, &Machine::constant,     2},         // NEWTRUE
    {'K',  &Machine::integer,      1},         // BININT1
    {'M',  &Machine::integer,      2},         // BININT2
    {'J',  &Machine::integer,      4},         // BININT
    {0x8a, &Machine::long_integer},            // LONG1
    {'G',  &Machine::floating},                // BINFLOAT
    {'X',  &Machine::text,         4},         // BINUNICODE
    {'U',  &Machine::text,         1},         // SHORT_BINSTRING
    {')',  &Machine::empty,        kOfTuple},
    {']',  &Machine::empty,        kOfList},
    {'}',  &Machine::empty,        kOfDict},
    {0x8f, &Machine::empty,        kOfList},   // EMPTY_SET
    {'(',  &Machine::mark},
    {'t',  &Machine::tuple},
    {0x85, &Machine::short_tuple,  1},
    {0x86, &Machine::short_tuple,  2},
    {0x87, &Machine::short_tuple,  3},
    {'s',  &Machine::set_item},
    {'u',  &Machine::set_items},
    {'a',  &Machine::append_item},
    {'e',  &Machine::append_items},
    {'R',  &Machine::reduce},
    {0x81, &Machine::reduce},                  // NEWOBJ: of a class
    {'b',  &Machine::build},
    {'Q',  &Machine::persistent},              // BINPERSID
    {'q',  &Machine::put,          1},
    {'r',  &Machine::put,          4},
    {'h',  &Machine::get,          1},
    {'j',  &Machine::get,          4},
    {'.',  &Machine::stop},
}};
// clang-format on

Result<Pickle> Pickle::read(const ByteSource& source) {
  if (source.size() > kLongestPickle)
    return wrong(0, "it has " + std::to_string(source.size()) + " bytes; at most " +
                        std::to_string(kLongestPickle) + " are read");
  return Machine(source).run();
}

}  // namespace btf
