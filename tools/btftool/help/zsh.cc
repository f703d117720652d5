#include "help/completion.h"

namespace btftool {
namespace {

constexpr const char* kZshHead = R"(#compdef btftool
# Completion of btftool in zsh: made by 'btftool completion zsh'.

# The operands of the command, besides the word at the cursor, into `operands`.
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

# Names of the tensors in the files that `operands` names, into `names`.
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

# Words behind commas and "GLOB=".
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

// The action by which _arguments completes a value.
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
  for (const Takers& row : takers_of(program))
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

}  // namespace btftool
