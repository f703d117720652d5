#include <utility>

#include "btf/report/report.h"
#include "btf/try.h"
#include "report/diff/json.h"
#include "report/diff/names.h"
#include "report/saved/saved_pair.h"
#include "report/saved/saved_tensor.h"
#include "report/text/json_node.h"
#include "report/text/json_parse.h"

namespace btf::report {
namespace {

PairOutcome outcome(const JsonNode& file) {
  const JsonNode result = file["result"];
  const std::string name = result.text();
  for (const PairResult row :
       {PairResult::same, PairResult::different, PairResult::missing, PairResult::trouble})
    if (name == result_name(row)) {
      const bool said = !file["error"].null();
      // Files that differ by their tensors only have no message of their own.
      const bool bytes = said && row == PairResult::different;
      return {bytes ? PairResult::bytes : row, said ? file["error"].text() : std::string()};
    }
  result.fail("is not one of same, different, missing, trouble");
  return {};
}

// Reports of earlier versions have none.
FileDifferences file_differences(const JsonNode& file) {
  FileDifferences files;
  const auto text = [](const JsonNode& node) { return node.null() ? std::string() : node.text(); };
  if (file.has("differences"))
    file["differences"].each([&](const JsonNode& node) {
      files.all.push_back({node["part"].text(), text(node["subject"]), text(node["what"]),
                           text(node["actual"]), text(node["golden"])});
    });
  if (file.has("uncompared")) files.uncompared = file["uncompared"].text();
  return files;
}

void read_tensors(const JsonNode& list, SetDiffResult::Pair& pair) {
  list.each([&](const JsonNode& node) {
    if (!node.failed()) pair.tensors.push_back(saved_tensor(node, JsonSchema::files));
  });
}

// Schema 1 names the missing side in `error` only.
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
    // Tensors of a missing file are reported as a whole.
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
