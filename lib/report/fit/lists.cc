// Wide layers as other tools take them.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "btf/report/fit.h"
#include "btf/try.h"
#include "report/text/json.h"
#include "report/text/text.h"

namespace btf {
namespace {

using Names = std::vector<std::string>;

constexpr auto kForms = std::to_array<Named<FitListForm>>({
    {FitListForm::autocast, "autocast"},
    {FitListForm::onnxconverter, "onnxconverter"},
    {FitListForm::trtexec, "trtexec"},
    {FitListForm::polygraphy, "polygraphy"},
    {FitListForm::names, "names"},
    {FitListForm::scales, "scales"},
});

// What is not among these stands between names, or ends them.
Status check_without(const Names& names, std::string_view characters, std::string_view tool) {
  for (const std::string& name : names)
    if (const std::size_t at = name.find_first_of(characters); at != name.npos)
      return fail(ErrorCode::refused, std::string(tool) + " cannot be given the layer '" + name +
                                          "': its name has '" + name[at] + "' in it");
  return {};
}

// The name and nothing else, as Python's re has it.
std::string exactly(const std::string& name) {
  constexpr std::string_view kSpecial = R"(\.^$*+?{}[]|()-&~# )";
  std::string pattern = "^";
  for (const char c : name) {
    if (kSpecial.contains(c)) pattern += '\\';
    pattern += c;
  }
  return pattern + "$";
}

Result<std::string> one_a_line(const Names& names) {
  BTF_TRY(check_without(names, "\n\r", "a list of lines"));
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

Result<std::string> autocast(const Names& names) {
  Names patterns;
  for (const std::string& name : names) patterns.push_back(exactly(name));
  return one_a_line(patterns);
}

Result<std::string> onnxconverter(const Names& names) {
  return report::dump(report::Json(names)) + "\n";
}

// Options that are no word to a shell where there is nothing to say.
Result<std::string> trtexec(const Names& names) {
  BTF_TRY(check_without(names, ",\n\r", "trtexec"));
  if (names.empty()) return "\n";
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name + ":fp32";
  return "--precisionConstraints=obey " + report::shell_word("--layerPrecisions=" + list) + "\n";
}

Result<std::string> polygraphy(const Names& names) {
  BTF_TRY(check_without(names, "\n\r", "polygraphy"));
  if (names.empty()) return "\n";
  std::string words = "--precision-constraints obey --layer-precisions";
  for (const std::string& name : names) words += " " + report::shell_word(name + ":float32");
  return words + "\n";
}

}  // namespace

std::span<const Named<FitListForm>> fit_list_forms() { return kForms; }

bool lists_scales(FitListForm form) { return form == FitListForm::scales; }

Result<std::string> fit_list(const FitOfScales& type, FitListForm form) {
  if (!lists_scales(form))
    return fail(ErrorCode::refused, "a list of layers is of float16 or bfloat16; " +
                                        std::string(info(type.dtype).name) + " has scales");
  report::Json scales = report::Json::object();
  for (const FitScaledTensor& tensor : type.tensors)
    if (!tensor.scales.empty())
      scales[tensor.name] = report::json_number(tensor.scales[tensor.best].scale);
  return report::dump(scales) + "\n";
}

Result<std::string> fit_list(const FitOfType& type, FitListForm form) {
  if (lists_scales(form))
    return fail(ErrorCode::refused, std::string(info(type.dtype).name) + " has no scales");
  if (type.layers.empty())
    return fail(ErrorCode::refused, "there is no list of layers without a graph");
  Names names;
  for (const FitLayer& layer : type.layers)
    if (layer.state == FitState::wide) names.push_back(layer.name);
  switch (form) {
    case FitListForm::autocast:
      return autocast(names);
    case FitListForm::onnxconverter:
      return onnxconverter(names);
    case FitListForm::trtexec:
      return trtexec(names);
    case FitListForm::polygraphy:
      return polygraphy(names);
    case FitListForm::names:
    case FitListForm::scales:
      break;
  }
  return one_a_line(names);
}

}  // namespace btf
