#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <functional>

#include "btf/layers.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "core/numbers.h"
#include "diff/layers/order.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"
#include "formats/msprobe.h"
#include "formats/tensor_file.h"
#include "sets/index.h"
#include "sets/names/match.h"

namespace btf {
namespace {

// The dtype with a name like "torch.float32" or "Float32"; unset if there is none.
std::optional<DType> dtype_of(const std::string& theirs) {
  std::string name = theirs.substr(theirs.rfind('.') + 1);
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const auto dtype = parse_dtype(name);
  return dtype ? std::optional(*dtype) : std::nullopt;
}

// The only subdirectory of a directory, as "step0" and "rank0" of a single process.
Result<std::optional<std::string>> only_directory(const std::string& path) {
  std::error_code failed;
  std::optional<std::string> only;
  for (std::filesystem::directory_iterator at(path, failed), end; !failed && at != end;
       at.increment(failed)) {
    BTF_ASSIGN(const bool directory, is_directory(at->path().string()));
    if (only || !directory) return std::nullopt;
    only = at->path().string();
  }
  if (!failed) return only;
  return std::unexpected(system_failure(ErrorCode::io, failed.value(),
                                        "cannot read the directory: " +
                                            std::generic_category().message(failed.value()))
                             .error()
                             .in_file(path));
}

// The dump.json in the directory, or in its parent if the directory has the elements.
Result<std::optional<std::string>> dump_at(const std::string& path) {
  if (path == "-") return std::nullopt;
  BTF_ASSIGN(const bool directory, is_directory(path));
  std::vector<std::string> places{path};
  if (directory) places = {path + "/dump.json", path + "/../dump.json"};
  constexpr int kDeepest = 3;
  std::string below = path;
  for (int depth = 0;; ++depth) {
    for (const std::string& place : places) {
      BTF_ASSIGN(const bool regular, is_regular_file(place));
      if (regular) return place;
    }
    if (!directory || depth == kDeepest) return std::nullopt;
    BTF_ASSIGN(const auto next, only_directory(below));
    if (!next) return std::nullopt;
    below = *next;
    places = {below + "/dump.json"};
  }
}

bool has_no_statistics(const TensorStatistics& tensor) {
  return !tensor.max && !tensor.min && !tensor.mean && !tensor.norm && tensor.checksum.empty();
}

// What only one side has is no difference.
bool equal(const std::optional<double>& one, const std::optional<double>& other) {
  if (!one || !other) return true;
  return *one == *other || (std::isnan(*one) && std::isnan(*other));
}

// Whether everything that both sides have is equal. Checksums are of the stored bits.
bool are_equal(const TensorStatistics& actual, const TensorStatistics& golden) {
  if (!actual.checksum.empty() && !golden.checksum.empty() && actual.dtype == golden.dtype)
    return actual.checksum == golden.checksum;
  return equal(actual.max, golden.max) && equal(actual.min, golden.min) &&
         equal(actual.mean, golden.mean) && equal(actual.norm, golden.norm);
}

enum class Special : std::uint8_t { none, nan, inf };

Special special_of(const TensorStatistics& tensor) {
  Special found = Special::none;
  for (const auto& number : {tensor.max, tensor.min, tensor.mean}) {
    if (!number || std::isfinite(*number)) continue;
    if (std::isnan(*number)) return Special::nan;
    found = Special::inf;
  }
  return found;
}

LayerSide side_of(const TensorStatistics& tensor, double elements) {
  LayerSide side;
  const auto finite = [](const std::optional<double>& number) {
    return number && std::isfinite(*number) ? *number : 0;
  };
  side.norm = finite(tensor.norm);
  side.sum = finite(tensor.mean) * elements;
  side.peak = std::max(std::abs(finite(tensor.max)), std::abs(finite(tensor.min)));
  if (tensor.dtype && info(*tensor.dtype).floating())
    side.bits = info(*tensor.dtype).fp.mantissa_bits + 1U;
  side.samples = {finite(tensor.max), finite(tensor.min), finite(tensor.mean), side.norm};
  std::uint64_t print = std::hash<std::string>()(tensor.checksum);
  for (const double number : side.samples)
    print = (print ^ std::bit_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15ULL;
  side.fingerprint = print;
  return side;
}

// Lower bounds of the differences: no difference of two maxima or of two norms is larger than the
// norm of the differences, and by Cauchy and Schwarz that norm is at least the root of the count
// times the difference of means.
LayerFigures figures_of(const TensorStatistics& actual, const TensorStatistics& golden,
                        std::uint64_t elements) {
  LayerFigures f;
  const auto count = static_cast<double>(elements);
  f.elements = f.pairs = elements;
  f.actual = side_of(actual, count);
  f.golden = side_of(golden, count);
  const bool same = are_equal(actual, golden);
  const Special left = special_of(actual);
  const Special right = special_of(golden);
  if (left != Special::none || right != Special::none) {
    // Their number is unknown: at least one, and the other elements are neither.
    f.pairs = 0;
    const bool both = left == right;
    f.nan.both = both && left == Special::nan ? 1 : 0;
    f.inf.both = both && left == Special::inf ? 1 : 0;
    f.nan.actual = !both && left == Special::nan ? 1 : 0;
    f.nan.golden = !both && right == Special::nan ? 1 : 0;
    f.inf.actual = !both && left == Special::inf && right == Special::none ? 1 : 0;
    f.inf.golden = !both && right == Special::inf && left == Special::none ? 1 : 0;
    return f;
  }
  f.equal = same ? elements : 0;
  if (same) return f;
  const auto apart = [](const std::optional<double>& one, const std::optional<double>& other) {
    const double difference = one && other ? std::abs(*one - *other) : 0;
    return std::isfinite(difference) ? difference : 0;
  };
  f.max_error = std::max(apart(actual.max, golden.max), apart(actual.min, golden.min));
  f.error = std::max({f.max_error, apart(actual.norm, golden.norm),
                      apart(actual.mean, golden.mean) * std::sqrt(count)});
  if (f.error == 0) return f;
  f.relative_error = f.golden.norm > 0 ? f.error / f.golden.norm : HUGE_VAL;
  f.slice_error = f.relative_error;
  return f;
}

// Why a pair cannot be compared; empty if it can.
std::string trouble_of(const TensorStatistics& actual, const TensorStatistics& golden) {
  for (const auto* side : {&actual, &golden})
    if (has_no_statistics(*side))
      return std::string("there are no statistics of it in ") +
             (side == &actual ? "actual" : "golden");
  const bool sums = !actual.checksum.empty() && !golden.checksum.empty();
  const bool numbers =
      (actual.max && golden.max) || (actual.mean && golden.mean) || (actual.norm && golden.norm);
  if (!sums && !numbers) return "the sides have no statistics in common";
  if (sums && !numbers && actual.dtype != golden.dtype)
    return "its checksums are of different dtypes";
  if (sums && !numbers && actual.checksum != golden.checksum)
    return "its checksums differ: by how much its elements do is not known";
  if (!numbers) return {};
  for (const auto* side : {&actual, &golden})
    if (side->norm && !std::isfinite(*side->norm) && special_of(*side) == Special::none)
      return "its norm is beyond what it was summed in";
  if (!golden.norm && !sums) return "golden has no norm of it to measure errors by";
  return {};
}

class StatisticsComparison {
 public:
  StatisticsComparison(const StatisticsDump& actual, const StatisticsDump& golden,
                       LayerReport& report)
      : actual_(actual), golden_(golden), report_(report) {}

  Status run(const LayerOptions& options) {
    const auto names = [](const StatisticsDump& dump) {
      std::vector<std::string> list;
      for (const TensorStatistics& tensor : dump.tensors) list.push_back(tensor.name);
      return list;
    };
    const auto may = [this](std::uint64_t l, std::uint64_t r) {
      return element_count(actual_.tensors[l].dims) == element_count(golden_.tensors[r].dims);
    };
    NameMatches matches = match_names(names(actual_), names(golden_), options.map,
                                      {.may = may, .lists = NameLists::whole, .equal = {}});
    std::vector<bool> left(actual_.tensors.size(), true);
    std::vector<bool> right(golden_.tensors.size(), true);
    for (const NameMatch& match : matches.pairs) {
      left[match.left] = right[match.right] = false;
      add(match);
    }
    report_.ambiguous = std::move(matches.unclear);
    report_.paired = report_.layers.size();
    for (std::size_t l = 0; l < left.size(); ++l) {
      if (!left[l]) continue;
      report_.actual_only.push_back(actual_.tensors[l].name);
      rest_.push_back({actual_.tensors[l].name, l, l});
    }
    for (std::size_t r = 0; r < right.size(); ++r)
      if (right[r]) add_golden(r);
    if (report_.paired == 0)
      return std::unexpected(Error{ErrorCode::refused, "nothing is paired: no name of " +
                                                           actual_.path + " is in " + golden_.path +
                                                           "; `map` pairs them"});
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) report_.layers[i].number = i;
    return order_layers(report_, places_, rest_, QuantisedOrder::none,
                        {.recorded_in = actual_.path, .keeps_order = true},
                        {.recorded_in = golden_.path, .keeps_order = true}, options);
  }

 private:
  void add(const NameMatch& match) {
    const TensorStatistics& actual = actual_.tensors[match.left];
    const TensorStatistics& golden = golden_.tensors[match.right];
    Layer& layer = report_.layers.emplace_back();
    layer.actual = actual.name;
    layer.golden = golden.name;
    layer.tier = match.tier;
    layer.actual_dtype = actual.dtype;
    layer.golden_dtype = golden.dtype;
    layer.actual_dims = actual.dims;
    layer.golden_dims = golden.dims;
    layer.role = golden.role.empty() ? actual.role : golden.role;
    places_.push_back({.actual_recorded = match.left,
                       .golden_recorded = match.right,
                       .actual_stored = match.left,
                       .golden_stored = match.right});
    const auto left = element_count(actual.dims);
    const auto right = element_count(golden.dims);
    if (!left || !right) {
      layer.trouble = "its shape has more elements than 64 bits can count";
    } else if (*left != *right) {
      layer.fault = LayerFault::shape;
    } else if (!actual.dtype || !golden.dtype) {
      layer.trouble = "its dtype is not known";
    } else if (*left == 0) {
      layer.figures.emplace();
    } else if (std::string trouble = trouble_of(actual, golden); !trouble.empty()) {
      layer.trouble = std::move(trouble);
    } else {
      layer.figures = figures_of(actual, golden, *left);
    }
  }

  void add_golden(std::uint64_t number) {
    const TensorStatistics& golden = golden_.tensors[number];
    Layer& layer = report_.layers.emplace_back();
    layer.golden = golden.name;
    layer.golden_dtype = golden.dtype;
    layer.golden_dims = golden.dims;
    layer.role = golden.role;
    layer.state = LayerState::missing;
    places_.push_back({.golden_recorded = number, .golden_stored = number});
  }

  const StatisticsDump& actual_;
  const StatisticsDump& golden_;
  LayerReport& report_;
  std::vector<LayerPositions> places_;
  std::vector<ActualOnly> rest_;
};

}  // namespace

Result<std::optional<StatisticsDump>> read_statistics(const std::string& path) {
  BTF_ASSIGN(const std::optional<std::string> file, dump_at(path));
  if (!file) return std::nullopt;
  BTF_ASSIGN(const bool of_msprobe, is_msprobe_dump(*file));
  if (!of_msprobe) return std::nullopt;
  const auto read = [&]() -> Result<ProbeDump> {
    BTF_ASSIGN(const auto source, open_source(*file, {}));
    BTF_ASSIGN(const auto construct, open_if_there(next_to_index(*file, kMsprobeConstruct)));
    return read_msprobe_dump(*source, construct.get());
  };
  auto dump = read();
  if (!dump) return std::unexpected(dump.error().in_file(*file));
  StatisticsDump found{.path = *file, .has_elements = false, .tensors = {}, .warnings = {}};
  if (dump->cut_off) found.warnings.push_back(cut_off_text(*file, *dump));
  for (ProbeTensor& tensor : dump->tensors) {
    found.has_elements = found.has_elements || !tensor.file.empty();
    found.tensors.push_back({.name = std::move(tensor.name),
                             .dtype = dtype_of(tensor.dtype),
                             .dims = std::move(tensor.dims),
                             .max = tensor.max,
                             .min = tensor.min,
                             .mean = tensor.mean,
                             .norm = tensor.norm,
                             .checksum = std::move(tensor.checksum),
                             .role = std::string(role_of(tensor))});
  }
  return found;
}

bool statistics_differ(const TensorStatistics& actual, const TensorStatistics& golden) {
  return !are_equal(actual, golden);
}

Result<LayerReport> compare_statistics(const StatisticsDump& actual, const StatisticsDump& golden,
                                       const LayerOptions& options) {
  for (const StatisticsDump* side : {&actual, &golden})
    if (side->tensors.empty())
      return std::unexpected(Error{ErrorCode::refused, "it has no tensor"}.in_file(side->path));
  LayerReport report;
  report.statistics_only = true;
  for (const StatisticsDump* side : {&actual, &golden})
    report.warnings.insert(report.warnings.end(), side->warnings.begin(), side->warnings.end());
  BTF_TRY(StatisticsComparison(actual, golden, report).run(options));
  judge_layers(report, options.judge);
  return report;
}

}  // namespace btf
