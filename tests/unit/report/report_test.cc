// Reports from the library: the bytes that the command line prints (tests/cli/cases/report_bytes),
// reports read back, and sinks that fail.
#include "btf/report.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "btf/diff.h"
#include "btf/file.h"
#include "support/printed_reports.h"

using btf::ReportFormat;

namespace {

constexpr const char* kNoisy = "../testdata/good/mixed_noisy.btf";  // as the case names them
constexpr const char* kGolden = "../testdata/good/mixed.btf";

btf::DiffOptions criteria() {
  btf::DiffOptions options;
  options.tolerance.rtol = 1e-6;
  options.gates.mae = 1e-9;
  options.show = 3;
  return options;
}

// What the format asks for and nothing else, as the tool compares.
btf::SetDiffResult compared(ReportFormat format) {
  const auto actual = btf::TensorFile::open(BTF_TESTDATA_DIR "/good/mixed_noisy.btf");
  const auto golden = btf::TensorFile::open(BTF_TESTDATA_DIR "/good/mixed.btf");
  REQUIRE(actual);
  REQUIRE(golden);
  btf::DiffOptions options = criteria();
  options.details = false;
  options.figures = format == ReportFormat::text;  // a line for each of several tensors has some
  btf::ask_for(format, options);
  options.hints = options.details;
  btf::SetDiffResult result;
  result.actual = kNoisy;
  result.golden = kGolden;
  result.begin({.name = kNoisy, .actual = kNoisy, .golden = kGolden});
  const auto same =
      btf::diff(*actual, *golden, options, [&](const btf::TensorDiff& diff) { result.take(diff); });
  REQUIRE(same);
  result.end(result.pairs.back().files, {.result = btf::PairResult::different});
  return result;
}

}  // namespace

TEST_CASE("report: the library says what the tool prints, to the byte") {
  btf::ReportOptions options{.criteria = criteria(), .member_names = in_options};
  // What to type next is the tool's own.
  options.next_command = [](const btf::FilePair& pair, const btf::TensorDiff& diff) {
    return "btftool diff --heatmap --mae=1e-9 --rtol=1e-06 --pair=" +
           std::to_string(diff.actual->index) + ":" + std::to_string(diff.golden->index) + " " +
           pair.actual + " " + pair.golden;
  };
  CHECK(btf::text(compared(ReportFormat::text), options) == printed().at("text"));
  CHECK(btf::report_text(ReportFormat::summary, compared(ReportFormat::summary), options) ==
        printed().at("summary"));
  CHECK(btf::json(compared(ReportFormat::json), options) == printed().at("json"));
  CHECK(btf::junit(compared(ReportFormat::junit), options) == printed().at("junit"));
  CHECK(without_program(btf::html(compared(ReportFormat::html), options)) == printed().at("html"));
}

TEST_CASE("report: a page takes the date that it is given, if it is one") {
  btf::PageOrigin origin{.newest_input = 5};
  for (const char* const none :
       {"", "x", "-1", "1e3", " 7", "7 ", "253402300800", "99999999999999999999"}) {
    origin.take_date(none);
    CHECK(origin.newest_input == 5);
  }
  for (const std::int64_t date :
       {std::int64_t{0}, std::int64_t{951782399}, std::int64_t{253402300799}}) {
    origin.take_date(std::to_string(date));
    CHECK(origin.newest_input == date);
  }
  const std::string page = btf::html(compared(ReportFormat::html),
                                     {.origin = {.command = "a <b>", .newest_input = 951782399}});
  CHECK(page.find("<code>a &lt;b&gt;</code> · inputs of 2000-02-28 23:59 UTC</p>") !=
        std::string::npos);
}

TEST_CASE("report: members of options stand in backticks where nobody has other words") {
  const std::string text = btf::text(compared(ReportFormat::text), {.criteria = criteria()});
  CHECK(text.find("`tolerance.rtol` 1e-04 `tolerance.atol` 0.0005626") != std::string::npos);
  CHECK(text.find("; `text.all` shows them\n") != std::string::npos);
  CHECK(text.find("--") == std::string::npos);
}

TEST_CASE("report: a report in JSON is read back, judged again and written") {
  const std::string& json = printed().at("json");
  auto report = btf::read_diff_report(json);
  REQUIRE(report);
  CHECK(report->actual == kNoisy);
  CHECK_FALSE(report->directories);
  REQUIRE(report->pairs.size() == 1);
  REQUIRE(report->pairs[0].tensors.size() == 4);
  CHECK(btf::json(*report, {.criteria = criteria()}) == json);
  for (btf::TensorDiff& diff : report->pairs[0].tensors)
    REQUIRE(btf::rejudge(diff, {}, {.mae = 1.0}));
  CHECK(report->pairs[0].tensors[0].result == btf::DiffResult::same);
  // NaN against a number stays a difference.
  CHECK(report->pairs[0].tensors[1].result == btf::DiffResult::different);
  CHECK(btf::read_diff_report("[]").error().code == btf::ErrorCode::malformed);
}

TEST_CASE("report: layers read from JSON say what the tool prints") {
  auto run = btf::read_layer_report(printed().at("layers-json"));
  REQUIRE(run);
  run->member_names = in_options;
  btf::judge_layers(run->report, run->judge);
  CHECK(btf::json(*run) == printed().at("layers-json"));
  CHECK(btf::text(*run) == printed().at("layers-text"));
  CHECK(btf::junit(*run) == printed().at("layers-junit"));
  CHECK(without_program(btf::html(*run)) == printed().at("layers-html"));
  CHECK(btf::read_layer_report(printed().at("json")).error().code == btf::ErrorCode::malformed);
}

TEST_CASE("report: what the sink refuses is what finish() gives, and nothing comes after it") {
  const btf::SetDiffResult result = compared(ReportFormat::text);
  for (const ReportFormat format : {ReportFormat::text, ReportFormat::summary, ReportFormat::json,
                                    ReportFormat::junit, ReportFormat::html}) {
    int pieces = 0;
    const auto report =
        btf::make_report(format, {.actual = kNoisy, .golden = kGolden, .criteria = criteria()},
                         [&](std::string_view) -> btf::Status {
                           ++pieces;
                           return btf::fail(btf::ErrorCode::io, "full");
                         });
    btf::DiffTotals totals;
    totals.begin();
    report->begin(result.pairs[0].files);
    for (const btf::TensorDiff& diff : result.pairs[0].tensors) {
      totals.take(diff);
      report->take(diff);
    }
    totals.end(result.pairs[0].files, result.pairs[0].outcome);
    report->end(result.pairs[0].files, result.pairs[0].outcome);
    const btf::Status finished = report->finish(totals);
    REQUIRE_FALSE(finished);
    CHECK(finished.error().message == "full");
    CHECK(pieces == 1);
  }
}

TEST_CASE("report: totals") {
  btf::DiffTotals totals{.directories = true};
  CHECK(totals.nothing());
  CHECK(totals.result() == btf::PairResult::trouble);
  btf::TensorDiff diff;
  diff.golden = btf::DiffTensor{.dims = {2}, .name = "conv"};
  diff.actual = diff.golden;
  diff.compared = 2;
  totals.begin();
  totals.take(diff);
  totals.end({.name = "a", .actual = {}, .golden = {}}, {});
  CHECK(totals.result() == btf::PairResult::same);
  diff.result = btf::DiffResult::different;
  totals.begin();
  totals.take(diff);
  totals.end({.name = "b", .actual = {}, .golden = {}}, {.result = btf::PairResult::different});
  CHECK(totals.result() == btf::PairResult::different);
  CHECK(totals.first_different == "conv");
  diff.error = btf::Error{btf::ErrorCode::io, "gone"};
  totals.begin();
  totals.take(diff);
  CHECK(totals.trouble_text() == "gone");
  totals.take(diff);
  CHECK(totals.trouble_text() == "gone; 1 more tensor cannot be compared");
  totals.end({.name = "c", .actual = {}, .golden = {}}, {.result = btf::PairResult::trouble});
  CHECK(totals.result() == btf::PairResult::trouble);
  CHECK(totals.files == 3);
  CHECK(totals.different_files == 1);
  CHECK(totals.tensors == 2);
  CHECK(totals.troubled_tensors == 2);
}
