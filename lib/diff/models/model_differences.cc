#include "diff/models/model_differences.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "btf/try.h"
#include "diff/models/description.h"
#include "formats/onnx/kind.h"

namespace btf {
namespace {

constexpr std::string_view kNode = "node";
// Of the graph as a whole; said only where the same names are on both sides.
constexpr std::string_view kOrder = "order of ";

Result<bool> is_model(const TensorFile& file) {
  if (file.format() != "onnx" || file.more_follows()) return false;
  BTF_ASSIGN(const OnnxKind kind, onnx_kind(file.source()));
  return kind == OnnxKind::model;
}

Result<std::vector<OnnxPart>> parts_of(const TensorFile& file) {
  auto parts = describe_onnx_model(file.source());
  if (!parts) return std::unexpected(parts.error().within("its graph").in_file(file.path()));
  return parts;
}

// Which parts of two models belong together: those of one kind and name. Nodes go by name and first
// output, then by name, then by first output, as far as only one is called so.
class Pairing {
 public:
  using Parts = std::vector<OnnxPart>;

  Pairing(const Parts& actual, const Parts& golden)
      : actual_(actual), golden_(golden), partner_(golden.size()), taken_(actual.size(), false) {
    using Key = std::optional<std::string> (*)(const OnnxPart&);
    const Key by_both = [](const OnnxPart& part) -> std::optional<std::string> {
      if (part.name.empty() && part.output.empty() && part.kind == kNode) return std::nullopt;
      return part.kind + '\0' + part.name + '\0' + part.output;
    };
    const Key by_name = [](const OnnxPart& part) -> std::optional<std::string> {
      if (part.kind != kNode || part.name.empty()) return std::nullopt;
      return part.name;
    };
    const Key by_output = [](const OnnxPart& part) -> std::optional<std::string> {
      if (part.kind != kNode || part.output.empty()) return std::nullopt;
      return part.output;
    };
    for (const Key key : {by_both, by_name, by_output}) pair(key);
    // Nodes without names and outputs are told apart by nothing: in their order.
    pair_in_order();
  }

  std::optional<std::size_t> of_golden(std::size_t g) const { return partner_[g]; }
  bool is_taken(std::size_t a) const { return taken_[a]; }

 private:
  static constexpr std::size_t kSeveral = SIZE_MAX;

  template <typename Key>
  void pair(Key key) {
    std::unordered_map<std::string, std::size_t> by_key;
    for (std::size_t a = 0; a < actual_.size(); ++a) {
      if (taken_[a]) continue;
      const auto own = key(actual_[a]);
      if (!own) continue;
      const auto [at, first] = by_key.emplace(*own, a);
      if (!first) at->second = kSeveral;
    }
    std::set<std::string> several;
    std::unordered_map<std::string, std::size_t> of_golden;
    for (std::size_t g = 0; g < golden_.size(); ++g) {
      if (partner_[g]) continue;
      const auto own = key(golden_[g]);
      if (own && !of_golden.emplace(*own, g).second) several.insert(*own);
    }
    for (const auto& [own, g] : of_golden) {
      const auto found = by_key.find(own);
      if (found == by_key.end() || found->second == kSeveral || several.contains(own)) continue;
      take(found->second, g);
    }
  }

  void pair_in_order() {
    std::map<std::string, std::vector<std::size_t>> rest;
    const auto same = [](const OnnxPart& part) {
      std::string key = part.kind + '\0' + part.name + '\0' + part.output;
      for (const auto& [what, value] : part.says) key += '\0' + what + '\0' + value;
      return key;
    };
    for (std::size_t a = actual_.size(); a-- > 0;)
      if (!taken_[a]) rest[same(actual_[a])].push_back(a);
    for (std::size_t g = 0; g < golden_.size(); ++g) {
      if (partner_[g]) continue;
      const auto found = rest.find(same(golden_[g]));
      if (found == rest.end() || found->second.empty()) continue;
      take(found->second.back(), g);
      found->second.pop_back();
    }
  }

  void take(std::size_t a, std::size_t g) {
    partner_[g] = a;
    taken_[a] = true;
  }

  const Parts& actual_;
  const Parts& golden_;
  std::vector<std::optional<std::size_t>> partner_;  // of golden's
  std::vector<bool> taken_;                          // of actual's
};

std::string name_of(const OnnxPart& part) {
  return part.name.empty() ? part.output : part.name;
}

// What there is, where one side has no such part.
std::string whole_of(const OnnxPart& part) {
  for (const char* what : {"operator", "type", "version", "inputs"})
    if (const auto found = part.says.find(what); found != part.says.end()) return found->second;
  return "there";
}

class Comparison {
 public:
  Comparison(const std::vector<OnnxPart>& actual, const std::vector<OnnxPart>& golden)
      : actual_(actual), golden_(golden), pairing_(actual, golden) {}

  ModelDifferences run() {
    for (std::size_t g = 0; g < golden_.size(); ++g) {
      found_.nodes += golden_[g].kind == kNode ? 1U : 0U;
      if (const auto a = pairing_.of_golden(g))
        compare(actual_[*a], golden_[g]);
      else
        one_sided(golden_[g], false);
    }
    for (std::size_t a = 0; a < actual_.size(); ++a) {
      if (pairing_.is_taken(a)) continue;
      found_.nodes += actual_[a].kind == kNode ? 1U : 0U;
      one_sided(actual_[a], true);
    }
    drop_orders();
    found_.models = true;
    return std::move(found_);
  }

 private:
  void compare(const OnnxPart& actual, const OnnxPart& golden) {
    const auto add = [&](const std::string& what, const std::string& left,
                         const std::string& right) {
      found_.all.push_back({golden.kind, name_of(golden), what, left, right});
    };
    if (golden.kind == kNode && actual.name != golden.name)
      add("name", actual.name, golden.name);
    for (const auto& [what, value] : golden.says) {
      const auto other = actual.says.find(what);
      if (other == actual.says.end())
        add(what, "", value);
      else if (other->second != value)
        add(what, other->second, value);
    }
    for (const auto& [what, value] : actual.says)
      if (!golden.says.contains(what)) add(what, value, "");
  }

  void one_sided(const OnnxPart& part, bool actual) {
    // The attribute that it is a value of says it.
    if (part.kind == "graph") return;
    if (part.kind == "input" || part.kind == "output")
      one_sided_.insert(part.kind + '\0' + part.output);
    std::string whole = whole_of(part);
    found_.all.push_back({part.kind, name_of(part), "", actual ? whole : "", actual ? "" : whole});
  }

  // Where an input has another name, that says it.
  void drop_orders() {
    std::erase_if(found_.all, [&](const FileDifference& found) {
      const std::string kind = found.what == "order of inputs" ? "input" : "output";
      return found.what.starts_with(kOrder) && one_sided_.contains(kind + '\0' + found.subject);
    });
  }

  const std::vector<OnnxPart>& actual_;
  const std::vector<OnnxPart>& golden_;
  Pairing pairing_;
  std::set<std::string> one_sided_;
  ModelDifferences found_;
};

}  // namespace

std::string ModelDifferences::summary() const {
  if (all.empty()) return {};
  constexpr std::size_t kMostNodes = 3;
  constexpr std::size_t kMostSaid = 4;
  std::vector<std::pair<std::string, std::vector<std::string>>> of_nodes;
  std::map<std::string, std::uint64_t> others;
  for (const FileDifference& found : all) {
    if (found.part != kNode) {
      ++others[found.part];
      continue;
    }
    if (of_nodes.empty() || of_nodes.back().first != found.subject)
      of_nodes.emplace_back(found.subject, std::vector<std::string>());
    of_nodes.back().second.push_back(
        !found.what.empty() ? found.what : found.actual.empty() ? "missing" : "only in actual");
  }
  std::string text = "only tensors were compared; the graphs differ in ";
  std::string list;
  if (!of_nodes.empty()) {
    text += std::to_string(of_nodes.size()) + " of " + std::to_string(nodes) +
            (nodes == 1 ? " node" : " nodes");
    for (std::size_t i = 0; i < std::min(kMostNodes, of_nodes.size()); ++i) {
      list += (i == 0 ? ": " : "; ") + of_nodes[i].first;
      const auto& said = of_nodes[i].second;
      for (std::size_t w = 0; w < std::min(kMostSaid, said.size()); ++w)
        list += (w == 0 ? " " : ", ") + said[w];
      if (said.size() > kMostSaid) list += ", ...";
    }
    if (of_nodes.size() > kMostNodes) list += "; ...";
  }
  std::string rest;
  for (const auto& [part, count] : others)
    rest += (rest.empty() ? "" : ", ") + std::to_string(count) + " " + part +
            (count == 1 ? "" : "s");
  if (!rest.empty()) text += (of_nodes.empty() ? "" : " and ") + rest;
  return text + list;
}

Result<ModelDifferences> ModelDifferences::of(const TensorFile& actual, const TensorFile& golden) {
  BTF_ASSIGN(const bool left, is_model(actual));
  BTF_ASSIGN(const bool right, is_model(golden));
  if (!left || !right) return ModelDifferences();
  BTF_ASSIGN(const std::vector<OnnxPart> of_actual, parts_of(actual));
  BTF_ASSIGN(const std::vector<OnnxPart> of_golden, parts_of(golden));
  return Comparison(of_actual, of_golden).run();
}

}  // namespace btf
