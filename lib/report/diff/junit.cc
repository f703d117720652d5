#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>
#include <utility>

#include "report/diff/names.h"
#include "report/diff/reports.h"
#include "report/diff/text.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

class JunitReport final : public DiffReport {
 public:
  JunitReport(ReportOptions options, TextSink sink)
      : options_(std::move(options)), sink_(std::move(sink)) {
    pugi::xml_node declaration = document_.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    declaration.append_attribute("encoding") = "UTF-8";
    suites_ = document_.append_child("testsuites");
    suites_.append_attribute("name");
    for (const char* count : {"tests", "failures", "errors"}) suites_.append_attribute(count);
  }

  void begin(const FilePair& pair) override {
    name_ = printable(pair.name);
    suite_ = suites_.append_child("testsuite");
    set(suite_, "name", name_);
    for (const char* count : {"tests", "failures", "errors"}) suite_.append_attribute(count);
    counts_ = {};
  }

  void take(const TensorDiff& diff) override {
    pugi::xml_node test = add_test(pair_name(diff));
    if (diff.result == DiffResult::same) return;
    if (diff.error) return add_error(test, diff.error->text());
    std::string text = pair_name(diff) + ": different: " + headline(diff) + "\n";
    for (const std::string& line : detail_lines(diff, options_)) text += line + "\n";
    fail(test, result_name(diff.result), headline(diff), text);
  }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    if (of_whole_files(outcome.result))
      fail(add_test("file"), result_name(outcome.result), whole_files_text(pair, outcome), {});
    if (!outcome.files.all.empty()) {
      std::string text;
      for (const FileDifference& found : outcome.files.all) text += found.text() + "\n";
      fail(add_test("files"), result_name(PairResult::different), file_differences_text(outcome),
           text);
    }
    // Errors of tensors are reported with the tensors.
    if (outcome.result == PairResult::trouble && counts_.errors == 0)
      add_error(add_test("file"), outcome.error);
    set_counts(suite_, counts_);
    sums_.tests += counts_.tests;
    sums_.failures += counts_.failures;
    sums_.errors += counts_.errors;
  }

  Status finish(const DiffTotals& totals) override {
    suites_.attribute("name") =
        xml_text("btftool diff: " + common_criteria_text(options_, totals.close)).c_str();
    set_counts(suites_, sums_);
    std::ostringstream text;
    document_.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
    return sink_(text.str());
  }

 private:
  struct Counts {
    std::uint64_t tests = 0;
    std::uint64_t failures = 0;
    std::uint64_t errors = 0;
  };

  static void set(pugi::xml_node node, const char* name, const std::string& value) {
    node.append_attribute(name) = xml_text(value).c_str();
  }

  static void set_counts(pugi::xml_node node, const Counts& counts) {
    node.attribute("tests") = static_cast<unsigned long long>(counts.tests);
    node.attribute("failures") = static_cast<unsigned long long>(counts.failures);
    node.attribute("errors") = static_cast<unsigned long long>(counts.errors);
  }

  pugi::xml_node add_test(const std::string& name) {
    ++counts_.tests;
    pugi::xml_node test = suite_.append_child("testcase");
    set(test, "classname", name_);
    set(test, "name", name);
    return test;
  }

  void add_error(pugi::xml_node test, const std::string& message) {
    ++counts_.errors;
    pugi::xml_node error = test.append_child("error");
    set(error, "message", message);
    set(error, "type", "trouble");
  }

  void fail(pugi::xml_node test, const std::string& type, const std::string& message,
            const std::string& text) {
    ++counts_.failures;
    pugi::xml_node failure = test.append_child("failure");
    set(failure, "message", message);
    set(failure, "type", type);
    if (!text.empty()) failure.text() = xml_text(text).c_str();
  }

  ReportOptions options_;
  TextSink sink_;
  pugi::xml_document document_;
  pugi::xml_node suites_;
  pugi::xml_node suite_;
  std::string name_;
  Counts counts_;  // of the pair of files
  Counts sums_;
};

}  // namespace

std::unique_ptr<DiffReport> junit_report(ReportOptions options, TextSink sink) {
  return std::make_unique<JunitReport>(std::move(options), std::move(sink));
}

}  // namespace btf::report
