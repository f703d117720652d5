#include "help/completion.h"

namespace btftool {
namespace {

constexpr const char* kBashHead =
    R"(# Completion of btftool in bash: made by 'btftool completion bash'.

)";

// Behind the tables: _btftool_commands, _btftool_common, _btftool_command(), _btftool_option().
constexpr const char* kBashBody = R"(
# A word of the line as the program would get it, but nothing in it is run.
_btftool_plain() {
  local plain=${1//[\\\'\"]/}
  [[ $plain != '~/'* ]] || plain=$HOME/${plain#'~/'}
  printf -v "$2" %s "$plain"
}

# Adds the words that begin with PART, behind what stands before it: PART PREFIX SUFFIX WORD...
_btftool_add() {
  local part=$1 before=$2 behind=$3 word
  shift 3
  for word; do
    [[ $word == "$part"* ]] || continue
    [[ $quote ]] || printf -v word %q "$word"
    COMPREPLY+=("$before$word$behind")
  done
}

# Names of the tensors in FILE...
_btftool_add_tensors() {
  local part=$1 before=$2 behind=$3 program
  local -a names
  shift 3
  (($#)) || return 0
  _btftool_plain "${COMP_WORDS[0]}" program
  mapfile -t names < <("$program" completion --tensors -- "$@" 2>/dev/null)
  _btftool_add "$part" "$before" "$behind" "${names[@]}"
}

# What can stand for `value`, by `kind` and `choices`.
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
  # bash parts words at = and : too, which the program does not.
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

  # What stands on the line besides the word at the cursor.
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

  # bash replaces what is behind the last = or : only, or behind a quote.
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
      "# The options of a command, and what its operands are.\n"
      "_btftool_command() {\n  kind=text choices= options=\n  case $1 in\n";
  for (const DeclaredCommand& command : program.commands) {
    names += command.name + " ";
    commands += "    " + command.name + ") options=" + quoted(option_words(command.options)) +
                "\n" + "      " + bash_setting(command.operand_values) + " ;;\n";
  }
  commands += "    help) options=--man kind=words choices=$_btftool_commands ;;\n  esac\n}\n";
  std::string takers =
      "\n# What an option of a command takes; fails if its next word is no value.\n"
      "_btftool_option() {\n  case $1,$2 in\n";
  for (const Takers& row : takers_of(program))
    takers +=
        "    " + joined(row.options, " | ") + ")\n      " + bash_setting(row.values) + " ;;\n";
  takers += "    *) return 1 ;;\n  esac\n}\n";
  return kBashHead + ("_btftool_commands=" + quoted(names + "help")) +
         "\n_btftool_common=" + quoted(option_words(program.options)) + "\n\n" + commands + takers +
         kBashBody;
}

}  // namespace btftool
