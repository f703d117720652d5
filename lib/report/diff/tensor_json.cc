// The JSON of a compared pair of tensors: what it consists of, in the order of its members. Both
// `diff --json` and parts write it, and both are read back.
#include <charconv>
#include <initializer_list>
#include <limits>
#include <string>

#include "btf/dtype.h"
#include "report/diff/reports.h"
#include "report/diff/text.h"
#include "report/text/fields.h"

namespace btf::report {

constexpr auto kResults = std::to_array<Named<DiffResult>>({
    {DiffResult::same, "same"},
    {DiffResult::different, "different"},
    {DiffResult::shape, "shape"},
    {DiffResult::missing, "missing"},
    {DiffResult::trouble, "trouble"},
});

constexpr std::span<const Named<DiffResult>> diff_result_names() { return kResults; }

template <>
inline constexpr auto kNames<DiffResult> = diff_result_names;

std::string result_name(DiffResult result) { return name_in(diff_result_names(), result); }

template <>
struct Fields<CriterionResult> {
  static void visit(auto& fields, auto& criterion) {
    fields("name", criterion.name);
    fields("passed", criterion.passed);
    fields("limit", criterion.limit);
    fields("value", criterion.value);
    fields("text", criterion.text);
  }
};

template <>
struct Fields<Tolerance> {
  static void visit(auto& fields, auto& tolerance) {
    visit_limits(fields, tolerance);
    fields("equal_nan", tolerance.equal_nan);
    fields.if_set("half_step", tolerance.half_step);
  }
};

template <>
struct Fields<QuantileValue> {
  static void visit(auto& fields, auto& quantile) {
    fields.amount("q", quantile.q);
    fields.amount("value", quantile.value);
  }
};

template <>
struct Fields<TopK> {
  static void visit(auto& fields, auto& top) {
    fields("k", top.k);
    fields("rows", top.rows);
    fields("disagreeing", top.disagreeing);
    fields("first", top.first);
  }
};

template <>
struct Fields<DecadeCount> {
  static void visit(auto& fields, auto& decade) {
    fields.custom("decade", decade.decade, json_of<int>, [](const JsonNode& node, int& value) {
      value = static_cast<int>(node.integer(-324, 308));  // the decades of finite doubles
    });
    fields("count", decade.count);
    fields("mismatched", decade.mismatched);
  }
};

template <>
struct Fields<RequiredPair> {
  static void visit(auto& fields, auto& pair) {
    fields.amount("rtol", pair.rtol);
    fields.amount("atol", pair.atol);
  }
};

template <>
struct Fields<Heatmap::Axis> {
  static void visit(auto& fields, auto& axis) {
    fields("dim", axis.dim);
    fields("step", axis.step);
  }
};

namespace {

Json cells_json(const std::vector<std::uint64_t>& counts, const Heatmap& map) {
  Json rows = Json::array();
  for (std::uint64_t r = 0; r < map.rows; ++r) {
    Json row = Json::array();
    for (std::uint64_t c = 0; c < map.columns; ++c)
      row.push_back(json_number(counts[r * map.columns + c]));
    rows.push_back(std::move(row));
  }
  return rows;
}

void check_items(const JsonNode& node, std::uint64_t found, std::uint64_t expected) {
  if (found == expected) return;
  node.fail("has " + std::to_string(found) + " items, expected " + std::to_string(expected));
}

void read_cells(const JsonNode& node, std::vector<std::uint64_t>& counts, const Heatmap& map) {
  std::uint64_t rows = 0;
  node.each([&](const JsonNode& row) {
    ++rows;
    const std::size_t before = counts.size();
    row.each([&](const JsonNode& cell) { counts.push_back(cell.count()); });
    check_items(row, counts.size() - before, map.columns);
  });
  check_items(node, rows, map.rows);
}

void read_length(const JsonNode& node, std::uint64_t& length) {
  constexpr std::int64_t kMaxCells = 1 << 16;
  length = static_cast<std::uint64_t>(node.integer(1, kMaxCells));
}

}  // namespace

template <>
struct Fields<Heatmap> {
  static void visit(auto& fields, auto& map) {
    const auto cells = [&](const std::vector<std::uint64_t>& counts) {
      return cells_json(counts, map);
    };
    const auto take = [&](const JsonNode& node, std::vector<std::uint64_t>& counts) {
      read_cells(node, counts, map);
    };
    fields("down", map.down);
    fields("across", map.across);
    fields.custom("rows", map.rows, json_of<std::uint64_t>, read_length);
    fields.custom("columns", map.columns, json_of<std::uint64_t>, read_length);
    fields.custom("mismatched", map.mismatched, cells, take);
    fields.custom("elements", map.elements, cells, take);
  }
};

namespace {

// --- One side of the pair ---

void read_layout(const JsonNode& tensor, Layout& layout) {
  const std::string name = tensor["layout"].text();
  const std::string dla = tensor.has("dla") ? tensor["dla"].text() : "";
  for (const LayoutSpec& row : btf::layouts())
    if (row.name == name && (dla.empty() || row.dla == dla)) {
      layout = row.layout;
      return;
    }
  tensor["layout"].fail("is not a layout");
}

void visit_side(auto& fields, auto& tensor, JsonSchema schema) {
  constexpr bool kReading = kReads<decltype(fields)>;
  if (schema == JsonSchema::sets) {
    fields("name", tensor.name);
    fields.if_set("named", tensor.named);
  }
  if constexpr (kReading) {
    tensor.known = !fields.node()["dtype"].null();
    if (!tensor.known) return;
  } else if (!tensor.known) {
    for (const char* member : {"dtype", "layout", "shape"}) fields.put(member, Json());
    return;
  }
  fields("dtype", tensor.dtype);
  fields.if_set("codes", tensor.codes);
  fields.if_set("scale", tensor.scale);
  fields.if_set("text_digits", tensor.text_digits);
  fields.if_set("text_fixed", tensor.text_fixed);
  if constexpr (kReading)
    read_layout(fields.node(), tensor.layout);
  else
    fields.layout(tensor.layout);
  fields("shape", tensor.dims);
  if constexpr (kReading) tensor.text_digits = std::min(tensor.text_digits, 17U);
}

using Side = std::optional<DiffTensor>;

Json index_json(const Side& side) { return side ? json_number(side->index) : Json(); }

void read_index(const JsonNode& node, Side& side) {
  if (!node.null()) side.emplace().index = node.count();
}

// --- Single pairs of elements ---

bool inside(const Dims& index, const Dims& dims) {
  if (index.size() != dims.size()) return false;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (index[d] >= dims[d]) return false;
  return true;
}

void read_code(const JsonNode& node, std::uint64_t& code, const DTypeInfo& dtype) {
  const std::string text = node.text();
  const char* end = text.data() + text.size();
  const bool hex = text.starts_with("0x");
  const auto [stop, error] = std::from_chars(text.data() + (hex ? 2 : 0), end, code, 16);
  if (!hex || error != std::errc() || stop != end)
    node.fail("is not a hexadecimal code");
  else if (dtype.bits < 64 && code >> dtype.bits != 0)
    node.fail("has more bits than " + std::string(dtype.name));
  if (node.failed()) code = 0;
}

// `diff` gives the dtypes and the dims.
void visit_mismatch(auto& fields, auto& found, const TensorDiff& diff) {
  fields("index", found.index);
  if constexpr (kReads<decltype(fields)>)
    if (!inside(found.index, diff.golden->dims))
      fields.node()["index"].fail("is not an index of the tensor");
  const DType actual = diff.actual->dtype;
  const DType golden = diff.golden->dtype;
  const auto code = [&](const char* name, auto& value, DType dtype) {
    fields.custom(
        name, value, [&](std::uint64_t of) { return btf::code_text(dtype, of); },
        [&](const JsonNode& node, std::uint64_t& of) { read_code(node, of, btf::info(dtype)); });
  };
  fields.derived("actual", [&] { return json_value(actual, found.actual_code); });
  fields.derived("golden", [&] { return json_value(golden, found.golden_code); });
  code("actual_code", found.actual_code, actual);
  code("golden_code", found.golden_code, golden);
  fields("abs_error", found.abs_error);
  fields("rel_error", found.rel_error);
  fields("allowed", found.allowed);
  fields("steps", found.steps);
  fields("actual_offset", found.actual_offset);
  fields("golden_offset", found.golden_offset);
}

// --- Figures ---

constexpr const char* kNoFigures = "there is no pair of finite numbers";

void visit_figures(auto& fields, auto& figures, const TensorDiff& diff) {
  fields("pairs", figures.pairs);
  const bool none = figures.pairs == 0;
  for (const FigureInfo& row : btf::figures()) {
    if (row.value == nullptr) continue;
    auto& value = figures.*row.value;
    // Reports of earlier versions lack some figures, which are NaN then.
    if constexpr (kReads<decltype(fields)>) value = std::numeric_limits<double>::quiet_NaN();
    fields.custom_if(
        none || row.judged(diff), row.name.data(), value,
        [&](double figure) { return none ? Json() : json_number(figure); },
        [&](const JsonNode& node, double& figure) {
          if (node.null() && none) {
            figure = Figures().*row.value;
            return;
          }
          figure = node.number();
          if (!(figure >= row.lowest && figure <= row.highest))
            node.fail("is not from " + btf::number_text(row.lowest) + " to " +
                      btf::number_text(row.highest));
        });
  }
  if (none) fields.derived("reason", [] { return kNoFigures; });
  const auto of_fit = [&](const char* name, double BestFit::* member) {
    fields.custom_if(
        true, name, figures.fit,
        [&](const std::optional<BestFit>& fit) { return fit ? json_number(*fit.*member) : Json(); },
        [&](const JsonNode& node, std::optional<BestFit>& fit) {
          if (node.null()) return;
          if (!fit) fit.emplace();
          *fit.*member = member == &BestFit::residual ? node.amount() : node.number();
        });
  };
  of_fit("gain", &BestFit::gain);
  of_fit("offset", &BestFit::offset);
  of_fit("residual", &BestFit::residual);
}

// --- The pair ---

// The names of the sides, and how the comparison ended.
void visit_outcome(auto& fields, auto& diff, JsonSchema schema) {
  if (schema == JsonSchema::sets) {
    fields.derived("name", [&] { return (diff.golden ? diff.golden : diff.actual)->name; });
    fields.if_set("paired_by", diff.tier);
    fields.if_set("note", diff.note);
  }
  // The message names the file and the tensor already.
  fields.custom_if(
      diff.error.has_value(), "error", diff.error,
      [](const std::optional<Error>& error) { return error->text(); },
      [](const JsonNode& node, std::optional<Error>& error) {
        error = Error{ErrorCode::refused, node.text()};
      });
  fields.custom("actual", diff.actual, index_json, read_index);
  fields.custom("golden", diff.golden, index_json, read_index);
  fields("result", diff.result);
  fields.or_null("reason", diff.reason);
  const auto side = [&](const char* name, auto& tensor) {
    fields.custom(
        name, tensor,
        [&](const Side& one) {
          return one ? object_of([&](auto& inner) { visit_side(inner, *one, schema); }) : Json();
        },
        [&](const JsonNode& node, Side& one) {
          if (one.has_value() == node.null()) return node.fail("contradicts the tensor's number");
          if (one) read_object(node, [&](auto& inner) { visit_side(inner, *one, schema); });
        });
  };
  side("actual_tensor", diff.actual);
  side("golden_tensor", diff.golden);
}

void visit_first(auto& fields, const char* name, auto& index, const Dims& dims) {
  fields.added(name, index);
  if constexpr (kReads<decltype(fields)>)
    if (index && !inside(*index, dims)) fields.node()[name].fail("is not an index of the tensor");
}

void visit_numbers(auto& fields, auto& diff) {
  fields("compared", diff.compared);
  fields.custom(
      "mismatched", diff,
      [](const TensorDiff& of) {
        return of.mismatched_known ? json_number(of.mismatched) : Json();
      },
      [](const JsonNode& node, TensorDiff& of) {
        of.mismatched_known = !node.null();
        of.mismatched = of.mismatched_known ? node.count() : 1;
      });
  fields.amount("max_abs", diff.max_abs);
  fields.amount("max_rel", diff.max_rel);
  fields("max_ulp", diff.max_ulp);
  auto& at = diff.first_nonfinite;
  const auto first = [&](auto& inner, const char* name, auto& index) {
    visit_first(inner, name, index, diff.golden ? diff.golden->dims : Dims());
  };
  fields.object("nan", [&](auto& inner) {
    Fields<NanCount>::visit(inner, diff.nan);
    first(inner, "first_actual", at.nan_actual);
    first(inner, "first_golden", at.nan_golden);
    first(inner, "first_both", at.nan_both);
  });
  fields.object("inf", [&](auto& inner) {
    Fields<InfCount>::visit(inner, diff.inf);
    first(inner, "first_opposite", at.inf_opposite);
    first(inner, "first_actual", at.inf_actual);
    first(inner, "first_golden", at.inf_golden);
    first(inner, "first_both", at.inf_both);
  });
  fields.custom(
      "figures", diff.figures,
      [&](const std::optional<Figures>& figures) {
        return figures ? object_of([&](auto& inner) { visit_figures(inner, *figures, diff); })
                       : Json();
      },
      [&](const JsonNode& node, std::optional<Figures>& figures) {
        if (node.null()) return;
        read_object(node, [&](auto& inner) { visit_figures(inner, figures.emplace(), diff); });
      });
  fields("quantiles", diff.quantiles);
  fields("top_k", diff.top_k);
  const auto mismatch = [&](const Mismatch& found) {
    return object_of([&](auto& inner) { visit_mismatch(inner, found, diff); });
  };
  const auto read_mismatch = [&](const JsonNode& node, Mismatch& found) {
    read_object(node, [&](auto& inner) { visit_mismatch(inner, found, diff); });
  };
  const auto worst = [&](auto& inner, const char* name, auto& found) {
    inner.custom(
        name, found,
        [&](const std::optional<Mismatch>& one) { return one ? mismatch(*one) : Json(); },
        [&](const JsonNode& node, std::optional<Mismatch>& one) {
          if (!node.null()) read_mismatch(node, one.emplace());
        });
  };
  fields.object("worst", [&](auto& inner) {
    worst(inner, "abs", diff.worst_abs);
    worst(inner, "rel", diff.worst_rel);
  });
  const auto list = [&](const char* name, auto& mismatches) {
    fields.custom(
        name, mismatches,
        [&](const std::vector<Mismatch>& all) {
          Json json = Json::array();
          for (const Mismatch& one : all) json.push_back(mismatch(one));
          return json;
        },
        [&](const JsonNode& node, std::vector<Mismatch>& all) {
          node.each([&](const JsonNode& item) { read_mismatch(item, all.emplace_back()); });
        });
  };
  list("first", diff.first);
  list("largest", diff.largest);
  const auto histogram = [](auto& inner, auto& of) {
    inner("equal", of.equal);
    inner("decades", of.decades);
  };
  fields.custom(
      "histogram", diff,
      [&](const TensorDiff& of) {
        return of.worst_abs ? object_of([&](auto& inner) { histogram(inner, of); }) : Json();
      },
      [&](const JsonNode& node, TensorDiff& of) {
        if (!node.null()) read_object(node, [&](auto& inner) { histogram(inner, of); });
      });
  fields.object("required", [&](auto& inner) {
    inner.amount("atol", diff.required_atol);
    inner.amount("rtol", diff.required_rtol);
    inner("pair", diff.required_pair);
    inner("pairs", diff.required_pairs);
  });
  fields("hints", diff.hints);
  fields("heatmap", diff.heatmap);
  fields.custom_if(diff.saturated.actual + diff.saturated.golden > 0, "saturated", diff.saturated,
                   json_of<SaturatedCount>,
                   [](const JsonNode& node, auto& count) { read(node, count); });
}

// --- Checks of what was read ---

// Checks that the counts, which are of disjoint sets of pairs, do not exceed `all`.
void check_sum(const JsonNode& node, std::uint64_t all,
               std::initializer_list<std::uint64_t> counts) {
  for (const std::uint64_t count : counts) {
    if (count > all) return node.fail("counts more than was compared");
    all -= count;
  }
}

void check_counts(const JsonNode& node, const TensorDiff& diff) {
  const JsonNode mismatched = node["mismatched"];
  // With this limit, sums of counts cannot overflow.
  if (diff.compared > INT64_MAX) node["compared"].fail("is beyond what a file can hold");
  if (diff.mismatched > diff.compared) mismatched.fail("is above what was compared");
  const auto& [nan_both, nan_actual, nan_golden] = diff.nan;
  const auto& [inf_both, opposite, inf_actual, inf_golden] = diff.inf;
  check_sum(node["nan"], diff.compared, {nan_both, nan_actual, nan_golden});
  check_sum(node["inf"], diff.compared, {inf_both, opposite, inf_actual, inf_golden});
  // Pairs of NaN are either all refused or all accepted.
  const bool equal_nan = diff.tolerance.equal_nan;
  if (equal_nan && diff.mismatched > diff.compared - std::min(diff.compared, nan_both))
    mismatched.fail("counts NaN on both sides");
  if (!equal_nan && diff.mismatched_known && diff.mismatched < nan_both)
    mismatched.fail("does not count NaN on both sides");
  if (node.has("saturated"))
    check_sum(node["saturated"], diff.mismatched, {diff.saturated.actual, diff.saturated.golden});
}

// Checks that pairs of finite numbers and pairs with NaN or Inf add up to all pairs. NaN against
// Inf is one pair that is in two counts.
void check_pairs(const JsonNode& node, const TensorDiff& diff) {
  const NanCount& nan = diff.nan;
  const InfCount& inf = diff.inf;
  const std::uint64_t counted =
      nan.both + nan.actual + nan.golden + inf.both + inf.opposite + inf.actual + inf.golden;
  const std::uint64_t twice = std::min(nan.actual, inf.golden) + std::min(nan.golden, inf.actual);
  if (counted - twice > diff.compared)
    return node["inf"].fail("counts more than was compared, with NaN");
  if (!diff.figures) return;
  const JsonNode figures = node["figures"];
  const JsonNode pairs = figures["pairs"];
  if (diff.figures->pairs > diff.compared) return pairs.fail("is above what was compared");
  const std::uint64_t special = diff.compared - diff.figures->pairs;
  if (special > counted || counted - special > twice)
    pairs.fail("contradicts the counts of NaN and Inf");
}

// Fails the first item of a list that is not above the one before it.
void check_order(const JsonNode& list, const auto& items, auto member, const char* failure) {
  std::size_t at = 0;
  list.each([&](const JsonNode& item) {
    if (at > 0 && !(items[at].*member > items[at - 1].*member)) item.fail(failure);
    ++at;
  });
}

void check_axis(const JsonNode& node, const std::optional<Heatmap::Axis>& axis, std::uint64_t cells,
                const JsonNode& length, const Dims& dims) {
  if (!axis) {
    if (cells != 1) length.fail("is not 1, though there is no axis");
    return;
  }
  if (axis->dim >= dims.size()) return node["dim"].fail("is not a dim of the tensor");
  // Checks that every cell covers an index, so that products of cells cannot overflow.
  const std::uint64_t extent = dims[axis->dim];
  if (axis->step == 0 || cells == 0 || (extent + axis->step - 1) / axis->step != cells)
    node["step"].fail("does not fit the size of the dim");
}

void check_numbers(const JsonNode& node, const TensorDiff& diff) {
  check_counts(node, diff);
  if (!node.failed()) check_pairs(node, diff);
  const JsonNode required = node["required"];
  check_order(required["pairs"], diff.required_pairs, &RequiredPair::rtol,
              "is not in order of rtol");
  if (!diff.decades.empty())
    check_order(node["histogram"]["decades"], diff.decades, &DecadeCount::decade,
                "is not in order");
  if (!diff.heatmap) return;
  const JsonNode map = node["heatmap"];
  const Dims& dims = diff.golden->dims;
  check_axis(map["down"], diff.heatmap->down, diff.heatmap->rows, map["rows"], dims);
  check_axis(map["across"], diff.heatmap->across, diff.heatmap->columns, map["columns"], dims);
}

}  // namespace

Json json_tensor_diff(const TensorDiff& diff, JsonSchema schema) {
  return object_of([&](auto& fields) {
    visit_outcome(fields, diff, schema);
    fields("tolerance", diff.tolerance);
    fields("criteria", diff.criteria);
    visit_numbers(fields, diff);
  });
}

TensorDiff saved_tensor(const JsonNode& node, JsonSchema schema) {
  TensorDiff diff;
  FieldReader fields(node);
  visit_outcome(fields, diff, schema);
  fields("criteria", diff.criteria);
  if (diff.result == DiffResult::trouble) {
    if (!diff.actual && !diff.golden) node["result"].fail("has no tensor");
    if (!diff.error) node.fail("has no member error");
    return diff;
  }
  diff.error.reset();
  for (const auto& [tensor, member] :
       {std::pair(&diff.actual, "actual_tensor"), std::pair(&diff.golden, "golden_tensor")})
    if (*tensor && !(*tensor)->known) node[member]["dtype"].fail("is not a dtype");
  const bool one_side = diff.actual.has_value() != diff.golden.has_value();
  if (diff.result == DiffResult::missing ? !one_side : !diff.actual || !diff.golden)
    node["result"].fail("contradicts the tensors present");
  if (node.failed() || diff.result == DiffResult::missing) return diff;
  if (diff.result == DiffResult::shape) {
    if (diff.reason.empty()) node["reason"].fail("does not say how the shapes differ");
    fields("hints", diff.hints);
    return diff;
  }
  if (diff.actual->dims != diff.golden->dims)
    node["golden_tensor"]["shape"].fail("is not that of actual");
  if (node.failed()) return diff;
  fields("tolerance", diff.tolerance);
  visit_numbers(fields, diff);
  if (!node.failed()) check_numbers(node, diff);
  return diff;
}

}  // namespace btf::report
