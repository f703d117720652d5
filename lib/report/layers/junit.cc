#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>
#include <string>

#include "btf/report.h"
#include "report/layers/story.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

class LayerSuite {
 public:
  explicit LayerSuite(const LayerRun& run) : run_(run) {
    pugi::xml_node declaration = document_.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    declaration.append_attribute("encoding") = "UTF-8";
    suites_ = document_.append_child("testsuites");
    set(suites_, "name", "btftool layers: " + run.report.verdict.words);
    suite_ = suites_.append_child("testsuite");
    set(suite_, "name", printable(run.actual));
    for (pugi::xml_node node : {suites_, suite_})
      for (const char* count : {"tests", "failures", "errors", "skipped"})
        node.append_attribute(count);
  }

  std::string text() {
    for (const Layer& layer : run_.report.layers) add(layer);
    for (const std::string& name : run_.report.missing_outputs)
      fail(test(name), "missing", "an output that one side alone has", {});
    if (run_.judge.require_all) {
      for (const std::string& name : run_.report.golden_only)
        fail(test(name), "missing", "no actual tensor", {});
      for (const std::string& name : run_.report.actual_only)
        fail(test(name), "missing", "no golden tensor", {});
    }
    // The JUnit report must fail whenever the command does.
    if (run_.report.verdict.kind == VerdictKind::cannot_tell && failures_ == 0)
      fail(test("verdict"), "verdict", run_.report.verdict.words, {});
    for (const std::string& trouble : run_.report.troubles) error(trouble);
    if (run_.report.watching_changed_result) error("watching changed the result");
    for (pugi::xml_node node : {suites_, suite_}) {
      node.attribute("tests") = tests_;
      node.attribute("failures") = failures_;
      node.attribute("errors") = errors_;
      node.attribute("skipped") = skipped_;
    }
    std::ostringstream text;
    document_.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
    return text.str();
  }

 private:
  static void set(pugi::xml_node node, const char* name, const std::string& value) {
    node.append_attribute(name) = xml_text(value).c_str();
  }

  pugi::xml_node test(const std::string& name) {
    ++tests_;
    pugi::xml_node test = suite_.append_child("testcase");
    set(test, "classname", printable(run_.actual));
    set(test, "name", printable(name));
    return test;
  }

  void fail(pugi::xml_node test, const std::string& type, const std::string& message,
            const std::string& text) {
    ++failures_;
    pugi::xml_node failure = test.append_child("failure");
    set(failure, "message", message);
    set(failure, "type", type);
    if (!text.empty()) failure.text() = xml_text(text).c_str();
  }

  void error(const std::string& message) {
    ++errors_;
    set(test("trouble").append_child("error"), "message", message);
  }

  void add(const Layer& layer) {
    pugi::xml_node node = test(layer.name());
    const auto& verdict = run_.report.verdict;
    const bool named = verdict.layer && &run_.report.layers[*verdict.layer] == &layer;
    if (layer.state == LayerState::root || layer.state == LayerState::dump ||
        (named && verdict.kind == VerdictKind::drift)) {
      std::string text;
      for (const Hint& hint : layer.hints) text += hint.evidence + "\n";
      return fail(node, named ? "verdict" : state_text(layer),
                  named ? verdict.words : state_text(layer), text);
    }
    if (layer.state == LayerState::unmeasured) {
      ++errors_;
      return set(node.append_child("error"), "message", layer.note);
    }
    if (layer.state != LayerState::unjudged) return;
    ++skipped_;
    set(node.append_child("skipped"), "message", layer.note);
  }

  const LayerRun& run_;
  pugi::xml_document document_;
  pugi::xml_node suites_;
  pugi::xml_node suite_;
  unsigned long long tests_ = 0;
  unsigned long long failures_ = 0;
  unsigned long long errors_ = 0;
  unsigned long long skipped_ = 0;
};

}  // namespace
}  // namespace btf::report

namespace btf {

std::string junit(const LayerRun& run) { return report::LayerSuite(run).text(); }

}  // namespace btf
