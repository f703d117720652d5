// The reports of a comparison, one function for each format.
#pragma once

#include <memory>
#include <optional>

#include "btf/report.h"
#include "report/text/fields.h"

namespace btf::report {

// The report of diff --json, in one of its schemas.

// "btftool/diff/2"
std::string schema_name(JsonSchema schema);

// The limits of a tolerance. One that is not given is 0 if the other one is, and null if neither
// is.
void visit_limits(auto& fields, auto& tolerance) {
  const auto limit = [&](const std::optional<double>& value) {
    return tolerance.by_error() ? json_number(value.value_or(0)) : Json();
  };
  const auto read_limit = [](const JsonNode& node, std::optional<double>& value) {
    if (!node.null()) value = node.amount();
  };
  fields.custom("rtol", tolerance.rtol, limit, read_limit);
  fields.custom("atol", tolerance.atol, limit, read_limit);
  fields("ulp", tolerance.ulp);
}

Json json_tensor_diff(const TensorDiff& diff, JsonSchema schema);

// Reads a pair of tensors back. Inconsistent values (an index beyond its dim, a code beyond its
// dtype) are errors like wrong types, so that the result can be used like one of btf::diff().
TensorDiff saved_tensor(const JsonNode& node, JsonSchema schema);

// Reads a pair of files without its tensors. `name` is the member with the name of the pair.
SetDiffResult::Pair saved_pair(const JsonNode& node, const char* name);

std::unique_ptr<DiffReport> json_report(ReportOptions options, TextSink sink);

// Adds the differences of the files that are not in their tensors, if there are any.
void add_file_differences(const FileDifferences& files, Json& object);

// The text report, which fits a screen unless more is asked for, and the report of --summary with
// one line for each pair of files.

std::unique_ptr<DiffReport> screen_report(ReportOptions options, TextSink sink);
std::unique_ptr<DiffReport> summary_report(ReportOptions options, TextSink sink);

// The HTML page of a comparison, a single file that loads nothing.

// The size of the page is bounded: tensors are rows of a table up to a limit, and the first
// different ones have a section each. The page says what was left out.
std::unique_ptr<DiffReport> html_report(ReportOptions options, TextSink sink);

// The JUnit report: a suite for each pair of files, and a case for each tensor.

std::unique_ptr<DiffReport> junit_report(ReportOptions options, TextSink sink);

}  // namespace btf::report
