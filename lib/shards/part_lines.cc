#include "shards/part_lines.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "btf/try.h"
#include "core/finding_table.h"
#include "report/diff/json.h"
#include "report/diff/names.h"
#include "report/saved/saved_pair.h"
#include "report/saved/saved_tensor.h"
#include "report/text/exact_json.h"
#include "report/text/text.h"
#include "shards/digest.h"

namespace btf::shards {
namespace {

using report::Json;
using report::json_number;
using report::JsonNode;

constexpr std::string_view kNumber = R"({"number":)";
constexpr std::string_view kTimes = R"(,"sizes":[)";

Json list_of(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

std::vector<std::string> texts_of(const JsonNode& node) {
  std::vector<std::string> texts;
  node.each([&](const JsonNode& item) { texts.push_back(item.text()); });
  return texts;
}

Json optional_path(const std::string& path) { return path.empty() ? Json() : Json(path); }

Json error_of(const SetDiffResult::Pair& pair) {
  if (pair.outcome.result == PairResult::trouble) return pair.outcome.error;
  if (report::of_whole_files(pair.outcome.result))
    return report::whole_files_text(pair.files, pair.outcome);
  return nullptr;
}

// The trouble of a pair as a whole.
Json cause_json(const Error& cause) {
  Json json{{"message", cause.message}, {"file", cause.file}, {"finding", cause.finding}};
  json["offset"] = json_number(cause.offset);
  if (cause.tensor) json["tensor"] = json_number(*cause.tensor);
  if (cause.system != 0) json["errno"] = cause.system;
  return json;
}

Error read_cause(const JsonNode& node) {
  Error cause{ErrorCode::io, node["message"].text(), node["file"].text()};
  const auto row = std::ranges::find(kFindings, node["finding"].text(), &FindingRow::code);
  if (row != kFindings.end()) cause.finding = row->code;
  cause.offset = node["offset"].count();
  if (node.has("tensor")) cause.tensor = node["tensor"].count();
  if (node.has("errno")) cause.system = static_cast<int>(node["errno"].integer(0, INT32_MAX));
  return cause;
}

Json tensors_of(const std::vector<TensorDiff>& tensors) {
  Json list = Json::array();
  for (const TensorDiff& diff : tensors) {
    Json json = report::json_tensor_diff(diff, JsonSchema::sets);
    // Reports have a 0 for what was not given, and say it in other words.
    const Tolerance& tolerance = diff.tolerance;
    if (tolerance.by_error() && !(tolerance.rtol && tolerance.atol)) {
      Json& given = json["tolerance"]["given"] = Json::array();
      if (tolerance.rtol) given.push_back("rtol");
      if (tolerance.atol) given.push_back("atol");
    }
    list.push_back(std::move(json));
  }
  return list;
}

std::vector<std::optional<FileState>> states_of(const JsonNode& item) {
  std::vector<std::optional<FileState>> states;
  item["sizes"].each([&](const JsonNode& size) {
    states.emplace_back();
    if (!size.null()) states.back() = FileState{.bytes = size.count()};
  });
  std::size_t at = 0;
  item["mtimes_ns"].each([&](const JsonNode& time) {
    if (at >= states.size()) return time.fail("is of a file without a size");
    if (states[at] && !time.null())
      states[at]->modified_ns = static_cast<std::int64_t>(time.count());
    ++at;
  });
  return states;
}

std::vector<TensorDiff> read_tensors(const JsonNode& list) {
  std::vector<TensorDiff> tensors;
  list.each([&](const JsonNode& node) {
    if (node.failed()) return;
    TensorDiff& diff = tensors.emplace_back(report::saved_tensor(node, JsonSchema::sets));
    const JsonNode tolerance = node["tolerance"];
    if (!tolerance.has("given")) return;
    const std::vector<std::string> given = texts_of(tolerance["given"]);
    if (std::ranges::find(given, "rtol") == given.end()) diff.tolerance.rtol.reset();
    if (std::ranges::find(given, "atol") == given.end()) diff.tolerance.atol.reset();
  });
  return tensors;
}

// Ready JSON of an item whose results end at `end`.
std::size_t end_of_results(std::string_view line) { return line.rfind(kTimes); }

}  // namespace

std::string head_line(const PartHead& head) {
  Json json{{"schema", kPartSchema},
            {"shard", json_number(head.shard.number)},
            {"of", json_number(head.shard.of)},
            {"plan", head.plan},
            {"version", head.version},
            {"command", head.command},
            {"options", list_of(head.options)},
            {"roots", list_of(head.operands)},
            {"directories", head.directories},
            {"items", json_number(head.items)},
            {"tensor_criteria", list_of(head.tensor_criteria)}};
  if (!head.others.empty()) json["other_files"] = list_of(head.others);
  if (!head.warnings.empty()) json["warnings"] = list_of(head.warnings);
  return report::dump_exact(std::move(json));
}

std::string tail_line(const PartTail& tail) {
  Json counts{{"items", json_number(tail.items)}};
  for (const auto& [result, count] : tail.counts) counts[result] = json_number(count);
  return report::dump_exact(Json{{"end", true},
                                 {"counts", std::move(counts)},
                                 {"digest", tail.digest},
                                 {"results", tail.results}});
}

Result<PartHead> read_head(std::string_view line) {
  BTF_ASSIGN(const Json json, report::parse_exact(line, "a part of btftool"));
  std::string trouble;
  const JsonNode node(json, trouble);
  if (!node.has("schema") || node["schema"].text() != kPartSchema)
    return fail(ErrorCode::malformed, "its schema is not " + std::string(kPartSchema));
  PartHead head{.shard = {node["shard"].count(), node["of"].count()},
                .plan = node["plan"].text(),
                .version = node["version"].text(),
                .command = node["command"].text(),
                .options = texts_of(node["options"]),
                .operands = texts_of(node["roots"]),
                .directories = node["directories"].flag(),
                .items = node["items"].count(),
                .tensor_criteria = texts_of(node["tensor_criteria"])};
  if (node.has("other_files")) head.others = texts_of(node["other_files"]);
  if (node.has("warnings")) head.warnings = texts_of(node["warnings"]);
  if (head.shard.of < 1 || head.shard.of > kMostShards) node["of"].fail("is no number of shards");
  if (head.shard.number < 1 || head.shard.number > head.shard.of)
    node["shard"].fail("is none of these shards");
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  return head;
}

Result<PartItem> read_item(std::string_view line) {
  BTF_ASSIGN(const Json json, report::parse_exact(line, "an item of a part"));
  std::string trouble;
  const JsonNode node(json, trouble);
  PartItem item{.pair = report::saved_pair(node, "path")};
  FilePair& files = item.pair.files;
  files.number = node["number"].count();
  item.pair.tensors = read_tensors(node["tensors"]);
  if (node.has("missing")) item.pair.missing = read_tensors(node["missing"]);
  files.tells_file = !node.has("tells_file") || node["tells_file"].flag();
  if (node.has("actual_name")) files.actual_name = node["actual_name"].text();
  if (node.has("tensor")) files.tensor = node["tensor"].count();
  if (node.has("cause")) item.pair.outcome.cause = read_cause(node["cause"]);
  const auto states = states_of(node);
  if (states.size() != 2)
    node["sizes"].fail("is not of two files");
  else
    item.actual = states[0], item.golden = states[1];
  item.seconds = node["seconds"].amount();
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  return item;
}

std::optional<PartTail> read_tail(std::string_view line) {
  if (!line.starts_with(R"({"end":true,)")) return std::nullopt;
  const auto json = report::parse_exact(line, "the end of a part");
  if (!json) return std::nullopt;
  std::string trouble;
  const JsonNode node(*json, trouble);
  PartTail tail{.items = node["counts"]["items"].count(),
                .digest = node["digest"].text(),
                .results = node["results"].text()};
  return trouble.empty() ? std::optional(std::move(tail)) : std::nullopt;
}

std::optional<std::uint64_t> number_of(std::string_view line) {
  if (!line.starts_with(kNumber)) return std::nullopt;
  const std::string_view rest = line.substr(kNumber.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || end == rest.data() + rest.size() || *end != ',') return std::nullopt;
  return number;
}

std::uint64_t results_of(std::string_view line) {
  const std::size_t end = end_of_results(line);
  return hash_of(std::string(line.substr(0, end)) + "}");
}

std::string shard_command(const PartHead& head, std::uint64_t shard, const std::string& part) {
  std::string command = "btftool " + head.command + " --shard " + std::to_string(shard) + "/" +
                        std::to_string(head.shard.of) + " --part " + report::shell_word(part);
  for (const std::string& option : head.options) command += " " + report::shell_word(option);
  for (const std::string& operand : head.operands) command += " " + report::shell_word(operand);
  return command;
}

std::vector<std::string> files_of(std::string_view line) {
  const auto json = report::parse_exact(line, "an item of a part");
  if (!json) return {};
  std::string trouble;
  const JsonNode node(*json, trouble);
  const auto path = [](const JsonNode& of) { return of.null() ? std::string() : of.text(); };
  std::vector<std::string> files;
  if (node.has("golden"))
    files = {path(node["actual"]), path(node["golden"])};
  else if (node.has("path"))
    files = {path(node["path"])};
  for (const char* more : {"inputs", "outputs"})
    if (node.has(more))
      node[more].each([&](const JsonNode& file) { files.push_back(file.text()); });
  return trouble.empty() ? files : std::vector<std::string>();
}

}  // namespace btf::shards

namespace btf {

using report::Json;
using report::json_number;
using report::JsonNode;

PartLine part_line(const PartItem& item) {
  const FilePair& files = item.pair.files;
  std::string result(report::result_name(item.pair.outcome.result));
  Json found{{"number", json_number(files.number)},
             {"path", files.name},
             {"result", result},
             {"error", shards::error_of(item.pair)},
             {"tensors", shards::tensors_of(item.pair.tensors)},
             {"actual", shards::optional_path(files.actual)},
             {"golden", shards::optional_path(files.golden)}};
  if (!item.pair.missing.empty()) found["missing"] = shards::tensors_of(item.pair.missing);
  if (!files.tells_file) found["tells_file"] = false;
  if (!files.actual_name.empty()) found["actual_name"] = files.actual_name;
  if (item.pair.outcome.cause) found["cause"] = shards::cause_json(*item.pair.outcome.cause);
  report::add_file_differences(item.pair.outcome.files, found);
  if (files.tensor) found["tensor"] = json_number(*files.tensor);
  return {.number = files.number,
          .result = std::move(result),
          .found = report::dump_exact(std::move(found)),
          .files = {item.actual, item.golden},
          .seconds = item.seconds};
}

std::string text(const PartLine& line) {
  Json sizes = Json::array();
  Json times = Json::array();
  for (const auto& file : line.files) {
    sizes.push_back(file ? json_number(file->bytes) : Json());
    times.push_back(file ? json_number(static_cast<std::uint64_t>(file->modified_ns)) : Json());
  }
  const Json rest{{"sizes", std::move(sizes)},
                  {"mtimes_ns", std::move(times)},
                  {"seconds", json_number(line.seconds)}};
  return line.found.substr(0, line.found.size() - 1) + "," + report::dump_exact(rest).substr(1);
}

Result<PartLine> read_part_line(std::string_view text) {
  BTF_ASSIGN(const Json json, report::parse_exact(text, "an item of a part"));
  std::string trouble;
  const JsonNode node(json, trouble);
  PartLine line{.number = node["number"].count(),
                .result = node["result"].text(),
                .files = shards::states_of(node),
                .seconds = node["seconds"].amount()};
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  line.found = std::string(text.substr(0, shards::end_of_results(text))) + "}";
  return line;
}

}  // namespace btf
