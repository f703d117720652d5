#include "cli/option_names.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "btf/report/report.h"

namespace btftool {
namespace {

struct OptionName {
  std::string_view member;
  std::string_view option;
  std::string_view command{};  // empty: of all that have no row of their own
};

// Members of ConvertOptions (`ConvertOptions::spec` apart from OpenOptions' `spec`), DiffOptions,
// SetDiffOptions, ReportOptions, LayerOptions and OpenOptions.
constexpr auto kOptionNames = std::to_array<OptionName>({
    {"spec", "--input-spec"},
    {"spec", "--actual-spec or --golden-spec", "diff"},
    {"spec", "--actual-spec or --golden-spec", "layers"},
    {"named_specs", "--input-spec"},
    {"named_specs", "--actual-spec or --golden-spec", "diff"},
    {"named_specs", "--actual-spec or --golden-spec", "layers"},
    {"tensors", "--tensor"},
    {"ConvertOptions::spec", "--output-spec"},
    {"as_uint", "--as-uint"},
    {"compression", "--compress"},
    {"drop_names", "--names drop"},
    {"dtype", "--dtype"},
    {"Slice", "convert --slice"},
    {"layout", "--layout"},
    {"names", "--names"},
    {"plain", "--plain"},
    {"quantization.automatic", "--scale auto"},
    {"quantization.axis", "--scale-axis"},
    {"quantization.block", "--block-scale"},
    {"quantization.dequantize", "--dequantize"},
    {"quantization.find_zero_point", "--zero-point auto"},
    {"quantization.scale", "--scale"},
    {"quantization.zero_point", "--zero-point"},
    {"recipient", "--for"},
    {"scale_blocks", "--block"},
    {"shapes", "--shape"},
    {"shuffle", "--shuffle"},
    {"where_possible", "--where-possible"},
    {"actual_scale", "--actual-scale"},
    {"actual_scale.axis", "--actual-scale DIM:S,Z/S,Z/..."},
    {"codes", "--codes"},
    {"dequantize", "--dequantize"},
    {"gates.max_mismatch", "--max-mismatch"},
    {"golden_scale", "--golden-scale"},
    {"tolerance.atol", "--atol"},
    {"tolerance.rtol", "--rtol"},
    {"tolerance.ulp", "--ulp"},
    {"pair_by", "--pair-by"},
    {"text.all", "--all"},
    {"judge.isolated", "--isolated"},
    {"graph", "--graph"},
    {"NameMap", "--map FILE"},
    {"actual.specs", "--actual-spec"},
    {"golden.specs", "--golden-spec"},
    {"pairs", "--pair"},
    {"include", "--include"},
    {"exclude", "--exclude"},
    {"heatmap_axes", "--heatmap"},
    {"judge.compute", "--compute"},
    {"map", "--map"},
    {"expected", "--expect", "merge"},
    {"resume", "--resume"},
    {"shard_by", "--shard-by"},
    {"order", "--order"},
});

// Quotes in names of files and tensors are those of the user.
bool quotes_member(std::string_view text, std::size_t open, std::size_t close) {
  const bool starts = open == 0 || text[open - 1] == ' ' || text[open - 1] == '(';
  return starts &&
         (close + 1 == text.size() || std::string_view(" ,;:.)").contains(text[close + 1]));
}

}  // namespace

std::string_view OptionNames::option(std::string_view member) const {
  std::string_view found;
  for (const OptionName& row : kOptionNames)
    if (row.member == member && (row.command == command_ || (row.command.empty() && found.empty())))
      found = row.option;
  return found;
}

std::string OptionNames::in(std::string text) const {
  for (std::size_t open = text.find('`'); open != text.npos; open = text.find('`', open + 1)) {
    const std::size_t close = text.find('`', open + 1);
    if (close == text.npos) break;
    const std::string_view found =
        quotes_member(text, open, close)
            ? option(std::string_view(text).substr(open + 1, close - open - 1))
            : std::string_view();
    if (found.empty()) continue;
    text.replace(open, close + 1 - open, found);
    open += found.size() - 1;
  }
  return text;
}

btf::Error OptionNames::in(btf::Error error) const {
  error.message = in(std::move(error.message));
  return error;
}

btf::Finding OptionNames::in(btf::Finding finding) const {
  finding.message = in(std::move(finding.message));
  return finding;
}

btf::TensorDiff OptionNames::in(btf::TensorDiff diff) const {
  if (diff.error) diff.error = in(*std::move(diff.error));
  for (btf::Hint& hint : diff.hints) hint.evidence = in(std::move(hint.evidence));
  return diff;
}

btf::LayerReport OptionNames::in(btf::LayerReport report) const {
  return btf::with_names(std::move(report),
                         [this](std::string text) { return in(std::move(text)); });
}

}  // namespace btftool
