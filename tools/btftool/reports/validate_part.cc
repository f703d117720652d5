#include "reports/validate_part.h"

#include <memory>
#include <utility>

#include "btf/try.h"
#include "io/context.h"
#include "io/text.h"
#include "report/text/json.h"

namespace btftool {

ValidationPart::ValidationPart(const Context& context, const ValidateOptions& options,
                               std::vector<std::string> others)
    : context_(context),
      options_(options),
      part_(context, *options.part,
            {.command = "validate", .operands = options.files, .others = std::move(others)}) {}

btf::Result<std::vector<std::uint64_t>> ValidationPart::pick(
    std::span<const btf::PlannedPair> files) {
  return part_.pick(files, "file");
}

void ValidationPart::begin(const std::string& path) {
  file_ = ReadFile::now(path);
  findings_ = Json::array();
  began_ = std::chrono::steady_clock::now();
}

void ValidationPart::found(const std::string&, const btf::Finding& finding,
                           const std::string& name) {
  findings_.push_back(json_finding(finding, name));
}

void ValidationPart::end(const std::string& path, const FileVerdict& verdict) {
  const FindingCounts& counts = verdict.counts;
  const std::string_view result = verdict.result(options_.strict);
  Json hidden = Json::object();
  for (const auto& [code, kind] : counts.kinds)
    if (kind.hidden > 0) hidden[code] = json_number(kind.hidden);
  Json found{{"number", json_number(number_)},
             {"path", path},
             {"result", result},
             {"error", verdict.error ? Json(*verdict.error) : Json()},
             {"findings", std::move(findings_)},
             {"errors", json_number(counts.errors)},
             {"warnings", json_number(counts.warnings)},
             {"codes", counts.codes()},
             {"hidden", std::move(hidden)}};
  if (verdict.error) context_.log.error(*verdict.error);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
  part_.add({.number = number_,
             .result = std::string(result),
             .found = btf::report::dump_exact(std::move(found)),
             .seconds = taken.count()},
            std::span(&file_, 1));
}

btf::Result<int> ValidationPart::finish(const std::vector<std::string>&) {
  BTF_TRY(part_.finish());
  return kSame;
}

namespace {

struct ValidatedFile {
  std::string path;
  std::vector<btf::Finding> findings;
  std::vector<std::string> codes;  // owns the codes of `findings`
  std::vector<std::string> names;  // names of their tensors
  FileVerdict verdict;
};

void read_findings(const JsonNode& list, ValidatedFile& file) {
  list.each([&](const JsonNode& node) {
    btf::Finding finding{.severity = node["severity"].text() == "error" ? btf::Severity::error
                                                                        : btf::Severity::warning,
                         .code = {},
                         .tensor = {},
                         .offset = node["offset"].count(),
                         .message = node["message"].text()};
    if (!node["tensor"].null()) finding.tensor = node["tensor"].count();
    if (node.has("count")) finding.count = node["count"].count();
    if (node.has("index")) finding.index = node["index"].dims();
    file.codes.push_back(node["code"].text());
    file.names.push_back(node.has("name") ? node["name"].text() : "");
    file.findings.push_back(std::move(finding));
  });
  for (std::size_t i = 0; i < file.findings.size(); ++i) file.findings[i].code = file.codes[i];
}

// Parses the line of one file. The function that is returned passes it to the report.
btf::Result<btf::TakeItem> read_validated(std::string_view line, ValidationReport& report) {
  BTF_ASSIGN(const Json json, btf::report::parse_exact(line, "an item of a part"));
  std::string error;
  const JsonNode node(json, error);
  const auto file = std::make_shared<ValidatedFile>();
  file->path = node["path"].text();
  FindingCounts& counts = file->verdict.counts;
  if (!node["error"].null()) file->verdict.error = node["error"].text();
  counts.errors = node["errors"].count();
  counts.warnings = node["warnings"].count();
  node["codes"].members([&](const std::string& code, const JsonNode& count) {
    counts.kinds[code].count = count.count();
  });
  node["hidden"].members([&](const std::string& code, const JsonNode& count) {
    counts.kinds[code].hidden = count.count();
  });
  read_findings(node["findings"], *file);
  if (!error.empty()) return btf::fail(btf::ErrorCode::malformed, error);
  return [file, &report]() -> btf::Status {
    report.begin(file->path);
    for (std::size_t i = 0; i < file->findings.size(); ++i)
      report.found(file->path, file->findings[i], file->names[i]);
    report.end(file->path, file->verdict);
    return {};
  };
}

}  // namespace

btf::Result<int> merge_validated(const Context& context, const btf::Parts& parts,
                                 const ValidateOptions& options) {
  const btf::PartHead& head = parts.head();
  for (const std::string& operand : head.operands) note_others(context, operand, head.others);
  PrintedValidation report(context, options);
  BTF_TRY(parts.each([&report](std::string_view line) { return read_validated(line, report); },
                     context.global.execution()));
  return report.finish(head.others);
}

}  // namespace btftool
