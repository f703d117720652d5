#include "cli/support.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/did_you_mean.h"
#include "btf/output.h"
#include "btf/report.h"
#include "cli/arguments.h"

namespace btftool {
void resolve_output(std::string& output, const std::string& input,
                    std::optional<int>& compression) {
  auto path = btf::output_path(output, input);
  if (!path) throw OptionError(path.error().text());
  output = *std::move(path);
  if (!compression && btf::compressed_by_name(output)) compression = btf::kDefaultCompression;
}

std::uint64_t parse_memory(const std::string& text) {
  constexpr std::uint64_t kMin = 16U << 20;
  std::string bytes = text;
  std::uint64_t value = 0;
  try {
    CLI::AsSizeValue(false)(bytes);
    if (text.find('-') == std::string::npos) value = std::stoull(bytes);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    value = 0;
  }
  if (value < kMin)
    throw OptionError("--max-memory takes a size of 16M or more, such as 256M or 1G, not '" + text +
                      "'");
  return value;
}

void check_reports(const std::optional<std::string>& junit,
                   const std::optional<std::string>& html) {
  const auto check = [](const char* option, const std::optional<std::string>& name) {
    if (name && (name->empty() || *name == "-"))
      throw OptionError(std::string(option) + " takes a file name, not '" + *name + "'");
  };
  check("--junit", junit);
  check("--html", html);
  if (junit && html && *junit == *html)
    throw OptionError("--junit and --html name the same file '" + *junit + "'");
}

void set_operands(bool from_json, const std::vector<std::string>& operands, std::string& actual,
                  std::string& golden) {
  if (from_json) {
    if (!operands.empty())
      throw OptionError("--from-json takes no operands, but '" + operands.front() + "' is given");
    return;
  }
  actual = operands[0];
  golden = operands[1];
  if (actual == "-" && golden == "-") throw OptionError("only one operand can be - (stdin)");
}

std::vector<std::string> read_lines(const std::string& option, const std::string& path) {
  std::ifstream file(path == "-" ? "/dev/stdin" : path);
  if (!file) throw OptionError(option + " " + path + ": cannot open: " + std::strerror(errno));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (file.bad()) throw OptionError(option + " " + path + ": cannot read: " + std::strerror(errno));
  return lines;
}

namespace {

struct OptionName {
  std::string_view member;
  std::string_view option;
  std::string_view command{};  // if empty, all commands without a row of their own
};

// Members of ConvertOptions, DiffOptions, SetDiffOptions, ReportOptions, LayerOptions and
// OpenOptions. A plain `spec` is that of OpenOptions.
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

// Returns true if the backticks at `open` and `close` quote a word of the message. Others are part
// of the name of a file or tensor.
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

std::string OptionNames::translate(std::string text) const {
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

btf::Error OptionNames::translate(btf::Error error) const {
  error.message = translate(std::move(error.message));
  return error;
}

btf::Finding OptionNames::translate(btf::Finding finding) const {
  finding.message = translate(std::move(finding.message));
  return finding;
}

btf::TensorDiff OptionNames::translate(btf::TensorDiff diff) const {
  if (diff.error) diff.error = translate(*std::move(diff.error));
  for (btf::Hint& hint : diff.hints) hint.evidence = translate(std::move(hint.evidence));
  return diff;
}

btf::LayerReport OptionNames::translate(btf::LayerReport report) const {
  return btf::with_names(std::move(report),
                         [this](std::string text) { return translate(std::move(text)); });
}

}  // namespace btftool
