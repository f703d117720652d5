// btftool explain: what a word of validate, diff, layers or fit means.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "btf/try.h"
#include "btf/words/did_you_mean.h"
#include "commands/commands.h"
#include "explain/explanations.h"
#include "io/exit_code.h"
#include "io/json.h"
#include "io/text.h"

namespace btftool {
namespace {

std::size_t columns() { return fits_columns() ? output_columns() : 79; }

void tell(Output& out, const Topic& topic, const Explanation& row) {
  const auto line = [&](std::string_view name, std::string_view text) {
    for (const std::string& part : wrapped(fmt::format("  {:<6}  {}", name, text), columns(), 10))
      out.line(part);
  };
  out.line(fmt::format("{}: a {} of {}", row.word, topic.name, topic.commands));
  line("means", row.means);
  line("as in", row.example);
  line("do", row.remedy);
  line("more", topic.document);
}

void list(Output& out) {
  for (const Topic& topic : topics()) {
    out.line(fmt::format("{}{}:", &topic == topics().data() ? "" : "\n", topic.title));
    for (const Explanation& row : topic.rows)
      for (const std::string& part :
           wrapped(fmt::format("  {:<24}{}", row.word, row.means), columns(), 26))
        out.line(part);
  }
}

btf::Status explain(Output& out, std::string_view word) {
  // As validate prints it.
  if (word.starts_with('[') && word.ends_with(']')) word = word.substr(1, word.size() - 2);
  std::vector<std::string_view> words;
  bool told = false;
  for (const Topic& topic : topics())
    for (const Explanation& row : topic.rows) {
      words.push_back(row.word);
      if (row.word != word) continue;
      if (told) out.line("");
      tell(out, topic, row);
      told = true;
    }
  if (told) return {};
  return btf::fail(btf::ErrorCode::invalid_argument,
                   "'" + std::string(word) + "' is no finding, cause, verdict, reason or state" +
                       btf::did_you_mean(word, words) + "; btftool explain lists them");
}

Json as_json() {
  Json json{{"schema", "btftool/explain/1"}, {"words", Json::array()}};
  for (const Topic& topic : topics())
    for (const Explanation& row : topic.rows)
      json["words"].push_back({{"word", row.word},
                               {"kind", topic.name},
                               {"means", row.means},
                               {"example", row.example},
                               {"remedy", row.remedy},
                               {"document", topic.document}});
  return json;
}

}  // namespace

btf::Result<int> run_explain(const Context& context, const ExplainOptions& options) {
  if (options.json) {
    context.out.line(dump(as_json()));
  } else if (options.word) {
    BTF_TRY(explain(context.out, *options.word));
  } else {
    list(context.out);
  }
  return kSame;
}

}  // namespace btftool
