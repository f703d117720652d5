# JUnit and a page say the same words as the screen and JSON.
needs test -c /dev/full
golden=$TESTDATA/layers/golden.npz
btftool layers --json --junit report.xml --html page.html "$TESTDATA/layers/dead_channel.npz" "$golden" >report.json; echo "exit $?"
words=$(grep -o '"words":"[^"]*"' report.json | cut -d '"' -f 4)
echo "$words"
grep -cF "$(echo "$words" | sed "s/'/\&apos;/g;s/×/x/")" report.xml || grep -cF "$words" report.xml
grep -o '<testsuites.*tests=.*>' report.xml | grep -o 'tests=.*'
grep -c '<testcase' report.xml
grep -o '<failure.*type="[a-z]*"' report.xml
detail=${words#*: }
btftool layers "$TESTDATA/layers/dead_channel.npz" "$golden" | tr -s '\n ' '  ' | grep -cF "$detail"
grep -cF "<p class=words>$detail</p>" page.html
grep -o '<title>.*</title>' page.html
grep -c '<tr' page.html
# Nothing but the page itself is needed to show it.
grep -o 'src=\|href=\|url(' page.html
btftool layers --junit /dev/full "$TESTDATA/layers/healthy.npz" "$golden" >/dev/null; echo "exit $?"
btftool layers --html nowhere/page.html "$TESTDATA/layers/healthy.npz" "$golden" >/dev/null; echo "exit $?"
# A list of the order may leave layers out.
btftool layers --pairs "$TESTDATA/layers/healthy.npz" "$golden" | cut -f 2 | head -n 2 >some
btftool layers --order some "$TESTDATA/layers/healthy.npz" "$golden" | grep "leaves out"; echo "exit $?"
# A run that watching changed fails in JUnit as by its exit code, and so does one that cannot be judged.
btftool layers -q --expect-output "$TESTDATA/layers/dead_channel.npz" --junit report.xml "$TESTDATA/layers/healthy.npz" "$golden"; echo "exit $?"
grep -o '<testsuites.*tests=.*>' report.xml | grep -o 'tests=.*'
