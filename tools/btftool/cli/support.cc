#include "cli/support.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/did_you_mean.h"
#include "btf/output.h"
#include "btf/report.h"
#include "cli/arguments.h"

namespace btftool {
void resolve_output(std::string& output, const std::string& input,
                    std::optional<int>& compression) {
  auto path = btf::output_path(output, input);
  if (!path) throw OptionError(path.error().text());
  output = *std::move(path);
  if (!compression && btf::compressed_by_name(output)) compression = btf::kDefaultCompression;
}

void check_reports(const std::optional<std::string>& junit,
                   const std::optional<std::string>& html) {
  const auto check = [](const char* option, const std::optional<std::string>& name) {
    if (name && (name->empty() || *name == "-"))
      throw OptionError(std::string(option) + " takes a file name, not '" + *name + "'");
  };
  check("--junit", junit);
  check("--html", html);
  if (junit && html && *junit == *html)
    throw OptionError("--junit and --html name the same file '" + *junit + "'");
}

void set_operands(bool from_json, const std::vector<std::string>& operands, std::string& actual,
                  std::string& golden) {
  if (from_json) {
    if (!operands.empty())
      throw OptionError("--from-json takes no operands, but '" + operands.front() + "' is given");
    return;
  }
  actual = operands[0];
  golden = operands[1];
  if (actual == "-" && golden == "-") throw OptionError("only one operand can be - (stdin)");
}

std::vector<std::string> read_lines(const std::string& option, const std::string& path) {
  std::ifstream file(path == "-" ? "/dev/stdin" : path);
  if (!file) throw OptionError(option + " " + path + ": cannot open: " + std::strerror(errno));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (file.bad()) throw OptionError(option + " " + path + ": cannot read: " + std::strerror(errno));
  return lines;
}

namespace {

// Returns true if the backticks at `open` and `close` quote a word of the message. Others are part
// of the name of a file or tensor.
bool quotes_member(std::string_view text, std::size_t open, std::size_t close) {
  const bool starts = open == 0 || text[open - 1] == ' ' || text[open - 1] == '(';
  return starts &&
         (close + 1 == text.size() || std::string_view(" ,;:.)").contains(text[close + 1]));
}

}  // namespace

void OptionNames::add(const CommandTable& table) {
  std::map<std::string, std::string> own;
  for (const OptionGroup& group : table.groups)
    for (const Option& option : group.options)
      for (std::string_view word : words_of(option.traits.sets)) {
        std::string text = option.name();
        if (const std::size_t mark = word.find('='); mark != word.npos) {
          text += " " + std::string(word.substr(mark + 1));
          word = word.substr(0, mark);
        }
        if (const std::size_t mark = word.find(':'); word.substr(0, mark) == table.name) {
          text = table.name + " " + text;
          word.remove_prefix(mark + 1);
        }
        std::string& name = own[std::string(word)];
        name += (name.empty() ? "" : " or ") + text;
      }
  options_.insert(own.begin(), own.end());  // what is there already stays
}

std::string OptionNames::translate(std::string text) const {
  for (std::size_t open = text.find('`'); open != text.npos; open = text.find('`', open + 1)) {
    const std::size_t close = text.find('`', open + 1);
    if (close == text.npos) break;
    const auto found = options_.find(std::string_view(text).substr(open + 1, close - open - 1));
    if (found == options_.end() || !quotes_member(text, open, close)) continue;
    text.replace(open, close + 1 - open, found->second);
    open += found->second.size() - 1;
  }
  return text;
}

btf::Error OptionNames::translate(btf::Error error) const {
  error.message = translate(std::move(error.message));
  return error;
}

btf::Finding OptionNames::translate(btf::Finding finding) const {
  finding.message = translate(std::move(finding.message));
  return finding;
}

btf::TensorDiff OptionNames::translate(btf::TensorDiff diff) const {
  if (diff.error) diff.error = translate(*std::move(diff.error));
  for (btf::Hint& hint : diff.hints) hint.evidence = translate(std::move(hint.evidence));
  return diff;
}

btf::LayerReport OptionNames::translate(btf::LayerReport report) const {
  return btf::with_names(std::move(report),
                         [this](std::string text) { return translate(std::move(text)); });
}

}  // namespace btftool
