// Helpers of the files that declare options. Only this folder includes it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/file.h"

namespace btftool {

// Thrown by the checks of options and caught where the command line has been parsed; the parser's
// own style.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T>
T value_or_throw(btf::Result<T> result) {
  if (!result) throw Wrong(result.error().message);
  return *std::move(result);
}

// `parse` is given the words of the option as soon as they are read. Twice is wrong.
CLI::Option* add_words(CLI::App& app, const std::string& name, const std::string& type,
                       std::function<void(const std::string&)> parse, const std::string& help);

// The same for an option that may be given more than once: its words in the order of the line, once
// the whole line has been read.
CLI::Option* add_repeated(CLI::App& app, const std::string& name, const std::string& type,
                          const std::function<void(const std::string&)>& parse,
                          const std::string& help);

// One of `words`, of which `store` is given the number.
CLI::Option* add_word_of(CLI::App& app, const std::string& name,
                         const std::vector<std::string>& words,
                         const std::function<void(std::size_t)>& store, const std::string& help);

template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target,
                        const std::vector<std::pair<std::string, T>>& choices,
                        const std::string& help) {
  std::vector<std::string> words;
  std::vector<T> values;
  for (const auto& [word, value] : choices) {
    words.push_back(word);
    values.push_back(value);
  }
  return add_word_of(
      app, name, words, [&target, values](std::size_t number) { target = values[number]; }, help);
}

// By the library's names.
template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target,
                        std::span<const btf::Named<T>> names, const std::string& help) {
  std::vector<std::pair<std::string, T>> choices;
  for (const btf::Named<T>& row : names) choices.emplace_back(row.name, row.value);
  return add_choice(app, name, target, choices, help);
}

// --for
CLI::Option* add_recipient(CLI::App& app, std::optional<btf::Recipient>& target,
                           const std::string& help);

CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t least,
                       std::uint64_t most, const std::function<void(std::uint64_t)>& store,
                       const std::string& help);

// An empty text is one, and not an option that was left out.
CLI::Option* add_text(CLI::App& app, const std::string& name, std::optional<std::string>& target,
                      const std::string& type, const std::string& help);

// The lines of a file, or of stdin ("-"). Throws Wrong.
std::vector<std::string> read_lines(const std::string& option, const std::string& path);

// --files-from
CLI::Option* add_files_from(CLI::App& app, std::shared_ptr<const btf::FileList>& files,
                            const std::string& help);

bool given(const CLI::App& app, const char* option);

// An option of the command line and its word; "true" or "false" of a flag.
struct GivenOption {
  const CLI::Option* option = nullptr;
  std::string value;
};

// All that were given, each repetition, in the order of the line.
std::vector<GivenOption> options_given(const CLI::App& app);

// The group of options that apply in the order in which they are written, whatever their names.
inline constexpr const char* kInOrderOfLine = "Dims, edited in the order of these options";

// The options that were given as words that say the same, "--rtol=1e-3": the words of each option in
// the order of the line, and options in that of their declaration, so that lines that mean one thing
// give one list.
std::vector<std::string> words_given(const CLI::App& app,
                                     const std::function<bool(const std::string& name)>& which);
// All that were given but these.
std::vector<std::string> words_given_but(const CLI::App& app,
                                         std::initializer_list<std::string_view> others);

// Throws Wrong if the option and one of the others are given.
void exclude(const CLI::App& app, const char* option, std::initializer_list<const char*> others);

// Checks the paths of reports in files. Throws Wrong.
void check_reports(const std::optional<std::string>& junit, const std::optional<std::string>& html);

// Two operands, of which one may be -; none with --from-json. Throws Wrong.
void take_operands(bool from_json, const std::vector<std::string>& operands, std::string& actual,
                   std::string& golden);

// The file that OUT names, in a directory that with the name of IN. A name that asks for
// compression gets it, unless a level is said.
void place_output(std::string& output, const std::string& input, std::optional<int>& compression);

// Bytes of "256M", "1GiB", "67108864".
std::uint64_t parse_memory(const std::string& text);

std::uint64_t parse_count(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most);

}  // namespace btftool
