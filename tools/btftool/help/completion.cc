#include "help/completion.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "btf/output.h"
#include "explain/explanations.h"

namespace btftool {
namespace {

using Kind = Values::Kind;

void add(std::vector<std::string>& words, std::string word) {
  if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
}

// Returns the name and the first alias of each dtype: "float16", "fp16".
std::vector<std::string> dtype_words() {
  std::vector<std::string> words;
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    add(words, std::string(row.name));
    if (!row.aliases[0].empty()) add(words, std::string(row.aliases[0]));
  }
  return words;
}

// Returns each layout as "kHWC8" and, as people type it, "hwc8".
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

// Placeholders that are not here are lists of words such as "yes|no", or text.
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

// Returns true for the placeholders of numbers in a list: "N", "P%".
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

namespace {

constexpr const char* kBashHead =
    R"(# Completion of btftool in bash: made by 'btftool completion bash'.

)";

// Follows the tables _btftool_commands, _btftool_common, _btftool_command() and _btftool_option().
constexpr const char* kBashBody = R"(
# Sets variable $2 to the word $1 as the program would get it, without running anything in it.
_btftool_plain() {
  local plain=${1//[\\\'\"]/}
  [[ $plain != '~/'* ]] || plain=$HOME/${plain#'~/'}
  printf -v "$2" %s "$plain"
}

# Proposes the words that begin with PART, with PREFIX and SUFFIX: PART PREFIX SUFFIX WORD...
_btftool_add() {
  local part=$1 before=$2 after=$3 word
  shift 3
  for word; do
    [[ $word == "$part"* ]] || continue
    [[ $quote ]] || printf -v word %q "$word"
    COMPREPLY+=("$before$word$after")
  done
}

# The same for names of the tensors in files: PART PREFIX SUFFIX FILE...
_btftool_add_tensors() {
  local part=$1 before=$2 after=$3 program
  local -a names
  shift 3
  (($#)) || return 0
  _btftool_plain "${COMP_WORDS[0]}" program
  mapfile -t names < <("$program" completion --tensors -- "$@" 2>/dev/null)
  _btftool_add "$part" "$before" "$after" "${names[@]}"
}

# Proposes completions of `value`, according to `kind` and `choices`.
_btftool_values() {
  local before=$assigned part=$value
  case $kind in
    words | files)
      [[ $kind == words ]] || compopt -o default 2>/dev/null
      _btftool_add "$part" "$before" '' $choices
      ;;
    listed)
      part=${value##*[,=]}
      _btftool_add "$part" "$before${value%"$part"}" '' $choices
      ;;
    tensors)
      part=${value##*,}
      part=${part#!}
      _btftool_add_tensors "$part" "$before${value%"$part"}" '' "${operands[@]}"
      ;;
    pairs)
      part=${value##*,}
      if [[ $part == ?*:* ]]; then
        part=${part#*:}
        _btftool_add_tensors "$part" "$before${value%"$part"}" '' "${operands[@]:1:1}"
      else
        compopt -o nospace 2>/dev/null
        _btftool_add_tensors "$part" "$before${value%"$part"}" : "${operands[@]:0:1}"
      fi
      ;;
    renames)
      compopt -o nospace 2>/dev/null
      _btftool_add_tensors "$part" "$before" = "${operands[@]}"
      ;;
  esac
}

_btftool() {
  local -a words=() operands=()
  local line=$COMP_LINE word space last='' cursor=0 i
  local IFS=$' \t\n'
  # bash splits words at = and : too, so these are joined again.
  for ((i = 0; i < ${#COMP_WORDS[@]}; ++i)); do
    word=${COMP_WORDS[i]}
    space=${line%%[![:space:]]*}
    line=${line#"$space"}
    line=${line#"$word"}
    if [[ ${#words[@]} -gt 0 && -z $space && ($word == [=:]* || $last == *[=:]) ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    last=$word
    ((i != COMP_CWORD)) || cursor=$((${#words[@]} - 1))
  done

  # The command, its operands and the option whose value is completed, from the other words.
  local command='' taker='' taking='' ended='' kind choices options place=command
  for ((i = 1; i < ${#words[@]}; ++i)); do
    word=${words[i]}
    if ((i == cursor)); then
      taker=$taking taking=
      [[ ! $command ]] || place=operand
      [[ ! $ended ]] || place=ended
    elif [[ $taking ]]; then
      taking=
    elif [[ ! $ended && $word == -- ]]; then
      ended=1
    elif [[ ! $ended && $word == -?* ]]; then
      [[ $word == *=* ]] || ! _btftool_option "$command" "$word" || taking=$word
    elif [[ ! $command ]]; then
      command=$word
    else
      _btftool_plain "$word" word
      operands+=("$word")
    fi
  done

  local value=${words[cursor]} assigned='' quote=''
  COMPREPLY=()
  if [[ ! $taker && $place != ended && $value == --*=* ]]; then
    taker=${value%%=*} assigned=${value%%=*}= value=${value#*=}
  fi
  if [[ $value == [\'\"]* ]]; then
    quote=${value:0:1} value=${value:1}
  else
    _btftool_plain "$value" value
  fi
  _btftool_command "$command"
  if [[ $taker ]]; then
    kind=text
    _btftool_option "$command" "$taker"
    _btftool_values
  elif [[ $place != ended && $value == -* ]]; then
    _btftool_add "$value" '' '' $options $_btftool_common
  elif [[ $place == command ]]; then
    _btftool_add "$value" '' '' $_btftool_commands
  else
    _btftool_values
  fi

  # bash only replaces the text after the last = or :, or after a quote.
  local whole=$assigned$value breaks=${COMP_WORDBREAKS//[!=:]/} kept=''
  if [[ $quote ]]; then
    kept=$assigned
  elif [[ $breaks ]]; then
    kept=${whole%"${whole##*["$breaks"]}"}
  fi
  COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}

complete -F _btftool btftool
)";

std::string bash_setting(const Values& values) {
  return "kind=" + std::string(kind_name(values.kind)) +
         " choices=" + quoted(joined(values.words, " "));
}

}  // namespace

std::string bash_completion(const Program& program) {
  std::string names;
  std::string commands =
      "# The options of a command, and the values of its operands.\n"
      "_btftool_command() {\n  kind=text choices= options=\n  case $1 in\n";
  for (const DeclaredCommand& command : program.commands) {
    names += command.name + " ";
    commands += "    " + command.name + ") options=" + quoted(option_words(command.options)) +
                "\n" + "      " + bash_setting(command.operand_values) + " ;;\n";
  }
  commands += "    help) options=--man kind=words choices=$_btftool_commands ;;\n  esac\n}\n";
  std::string takers =
      "\n# The values of an option of a command; fails if the next word is not its value.\n"
      "_btftool_option() {\n  case $1,$2 in\n";
  for (const ValueOptions& row : value_options(program))
    takers +=
        "    " + joined(row.options, " | ") + ")\n      " + bash_setting(row.values) + " ;;\n";
  takers += "    *) return 1 ;;\n  esac\n}\n";
  return kBashHead + ("_btftool_commands=" + quoted(names + "help")) +
         "\n_btftool_common=" + quoted(option_words(program.options)) + "\n\n" + commands + takers +
         kBashBody;
}

namespace {

constexpr const char* kZshHead = R"(#compdef btftool
# Completion of btftool in zsh: made by 'btftool completion zsh'.

# Sets `operands` to the operands of the command, without the word at the cursor.
_btftool_operands() {
  local word taking ended i
  operands=()
  for ((i = 2; i <= $#words; ++i)); do
    word=$words[i]
    if [[ -n $taking ]]; then
      taking=
    elif ((i == CURRENT)); then
      continue
    elif [[ -z $ended && $word == -- ]]; then
      ended=1
    elif [[ -z $ended && $word == -?* ]]; then
      _btftool_takes $words[1] $word && taking=1
    else
      operands+=("${${(Q)word}/#\~\//$HOME/}")
    fi
  done
  return 0
}

# Sets `names` to the names of the tensors in the files in `operands`.
_btftool_names() {
  names=()
  ((!$#operands)) || names=("${(@f)$("${${(Q)program}/#\~\//$HOME/}" completion --tensors -- "${operands[@]}" 2>/dev/null)}")
}

_btftool_tensors() {
  local -a operands names
  _btftool_operands
  _btftool_names
  compset -P '*,'
  compset -P '!'
  compadd -a names
}

_btftool_pairs() {
  local -a operands names
  _btftool_operands
  compset -P '*,'
  if compset -P '?*:'; then
    operands=($operands[2])
    _btftool_names
    compadd -a names
  else
    operands=($operands[1])
    _btftool_names
    compadd -q -S : -a names
  fi
}

_btftool_renames() {
  local -a operands names
  _btftool_operands
  _btftool_names
  compadd -q -S = -a names
}

# Words after commas and "GLOB=".
_btftool_listed() {
  compset -P '*[,=]'
  compadd -- $@
}

_btftool_files() {
  (($#)) && compadd -- $@
  _files
}

)";

constexpr const char* kZshTail = R"(  esac
}

if [[ $funcstack[1] == _btftool ]]; then
  _btftool "$@"
else
  compdef _btftool btftool
fi
)";

std::string zsh_escaped(const std::string& text, std::string_view characters) {
  std::string result;
  for (const char c : text) {
    if (characters.find(c) != characters.npos) result += '\\';
    result += c;
  }
  return result;
}

// Returns the action by which _arguments completes a value.
std::string zsh_action(const Values& values) {
  const std::string words = joined(values.words, " ");
  switch (values.kind) {
    case Values::Kind::text:
      return " ";
    case Values::Kind::words:
      return "(" + words + ")";
    case Values::Kind::listed:
      return " _btftool_listed " + words;
    case Values::Kind::files:
      return words.empty() ? "_files" : " _btftool_files " + words;
    case Values::Kind::tensors:
      return " _btftool_tensors";
    case Values::Kind::pairs:
      return " _btftool_pairs";
    case Values::Kind::renames:
      return " _btftool_renames";
  }
  return {};
}

// "'*--dtype=[element type]:T:(float16 ...)'"
std::string zsh_spec(const std::string& name, const DeclaredOption& option) {
  const std::string help = "[" + zsh_escaped(brief(option.help), "\\[]:") + "]";
  if (!option.takes_value()) return quoted(name + help);
  const std::string value = zsh_escaped(option.type, "\\:") + ":" + zsh_action(option.values);
  if (option.value_optional()) return quoted("*" + name + "=-" + help + "::" + value);
  return quoted("*" + name + (name.starts_with("--") ? "=" : "+") + help + ":" + value);
}

std::string zsh_specs(const std::vector<DeclaredOption>& options, const std::string& indent) {
  std::string text;
  for (const DeclaredOption& option : options)
    for (const std::string& name : option.names) text += indent + zsh_spec(name, option);
  return text;
}

}  // namespace

std::string zsh_completion(const Program& program) {
  std::vector<std::string> takers;
  for (const ValueOptions& row : value_options(program))
    takers.insert(takers.end(), row.options.begin(), row.options.end());
  std::string text = kZshHead +
                     std::string(
                         "# Is the next word a value of the option?\n"
                         "_btftool_takes() {\n  [[ $1,$2 == (") +
                     joined(takers, "|") + ") ]]\n}\n\n";
  text += "_btftool_commands() {\n  local -a commands=(";
  for (const DeclaredCommand& command : program.commands)
    text += "\n    " + quoted(command.name + ":" + zsh_escaped(command.help, ":"));
  text +=
      "\n    'help:options and examples of a command')\n"
      "  _describe -t commands command commands\n}\n\n"
      "_btftool() {\n"
      "  local curcontext=$curcontext context state state_descr line program=$words[1]\n"
      "  local -A opt_args\n  local -a common=(" +
      zsh_specs(program.options, "\n    ") +
      ")\n"
      "  _arguments -s -S -C $common ':command:_btftool_commands' '*::operand:->operands' &&\n"
      "    return 0\n"
      "  [[ $state == operands ]] || return 1\n"
      "  curcontext=${curcontext%:*:*}:btftool-$words[1]:\n"
      "  case $words[1] in\n";
  for (const DeclaredCommand& command : program.commands)
    text += "    " + command.name + ")\n      _arguments -s -S $common" +
            zsh_specs(command.options, " \\\n        ") + " \\\n        " +
            quoted("*:" + zsh_escaped(command.operands, "\\:") + ":" +
                   zsh_action(command.operand_values)) +
            "\n      ;;\n";
  return text + "    help) _arguments '--man[its man page]' ':command:_btftool_commands' ;;\n" +
         kZshTail;
}

namespace {

constexpr const char* kFishHead =
    R"(# Completion of btftool in fish: made by 'btftool completion fish'.

# Prints the command and its operands before the cursor, as fish does not show those after it.
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

# Prints what is typed of a value, without quotes.
function __btftool_typed
    string replace -r -- '^--[^=]*=' '' (string replace -ra -- '[\'"\\\\]' '' (commandline -ct))
end

# Prints the value at the cursor up to its last comma, and the rest.
function __btftool_value
    set -l value (__btftool_typed)
    set -l rest (string replace -r -- '^.*,' '' $value)
    string sub -l (math (string length -- $value) - (string length -- $rest)) -- $value
    echo -- $rest
end

# Prints names of the tensors in files, with a prefix and a suffix: PREFIX SUFFIX FILE...
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

# Words after commas and "GLOB=".
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

// Returns the options of fish's `complete` for a value.
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
      "\n# Succeeds if the next word is the value of the option.\n"
      "function __btftool_takes\n    switch \"$argv[1],$argv[2]\"\n        case";
  for (const ValueOptions& row : value_options(program))
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
  return text + fish_command("help", "print options and examples of a command") +
         "complete -c btftool -n '__btftool_in help' -l man -d 'print its man page'\n"
         "complete -c btftool -n '__btftool_in help' -a " +
         fish_quoted(names) + "\n";
}

namespace {

constexpr Shell kShells[] = {
    {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

void add_value_options(const std::string& command, const std::vector<DeclaredOption>& options,
                       std::vector<ValueOptions>& takers) {
  for (const DeclaredOption& option : options) {
    if (!option.takes_value() || option.value_optional()) continue;
    auto row = std::ranges::find(takers, option.values, &ValueOptions::values);
    if (row == takers.end()) row = takers.insert(row, {option.values, {}});
    for (const std::string& name : option.names) row->options.push_back(command + "," + name);
  }
}

}  // namespace

std::span<const Shell> shells() { return kShells; }

std::vector<ValueOptions> value_options(const Program& program) {
  std::vector<ValueOptions> takers;
  add_value_options("*", program.options, takers);
  for (const DeclaredCommand& command : program.commands)
    add_value_options(command.name, command.options, takers);
  return takers;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(separator)) + word;
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string option_words(const std::vector<DeclaredOption>& options) {
  std::vector<std::string> names;
  for (const DeclaredOption& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return joined(names, " ");
}

std::string brief(const std::string& help) {
  std::string text = help;
  std::ranges::replace(text, '\n', ' ');
  return text.substr(0, std::min(text.find(';'), text.find(". ")));
}

std::string_view kind_name(Values::Kind kind) {
  switch (kind) {
    case Values::Kind::text:
      return "text";
    case Values::Kind::words:
      return "words";
    case Values::Kind::listed:
      return "listed";
    case Values::Kind::files:
      return "files";
    case Values::Kind::tensors:
      return "tensors";
    case Values::Kind::pairs:
      return "pairs";
    case Values::Kind::renames:
      return "renames";
  }
  return {};
}

}  // namespace btftool
