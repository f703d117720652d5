#include "help/completion.h"

namespace btftool {
namespace {

constexpr const char* kFishHead =
    R"(# Completion of btftool in fish: made by 'btftool completion fish'.

# The command and its operands, in front of the word at the cursor: fish does not tell what is behind it.
function __btftool_line
    set -l words (commandline -opc)
    set -l command
    set -l taking
    set -l ended
    for word in $words[2..]
        if set -q taking[1]
            set taking
        else if not set -q ended[1]; and test "$word" = --
            set ended 1
        else if not set -q ended[1]; and string match -q -- '-?*' $word
            __btftool_takes "$command" $word; and set taking 1
        else
            set command $word
            echo -- $word
        end
    end
end

function __btftool_no_command
    test (count (__btftool_line)) -eq 0
end

function __btftool_in
    set -l line (__btftool_line)
    contains -- "$line[1]" $argv
end

# What is typed of a value, without quotes.
function __btftool_typed
    string replace -r -- '^--[^=]*=' '' (string replace -ra -- '[\'"\\\\]' '' (commandline -ct))
end

# The value at the cursor, up to its last comma, and the rest.
function __btftool_value
    set -l value (__btftool_typed)
    set -l rest (string replace -r -- '^.*,' '' $value)
    string sub -l (math (string length -- $value) - (string length -- $rest)) -- $value
    echo -- $rest
end

# Names of the tensors in FILE...: BEFORE BEHIND FILE...
function __btftool_names
    set -q argv[3]; or return
    set -l program (commandline -op)[1]
    for name in (command $program completion --tensors -- $argv[3..] 2>/dev/null)
        echo -- $argv[1]$name$argv[2]
    end
end

function __btftool_tensors
    set -l value (__btftool_value)
    string match -q -- '!*' $value[2]; and set value[1] $value[1]!
    __btftool_names "$value[1]" '' (__btftool_line)[2..]
end

function __btftool_pairs
    set -l value (__btftool_value)
    set -l line (__btftool_line)
    if string match -q -- '?*:*' $value[2]
        __btftool_names $value[1](string replace -r -- ':.*' : $value[2]) '' $line[3]
    else
        __btftool_names "$value[1]" : $line[2]
    end
end

function __btftool_renames
    __btftool_names '' = (__btftool_line)[2..]
end

# Words behind commas and "GLOB=".
function __btftool_listed
    set -l value (__btftool_typed)
    set -l before (string match -r -- '^.*[,=]' $value)
    for word in $argv
        echo -- $before$word
    end
end

complete -c btftool -f
)";

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// Options of `complete` that say what a value is.
std::string fish_proposals(const Values& values) {
  const std::string words = joined(values.words, " ");
  switch (values.kind) {
    case Values::Kind::text:
      return " -x";
    case Values::Kind::words:
      return " -x -a " + fish_quoted(words);
    case Values::Kind::listed:
      return " -x -a " + fish_quoted("(__btftool_listed " + words + ")");
    case Values::Kind::files:
      return " -r -F" + (words.empty() ? std::string() : " -a " + fish_quoted(words));
    case Values::Kind::tensors:
      return " -x -a '(__btftool_tensors)'";
    case Values::Kind::pairs:
      return " -x -a '(__btftool_pairs)'";
    case Values::Kind::renames:
      return " -x -a '(__btftool_renames)'";
  }
  return {};
}

std::string fish_lines(const std::vector<DeclaredOption>& options, const std::string& condition) {
  std::string text;
  for (const DeclaredOption& option : options) {
    text += "complete -c btftool" + condition;
    for (const std::string& name : option.names)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (option.takes_value() && !option.value_optional()) text += fish_proposals(option.values);
    text += " -d " + fish_quoted(brief(option.help)) + "\n";
  }
  return text;
}

std::string fish_command(const std::string& name, const std::string& help) {
  return "complete -c btftool -n __btftool_no_command -a " + name + " -d " + fish_quoted(help) +
         "\n";
}

}  // namespace

std::string fish_completion(const Program& program) {
  std::string takers =
      "\n# Is the next word a value of the option?\n"
      "function __btftool_takes\n    switch \"$argv[1],$argv[2]\"\n        case";
  for (const Takers& row : takers_of(program))
    for (const std::string& option : row.options) takers += " " + fish_quoted(option);
  takers += "\n            return 0\n    end\n    return 1\nend\n";
  std::string text = kFishHead + takers + fish_lines(program.options, "");
  std::string names;
  for (const DeclaredCommand& command : program.commands) {
    names += (names.empty() ? "" : " ") + command.name;
    const std::string condition = " -n " + fish_quoted("__btftool_in " + command.name);
    text += fish_command(command.name, command.help);
    text += fish_lines(command.options, condition);
    text += "complete -c btftool" + condition;
    text += command.operand_values.kind == Values::Kind::files
                ? std::string(" -F")
                : " -a " + fish_quoted(joined(command.operand_values.words, " "));
    text += "\n";
  }
  return text + fish_command("help", "options and examples of a command") +
         "complete -c btftool -n '__btftool_in help' -l man -d 'its man page'\n"
         "complete -c btftool -n '__btftool_in help' -a " +
         fish_quoted(names) + "\n";
}

}  // namespace btftool
