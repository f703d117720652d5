#include "cli/spec.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "btf/tensorrt/engine_list.h"
#include "btf/layout.h"
#include "btf/tensor_spec.h"
#include "cli/diff_arguments.h"

namespace btftool {
namespace {

constexpr const char* kSpecType = "[GLOB=]SPEC";
constexpr const char* kGroup = "Files that do not describe their contents";

auto keep(std::vector<std::string>& texts) {
  return [&texts](const std::string& text) { texts.push_back(text); };
}

void add_reading(CLI::App& app, SpecWords& words, const std::string& option,
                 const std::string& group) {
  add_repeated(app, "--shape", "NAME:DIMS", keep(words.shapes),
               "dims of a tensor that an engine's list has as dynamic")
      ->group(group);
  add_text(app, "--layout-in", words.layout_in, "L",
           "layout of a file named as trtexec dumps it (kLINEAR)")
      ->group(group);
  add_text(app, "--nvmedia", words.nvmedia, "NHWC|NCHW|NCxHWx",
           option + " has sizes and strides as NvMedia has them")
      ->group(group);
}

bool is_engine(const std::string& text) { return text.starts_with('@'); }

// "x:1x3x224x224"
btf::EngineShape parse_shape(const std::string& text) {
  const std::size_t mark = text.rfind(':');
  const auto spec = btf::parse_tensor_spec("int8" + text.substr(std::min(mark, text.size())));
  if (mark == 0 || mark == text.npos || !spec || !spec->storage)
    throw Wrong("--shape takes NAME:DIMS, such as x:1x3x224x224, not '" + text + "'");
  return {.glob = text.substr(0, mark), .dims = spec->storage->dims};
}

std::shared_ptr<const btf::EngineSpecs> read_engine(const std::string& option,
                                                    const std::string& path,
                                                    const std::vector<std::string>& shapes) {
  auto list = btf::read_engine_list(path);
  if (!list) {
    const btf::Error error = list.error();
    throw Wrong(option + " @" + (error.file.empty() ? "" : error.file + ": ") + error.message);
  }
  btf::EngineSpecs specs{.list = *std::move(list), .path = path};
  for (const std::string& shape : shapes) specs.shapes.push_back(parse_shape(shape));
  return std::make_shared<const btf::EngineSpecs>(std::move(specs));
}

}  // namespace

bool names_engine(const SpecWords& words) {
  return std::ranges::any_of(words.specs, is_engine);
}

btf::OpenOptions SpecWords::finish(const std::string& option) const {
  btf::OpenOptions options;
  const auto parse = [&](const std::string& text) {
    auto parsed = btf::parse_tensor_spec(text);
    if (!parsed) throw Wrong(option + " " + parsed.error().message);
    return *std::move(parsed);
  };
  std::optional<std::string> of_all;
  for (const std::string& text : specs) {
    if (is_engine(text)) {
      if (options.engine) throw Wrong(option + " takes one layer list of an engine");
      options.engine = read_engine(option, text.substr(1), shapes);
      continue;
    }
    auto [glob, spec] = value_or_throw(split_spec_rule(option, text));
    if (!glob.empty()) {
      options.named_specs.push_back({std::move(glob), parse(spec)});
    } else if (std::exchange(of_all, std::move(spec))) {
      throw Wrong(option + " is given more than once for all files");
    }
  }
  if (!shapes.empty() && !options.engine)
    throw Wrong("--shape needs " + option + " @ENGINE, the layer list of an engine");
  if (nvmedia && !of_all) throw Wrong("--nvmedia needs " + option);
  if (of_all) options.spec = parse(nvmedia ? *of_all + ":nvmedia=" + *nvmedia : *of_all);
  if (layout_in) {
    options.layout_in = value_or_throw(btf::parse_layout(*layout_in));
    if (!btf::spec(*options.layout_in).dense()) throw Wrong("--layout-in: raw bytes hold no COO");
  }
  return options;
}

void add_input_spec(CLI::App& app, SpecWords& words) {
  add_repeated(app, "--input-spec", kSpecType, keep(words.specs),
               "what raw bytes hold: fp16:hwc8:1x3x224x224, or with\n"
               "strides fp16:1x3x4x5:strides=96,32,8,1; numbers in\n"
               "text: text:fp32:1x3x224x224; of a .npy without a\n"
               "dtype: bf16; of trtexec's JSON: int64;\n"
               "fc*=bf16 of files, arrays and outputs called so;\n"
               "@engine.json, the layer list of a TensorRT engine, of raw\n"
               "files called as its tensors")
      ->group(kGroup);
  add_reading(app, words, "--input-spec", kGroup);
}

void add_layers_specs(CLI::App& app, SpecWords& actual, SpecWords& golden, const char* group) {
  add_repeated(app, "--actual-spec", kSpecType, keep(actual.specs),
               "what raw bytes of ACTUAL hold: fp16:hwc8:1x3x224x224;\n"
               "fp16:hwc8 with the dims of GOLDEN; of trtexec's JSON:\n"
               "int64, or ids*=int64 of outputs; of files called as\n"
               "tensors of a TensorRT engine: @engine.json")
      ->group(group);
  add_repeated(app, "--golden-spec", kSpecType, keep(golden.specs), "the same of GOLDEN")
      ->group(group);
  add_reading(app, actual, "--actual-spec", group);
}

namespace {

// A complete spec of all files is said when they are opened, any other once they are known.
void finish_side(const char* option, const std::vector<std::string>& texts,
                 const SpecWords& reading, btf::OpenOptions& open, std::vector<SpecRule>& rules) {
  SpecWords words = reading;
  // NvMedia's sizes and strides are no spec by themselves.
  if (words.nvmedia && texts.size() == 1) {
    words.specs = texts;
    open = words.finish(option);
    return;
  }
  std::size_t of_all = 0;
  for (const std::string& text : texts) {
    if (is_engine(text)) {
      words.specs.push_back(text);
      continue;
    }
    SpecRule rule = value_or_throw(parse_spec_rule(option, text));
    if (rule.glob.empty() && ++of_all == 2)
      throw Wrong(std::string(option) + " is given more than once for all files");
    rules.push_back(std::move(rule));
  }
  if (rules.size() == 1 && of_all == 1 && !btf::spec_without_dims(rules.front().spec)) {
    words.specs.push_back(rules.front().spec);
    rules.clear();
  }
  open = words.finish(option);
  for (SpecRule& rule : rules)
    if (rule.glob.empty()) rule.glob = "*";
}

}  // namespace

// Specs without dims wait for those of the partner; then all of the side's are rules, as the last
// that matches counts.
void SpecWords::finish_layers(const std::string& option, btf::OpenOptions& open,
                              std::vector<SpecRule>& rules) const {
  const auto without_dims = [&](const std::string& text) {
    return !is_engine(text) &&
           btf::spec_without_dims(value_or_throw(split_spec_rule(option, text)).spec).has_value();
  };
  if (std::ranges::none_of(specs, without_dims)) {
    open = finish(option);
    return;
  }
  SpecWords reading = *this;
  reading.specs.clear();
  finish_side(option.c_str(), specs, reading, open, rules);
}

void DiffSpecWords::finish(DiffCommand& command) const {
  SpecWords own = reading;
  if (std::ranges::none_of(actual, is_engine) && std::ranges::any_of(golden, is_engine))
    own.shapes.clear();
  finish_side("--actual-spec", actual, own, command.open_actual, command.actual_specs);
  SpecWords layout;
  layout.layout_in = reading.layout_in;
  // Dims of an engine's tensors go with the side that has one.
  if (std::ranges::any_of(golden, is_engine)) layout.shapes = reading.shapes;
  finish_side("--golden-spec", golden, layout, command.open_golden, command.golden_specs);
}

void add_diff_specs(CLI::App& app, DiffSpecWords& words, const char* group) {
  add_repeated(app, "--actual-spec", "[GLOB=]SPEC", keep(words.actual),
               "what raw bytes of ACTUAL hold: fp16:hwc8:1x3x224x224;\n"
               "fp16:hwc8 with the dims of GOLDEN; fc*=fp16 of the files\n"
               "that a glob matches, the last one if several do;\n"
               "ids*=int64 of tensors in trtexec's JSON; @engine.json of\n"
               "files called as tensors of a TensorRT engine")
      ->group(group);
  add_repeated(app, "--golden-spec", "[GLOB=]SPEC", keep(words.golden), "the same of GOLDEN")
      ->group(group);
  add_reading(app, words.reading, "--actual-spec", group);
}

}  // namespace btftool
