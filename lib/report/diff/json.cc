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
#include "report/text/fields.h"

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

}  // namespace

template <>
struct Fields<FileDifference> {
  static void visit(auto& fields, auto& found) {
    fields("part", found.part);
    fields.or_null("subject", found.subject);
    fields.or_null("what", found.what);
    fields.or_null("actual", found.actual);
    fields.or_null("golden", found.golden);
    fields.derived("text", [&] { return found.text(); });
  }
};

namespace {

void visit_file_differences(auto& fields, auto& files) {
  fields.if_set("differences", files.all);
  fields.if_set("uncompared", files.uncompared);
}

}  // namespace

void add_file_differences(const FileDifferences& files, Json& object) {
  object.update(object_of([&](auto& fields) { visit_file_differences(fields, files); }));
}

std::string schema_name(JsonSchema schema) {
  return "btftool/diff/" + std::to_string(static_cast<int>(schema));
}

namespace {

class JsonReport : public DiffReport {
 public:
  JsonReport(ReportOptions options, TextSink sink)
      : options_(std::move(options)), sink_(std::move(sink)) {}

  void begin(const FilePair& pair) override { pair_ = pair; }

  Status finish(const DiffTotals& totals) override {
    const Tolerance& given = options_.criteria.tolerance;
    Json tolerance = object_of([&](auto& fields) {
      visit_limits(fields, given);
      fields("close", given.close);
      fields.if_set("close_as", given.close_as);
      fields("equal_nan", given.equal_nan);
    });
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

namespace btf::report {
namespace {

PairOutcome outcome(const JsonNode& file) {
  const JsonNode result = file["result"];
  const std::string name = result.text();
  for (const PairResult row :
       {PairResult::same, PairResult::different, PairResult::missing, PairResult::trouble})
    if (name == result_name(row)) {
      const bool said = !file["error"].null();
      // Files that differ only in their tensors have no message.
      const bool bytes = said && row == PairResult::different;
      return {bytes ? PairResult::bytes : row, said ? file["error"].text() : std::string()};
    }
  result.fail("is not one of same, different, missing, trouble");
  return {};
}

FileDifferences file_differences(const JsonNode& file) {
  FileDifferences files;
  read_object(file, [&](auto& fields) { visit_file_differences(fields, files); });
  return files;
}

void read_tensors(const JsonNode& list, SetDiffResult::Pair& pair) {
  list.each([&](const JsonNode& node) {
    if (!node.failed()) pair.tensors.push_back(saved_tensor(node, JsonSchema::files));
  });
}

// In schema 1, only `error` says which side is missing.
SetDiffResult::Pair file_pair(const JsonNode& file, const SetDiffResult& report) {
  SetDiffResult::Pair pair;
  pair.outcome = outcome(file);
  pair.outcome.files = file_differences(file);
  pair.files.name = file["path"].text();
  pair.files.actual = report.actual + "/" + pair.files.name;
  pair.files.golden = report.golden + "/" + pair.files.name;
  read_tensors(file["tensors"], pair);
  if (pair.outcome.result == PairResult::missing) {
    FilePair& files = pair.files;
    for (std::string* side : {&files.actual, &files.golden}) {
      const std::string path = std::exchange(*side, {});
      if (missing_side(files) == pair.outcome.error) return pair;
      *side = path;
    }
    file["error"].fail("does not say which file is missing");
  }
  return pair;
}

void read_files(const JsonNode& root, SetDiffResult& report) {
  report.directories = root.has("files");
  if (report.directories)
    return root["files"].each([&](const JsonNode& file) {
      if (!file.failed()) report.pairs.push_back(file_pair(file, report));
    });
  report.pairs.push_back({{report.actual, report.actual, report.golden}, {}, {}, {}});
  report.pairs.front().outcome.files = file_differences(root);
  read_tensors(root["tensors"], report.pairs.front());
}

void read_members(const JsonNode& root, SetDiffResult& report) {
  root["members"].each([&](const JsonNode& member) {
    if (!member.failed()) report.pairs.push_back(saved_pair(member, "name"));
  });
  if (root.failed()) return;
  if (report.pairs.empty()) return root["members"].fail("is empty");
  const FilePair& first = report.pairs.front().files;
  report.directories = report.pairs.size() > 1 || first.actual != report.actual;
  root["tensors"].each([&](const JsonNode& node) {
    if (node.failed()) return;
    const std::uint64_t member = node["member"].count();
    if (node.failed()) return;
    if (member >= report.pairs.size()) return node["member"].fail("is not the number of a member");
    SetDiffResult::Pair& pair = report.pairs[member];
    TensorDiff diff = saved_tensor(node, JsonSchema::sets);
    // A missing file is reported as a whole, without its tensors.
    if (pair.outcome.result == PairResult::missing)
      pair.missing.push_back(std::move(diff));
    else
      pair.tensors.push_back(std::move(diff));
  });
}

SetDiffResult report_of(const JsonNode& root) {
  SetDiffResult report;
  const std::string schema = root.has("schema") ? root["schema"].text() : "";
  const bool files = schema == schema_name(JsonSchema::files);
  if (!files && schema != schema_name(JsonSchema::sets))
    root.fail("is not a report of btftool diff: its schema is not " +
              schema_name(JsonSchema::sets));
  report.actual = root["actual"].text();
  report.golden = root["golden"].text();
  files ? read_files(root, report) : read_members(root, report);
  return report;
}

}  // namespace

SetDiffResult::Pair saved_pair(const JsonNode& member, const char* name) {
  const auto path = [](const JsonNode& side) { return side.null() ? std::string() : side.text(); };
  SetDiffResult::Pair pair;
  pair.outcome = outcome(member);
  pair.outcome.files = file_differences(member);
  pair.files = {member[name].text(), path(member["actual"]), path(member["golden"])};
  const bool missing = pair.files.actual.empty() != pair.files.golden.empty();
  // A tensor that is missing makes its pair different.
  const bool one_side = missing && pair.outcome.result == PairResult::different;
  if ((missing != (pair.outcome.result == PairResult::missing) && !one_side &&
       pair.outcome.result != PairResult::trouble) ||
      (!missing && pair.files.actual.empty()))
    member["result"].fail("contradicts the files present");
  return pair;
}

}  // namespace btf::report

namespace btf {

Result<SetDiffResult> read_diff_report(const std::string& json) {
  BTF_ASSIGN(const auto document, report::parse_json(json, "a report of btftool diff"));
  std::string trouble;
  SetDiffResult report = report::report_of(report::JsonNode(document, trouble));
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  return report;
}

}  // namespace btf
