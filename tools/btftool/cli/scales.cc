#include "cli/scales.h"

#include <tuple>

#include "cli/arguments.h"
#include "cli/diff_arguments.h"

namespace btftool {
namespace {

constexpr const char* kDequantize = "--dequantize";
constexpr const char* kBlock = "--block";
constexpr const char* kActualScale = "--actual-scale";
constexpr const char* kGoldenScale = "--golden-scale";

std::vector<std::uint64_t> parse_blocks(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  for (const std::string_view word : split(text, 'x')) {
    const auto size = parse_unsigned(word);
    if (!size || *size == 0 || sizes.size() == btf::kMaxRank)
      throw Wrong("--block takes a size such as 64, or one for each of the last dims such as 64x128, "
                  "not '" +
                  std::string(text) + "'");
    sizes.push_back(*size);
  }
  return sizes;
}

}  // namespace

void add_blocks(CLI::App& app, std::vector<std::uint64_t>& blocks, const char* group) {
  auto* const option = add_words(
      app, kBlock, "N|NxM", [&blocks](const std::string& text) { blocks = parse_blocks(text); },
      "--dequantize: so many indices of a dim share a scale,\nwhere the file does not say it");
  if (group != nullptr) option->group(group);
}

void check_blocks(const CLI::App& app) {
  if (given(app, kBlock) && !given(app, kDequantize))
    throw Wrong("--block needs --dequantize: it says for how many codes each scale is");
}

void add_scales(CLI::App& app, const ScaleOptions& options, const char* group) {
  app.add_flag(kDequantize, options.dequantize,
               "compare codes as the numbers that they stand for, by\nthe scales in their file")
      ->group(group);
  add_blocks(app, options.blocks, group);
  for (const auto& [option, side, target] : {std::tuple(kActualScale, "ACTUAL", &options.actual),
                                             std::tuple(kGoldenScale, "GOLDEN", &options.golden)})
    add_words(
        app, option, "S[,Z]",
        [option, target](const std::string& text) {
          *target = value_or_throw(parse_given_scale(option, text));
        },
        std::string("codes of ") + side +
            " stand for (code - Z) * S;\n1:S,Z/S,Z: for each index of dim 1")
        ->group(group);
}

}  // namespace btftool
