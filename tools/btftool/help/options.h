// The options of a command as rows of a table. A row is all that is known of an option: the parser,
// the help, man pages, completion, the commands that reports print and the parts of shards are made
// of it, so a new option is a row and the code that acts on it.
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"

namespace btftool {

// A mistake in the command line. Caught in parse_command_line(); the option parser reports its own
// errors by exceptions too.
struct OptionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T>
T value_or_throw(btf::Result<T> result) {
  if (!result) throw OptionError(result.error().message);
  return *std::move(result);
}
template <typename T>
T value_or_throw(T value) {
  return value;
}

// The value of an option: what the help calls it, and what is done with it.
struct Value {
  enum class Kind : std::uint8_t {
    flag,      // none; `take` gets "true", or "false" for names that begin with '!'
    once,      // one, which is taken as soon as it is read; giving the option twice is an error
    repeated,  // one each time; they are taken in order after all of the command line has been read
    pair,      // two words each time
  };

  Kind kind = Kind::flag;
  std::string type{};  // "FILE", "auto|always", "[N]" if it may be left out; empty for a flag
  // Throws OptionError. `option` is the name for messages; `text` of a pair has '\n' in between.
  std::function<void(const std::string& option, const std::string& text)> take{};
  // The value of an option without one, if that is allowed. The next word is a value if it has a
  // digit and only `characters`; any other word is an operand.
  std::string if_left_out{};
  std::string_view characters{};
};

// What an option has to do with, combined by '|'. Without kReport and kAside the result of the
// command depends on it.
struct Traits {
  unsigned bits = 0;
  std::string_view excludes{};  // options that it cannot be combined with: "--json --all"
  std::string_view needs{};     // the option it is useless without, and why: "--image"
  std::string_view sets{};      // what the library's messages call it: "as_uint"

  constexpr bool any(Traits of) const { return (bits & of.bits) != 0; }

  friend constexpr Traits operator|(Traits a, Traits b) {
    const auto one = [](std::string_view x, std::string_view y) { return x.empty() ? y : x; };
    return {a.bits | b.bits, one(a.excludes, b.excludes), one(a.needs, b.needs),
            one(a.sets, b.sets)};
  }
};

inline constexpr Traits kOfPair{1U << 0};   // how two tensors are compared: repeated for a pair
inline constexpr Traits kOfFiles{1U << 1};  // which files of directories are taken
inline constexpr Traits kReport{1U << 2};  // what is printed of a result; --part leaves it to merge
inline constexpr Traits kAside{1U << 3};   // no result depends on it, but it is no report either
inline constexpr Traits kOfInput{1U << 4};  // about operands: not for a report that is judged again
inline constexpr Traits kSaved{1U << 5};    // names such a report
inline constexpr Traits kReads{1U << 6};    // names a file that is read
inline constexpr Traits kReadsSet{1U << 7};    // names files of tensors that are read
inline constexpr Traits kWrites{1U << 8};      // names a file that is written
inline constexpr Traits kWritesPart{1U << 9};  // one with other names until it is complete

constexpr Traits excludes(std::string_view options) { return {.excludes = options}; }
constexpr Traits needs(std::string_view option) { return {.needs = option}; }
// Names of members separated by spaces; after '=' what else is on the command line: "scale" is
// --scale, "automatic=auto" is --scale auto. "convert:Slice" is "convert --slice".
constexpr Traits sets(std::string_view members) { return {.sets = members}; }

struct Option {
  std::string names;  // "-f,--force"; with '!', what sets a flag to false: "!--no-hints"
  Value value;
  std::string help;
  Traits traits{};

  // The name in messages and printed commands.
  std::string name() const;
};

struct OptionGroup {
  std::string title;  // groups with the same title are one in the help
  std::vector<Option> options;
};

// Returns the words of "--json --all".
std::vector<std::string_view> words_of(std::string_view text);

// The title of options without a subject of their own.
inline constexpr const char* kOptions = "Options";
// The group of options whose relative order on the command line matters.
inline constexpr const char* kInOrderOfLine = "Edits of dims, in the order in which they are given";

// Makers of values. `target` is set when the option is given, and must outlive the parser.

template <typename T>
Value flag(T& target) {
  return {.take = [&target](const auto&, const std::string& text) { target = text == "true"; }};
}

// Calls `take` with the name of the option, the value and `target`.
template <typename T, typename Take>
Value taken(Value::Kind kind, std::string type, T& target, Take take) {
  return {kind, std::move(type),
          [&target, take](const std::string& option, const std::string& text) {
            take(option, text, target);
          }};
}
template <typename T, typename Take>
Value once(std::string type, T& target, Take take) {
  return taken(Value::Kind::once, std::move(type), target, take);
}
template <typename T, typename Take>
Value repeated(std::string type, T& target, Take take) {
  return taken(Value::Kind::repeated, std::move(type), target, take);
}

// A text, also an empty one.
template <typename T>
Value text(std::string type, T& target) {
  return once(std::move(type), target, [](const auto&, const auto& word, T& to) { to = word; });
}

// Appends each value to `target`.
Value texts(std::string type, std::vector<std::string>& target);

// Sets `target` to what `parse` makes of the value, or of the name of the option and the value: the
// value itself or a btf::Result of it.
template <typename T, typename Parse>
Value parsed(std::string type, T& target, Parse parse) {
  return once(std::move(type), target,
              [parse](const std::string& option, const std::string& text, T& to) {
                if constexpr (std::invocable<Parse, std::string, std::string>)
                  to = value_or_throw(parse(option, text));
                else
                  to = value_or_throw(parse(text));
              });
}

// A number from `least` to `most`.
std::uint64_t parse_count(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most);

template <typename T>
Value count(std::uint64_t least, std::uint64_t most, T& target, std::string type = "N") {
  return once(std::move(type), target,
              [=](const std::string& option, const std::string& text, T& to) {
                const std::uint64_t number = parse_count(option, text, least, most);
                if constexpr (requires { typename T::value_type; })
                  to = static_cast<typename T::value_type>(number);
                else
                  to = static_cast<T>(number);
              });
}

// One of `words`; `store` gets its index.
Value word_of(std::vector<std::string> words, std::function<void(std::size_t)> store);

template <typename T>
Value choice(T& target, const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> words;
  std::vector<T> values;
  for (const auto& [word, value] : choices) {
    words.push_back(word);
    values.push_back(value);
  }
  return word_of(std::move(words),
                 [&target, values](std::size_t number) { target = values[number]; });
}

template <typename T, typename Name>
Value choice(T& target, std::span<const btf::Named<Name>> names) {
  std::vector<std::pair<std::string, T>> choices;
  for (const btf::Named<Name>& row : names) choices.emplace_back(row.name, row.value);
  return choice(target, choices);
}

// The same value, which may be left out.
Value or_else(std::string if_left_out, Value value, std::string_view characters = "0123456789");

// What a command is called, and all its options.
struct CommandTable {
  std::string name;
  std::string help;      // one line
  std::string operands;  // "ACTUAL GOLDEN"
  std::string operands_help;
  std::string_view most_used{};  // the options that --help lists; empty: all
  std::vector<OptionGroup> groups;
  std::string footer;
};

// Declares the options to the parser.
void declare(CLI::App& app, std::span<const OptionGroup> groups);

// A file that an option names.
struct NamedFile {
  std::string option;
  std::string path;
  Traits traits{};  // of the option
};

// The options of a command as they were given.
class GivenOptions {
 public:
  GivenOptions(const CLI::App& app, std::span<const OptionGroup> groups);

  bool has(std::string_view option) const;
  // The options with one of these traits that were given, in the order of the table.
  std::vector<const Option*> all_with(Traits traits) const;
  // All values of options in a group, in the order of the command line, with the option's name.
  std::vector<std::pair<std::string, std::string>> in_order(std::string_view group) const;

  // The options with one of these traits, as words such as "--rtol=1e-3". Options are in the order
  // of the table, and values of an option in the order of the command line, so that command lines
  // with the same meaning give the same list.
  std::vector<std::string> words_with(Traits traits) const;
  // Those with none of these traits.
  std::vector<std::string> words_without(Traits traits) const;
  std::vector<NamedFile> files() const;

  // Throws OptionError if options are combined that exclude each other, or one lacks another.
  void check() const;

 private:
  struct Given {
    const Option* option = nullptr;
    std::string_view group;
    std::string value;
    std::size_t row = 0;
  };

  template <typename Which>
  std::vector<std::string> words(Which which) const;

  std::vector<Given> given_;  // in the order of the table
};

}  // namespace btftool
