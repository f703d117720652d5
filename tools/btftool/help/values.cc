#include <algorithm>
#include <cctype>
#include <string_view>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "btf/output.h"
#include "explain/explanations.h"
#include "help/completion.h"

namespace btftool {
namespace {

using Kind = Values::Kind;

void add(std::vector<std::string>& words, std::string word) {
  if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
}

// Their names, and the first other one of each: "float16", "fp16".
std::vector<std::string> dtype_words() {
  std::vector<std::string> words;
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    add(words, std::string(row.name));
    if (!row.aliases[0].empty()) add(words, std::string(row.aliases[0]));
  }
  return words;
}

// "kHWC8" and what people type: "hwc8".
std::vector<std::string> layout_words() {
  std::vector<std::string> words;
  for (const btf::LayoutSpec& row : btf::layouts()) {
    std::string name(row.name);
    add(words, name);
    if (!name.starts_with('k')) continue;
    name.erase(0, 1);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    add(words, name);
  }
  return words;
}

std::vector<std::string> format_words() {
  const auto names = btf::output_formats();
  return {names.begin(), names.end()};
}

std::vector<std::string> dtype_and_layout_words() {
  std::vector<std::string> words = dtype_words();
  std::ranges::copy(layout_words(), std::back_inserter(words));
  return words;
}

std::vector<std::string> shell_words() {
  std::vector<std::string> words;
  for (const Shell& shell : shells()) words.emplace_back(shell.name);
  return words;
}

std::vector<std::string> explained_words() {
  std::vector<std::string> words;
  for (const Topic& topic : topics())
    for (const Explanation& row : topic.rows) add(words, std::string(row.word));
  return words;
}

struct Placeholder {
  std::string_view type;
  Kind kind;
  std::vector<std::string> (*words)() = nullptr;
};

// Others are text, but for lists of words: "yes|no".
const Placeholder kPlaceholders[] = {{"T", Kind::words, dtype_words},
                                     {"L", Kind::words, layout_words},
                                     {"F", Kind::words, format_words},
                                     {"[GLOB=]T", Kind::listed, dtype_words},
                                     {"[GLOB=]SPEC", Kind::listed, dtype_words},
                                     {"SHELL", Kind::words, shell_words},
                                     {"[WORD]", Kind::words, explained_words},
                                     {"[WHAT [DIMS]]", Kind::words, dtype_and_layout_words},
                                     {"FILE", Kind::files},
                                     {"MODEL", Kind::files},
                                     {"OUT", Kind::files},
                                     {"REPORT", Kind::files},
                                     {"SET", Kind::files},
                                     {"SEL", Kind::tensors},
                                     {"A:G,...", Kind::pairs},
                                     {"OLD=NEW", Kind::renames}};

const Placeholder* find(std::string_view type) {
  const auto* row = std::ranges::find(kPlaceholders, type, &Placeholder::type);
  return row == std::end(kPlaceholders) ? nullptr : row;
}

// "N", "P%": of a list, what stands for a number.
bool is_number(std::string_view word) {
  if (word.ends_with('%')) word.remove_suffix(1);
  return word.size() == 1 && std::isupper(static_cast<unsigned char>(word[0])) != 0;
}

Values of_list(std::string_view type) {
  Values values;
  for (;;) {
    const std::size_t at = type.find('|');
    const std::string_view word = type.substr(0, at);
    if (const Placeholder* row = find(word)) {
      values.kind = row->kind;
    } else if (!is_number(word)) {
      values.words.emplace_back(word);
      values.kind = std::max(values.kind, Kind::words);
    }
    if (at == type.npos) return values;
    type.remove_prefix(at + 1);
  }
}

}  // namespace

Values values_of(const std::string& type) {
  if (const Placeholder* row = find(type))
    return {row->kind, row->words == nullptr ? std::vector<std::string>() : row->words()};
  const bool word = !type.empty() && std::islower(static_cast<unsigned char>(type[0])) != 0;
  if (word || type.find('|') != type.npos) return of_list(type);
  return {};
}

Values operand_values_of(const std::string& operands) {
  const Values values = values_of(operands);
  return values.kind == Kind::text ? Values{Kind::files, {}} : values;
}

}  // namespace btftool
