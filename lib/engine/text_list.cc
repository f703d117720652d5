// The lines that trtexec --dumpLayerInfo writes into its log:
//   [11/26/2026-10:00:00] [I] Layers:
//   Name: conv1 + relu1, LayerType: CaskConvolution, Inputs: [ { Name: x, Location: Device,
//     Dimensions: [1,3,8,8], Format/Datatype: Row major linear FP32 }], Outputs: [ {..} ], ..
// each in one line; or, of an engine that was built without details, the names alone.
#include <algorithm>
#include <charconv>
#include <span>

#include "btf/try.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "engine/parts.h"
#include "formats/json/json_bytes.h"

namespace btf::engine {
namespace {

constexpr std::string_view kName = "Name: ";
constexpr std::string_view kType = ", LayerType: ";
constexpr std::string_view kInputs = ", Inputs: [";
constexpr std::string_view kOutputs = ", Outputs: [";
constexpr std::string_view kDims = ", Dimensions: [";
constexpr std::string_view kFormat = ", Format/Datatype: ";

// The text between the end of `begin` and the next of `ends`; of the rest the beginning of that.
std::string_view between(std::string_view text, std::string_view begin,
                         std::initializer_list<std::string_view> ends) {
  const std::size_t at = text.find(begin);
  if (at == text.npos) return {};
  text.remove_prefix(at + begin.size());
  std::size_t end = text.size();
  for (const std::string_view one : ends) end = std::min(end, text.find(one));
  return text.substr(0, end);
}

// "[11/26/2026-10:00:00] [I] [TRT] Layers:" -> "Layers:"
std::string_view without_log_marks(std::string_view line) {
  while (line.starts_with('[')) {
    const std::size_t end = line.find("] ");
    if (end == line.npos) break;
    line.remove_prefix(end + 2);
  }
  return line;
}

class TextList {
 public:
  explicit TextList(const ByteSource& source) : bytes_(source, {0, source.size()}) {}

  Result<EngineList> read() {
    std::string line;
    for (std::uint64_t number = 1; next(line); ++number) {
      const Status taken = take_line(line);
      if (!taken)
        return std::unexpected(taken.error().within("line " + std::to_string(number)));
    }
    BTF_TRY(bytes_.trouble());
    return std::move(list_);
  }

 private:
  bool next(std::string& line) {
    line.clear();
    if (bytes_.peek() == JsonBytes::kEnd) return false;
    for (;;) {
      if (bytes_.peek() == JsonBytes::kEnd) return true;
      const std::string_view held = bytes_.held();
      const std::size_t end = held.find('\n');
      line += held.substr(0, end);
      bytes_.take(std::min(end, held.size()));
      if (end == held.npos) continue;
      bytes_.take();
      if (line.ends_with('\r')) line.pop_back();
      return true;
    }
  }

  Status take_line(std::string_view line) {
    const std::string_view said = without_log_marks(line);
    if (said.starts_with(kName) && said.contains(kType)) return take_layer(said);
    if (said == "Layers:") {
      names_ = true;
      return {};
    }
    if (said.empty() || said.starts_with("Bindings:") || (names_ && said.size() != line.size()))
      names_ = false;
    if (!names_) return {};
    return add({.name = std::string(said), .nodes = nodes_of_name(said)});
  }

  Status add(EngineLayer layer) {
    list_.layers.push_back(std::move(layer));
    if (list_.layers.size() > kMostLayers)
      return malformed("engine-list", bytes_.offset(),
                       "more than " + std::to_string(kMostLayers) + " layers");
    return {};
  }

  Status take_layer(std::string_view line) {
    names_ = false;
    EngineLayer layer{.name = std::string(between(line, kName, {kType})),
                      .type = std::string(between(line, kType, {", "}))};
    const std::size_t outputs = line.find(kOutputs);
    BTF_TRY(take_tensors(between(line.substr(0, outputs), kInputs, {}), layer.inputs, false));
    if (outputs != line.npos)
      BTF_TRY(take_tensors(line.substr(outputs + kOutputs.size()), layer.outputs, true));
    const std::string_view weights = between(line, ", Weights: {", {"}"});
    if (const auto dtype = parse_dtype(between(weights, "Type: ", {",", " ", "}"})))
      layer.weights = *dtype;
    layer.nodes = nodes_of_metadata(between(line, ", Metadata: ", {", StreamId", ", TacticName"}));
    if (layer.nodes.empty()) layer.nodes = nodes_of_name(layer.name);
    return add(std::move(layer));
  }

  // "{ Name: a, .. }, { Name: b, .. }], what follows"
  Status take_tensors(std::string_view text, std::vector<std::uint32_t>& numbers, bool made) {
    constexpr std::string_view kTensor = "{ Name: ";
    for (;;) {
      const std::size_t skipped = text.find_first_not_of(", ");
      if (skipped == text.npos || !text.substr(skipped).starts_with(kTensor)) return {};
      text.remove_prefix(skipped + kTensor.size());
      std::size_t end = text.find(" }");
      if (end == text.npos) end = text.find('}');
      if (end == text.npos)
        return malformed("engine-list", bytes_.offset(), "a tensor of the layer has no end");
      TensorSaid said;
      BTF_ASSIGN(said, tensor_in(text.substr(0, end)));
      const std::uint32_t number = list_.number_of(said.name);
      engine::take_tensor(list_.tensors[number], said, made);
      numbers.push_back(number);
      text.remove_prefix(text.find('}', end) + 1);
    }
  }

  // "a, Location: Device, Dimensions: [1,3,8,8], Format/Datatype: Half"
  Result<TensorSaid> tensor_in(std::string_view text) const {
    TensorSaid said;
    said.name = text.substr(0, std::min({text.find(", Location: "), text.find(kDims),
                                         text.find(kFormat), text.size()}));
    said.format = between(text, kFormat, {});
    if (text.contains(kDims)) {
      said.dims.emplace();
      std::string_view list = between(text, kDims, {"]"});
      while (!list.empty()) {
        const std::size_t end = list.find(',');
        std::string_view word = list.substr(0, end);
        while (word.starts_with(' ')) word.remove_prefix(1);
        const bool dynamic = word == "-1";
        const auto dim = parse_number<std::uint64_t>(word);
        if ((!dim && !dynamic) || said.dims->size() == kMaxRank ||
            (dim && *dim > std::uint64_t{INT64_MAX}))
          return malformed("engine-list", bytes_.offset(),
                           "'" + said.name + "' has dims that are no numbers");
        said.dims->push_back(dynamic ? -1 : static_cast<std::int64_t>(*dim));
        list.remove_prefix(end == list.npos ? list.size() : end + 1);
      }
    }
    return said;
  }

  JsonBytes bytes_;
  EngineList list_;
  bool names_ = false;  // of layers follow, a line each
};

}  // namespace

Result<EngineList> read_text_list(const ByteSource& source) {
  return TextList(source).read();
}

}  // namespace btf::engine
