#include "cli/scales.h"

#include <tuple>

#include "cli/diff_arguments.h"

namespace btftool {
namespace {

constexpr const char* kDequantize = "--dequantize";
constexpr const char* kActualScale = "--actual-scale";
constexpr const char* kGoldenScale = "--golden-scale";

}  // namespace

void add_scales(CLI::App& app, const ScaleOptions& options, const char* group) {
  app.add_flag(kDequantize, options.dequantize,
               "compare codes as the numbers that they stand for, by\nthe scales in their file")
      ->group(group);
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
