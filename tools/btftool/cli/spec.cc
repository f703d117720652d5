#include "cli/spec.h"

#include "btf/layout.h"
#include "btf/tensor_spec.h"

namespace btftool {
namespace {

constexpr const char* kSpecType = "SPEC";
constexpr const char* kGroup = "Files that do not say what they hold";

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
  add_text(app, "--input-spec", words.spec, kSpecType,
           "what raw bytes hold: fp16:hwc8:1x3x224x224, or with\n"
           "strides fp16:1x3x4x5:strides=96,32,8,1; of a .npy\n"
           "without a dtype: bf16")
      ->group(kGroup);
  add_reading(app, words, "--input-spec", kGroup);
}

void add_diff_specs(CLI::App& app, SpecWords& actual, SpecWords& golden, const char* group) {
  add_text(app, "--actual-spec", actual.spec, kSpecType,
           "what raw bytes of ACTUAL hold: fp16:hwc8:1x3x224x224")
      ->group(group);
  add_text(app, "--golden-spec", golden.spec, kSpecType, "the same of GOLDEN")->group(group);
  add_reading(app, actual, "--actual-spec", group);
}

}  // namespace btftool
