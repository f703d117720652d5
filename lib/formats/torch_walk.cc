#include "formats/torch_walk.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "btf/try.h"
#include "core/errors.h"
#include "formats/pickle_values.h"
#include "formats/torch_tensors.h"

namespace btf {
namespace {

using Node = Pickle::Node;
using Name = std::optional<std::string>;

// Limits the values visited on the way through dicts and lists; shared values count every time.
constexpr std::uint64_t kMaxSteps = 1U << 23;
constexpr unsigned kMaxDepth = 600;  // about as deep as Python can write
constexpr std::size_t kMaxTensors = std::size_t{1} << 20;
constexpr std::size_t kLongestName = 65535;
constexpr std::size_t kMaxNameBytes = std::size_t{64} << 20;  // of names that are kept
constexpr std::size_t kMaxMadeBytes = std::size_t{1} << 30;   // of names created on the way to them

// How the arguments of a class become its content.
enum class Content : std::uint8_t {
  items,     // a dict, or pairs of keys and values
  elements,  // a list
  third,     // content of the third argument
};

struct ContentRow {
  std::string_view global;
  Content content{};
};

// clang-format off
constexpr auto kContents = std::to_array<ContentRow>({
    {"collections OrderedDict",   Content::items},
    {"collections defaultdict",   Content::items},
    {"collections Counter",       Content::items},
    {"collections UserDict",      Content::items},
    {"builtins dict",             Content::items},
    {"__builtin__ dict",          Content::items},
    {"types MappingProxyType",    Content::items},
    {"builtins list",             Content::elements},
    {"__builtin__ list",          Content::elements},
    {"builtins tuple",            Content::elements},
    {"__builtin__ tuple",         Content::elements},
    {"builtins set",              Content::elements},
    {"__builtin__ set",           Content::elements},
    {"builtins frozenset",        Content::elements},
    {"__builtin__ frozenset",     Content::elements},
    {"collections deque",         Content::elements},
    {"copyreg _reconstructor",    Content::third},
    {"copy_reg _reconstructor",   Content::third},
});

// clang-format on

class Walk {
 public:
  // `once`: shared values are only visited at their first place.
  Walk(const Pickle& pickle, bool once)
      : pickle_(pickle),
        once_(once),
        open_(pickle.node_count()),
        without_tensors_(pickle.node_count()) {}

  bool gave_up() const { return gave_up_; }

  Result<std::vector<NamedNode>> run() {
    BTF_TRY(visit(pickle_.root(), std::nullopt));
    if (found_.empty() && others_ > 0)
      return fail(ErrorCode::unsupported,
                  "holds no tensors in dicts or lists, but an object of '" + first_other_ +
                      "'; torch.save(model.state_dict(), ...) writes a file that btftool reads");
    return std::move(found_);
  }

 private:
  // Does not descend into a value within itself, nor again into values that contain no tensors.
  Status visit(Node node, const Name& name) {
    if (without_tensors_[node]) return {};
    if (open_[node]) {
      ++cuts_;
      return {};
    }
    if (depth_ == kMaxDepth)
      return wrong_pickle(concat("its dicts and lists are nested more than ", kMaxDepth, " deep"));
    const std::size_t found = found_.size();
    const std::uint64_t cuts = cuts_;
    open_[node] = true;
    ++depth_;
    BTF_TRY(visit_open(node, name));
    --depth_;
    open_[node] = once_;
    without_tensors_[node] = found == found_.size() && cuts == cuts_;
    return {};
  }

  Status visit_open(Node node, const Name& name) {
    switch (pickle_.kind(node)) {
      case PickleKind::persistent:
        return take(node, name);
      case PickleKind::call:
        return visit_call(node, name);
      case PickleKind::dict:
        return visit_items(pickle_.parts(node), name);
      case PickleKind::list:
      case PickleKind::tuple:
      case PickleKind::set:
        return visit_elements(pickle_.parts(node), name);
      default:
        return {};
    }
  }

  Status take(Node node, const Name& name) {
    name_bytes_ += name ? name->size() : 0;
    if (found_.size() == kMaxTensors) return give_up("it has too many tensors");
    if (name_bytes_ > kMaxNameBytes) return give_up("the names of its tensors are too long");
    found_.push_back({name, node});
    return {};
  }

  Status look_at(std::size_t count) {
    steps_ += count;
    if (steps_ <= kMaxSteps) return {};
    return give_up("its dicts and lists have too many values");
  }

  std::unexpected<Error> give_up(const std::string& what) {
    gave_up_ = true;
    return wrong_pickle(what);
  }

  // Names are only built for values that may need them.
  bool needs_name(Node node) const {
    return !without_tensors_[node] &&
           (holds_parts(node) || pickle_.kind(node) == PickleKind::call ||
            pickle_.kind(node) == PickleKind::persistent);
  }
  bool holds_parts(Node node) const {
    const PickleKind kind = pickle_.kind(node);
    return (kind == PickleKind::dict || kind == PickleKind::list || kind == PickleKind::tuple ||
            kind == PickleKind::set) &&
           !pickle_.parts(node).empty();
  }

  Status visit_part(Node node, const Name& name, std::string_view key) {
    std::string longer = name ? *name + "." : std::string();
    longer += key;
    made_bytes_ += longer.size();
    if (longer.size() > kLongestName) return wrong_pickle("the name of a tensor is too long");
    if (made_bytes_ > kMaxMadeBytes) return give_up("the names in it are too long");
    return visit(node, longer);
  }

  Status visit_elements(const std::vector<Node>& parts, const Name& name) {
    BTF_TRY(look_at(parts.size()));
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (needs_name(parts[i])) BTF_TRY(visit_part(parts[i], name, std::to_string(i)));
    return {};
  }

  // Different keys may have the same text, as 7 and "7".
  Status visit_items(const std::vector<Node>& items, const Name& name) {
    BTF_TRY(look_at(items.size()));
    std::map<std::string, std::uint64_t> names;
    for (std::size_t i = 0; i < items.size(); i += 2) {
      if (!needs_name(items[i + 1])) continue;
      const std::size_t found = found_.size();
      const std::string key = key_name(pickle_, items[i]);
      BTF_TRY(visit_part(items[i + 1], name, key));
      if (found == found_.size()) continue;
      const std::uint64_t number = ++names[key];
      if (number == 1) continue;
      const std::size_t behind = (name ? name->size() + 1 : 0) + key.size();
      for (std::size_t f = found; f < found_.size(); ++f)
        found_[f].name->insert(behind, concat(" (", number, ")"));
    }
    return {};
  }

  Status visit_call(Node node, const Name& name) {
    if (const auto maker = find_torch_maker(pickle_.called(node))) {
      BTF_TRY(take(node, name));
      return visit_attributes_of_tensor(node, name);
    }
    const auto* const row = std::ranges::find(kContents, pickle_.called(node), &ContentRow::global);
    if (row == kContents.end() && others_++ == 0) {
      first_other_ = pickle_.called(node);
      std::ranges::replace(first_other_, ' ', '.');
    }
    BTF_TRY(row == kContents.end() ? visit_elements(pickle_.arguments(node), name)
                                   : visit_content(row->content, node, name));
    const Pickle::Call& call = pickle_.call(node);
    if (call.keywords != Pickle::kNoNode) BTF_TRY(visit(call.keywords, name));
    if (call.items != Pickle::kNoNode) BTF_TRY(visit(call.items, name));
    if (call.elements != Pickle::kNoNode) BTF_TRY(visit(call.elements, name));
    return call.state == Pickle::kNoNode ? Status() : visit_state(call.state, name);
  }

  // A tensor, its wrapper, and its own class may each have attributes.
  Status visit_attributes_of_tensor(Node node, const Name& name) {
    for (int depth = 0; depth < 8; ++depth) {
      const auto maker = find_torch_maker(pickle_.called(node));
      if (!maker) return {};
      const std::vector<Node>& arguments = pickle_.arguments(node);
      const Node state = pickle_.call(node).state;
      if (state != Pickle::kNoNode) BTF_TRY(visit_state(state, name));
      if (maker->state && arguments.size() > *maker->state)
        BTF_TRY(visit_state(arguments[*maker->state], name));
      if (maker->how != TorchMaking::wrapped || arguments.empty() ||
          pickle_.kind(arguments[0]) != PickleKind::call)
        return {};
      node = arguments[0];
    }
    return {};
  }

  Status visit_content(Content content, Node node, const Name& name) {
    const std::vector<Node>& arguments = pickle_.arguments(node);
    if (content == Content::third)
      return arguments.size() > 2 ? visit(arguments[2], name) : Status();
    for (const Node argument : arguments) {
      if (content == Content::items && is_list(argument))
        BTF_TRY(visit_pairs(argument, name));
      else
        BTF_TRY(visit(argument, name));
    }
    return {};
  }

  bool is_list(Node node) const {
    return pickle_.kind(node) == PickleKind::list || pickle_.kind(node) == PickleKind::tuple;
  }

  Status visit_pairs(Node list, const Name& name) {
    BTF_TRY(look_at(pickle_.parts(list).size()));
    std::vector<Node> items;
    for (const Node pair : pickle_.parts(list)) {
      if (!is_list(pair) || pickle_.parts(pair).size() != 2) return visit(list, name);
      items.insert(items.end(), pickle_.parts(pair).begin(), pickle_.parts(pair).end());
    }
    return visit_items(items, name);
  }

  // An object's attributes: a dict, and a second one if its class has slots.
  Status visit_state(Node state, const Name& name) {
    if (pickle_.kind(state) == PickleKind::dict) return visit_attributes(state, name);
    const auto attributes = [&](Node node) {
      return pickle_.kind(node) == PickleKind::dict || pickle_.kind(node) == PickleKind::none;
    };
    const bool two = pickle_.kind(state) == PickleKind::tuple && pickle_.parts(state).size() == 2 &&
                     std::ranges::all_of(pickle_.parts(state), attributes);
    if (!two) return visit(state, name);
    for (const Node part : pickle_.parts(state))
      if (pickle_.kind(part) == PickleKind::dict) BTF_TRY(visit_attributes(part, name));
    return {};
  }

  // The contents of a module are named as in its state_dict; its other attributes come last.
  Status visit_attributes(Node state, const Name& name) {
    constexpr auto kOfModule =
        std::to_array<std::string_view>({"_parameters", "_buffers", "_modules"});
    const std::vector<Node>& items = pickle_.parts(state);
    BTF_TRY(look_at(items.size()));
    const auto named = [&](std::string_view key) {
      for (std::size_t i = 0; i < items.size(); i += 2)
        if (pickle_.kind(items[i]) == PickleKind::text && pickle_.text(items[i]) == key)
          return items[i + 1];
      return Pickle::kNoNode;
    };
    if (!std::ranges::all_of(kOfModule,
                             [&](std::string_view key) { return named(key) != Pickle::kNoNode; }))
      return visit(state, name);
    for (const std::string_view key : kOfModule) BTF_TRY(visit(named(key), name));
    std::vector<Node> others;
    for (std::size_t i = 0; i < items.size(); i += 2)
      if (pickle_.kind(items[i]) != PickleKind::text ||
          std::ranges::find(kOfModule, pickle_.text(items[i])) == kOfModule.end())
        others.insert(others.end(), {items[i], items[i + 1]});
    return visit_items(others, name);
  }

  const Pickle& pickle_;
  bool once_;
  std::vector<bool> open_;             // values being visited
  std::vector<bool> without_tensors_;  // values that contain no tensors
  unsigned depth_ = 0;
  std::uint64_t steps_ = 0;
  bool gave_up_ = false;    // exceeded a limit
  std::uint64_t cuts_ = 0;  // number of values found within themselves
  std::size_t name_bytes_ = 0;
  std::size_t made_bytes_ = 0;
  std::vector<NamedNode> found_;
  std::uint64_t others_ = 0;  // objects that are not tensors
  std::string first_other_;
};

}  // namespace

Result<std::vector<NamedNode>> find_torch_tensors(const Pickle& pickle) {
  {
    Walk walk(pickle, false);
    auto found = walk.run();
    if (found || !walk.gave_up()) return found;
  }
  // Objects that all refer to each other have too many paths between them.
  return Walk(pickle, true).run();
}

std::set<std::string, std::less<>> storages_of(const Pickle& pickle,
                                               const std::vector<NamedNode>& tensors) {
  std::set<std::string, std::less<>> keys;
  std::vector<bool> seen(pickle.node_count());
  std::vector<Node> waiting;
  for (const NamedNode& tensor : tensors) waiting.push_back(tensor.node);
  while (!waiting.empty()) {
    const Node node = waiting.back();
    waiting.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    const PickleKind kind = pickle.kind(node);
    if (kind == PickleKind::call) {
      waiting.push_back(pickle.call(node).arguments);
    } else if (kind == PickleKind::persistent) {
      const std::vector<Node>& parts = pickle.parts(node);
      if (parts.size() > 2 && pickle.kind(parts[2]) == PickleKind::text)
        keys.emplace(pickle.text(parts[2]));
    } else if (kind == PickleKind::tuple || kind == PickleKind::list || kind == PickleKind::set ||
               kind == PickleKind::dict) {
      waiting.insert(waiting.end(), pickle.parts(node).begin(), pickle.parts(node).end());
    }
  }
  return keys;
}

}  // namespace btf
