#include "btf/tensorrt/engine_list.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "btf/try.h"
#include "core/names.h"
#include "engine/parts.h"
#include "formats/open_source.h"

namespace btf {
namespace {

constexpr std::uint64_t kStart = 4096;
constexpr std::uint64_t kLongest = std::uint64_t{512} << 20;

Result<std::string> start_of(const ByteSource& source) {
  std::string text(std::min(source.size(), kStart), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(text))));
  return text;
}

bool is_json(std::string_view start) {
  const std::size_t at = start.find_first_not_of(" \t\r\n");
  return at != start.npos && start[at] == '{';
}

// Lists, and a layer by itself.
bool has_json_words(std::string_view start) {
  return start.contains("\"Layers\"") ||
         (start.contains("\"LayerType\"") && start.contains("\"Name\""));
}

bool has_text_words(std::string_view start) {
  return (start.contains("Name: ") && start.contains(", LayerType: ")) ||
         start.contains("Layers:\n") || start.contains("Layers:\r\n");
}

// Nobody else makes what a layer makes.
Status check_makers(const EngineList& list) {
  std::vector<std::uint32_t> maker(list.tensors.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < list.layers.size(); ++i)
    for (const std::uint32_t tensor : list.layers[i].outputs) {
      if (maker[tensor] != UINT32_MAX && maker[tensor] != i)
        return fail(ErrorCode::malformed,
                    "'" + list.tensors[tensor].name + "' is made by two layers, '" +
                        list.layers[maker[tensor]].name + "' and '" + list.layers[i].name + "'");
      maker[tensor] = i;
    }
  return {};
}

// What no layer makes goes in. Lists of 11.x and bindings say what comes out; where nothing does,
// it is what no layer reads.
void settle_roles(EngineList& list) {
  std::vector<bool> made(list.tensors.size(), false);
  std::vector<bool> read(list.tensors.size(), false);
  for (const EngineLayer& layer : list.layers) {
    for (const std::uint32_t tensor : layer.outputs) made[tensor] = true;
    for (const std::uint32_t tensor : layer.inputs) read[tensor] = true;
  }
  const auto output = [&](std::size_t i) { return list.tensors[i].output && made[i]; };
  bool any = false;
  for (std::size_t i = 0; i < made.size(); ++i) any = any || output(i);
  for (std::size_t i = 0; i < made.size(); ++i) {
    list.tensors[i].output = any ? output(i) : made[i] && !read[i];
    list.tensors[i].input = !made[i];
  }
}

}  // namespace

std::uint32_t EngineList::number_of(const std::string& tensor) {
  const auto [at, added] =
      numbers_.try_emplace(tensor, static_cast<std::uint32_t>(tensors.size()));
  if (added) tensors.push_back({.name = tensor});
  return at->second;
}

const EngineTensor* EngineList::find(const std::string& tensor) const {
  const auto at = numbers_.find(tensor);
  return at == numbers_.end() ? nullptr : &tensors[at->second];
}

bool is_engine_list(const std::string& path) {
  // A pipe can be read only once.
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  const auto source = open_source(path, {});
  if (!source) return false;
  const auto start = start_of(**source);
  if (!start || start->contains('\0')) return false;
  return is_json(*start) ? has_json_words(*start) : has_text_words(*start);
}

Result<EngineList> read_engine_list(const std::string& path) {
  const auto source = open_source(path, {});
  if (!source) return std::unexpected(source.error().in_file(path));
  auto list = engine::read_list(**source);
  if (!list) return std::unexpected(list.error().in_file(path));
  return list;
}

bool is_made_by_tensorrt(std::string_view tensor) {
  constexpr auto kBegins = std::to_array<std::string_view>(
      {"Reformatted Input Tensor ", "Reformatted Output Tensor ", "(Unnamed Layer* ", "__my"});
  return std::ranges::any_of(kBegins,
                             [&](std::string_view begin) { return tensor.starts_with(begin); });
}

namespace engine {

Result<EngineList> read_list(const ByteSource& source) {
  if (source.size() > kLongest)
    return fail(ErrorCode::unsupported, "the layer list has " + std::to_string(source.size()) +
                                            " bytes; at most " + std::to_string(kLongest) +
                                            " are read");
  BTF_ASSIGN(const std::string start, start_of(source));
  BTF_ASSIGN(EngineList list, is_json(start) ? read_json_list(source) : read_text_list(source));
  if (list.layers.empty())
    return fail(ErrorCode::malformed, "is no layer list of a TensorRT engine: it has no layers");
  BTF_TRY(check_makers(list));
  settle_roles(list);
  return list;
}

void take_tensor(EngineTensor& tensor, const TensorSaid& said, bool made) {
  if (said.dims && (made || !tensor.dims)) tensor.dims = said.dims;
  if (said.format.empty() && said.dtype.empty()) return;
  if (!tensor.words.empty() && !made) return;
  tensor.words = said.format.empty() ? said.dtype : said.format;
  tensor.format.reset();
  tensor.dtype.reset();
  if (const auto dtype = parse_dtype(said.dtype); dtype) tensor.dtype = *dtype;
  if (const auto format = parse_format_sentence(said.format.empty() ? said.dtype : said.format)) {
    tensor.format = *format;
    if (!tensor.dtype) tensor.dtype = format->dtype;
    tensor.format->dtype = *tensor.dtype;
  }
}

namespace {

void add_node(std::string_view name, std::vector<std::string>& nodes) {
  while (name.starts_with(' ')) name.remove_prefix(1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (!name.empty() && std::ranges::find(nodes, name) == nodes.end()) nodes.emplace_back(name);
}

// "{ForeignNode[a...b]}": the first and the last of them.
bool take_foreign(std::string_view part, std::vector<std::string>& nodes) {
  constexpr std::string_view kBegin = "{ForeignNode[";
  constexpr std::string_view kBetween = "...";
  if (!part.starts_with(kBegin) || !part.ends_with("]}")) return false;
  part = part.substr(kBegin.size(), part.size() - kBegin.size() - 2);
  const std::size_t between = part.find(kBetween);
  add_node(part.substr(0, between), nodes);
  if (between != part.npos) add_node(part.substr(between + kBetween.size()), nodes);
  return true;
}

// "PWN(PWN(a), b)" -> "PWN(a), b"; nothing: another text.
std::optional<std::string_view> inside_pointwise(std::string_view part) {
  if (!part.starts_with("PWN(") || !part.ends_with(')')) return std::nullopt;
  return part.substr(4, part.size() - 5);
}

// The separator outside of brackets.
std::size_t find_outside(std::string_view text, std::string_view separator) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[' || text[at] == '{') ++depth;
    if (text[at] == ')' || text[at] == ']' || text[at] == '}') --depth;
    if (depth <= 0 && text.substr(at).starts_with(separator)) return at;
  }
  return text.npos;
}

void take_part(std::string_view part, std::vector<std::string>& nodes, int depth);

void take_parts(std::string_view text, std::string_view separator, std::vector<std::string>& nodes,
                int depth) {
  for (;;) {
    const std::size_t end = find_outside(text, separator);
    take_part(text.substr(0, end), nodes, depth);
    if (end == text.npos) return;
    text.remove_prefix(end + separator.size());
  }
}

void take_part(std::string_view part, std::vector<std::string>& nodes, int depth) {
  constexpr int kMostNested = 32;
  if (take_foreign(part, nodes)) return;
  const auto inside = inside_pointwise(part);
  if (!inside || depth == kMostNested) return add_node(part, nodes);
  if (find_outside(*inside, " + ") != inside->npos)
    take_parts(*inside, " + ", nodes, depth + 1);
  else
    take_parts(*inside, ", ", nodes, depth + 1);
}

}  // namespace

std::vector<std::string> nodes_of_name(std::string_view layer) {
  constexpr std::string_view kCopy = "Reformatting CopyNode for ";
  std::vector<std::string> nodes;
  if (!layer.starts_with(kCopy) && !is_made_by_tensorrt(layer))
    take_parts(layer, " + ", nodes, 0);
  return nodes;
}

std::vector<std::string> nodes_of_metadata(std::string_view metadata) {
  constexpr std::string_view kNode = "[ONNX Layer: ";
  std::vector<std::string> nodes;
  while (!metadata.empty()) {
    const std::size_t end = std::min(metadata.find_first_of("\x1e\x1f"), metadata.size());
    const std::string_view part = metadata.substr(0, end);
    if (part.starts_with(kNode) && part.ends_with(']'))
      add_node(part.substr(kNode.size(), part.size() - kNode.size() - 1), nodes);
    metadata.remove_prefix(std::min(end + 1, metadata.size()));
  }
  return nodes;
}

}  // namespace engine
}  // namespace btf
