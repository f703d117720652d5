#include "help/options.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include "btf/did_you_mean.h"

namespace btftool {
namespace {

// Returns the name that sets the flag to false, or an empty string.
std::string negative_name(const Option& option) {
  const std::size_t mark = option.names.find('!');
  if (mark == option.names.npos) return {};
  return option.names.substr(mark + 1, option.names.find(',', mark) - mark - 1);
}

void declare(CLI::App& app, const Option& option, const std::string& group) {
  const auto take = [take = option.value.take, name = option.name()](const std::string& text) {
    take(name, text);
  };
  CLI::Option* declared = nullptr;
  switch (option.value.kind) {
    case Value::Kind::flag:
      declared =
          app.add_flag_function(
                 option.names, [take](std::int64_t sign) { take(sign > 0 ? "true" : "false"); },
                 option.help)
              ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
      break;
    case Value::Kind::once:
      declared = app.add_option_function<std::string>(
                        option.names,
                        [take, name = option.name(),
                         given = std::make_shared<bool>(false)](const std::string& text) {
                          if (std::exchange(*given, true))
                            throw OptionError(name + " is given more than once");
                          take(text);
                        },
                        option.help)
                     ->trigger_on_parse();
      break;
    case Value::Kind::repeated:
      // Must not be triggered while parsing: only the last value would be kept then.
      declared = app.add_option_function<std::vector<std::string>>(
          option.names,
          [take](const std::vector<std::string>& values) {
            for (const std::string& text : values) take(text);
          },
          option.help);
      break;
    case Value::Kind::pair:
      declared = app.add_option_function<std::vector<std::string>>(
                        option.names,
                        [take](const std::vector<std::string>& words) {
                          take(words[0] + '\n' + words[1]);
                        },
                        option.help)
                     ->expected(2)
                     ->trigger_on_parse();
      break;
  }
  if (option.value.kind != Value::Kind::flag)
    declared->type_name(option.value.type)->allow_extra_args(false);
  declared->group(group);
}

}  // namespace

std::string Option::name() const {
  const std::size_t at = names.find("--");
  return names.substr(at, names.find(',', at) - at);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Value texts(std::string type, std::vector<std::string>& target) {
  return repeated(std::move(type), target,
                  [](const auto&, const std::string& word, auto& to) { to.push_back(word); });
}

std::uint64_t parse_count(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < least || value > most)
    throw OptionError(option + " takes a number from " + std::to_string(least) + " to " +
                      std::to_string(most) + ", not '" + text + "'");
  return value;
}

Value word_of(std::vector<std::string> words, std::function<void(std::size_t)> store) {
  std::string names;
  for (const std::string& word : words) names += (names.empty() ? "" : "|") + word;
  const auto take = [=](const std::string& option, const std::string& given) {
    const auto found = std::ranges::find(words, given);
    if (found == words.end()) {
      const std::vector<std::string_view> known(words.begin(), words.end());
      throw OptionError(option + " takes " + names + ", not '" + given + "'" +
                        btf::did_you_mean(given, known));
    }
    store(static_cast<std::size_t>(found - words.begin()));
  };
  return {Value::Kind::once, names, take};
}

Value or_else(std::string if_left_out, Value value, std::string_view characters) {
  value.if_left_out = std::move(if_left_out);
  value.characters = characters;
  return value;
}

void declare(CLI::App& app, std::span<const OptionGroup> groups) {
  for (const OptionGroup& group : groups)
    for (const Option& option : group.options) declare(app, option, group.title);
}

GivenOptions::GivenOptions(const CLI::App& app, std::span<const OptionGroup> groups) {
  std::map<std::string, Given> rows;
  std::size_t row = 0;
  for (const OptionGroup& group : groups) {
    const std::size_t first = row;
    for (const Option& option : group.options) {
      const std::size_t place = group.title == kInOrderOfLine ? first : row;
      rows[option.name()] = {&option, group.title, {}, place};
      ++row;
    }
  }
  std::map<const CLI::Option*, std::size_t> counts;  // values of the option that were taken
  for (const CLI::Option* parsed : app.parse_order()) {
    const std::size_t at = counts[parsed]++;
    const auto found = rows.find(parsed->get_name());
    if (!parsed->nonpositional() || found == rows.end() || at >= parsed->results().size()) continue;
    Given& given = given_.emplace_back(found->second);
    given.value = parsed->results()[at];
  }
  std::ranges::stable_sort(given_, {}, &Given::row);
}

bool GivenOptions::has(std::string_view option) const {
  return std::ranges::any_of(given_,
                             [&](const Given& given) { return given.option->name() == option; });
}

std::vector<const Option*> GivenOptions::all_with(Traits traits) const {
  std::vector<const Option*> options;
  for (const Given& given : given_)
    if (given.option->traits.any(traits)) options.push_back(given.option);
  return options;
}

std::vector<std::pair<std::string, std::string>> GivenOptions::in_order(
    std::string_view group) const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Given& given : given_)
    if (given.group == group) values.emplace_back(given.option->name(), given.value);
  return values;
}

template <typename Which>
std::vector<std::string> GivenOptions::words(Which which) const {
  std::vector<std::string> words;
  for (const Given& given : given_) {
    if (!which(given.option->traits)) continue;
    const bool flag = given.option->value.kind == Value::Kind::flag;
    words.push_back(!flag                   ? given.option->name() + "=" + given.value
                    : given.value == "true" ? given.option->name()
                                            : negative_name(*given.option));
  }
  std::erase(words, "");
  return words;
}

std::vector<std::string> GivenOptions::words_with(Traits traits) const {
  return words([traits](Traits own) { return own.any(traits); });
}

std::vector<std::string> GivenOptions::words_without(Traits traits) const {
  return words([traits](Traits own) { return !own.any(traits); });
}

std::vector<NamedFile> GivenOptions::files() const {
  std::vector<NamedFile> files;
  for (const Given& given : given_) {
    const Traits traits = given.option->traits;
    const Value& value = given.option->value;
    // Words such as those of "keep|drop|FILE" are no files.
    if (traits.any(kReads | kReadsSet | kWrites | kWritesPart) &&
        !("|" + value.type).contains("|" + given.value + "|"))
      files.push_back({given.option->name(), given.value, traits});
  }
  return files;
}

void GivenOptions::check() const {
  const auto refuse = [](const std::string& one, std::string_view other) {
    throw OptionError(one + " and " + std::string(other) + " cannot be combined");
  };
  const auto saved = all_with(kSaved);
  const auto input = all_with(kOfInput);
  if (!saved.empty() && !input.empty()) refuse(saved.front()->name(), input.front()->name());
  for (const Given& given : given_) {
    const std::string name = given.option->name();
    for (const std::string_view other : words_of(given.option->traits.excludes))
      if (has(other)) refuse(name, other);
  }
  for (const Given& given : given_) {
    const std::string_view needs = given.option->traits.needs;
    if (!needs.empty() && !has(needs.substr(0, needs.find_first_of(" :"))))
      throw OptionError(given.option->name() + " needs " + std::string(needs));
  }
}

}  // namespace btftool
