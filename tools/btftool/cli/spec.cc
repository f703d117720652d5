#include "cli/spec.h"

#include <utility>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "btf/tensor_spec.h"
#include "cli/diff_arguments.h"

namespace btftool {
namespace {

constexpr const char* kSpecType = "[GLOB=]SPEC";
constexpr const char* kGroup = "Files that do not say what they hold";

void add_spec(CLI::App& app, const std::string& option, SpecWords& words, const std::string& help,
              const char* group) {
  const auto take = [&words, option](const std::string& text) { words.take(option, text); };
  add_repeated(app, option, kSpecType, take, help)->group(group);
}

void add_reading(CLI::App& app, SpecWords& words, const std::string& option,
                 const std::string& group) {
  add_text(app, "--layout-in", words.layout_in, "L",
           "layout of a file named as trtexec dumps it (kLINEAR)")
      ->group(group);
  add_text(app, "--nvmedia", words.nvmedia, "ORDER",
           option + " has sizes and strides as NvMedia has them:\nNHWC, NCHW or NCxHWx")
      ->group(group);
}

}  // namespace

void SpecWords::take(const std::string& option, const std::string& text) {
  SpecRule rule = value_or_throw(split_spec_rule(option, text));
  if (rule.glob.empty()) {
    if (spec) throw Wrong(option + " is given more than once");
    spec = text;
    return;
  }
  if (!btf::parse_dtype(rule.spec))
    throw Wrong(rule.source + ": behind a glob there is a dtype alone, not '" + rule.spec + "'");
  types.push_back(std::move(rule));
}

btf::OpenOptions SpecWords::finish(const std::string& option) const {
  btf::OpenOptions options;
  if (nvmedia && !spec) throw Wrong("--nvmedia goes with " + option);
  if (spec) {
    auto parsed = btf::parse_tensor_spec(nvmedia ? *spec + ":nvmedia=" + *nvmedia : *spec);
    if (!parsed) throw Wrong(option + " " + parsed.error().message);
    options.spec = *std::move(parsed);
  }
  if (layout_in) {
    options.layout_in = value_or_throw(btf::parse_layout(*layout_in));
    if (!btf::spec(*options.layout_in).dense()) throw Wrong("--layout-in: raw bytes hold no COO");
  }
  return options;
}

void add_input_spec(CLI::App& app, SpecWords& words) {
  add_spec(app, "--input-spec", words,
           "what raw bytes hold: fp16:hwc8:1x3x224x224, or with\n"
           "strides fp16:1x3x4x5:strides=96,32,8,1; of a .npy\n"
           "without a dtype: bf16; of trtexec's JSON: int64, or\n"
           "ids*=int64 of the tensors that a glob matches",
           kGroup);
  add_reading(app, words, "--input-spec", kGroup);
}

void add_layers_specs(CLI::App& app, SpecWords& actual, SpecWords& golden, const char* group) {
  add_spec(app, "--actual-spec", actual,
           "what raw bytes of ACTUAL hold: fp16:hwc8:1x3x224x224;\n"
           "of trtexec's JSON: int64, or ids*=int64 of tensors",
           group);
  add_spec(app, "--golden-spec", golden, "the same of GOLDEN", group);
  add_reading(app, actual, "--actual-spec", group);
}

namespace {

// A complete spec of all files is said when they are opened, any other once they are known.
void finish_side(const char* option, const std::vector<std::string>& texts,
                 const SpecWords& reading, btf::OpenOptions& open, std::vector<SpecRule>& rules) {
  SpecWords words = reading;
  // NvMedia's sizes and strides are no spec by themselves.
  if (words.nvmedia && texts.size() == 1) {
    words.spec = texts.front();
    open = words.finish(option);
    return;
  }
  std::size_t of_all = 0;
  for (const std::string& text : texts) {
    SpecRule rule = value_or_throw(parse_spec_rule(option, text));
    if (rule.glob.empty() && ++of_all == 2)
      throw Wrong(std::string(option) + " is given more than once for all files");
    rules.push_back(std::move(rule));
  }
  if (rules.size() == 1 && of_all == 1 && !spec_without_dims(rules.front().spec)) {
    words.spec = rules.front().spec;
    rules.clear();
  }
  open = words.finish(option);
  for (SpecRule& rule : rules)
    if (rule.glob.empty()) rule.glob = "*";
}

}  // namespace

void DiffSpecWords::finish(DiffCommand& command) const {
  finish_side("--actual-spec", actual, reading, command.open_actual, command.actual_specs);
  const SpecWords layout{.spec = {}, .types = {}, .layout_in = reading.layout_in, .nvmedia = {}};
  finish_side("--golden-spec", golden, layout, command.open_golden, command.golden_specs);
}

void add_diff_specs(CLI::App& app, DiffSpecWords& words, const char* group) {
  const auto keep = [](std::vector<std::string>& texts) {
    return [&texts](const std::string& text) { texts.push_back(text); };
  };
  add_repeated(app, "--actual-spec", "[GLOB=]SPEC", keep(words.actual),
               "what raw bytes of ACTUAL hold: fp16:hwc8:1x3x224x224;\n"
               "fp16:hwc8 with the dims of GOLDEN; fc*=fp16 of the files\n"
               "that a glob matches, the last one if several do;\n"
               "ids*=int64 of tensors in trtexec's JSON")
      ->group(group);
  add_repeated(app, "--golden-spec", "[GLOB=]SPEC", keep(words.golden), "the same of GOLDEN")
      ->group(group);
  add_reading(app, words.reading, "--actual-spec", group);
}

}  // namespace btftool
