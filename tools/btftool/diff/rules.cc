#include "diff/rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "btf/try.h"
#include "btf/value.h"
#include "cli/arguments.h"
#include "cli/diff_arguments.h"
#include "io/read_text.h"
#include "io/text.h"
#include "report/text/json_node.h"
#include "report/text/json_parse.h"

namespace btftool {
namespace {

constexpr std::string_view kSchema = "btftool/rules/1";
constexpr std::string_view kWhat = "a file of rules of btftool diff";

class RulesReader {
 public:
  explicit RulesReader(const std::string& name) : name_(name) {}

  Rules read(const JsonNode& root) {
    if (root["schema"].text() != kSchema) root["schema"].fail("is not " + std::string(kSchema));
    root.members([](const std::string& name, const JsonNode& value) {
      if (name != "schema" && name != "comment" && name != "rules") value.fail(kUnknown);
    });
    std::size_t number = 0;
    root["rules"].each([&](const JsonNode& rule) {
      source_ = name_ + ": rules[" + std::to_string(number++) + "]";
      if (!rule.failed()) take(rule);
    });
    return std::move(rules_);
  }

 private:
  static constexpr std::string_view kUnknown = "is not a known member";

  void take(const JsonNode& rule) {
    const JsonNode tensor = rule["tensor"];
    const std::string glob = tensor.text();
    if (const std::string trouble = glob_trouble(glob); !trouble.empty()) tensor.fail(trouble);
    std::size_t given = 0;
    rule.members([&](const std::string& name, const JsonNode& value) {
      if (name == "tensor" || name == "comment" || value.failed()) return;
      ++given;
      if (name == "rtol")
        limit(glob, value, name, &btf::Tolerance::rtol);
      else if (name == "atol")
        limit(glob, value, name, &btf::Tolerance::atol);
      else if (name == "ulp")
        steps(glob, value);
      else if (name == "actual_spec")
        spec(glob, value, rules_.actual_specs);
      else if (name == "golden_spec")
        spec(glob, value, rules_.golden_specs);
      else
        value.fail(kUnknown);
    });
    if (given == 0) rule.fail("has no rtol, atol, ulp, actual_spec or golden_spec");
  }

  void limit(const std::string& glob, const JsonNode& value, const std::string& name,
             std::optional<double> btf::Tolerance::* member) {
    const double number = value.amount();
    if (!std::isfinite(number)) value.fail("is not finite");
    TensorTolerance& entry = add(glob, name + " " + btf::number_text(number));
    entry.tolerance.*member = number;
  }

  void steps(const std::string& glob, const JsonNode& value) {
    const std::uint64_t count = value.count();
    add(glob, "ulp " + std::to_string(count)).tolerance.ulp = count;
  }

  void spec(const std::string& glob, const JsonNode& value, std::vector<SpecRule>& rules) {
    const std::string text = value.text();
    if (value.failed()) return;
    if (const btf::Status status = check_spec(text); !status) value.fail(status.error().message);
    rules.push_back({glob, text, source_});
  }

  TensorTolerance& add(const std::string& glob, std::string text) {
    rules_.tolerances.push_back(
        {.tensor = 0, .glob = glob, .tolerance = {}, .source = source_, .text = std::move(text)});
    return rules_.tolerances.back();
  }

  const std::string& name_;
  std::string source_;
  Rules rules_;
};

template <typename T>
void put_in_front(std::vector<T>& of, std::vector<T> more) {
  std::ranges::move(of, std::back_inserter(more));
  of = std::move(more);
}

}  // namespace

btf::Result<Rules> parse_rules(const std::string& text, const std::string& name) {
  BTF_ASSIGN(const Json json, parse_written_json(text, kWhat));
  std::string trouble;
  Rules rules = RulesReader(name).read(JsonNode(json, trouble));
  if (!trouble.empty()) return btf::fail(btf::ErrorCode::invalid_argument, trouble);
  return rules;
}

btf::Result<DiffCommand> with_rules(const DiffCommand& command) {
  DiffCommand whole = command;
  if (!command.rules) return whole;
  const auto in_file = [&](const btf::Error& error) {
    return std::unexpected(error.in_file(*command.rules));
  };
  const auto text = read_text(*command.rules);
  if (!text) return in_file(text.error());
  auto rules = parse_rules(*text, printable(*command.rules));
  if (!rules) return in_file(rules.error());
  if (command.from_json && !(rules->actual_specs.empty() && rules->golden_specs.empty()))
    return in_file(
        {btf::ErrorCode::invalid_argument, "specs of files cannot be combined with --from-json"});
  put_in_front(whole.tensor_tolerances, std::move(rules->tolerances));
  put_in_front(whole.actual_specs, std::move(rules->actual_specs));
  put_in_front(whole.golden_specs, std::move(rules->golden_specs));
  return whole;
}

}  // namespace btftool
