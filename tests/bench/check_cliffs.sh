#!/usr/bin/env bash
# cliffs.sh on little data: does it run, and is what it prints a table? What it measures means nothing then.
#
#   check_cliffs.sh BTFTOOL
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
said=$("$here/cliffs.sh" "$1" --elements 16K --repeat 1 --before "$1" --peers --markdown)
case $said in skipped*) echo "$said" && exit ;; esac

awk -F ' *[|] *' '
  function wrong(what) { print "line " NR ": " what ": " $0; failed = 1; exit 1 }
  /^The 10 worst:/ { worst = 1 }
  /^Of [0-9]+ that a peer does too/ { worst = 2 }
  !/^[|]/ || /^[|] (---|operation) / { next }
  NF != 10 { wrong(NF - 2 " columns") }
  $2 == "" { wrong("no name") }
  # before, CPU, elapsed, ns; goal and what it is over that may be missing
  { for (i = 3; i <= 8; ++i) if ($i !~ /^[0-9]+[.][0-9][0-9]$/ && (i < 7 || $i != "")) wrong("no number") }
  { ++rows[worst + 0] }
  worst == 1 && last != "" && $8 > last { wrong("not in order") }
  worst == 1 { last = $8 + 0 }
  END {
    if (failed) exit 1
    if (rows[0] < 30 || rows[1] != 10) { print rows[0] " rows, and " rows[1] " worst ones"; exit 1 }
    print rows[0] " rows"
  }' <<<"$said"
