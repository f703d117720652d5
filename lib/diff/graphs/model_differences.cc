// The nodes, inputs, outputs, operator sets and functions of a model as text that can be compared,
// and their differences.
#include "diff/graphs/model_differences.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/try.h"
#include "core/numbers.h"
#include "formats/io/byte_source.h"
#include "formats/onnx.h"
#include "formats/onnx_model.h"

namespace btf {
namespace {

struct OnnxPart {
  std::string kind;  // "node", "input", "output", "opset", "function", "graph"
  std::string name;  // with the path of subgraphs and functions; may be empty for nodes
  std::string
      output;  // of a node: its first output, with its path; of an input or output: its position
  // "operator" -> "Conv", "inputs" -> "['x', 'w']", and attributes by name. Long values end with a
  // digest of the whole value, so equal texts mean equal values.
  std::map<std::string, std::string> says{};
};

// From a file with a few bytes per part, these take some hundred MB.
constexpr std::size_t kMaxParts = 1U << 20;
constexpr std::size_t kMaxFields = 1U << 20;  // in one message that is a value
constexpr unsigned kDeepest = 32;             // nested messages

std::unexpected<Error> too_many(const std::string& what) {
  return fail(ErrorCode::unsupported, "has more than " + what + ", which are not compared");
}

std::string hex(std::uint64_t number, std::size_t digits) {
  std::string text(digits, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4)
    *digit = "0123456789abcdef"[number & 0xf];
  return text;
}

// A value as text. Of a long value only the beginning is kept, with a digest of all of it.
class ValueText {
 public:
  void add(std::string_view text) {
    for (const char c : text) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    size_ += text.size();
    if (text_.size() < kMaxText) text_.append(text.substr(0, kMaxText - text_.size()));
  }

  std::string take() {
    if (size_ <= kMaxText) return std::move(text_);
    // Not within a character of several bytes.
    std::size_t end = kShown;
    while (end > 0 && (static_cast<unsigned char>(text_[end]) & 0xc0U) == 0x80U) --end;
    return text_.substr(0, end) + "... (" + std::to_string(size_) + " bytes, " + hex(digest_, 16) +
           ")";
  }

 private:
  static constexpr std::size_t kMaxText = 200;
  static constexpr std::size_t kShown = 100;

  std::string text_;
  std::uint64_t size_ = 0;
  std::uint64_t digest_ = 0xcbf29ce484222325;
};

class Describer {
 public:
  explicit Describer(const ByteSource& model) : window_(model, model.size()) {}

  Result<std::vector<OnnxPart>> run() {
    BTF_TRY(for_each_field(
        window_, {0, window_.end()}, onnx::kModel, [&](const ProtoField& field) -> Status {
          if (field.number == onnx::model::kOperatorSet) return take_operator_set(field, "");
          if (field.number == onnx::model::kGraph) return add_graph(field.content, "", 0);
          return field.number == onnx::model::kFunction ? take_function(field) : Status{};
        }));
    return std::move(parts_);
  }

 private:
  Result<OnnxPart*> add(std::string kind, std::string name) {
    if (parts_.size() == kMaxParts) return too_many(std::to_string(kMaxParts) + " nodes");
    parts_.push_back({.kind = std::move(kind), .name = std::move(name), .output = {}});
    return &parts_.back();
  }

  Status take_operator_set(const ProtoField& set, const std::string& of) {
    std::string domain;
    std::int64_t version = 0;
    BTF_TRY(for_each_field(window_, set.content, onnx::kOperatorSetId,
                           [&](const ProtoField& field) -> Status {
                             if (field.number == onnx::operator_set::kVersion)
                               version = static_cast<std::int64_t>(field.value);
                             if (field.number != onnx::operator_set::kDomain) return {};
                             BTF_ASSIGN(domain, onnx_name(window_, field));
                             return {};
                           }));
    BTF_ASSIGN(OnnxPart* const part, add("opset", of + (domain.empty() ? "ai.onnx" : domain)));
    part->says["version"] = std::to_string(version);
    return {};
  }

  // `within`: prefix of all names, "If_3/then_branch/".
  Status add_graph(const ProtoRange& graph, const std::string& within, unsigned depth) {
    if (depth > onnx::kDeepestGraph)
      return too_many(std::to_string(onnx::kDeepestGraph) + " subgraphs one in the other");
    std::vector<std::string> inputs, outputs;
    BTF_TRY(for_each_field(window_, graph, onnx::kGraph, [&](const ProtoField& field) -> Status {
      if (field.number == onnx::graph::kNode) return take_node(field.content, within, depth);
      if (field.number == onnx::graph::kInput) return take_value(field, "input", within, inputs);
      if (field.number == onnx::graph::kOutput) return take_value(field, "output", within, outputs);
      return {};
    }));
    BTF_ASSIGN(OnnxPart* const part, add("graph", within));
    part->says["order of inputs"] = list(inputs);
    part->says["order of outputs"] = list(outputs);
    return {};
  }

  Status take_value(const ProtoField& value, const char* kind, const std::string& within,
                    std::vector<std::string>& names) {
    std::string name, type = "unknown";
    BTF_TRY(for_each_field(window_, value.content, onnx::kValueInfo,
                           [&](const ProtoField& field) -> Status {
                             if (field.number == onnx::value_info::kName) {
                               BTF_ASSIGN(name, onnx_name(window_, field));
                             } else if (field.number == onnx::value_info::kType) {
                               BTF_ASSIGN(type, type_text(field.content));
                             }
                             return {};
                           }));
    names.push_back(name);
    BTF_ASSIGN(OnnxPart* const part, add(kind, within + name));
    part->output = within;
    part->says["type"] = std::move(type);
    return {};
  }

  Status take_function(const ProtoField& function) {
    namespace field_of = onnx::function;
    std::string name, domain, overload;
    const auto read = [&](const ProtoField& field) -> Status {
      std::string* const text = field.number == field_of::kName       ? &name
                                : field.number == field_of::kDomain   ? &domain
                                : field.number == field_of::kOverload ? &overload
                                                                      : nullptr;
      if (text == nullptr) return {};
      BTF_ASSIGN(*text, onnx_name(window_, field));
      return {};
    };
    BTF_TRY(for_each_field(window_, function.content, onnx::kFunction, read));
    const std::string whole = domain + "::" + name + (overload.empty() ? "" : "(" + overload + ")");
    std::vector<std::string> inputs, outputs, attributes;
    BTF_TRY(for_each_field(
        window_, function.content, onnx::kFunction, [&](const ProtoField& field) -> Status {
          std::vector<std::string>* const names = field.number == field_of::kInput    ? &inputs
                                                  : field.number == field_of::kOutput ? &outputs
                                                  : field.number == field_of::kAttribute
                                                      ? &attributes
                                                      : nullptr;
          if (field.number == field_of::kNode) return take_node(field.content, whole + "/", 0);
          if (field.number == field_of::kOperatorSet) return take_operator_set(field, whole + "/");
          if (names == nullptr) return {};
          BTF_ASSIGN(std::string text, onnx_name(window_, field));
          names->push_back(std::move(text));
          return {};
        }));
    BTF_ASSIGN(OnnxPart* const part, add("function", whole));
    part->says["inputs"] = list(inputs);
    part->says["outputs"] = list(outputs);
    part->says["attributes"] = list(attributes);
    return {};
  }

  Status take_node(const ProtoRange& node, const std::string& within, unsigned depth) {
    std::string name, type, domain;
    std::vector<std::string> inputs, outputs;
    std::vector<ProtoRange> attributes;
    BTF_TRY(for_each_field(window_, node, onnx::kNode, [&](const ProtoField& field) -> Status {
      const auto text = [&]() { return onnx_name(window_, field); };
      if (field.number == onnx::node::kName) {
        BTF_ASSIGN(name, text());
      } else if (field.number == onnx::node::kOpType) {
        BTF_ASSIGN(type, text());
      } else if (field.number == onnx::node::kDomain) {
        BTF_ASSIGN(domain, text());
      } else if (field.number == onnx::node::kInput || field.number == onnx::node::kOutput) {
        auto& names = field.number == onnx::node::kInput ? inputs : outputs;
        if (names.size() == kMaxFields) return too_many("1048576 inputs or outputs of a node");
        BTF_ASSIGN(std::string own, text());
        names.push_back(std::move(own));
      } else if (field.number == onnx::node::kAttribute) {
        attributes.push_back(field.content);
      }
      return {};
    }));
    OnnxPart part{.kind = "node", .name = name.empty() ? "" : within + name, .output = {}};
    if (!outputs.empty() && !outputs.front().empty()) part.output = within + outputs.front();
    part.says["operator"] = (domain.empty() || domain == "ai.onnx" ? "" : domain + "::") + type;
    part.says["inputs"] = list(inputs);
    part.says["outputs"] = list(outputs);
    BTF_ASSIGN(const auto constant, find_onnx_constant(window_, node));
    const std::string own = (part.name.empty() ? part.output : part.name) + "/";
    for (const ProtoRange& attribute : attributes)
      BTF_TRY(take_attribute(attribute, constant.has_value(), own, depth, part));
    BTF_ASSIGN(OnnxPart* const added, add("node", ""));
    *added = std::move(part);
    return {};
  }

  Status take_attribute(const ProtoRange& attribute, bool constant, const std::string& node,
                        unsigned depth, OnnxPart& part) {
    std::string name;
    std::vector<ProtoRange> graphs;
    ValueText value;
    BTF_TRY(for_each_field(
        window_, attribute, onnx::kAttribute, [&](const ProtoField& field) -> Status {
          if (field.number == onnx::attribute::kGraph || field.number == onnx::attribute::kGraphs)
            graphs.push_back(field.content);
          if (field.number != onnx::attribute::kName) return {};
          BTF_ASSIGN(name, onnx_name(window_, field));
          return {};
        }));
    if (constant && (name.starts_with("value") || name == "sparse_value")) return {};
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      const std::string number = graphs.size() > 1 ? "#" + std::to_string(i) : "";
      BTF_TRY(add_graph(graphs[i], node + name + number + "/", depth + 1));
    }
    if (!graphs.empty()) value.add(graphs.size() == 1 ? "a graph" : "graphs");
    BTF_TRY(add_message(attribute, onnx::kAttribute, 0, value));
    const bool taken = part.says.contains(name);
    part.says[taken ? "attribute '" + name + "'" : name] = value.take();
    return {};
  }

  // "float32 [1, 3, 'h', ?]" for tensors; for other types the whole message.
  Result<std::string> type_text(const ProtoRange& type) {
    std::optional<ProtoRange> tensor;
    BTF_TRY(for_each_field(window_, type, onnx::kType, [&](const ProtoField& field) {
      if (field.number == onnx::type::kTensor) tensor = field.content;
      return Status{};
    }));
    ValueText text;
    if (!tensor) {
      BTF_TRY(add_message(type, onnx::kType, 0, text));
      return text.take();
    }
    std::string element = "unknown";
    std::string dims;
    BTF_TRY(
        for_each_field(window_, *tensor, onnx::kTypeTensor, [&](const ProtoField& field) -> Status {
          if (field.number == onnx::type::kElement) {
            const OnnxType* const known = find_onnx_type(field.value);
            element = known == nullptr ? "type " + std::to_string(field.value)
                      : known->dtype   ? std::string(info(*known->dtype).name)
                                       : std::string(known->name);
            return {};
          }
          if (field.number != onnx::type::kShape) return {};
          ValueText list;
          std::string_view comma;
          list.add("[");
          BTF_TRY(for_each_field(window_, field.content, onnx::kTensorShape,
                                 [&](const ProtoField& dim) -> Status {
                                   list.add(std::exchange(comma, ", "));
                                   BTF_ASSIGN(const std::string one, dim_text(dim.content));
                                   list.add(one);
                                   return {};
                                 }));
          list.add("]");
          dims = " " + list.take();
          return {};
        }));
    return element + dims;
  }

  Result<std::string> dim_text(const ProtoRange& dim) {
    std::string text = "?";
    BTF_TRY(for_each_field(window_, dim, onnx::kTensorShapeDimension,
                           [&](const ProtoField& field) -> Status {
                             if (field.number == onnx::type::kDimValue)
                               text = std::to_string(static_cast<std::int64_t>(field.value));
                             if (field.number != onnx::type::kDimParam) return {};
                             BTF_ASSIGN(const std::string name, onnx_name(window_, field));
                             text = "'" + name + "'";
                             return {};
                           }));
    return text;
  }

  static std::string list(const std::vector<std::string>& names) {
    ValueText text;
    std::string_view comma = "[";
    for (const std::string& name : names) {
      text.add(std::exchange(comma, ", "));
      text.add("'" + name + "'");
    }
    text.add(names.empty() ? "[]" : "]");
    return text.take();
  }

  // Leaves out the name of a message, texts for readers, and graphs, which are parts of their own.
  static bool is_ignored(const ProtoMessage& kind, const ProtoRule& rule) {
    if (rule.name == "doc_string" || rule.name == "metadata_props" || rule.name == "denotation")
      return true;
    return &kind == &onnx::kAttribute &&
           (rule.name == "name" || rule.name == "type" || rule.message == &onnx::kGraph);
  }

  // The only value of an attribute is written by itself, any other message with names: "{dims:
  // [2]}".
  Status add_message(const ProtoRange& message, const ProtoMessage& kind, unsigned depth,
                     ValueText& text) {
    if (depth > kDeepest) return too_many(std::to_string(kDeepest) + " messages one in the other");
    std::map<std::uint64_t, std::vector<ProtoField>> fields;
    std::size_t count = 0;
    BTF_TRY(for_each_field(window_, message, kind, [&](const ProtoField& field) -> Status {
      if (++count > kMaxFields) return too_many(std::to_string(kMaxFields) + " values in one");
      fields[field.number].push_back(field);
      return {};
    }));
    const bool bare = &kind == &onnx::kAttribute;
    std::string_view comma = bare ? "" : "{";
    for (const ProtoRule& rule : kind.rules) {
      const auto found = fields.find(rule.number);
      if (found == fields.end() || is_ignored(kind, rule)) continue;
      text.add(std::exchange(comma, ", "));
      if (!bare) text.add(std::string(rule.name) + ": ");
      if (rule.name == "ref_attr_name") text.add("attribute ");
      BTF_TRY(add_values(found->second, rule, depth, text));
    }
    if (!bare) text.add(comma == "{" ? "{}" : "}");
    return {};
  }

  Status add_values(const std::vector<ProtoField>& fields, const ProtoRule& rule, unsigned depth,
                    ValueText& text) {
    if (!rule.repeated) return add_value(fields.front(), rule, depth, text);
    std::string_view comma;
    text.add("[");
    for (const ProtoField& field : fields) {
      if (rule.type != ProtoType::bytes && field.type == ProtoType::bytes) {
        BTF_TRY(add_packed(field, rule, comma, text));
        continue;
      }
      text.add(std::exchange(comma, ", "));
      BTF_TRY(add_value(field, rule, depth, text));
    }
    text.add("]");
    return {};
  }

  Status add_packed(const ProtoField& field, const ProtoRule& rule, std::string_view& comma,
                    ValueText& text) {
    for (std::uint64_t at = field.content.begin; at < field.content.end;) {
      ProtoField one = field;
      one.type = rule.type;
      std::uint64_t bytes = rule.type == ProtoType::fixed32 ? 4 : 8;
      if (rule.type == ProtoType::varint) {
        const std::uint64_t some = std::min<std::uint64_t>(kLongestVarint, field.content.end - at);
        BTF_ASSIGN(const std::byte* const data, window_.at(at, some));
        const auto number = read_varint({data, some});
        if (!number) return fail(ErrorCode::malformed, "a packed number is cut off");
        one.value = number->value;
        bytes = number->bytes;
      }
      one.content = {at, std::min(at + bytes, field.content.end)};
      text.add(std::exchange(comma, ", "));
      BTF_TRY(add_value(one, rule, 0, text));
      at += bytes;
    }
    return {};
  }

  Status add_value(const ProtoField& field, const ProtoRule& rule, unsigned depth,
                   ValueText& text) {
    if (rule.message != nullptr) return add_message(field.content, *rule.message, depth + 1, text);
    if (field.type == ProtoType::varint) {
      text.add(std::to_string(static_cast<std::int64_t>(field.value)));
      return {};
    }
    if (field.type == ProtoType::bytes) return add_bytes(field.content, text);
    if (field.content.size() < (field.type == ProtoType::fixed32 ? 4 : 8))
      return fail(ErrorCode::malformed, "a packed number is cut off");
    BTF_ASSIGN(const std::byte* const data, window_.at(field.content.begin, field.content.size()));
    text.add(field.type == ProtoType::fixed32
                 ? real_text(std::bit_cast<float>(load_little<std::uint32_t>(data)))
                 : number_text(std::bit_cast<double>(load_little<std::uint64_t>(data))));
    return {};
  }

  // The shortest text that reads back as this float.
  static std::string real_text(float value) {
    std::array<char, 32> text;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
  }

  // Text in quotes, other bytes in hexadecimal.
  Status add_bytes(const ProtoRange& content, ValueText& text) {
    bool readable = true;
    BTF_TRY(for_each_byte(
        content, [&](unsigned char byte) { readable = readable && byte >= ' ' && byte < 0x7f; }));
    text.add(readable ? "'" : "0x");
    BTF_TRY(for_each_byte(content, [&](unsigned char byte) {
      if (readable)
        text.add(std::string_view(reinterpret_cast<const char*>(&byte), 1));
      else
        text.add(hex(byte, 2));
    }));
    if (readable) text.add("'");
    return {};
  }

  template <typename Take>
  Status for_each_byte(const ProtoRange& content, const Take& take) {
    for (std::uint64_t at = content.begin; at < content.end;) {
      const std::uint64_t some = std::min(Window::kBytes, content.end - at);
      BTF_ASSIGN(const std::byte* const data, window_.at(at, some));
      for (const std::byte byte : std::span(data, some)) take(std::to_integer<unsigned char>(byte));
      at += some;
    }
    return {};
  }

  Window window_;
  std::vector<OnnxPart> parts_;
};

// The parts in the order of the file. Values of Constants are tensors and not included. Fails if
// the file is no model, or has more parts than fit into memory.
Result<std::vector<OnnxPart>> describe_onnx_model(const ByteSource& model) {
  return Describer(model).run();
}

constexpr std::string_view kNode = "node";

// Of the graph as a whole; compared only if both sides have the same names.
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

// Pairs the parts of two models by kind and name. Nodes are paired by name and first output, then
// by name, then by first output, where these are unique.
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
    // Nodes without names and outputs cannot be distinguished, so they are paired in order.
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
  std::vector<std::optional<std::size_t>> partner_;  // for golden's parts
  std::vector<bool> taken_;                          // for actual's parts
};

std::string name_of(const OnnxPart& part) { return part.name.empty() ? part.output : part.name; }

// The text for a part that only one side has.
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
    if (golden.kind == kNode && actual.name != golden.name) add("name", actual.name, golden.name);
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
    // The attribute that has the graph as its value is reported instead.
    if (part.kind == "graph") return;
    if (part.kind == "input" || part.kind == "output")
      one_sided_.insert(part.kind + '\0' + part.output);
    std::string whole = whole_of(part);
    found_.all.push_back({part.kind, name_of(part), "", actual ? whole : "", actual ? "" : whole});
  }

  // An input with another name is reported, so its order need not be.
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
  constexpr std::size_t kMaxNodes = 3;
  constexpr std::size_t kMaxListed = 4;
  std::vector<std::pair<std::string, std::vector<std::string>>> of_nodes;
  std::map<std::string, std::uint64_t> others;
  for (const FileDifference& found : all) {
    if (found.part != kNode) {
      ++others[found.part];
      continue;
    }
    if (of_nodes.empty() || of_nodes.back().first != found.subject)
      of_nodes.emplace_back(found.subject, std::vector<std::string>());
    of_nodes.back().second.push_back(!found.what.empty()    ? found.what
                                     : found.actual.empty() ? "missing"
                                                            : "only in actual");
  }
  std::string text = "only tensors were compared; the graphs differ in ";
  std::string list;
  if (!of_nodes.empty()) {
    text += std::to_string(of_nodes.size()) + " of " + std::to_string(nodes) +
            (nodes == 1 ? " node" : " nodes");
    for (std::size_t i = 0; i < std::min(kMaxNodes, of_nodes.size()); ++i) {
      list += (i == 0 ? ": " : "; ") + of_nodes[i].first;
      const auto& said = of_nodes[i].second;
      for (std::size_t w = 0; w < std::min(kMaxListed, said.size()); ++w)
        list += (w == 0 ? " " : ", ") + said[w];
      if (said.size() > kMaxListed) list += ", ...";
    }
    if (of_nodes.size() > kMaxNodes) list += "; ...";
  }
  std::string rest;
  for (const auto& [part, count] : others)
    rest +=
        (rest.empty() ? "" : ", ") + std::to_string(count) + " " + part + (count == 1 ? "" : "s");
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
