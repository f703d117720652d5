#include "report/text/json.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "btf/dtype.h"
#include "btf/report.h"
#include "btf/try.h"
#include "formats/io/byte_source.h"
#include "report/diff/names.h"
#include "report/diff/reports.h"
#include "report/diff/text.h"

namespace btf::report {
namespace {

// JSON that comes in the document after members that are only known at the end. It is kept in
// memory while it is small, otherwise in a temporary file.
class SpooledJson {
 public:
  JsonDocument& document() { return document_; }
  // Call it after each item.
  void settle();
  // Writes everything to the sink, piece by piece. Returns an error of the temporary file or of the
  // sink.
  Status write(const TextSink& sink);

 private:
  Status keep();

  JsonDocument document_;
  std::optional<Spool> kept_;
  Status status_{};  // the first error
};

constexpr std::uint64_t kInMemory = 4U << 20;

void SpooledJson::settle() {
  if (document_.size() >= kInMemory && status_) status_ = keep();
}

Status SpooledJson::keep() {
  if (!kept_) {
    BTF_ASSIGN(kept_, Spool::create());
  }
  const std::string text = document_.take();
  return kept_->append(std::as_bytes(std::span(text)));
}

Status SpooledJson::write(const TextSink& sink) {
  BTF_TRY(status_);
  std::string piece;
  for (std::uint64_t at = 0; kept_ && at < kept_->size(); at += piece.size()) {
    piece.resize(std::min(kInMemory, kept_->size() - at));
    BTF_TRY(kept_->read_at(at, std::as_writable_bytes(std::span(piece))));
    BTF_TRY(sink(piece));
  }
  return sink(document_.take());
}

Json optional_number(const auto& value) { return value ? json_number(*value) : Json(nullptr); }

// Without rtol and atol, they are written as 0.
void add_tolerance(Json& object, const Tolerance& tolerance) {
  const auto number = [&](const std::optional<double>& value) {
    return tolerance.by_error() ? json_number(value.value_or(0)) : Json(nullptr);
  };
  object["rtol"] = number(tolerance.rtol);
  object["atol"] = number(tolerance.atol);
  object["ulp"] = optional_number(tolerance.ulp);
}

Json index_of(const std::optional<DiffTensor>& tensor) {
  return tensor ? json_number(tensor->index) : Json(nullptr);
}

Json side(const std::optional<DiffTensor>& tensor, JsonSchema schema) {
  if (!tensor) return nullptr;
  Json json = Json::object();
  if (schema == JsonSchema::sets) json["name"] = tensor->name;
  if (schema == JsonSchema::sets && tensor->named) json["named"] = true;
  if (!tensor->known) {
    for (const char* member : {"dtype", "layout", "shape"}) json[member] = Json();
    return json;
  }
  json["dtype"] = btf::info(tensor->dtype).name;
  if (tensor->codes) json["codes"] = btf::info(*tensor->codes).name;
  if (tensor->scale) json["scale"] = json_number(*tensor->scale);
  if (tensor->text_digits > 0) json["text_digits"] = tensor->text_digits;
  if (tensor->text_fixed) json["text_fixed"] = true;
  add_layout(json, "", tensor->layout);
  json["shape"] = json_dims(tensor->dims);
  return json;
}

Json mismatch(const Mismatch& found, const TensorDiff& diff) {
  return {{"index", json_dims(found.index)},
          {"actual", json_value(diff.actual->dtype, found.actual_code)},
          {"golden", json_value(diff.golden->dtype, found.golden_code)},
          {"actual_code", btf::code_text(diff.actual->dtype, found.actual_code)},
          {"golden_code", btf::code_text(diff.golden->dtype, found.golden_code)},
          {"abs_error", json_number(found.abs_error)},
          {"rel_error", json_number(found.rel_error)},
          {"allowed", json_number(found.allowed)},
          {"steps", optional_number(found.steps)},
          {"actual_offset", optional_number(found.actual_offset)},
          {"golden_offset", optional_number(found.golden_offset)}};
}

Json place(const std::optional<Dims>& index) { return index ? json_dims(*index) : Json(nullptr); }

Json worst(const std::optional<Mismatch>& found, const TensorDiff& diff) {
  return found ? mismatch(*found, diff) : Json(nullptr);
}

Json list(const auto& items, auto&& describe) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(describe(item));
  return array;
}

Json criteria(const TensorDiff& diff) {
  return list(diff.criteria, [](const CriterionResult& criterion) {
    return Json{{"name", criterion.name},
                {"passed", criterion.passed},
                {"limit", optional_number(criterion.limit)},
                {"value", optional_number(criterion.value)},
                {"text", criterion.text}};
  });
}

constexpr const char* kNoFigures = "there is no pair of finite numbers";

Json figures(const TensorDiff& diff) {
  if (!diff.figures) return nullptr;
  const auto& fit = diff.figures->fit;
  const auto of_fit = [&](double BestFit::* member) {
    return fit ? json_number(*fit.*member) : Json(nullptr);
  };
  Json json = {{"pairs", json_number(diff.figures->pairs)}};
  const bool none = diff.figures->pairs == 0;
  // Figures that a report for --from-json lacks are left out.
  for (const FigureInfo& row : btf::figures())
    if (row.value != nullptr && (none || row.judged(diff)))
      json[row.name] = none ? Json(nullptr) : json_number(*diff.figures.*row.value);
  if (none) json["reason"] = kNoFigures;
  json.update({{"gain", of_fit(&BestFit::gain)},
               {"offset", of_fit(&BestFit::offset)},
               {"residual", of_fit(&BestFit::residual)}});
  return json;
}

Json top_k(const TensorDiff& diff) {
  if (!diff.top_k) return nullptr;
  return {{"k", json_number(diff.top_k->k)},
          {"rows", json_number(diff.top_k->rows)},
          {"disagreeing", json_number(diff.top_k->disagreeing)},
          {"first", place(diff.top_k->first)}};
}

Json histogram(const TensorDiff& diff) {
  if (!diff.worst_abs) return nullptr;
  return {{"equal", json_number(diff.equal)},
          {"decades", list(diff.decades, [](const DecadeCount& decade) {
             return Json{{"decade", decade.decade},
                         {"count", json_number(decade.count)},
                         {"mismatched", json_number(decade.mismatched)}};
           })}};
}

Json required(const TensorDiff& diff) {
  const auto pair = [](const RequiredPair& found) {
    return Json{{"rtol", json_number(found.rtol)}, {"atol", json_number(found.atol)}};
  };
  return {{"atol", optional_number(diff.required_atol)},
          {"rtol", optional_number(diff.required_rtol)},
          {"pair", diff.required_pair ? pair(*diff.required_pair) : Json(nullptr)},
          {"pairs", list(diff.required_pairs, pair)}};
}

Json heatmap(const TensorDiff& diff) {
  if (!diff.heatmap) return nullptr;
  const Heatmap& map = *diff.heatmap;
  const auto axis = [](const std::optional<Heatmap::Axis>& found) {
    return found ? Json{{"dim", found->dim}, {"step", json_number(found->step)}} : Json(nullptr);
  };
  const auto cells = [&](const std::vector<std::uint64_t>& counts) {
    Json rows = Json::array();
    for (std::uint64_t r = 0; r < map.rows; ++r) {
      Json row = Json::array();
      for (std::uint64_t c = 0; c < map.columns; ++c)
        row.push_back(json_number(counts[r * map.columns + c]));
      rows.push_back(std::move(row));
    }
    return rows;
  };
  return {{"down", axis(map.down)},
          {"across", axis(map.across)},
          {"rows", json_number(map.rows)},
          {"columns", json_number(map.columns)},
          {"mismatched", cells(map.mismatched)},
          {"elements", cells(map.elements)}};
}

Json used_tolerance(const TensorDiff& diff) {
  Json json = Json::object();
  add_tolerance(json, diff.tolerance);
  json["equal_nan"] = diff.tolerance.equal_nan;
  if (diff.tolerance.half_step) json["half_step"] = true;
  return json;
}

}  // namespace

void add_file_differences(const FileDifferences& files, Json& object) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  if (!files.all.empty())
    object["differences"] = list(files.all, [&](const FileDifference& found) {
      return Json{{"part", found.part},           {"subject", text(found.subject)},
                  {"what", text(found.what)},     {"actual", text(found.actual)},
                  {"golden", text(found.golden)}, {"text", found.text()}};
    });
  if (!files.uncompared.empty()) object["uncompared"] = files.uncompared;
}

std::string schema_name(JsonSchema schema) {
  return "btftool/diff/" + std::to_string(static_cast<int>(schema));
}

Json json_tensor_diff(const TensorDiff& diff, JsonSchema schema) {
  const auto found = [&](const Mismatch& item) { return mismatch(item, diff); };
  Json json = Json::object();
  if (schema == JsonSchema::sets) json["name"] = (diff.golden ? diff.golden : diff.actual)->name;
  if (schema == JsonSchema::sets && diff.tier) json["paired_by"] = tier_name(*diff.tier);
  if (schema == JsonSchema::sets && !diff.note.empty()) json["note"] = diff.note;
  if (diff.error) json["error"] = diff.error->text();
  json.update(
      {{"actual", index_of(diff.actual)},
       {"golden", index_of(diff.golden)},
       {"result", result_name(diff.result)},
       {"reason", diff.reason.empty() ? Json(nullptr) : Json(diff.reason)},
       {"actual_tensor", side(diff.actual, schema)},
       {"golden_tensor", side(diff.golden, schema)},
       {"tolerance", used_tolerance(diff)},
       {"criteria", criteria(diff)},
       {"compared", json_number(diff.compared)},
       {"mismatched", diff.mismatched_known ? json_number(diff.mismatched) : Json(nullptr)},
       {"max_abs", json_number(diff.max_abs)},
       {"max_rel", json_number(diff.max_rel)},
       {"max_ulp", json_number(diff.max_ulp)},
       {"nan",
        {{"both", json_number(diff.nan.both)},
         {"actual", json_number(diff.nan.actual)},
         {"golden", json_number(diff.nan.golden)},
         {"first_actual", place(diff.first_nonfinite.nan_actual)},
         {"first_golden", place(diff.first_nonfinite.nan_golden)},
         {"first_both", place(diff.first_nonfinite.nan_both)}}},
       {"inf",
        {{"both", json_number(diff.inf.both)},
         {"opposite", json_number(diff.inf.opposite)},
         {"actual", json_number(diff.inf.actual)},
         {"golden", json_number(diff.inf.golden)},
         {"first_opposite", place(diff.first_nonfinite.inf_opposite)},
         {"first_actual", place(diff.first_nonfinite.inf_actual)},
         {"first_golden", place(diff.first_nonfinite.inf_golden)},
         {"first_both", place(diff.first_nonfinite.inf_both)}}},
       {"figures", figures(diff)},
       {"quantiles", list(diff.quantiles,
                          [](const QuantileValue& quantile) {
                            return Json{{"q", json_number(quantile.q)},
                                        {"value", json_number(quantile.value)}};
                          })},
       {"top_k", top_k(diff)},
       {"worst", {{"abs", worst(diff.worst_abs, diff)}, {"rel", worst(diff.worst_rel, diff)}}},
       {"first", list(diff.first, found)},
       {"largest", list(diff.largest, found)},
       {"histogram", histogram(diff)},
       {"required", required(diff)},
       {"hints", list(diff.hints,
                      [](const Hint& hint) {
                        return Json{{"cause", cause_text(hint)}, {"evidence", hint.evidence}};
                      })},
       {"heatmap", heatmap(diff)}});
  if (diff.saturated.actual + diff.saturated.golden > 0)
    json["saturated"] = {{"actual", json_number(diff.saturated.actual)},
                         {"golden", json_number(diff.saturated.golden)}};
  return json;
}

namespace {

class JsonReport : public DiffReport {
 public:
  JsonReport(ReportOptions options, TextSink sink)
      : options_(std::move(options)), sink_(std::move(sink)) {}

  void begin(const FilePair& pair) override { pair_ = pair; }

  Status finish(const DiffTotals& totals) override {
    Json tolerance = Json::object();
    const Tolerance& given = options_.criteria.tolerance;
    add_tolerance(tolerance, given);
    tolerance["close"] = given.close;
    if (given.close_as) tolerance["close_as"] = btf::info(*given.close_as).name;
    tolerance["equal_nan"] = given.equal_nan;
    JsonDocument document;
    document.begin_object().members({{"schema", schema_name(options_.schema)},
                                     {"actual", directories() ? options_.actual : pair_.actual},
                                     {"golden", directories() ? options_.golden : pair_.golden},
                                     {"result", result_name(totals.result())},
                                     {"tolerance", std::move(tolerance)}});
    if (options_.schema == JsonSchema::sets)
      document.members({{"first_different",
                         totals.first_different ? Json(*totals.first_different) : Json(nullptr)}});
    BTF_TRY(write_lists(document));
    document.members(json_others(totals.others));
    return sink_(document.end().take() + "\n");
  }

 protected:
  virtual Status write_lists(JsonDocument& document) = 0;

  Status write_list(const char* name, SpooledJson& items, JsonDocument& document) const {
    BTF_TRY(sink_(document.begin_list(name).take()));
    BTF_TRY(items.write(sink_));
    document.end();
    return {};
  }

  static Json error_of(const FilePair& pair, const PairOutcome& outcome) {
    if (outcome.result == PairResult::trouble) return outcome.error;
    if (of_whole_files(outcome.result)) return whole_files_text(pair, outcome);
    return nullptr;
  }

  bool directories() const { return options_.directories; }

 private:
  ReportOptions options_;
  TextSink sink_;
  FilePair pair_;
};

// Schema 2: all tensors are in one list, with their files.
class SetReport final : public JsonReport {
 public:
  using JsonReport::JsonReport;

  void take(const TensorDiff& diff) override {
    Json json = json_tensor_diff(diff, JsonSchema::sets);
    json["member"] = members_;
    tensors_.document().item(json);
    tensors_.settle();
  }

  bool lists_missing() const override { return true; }
  void missing(const TensorDiff& diff) override { take(diff); }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    ++members_;
    const auto path = [](const std::string& side) { return side.empty() ? Json() : Json(side); };
    Json file{{"name", pair.name},
              {"actual", path(pair.actual)},
              {"golden", path(pair.golden)},
              {"result", result_name(outcome.result)},
              {"error", error_of(pair, outcome)}};
    add_file_differences(outcome.files, file);
    files_.document().item(file);
    files_.settle();
  }

 private:
  Status write_lists(JsonDocument& document) override {
    BTF_TRY(write_list("members", files_, document));
    return write_list("tensors", tensors_, document);
  }

  std::uint64_t members_ = 0;
  SpooledJson files_;
  SpooledJson tensors_;
};

// Schema 1, of version 0.1: for two directories, a list of files, each with its tensors.
class FileReport final : public JsonReport {
 public:
  using JsonReport::JsonReport;

  void take(const TensorDiff& diff) override {
    tensors_.document().item(json_tensor_diff(diff, JsonSchema::files));
    if (!directories()) tensors_.settle();
  }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    if (!directories()) return add_file_differences(outcome.files, of_two_);
    Json file{{"path", pair.name},
              {"result", result_name(outcome.result)},
              {"error", error_of(pair, outcome)}};
    add_file_differences(outcome.files, file);
    JsonDocument& files = files_.document();
    files.begin_object().members(file);
    files.begin_list("tensors").items(std::exchange(tensors_, {}).document().take()).end().end();
    files_.settle();
  }

 private:
  Status write_lists(JsonDocument& document) override {
    document.members(of_two_);
    return directories() ? write_list("files", files_, document)
                         : write_list("tensors", tensors_, document);
  }

  SpooledJson tensors_;  // tensors of the current pair of files
  SpooledJson files_;
  Json of_two_ = Json::object();
};

}  // namespace

std::unique_ptr<DiffReport> json_report(ReportOptions options, TextSink sink) {
  if (options.schema == JsonSchema::files)
    return std::make_unique<FileReport>(std::move(options), std::move(sink));
  return std::make_unique<SetReport>(std::move(options), std::move(sink));
}

}  // namespace btf::report
