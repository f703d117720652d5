# Help for a terminal's width: no line is longer, unless it is one word or an example, and no word is broken.
show() { # columns, words
  local columns=$1
  shift
  COLUMNS=$columns btftool "$@" >help.txt
  cat help.txt
  awk -v columns="$columns" 'length > columns && NF > 1 && !/^  btftool/ { print "too long: " $0 }' help.txt
  tr -s ' \n' '\n\n' <help.txt >"words.$columns"
}
for columns in 60 80 120; do show $columns --help; done
for columns in 60 80 120; do show $columns diff --help; done
cmp words.60 words.80 && cmp words.80 words.120 && echo "the same words"
for columns in 60 120; do show $columns layers --help-all; done
for command in inspect convert validate layers merge repair types explain completion; do show 80 $command --help; done
