# The bytes of every report: tests/unit/report/report_test.cc gets the same from the library, and reads them here.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
report() { # NAME OPTION...
  echo "[$1]"
  shift
  btftool "$@"
}
report text diff --rtol 1e-6 --mae 1e-9 "$noisy" "$golden"
report summary diff --summary --rtol 1e-6 --mae 1e-9 "$noisy" "$golden"
report json diff --json --rtol 1e-6 --mae 1e-9 "$noisy" "$golden"
report junit diff -q --junit report.xml --rtol 1e-6 --mae 1e-9 "$noisy" "$golden"
cat report.xml
report html diff -q --html page.html --rtol 1e-6 --mae 1e-9 "$noisy" "$golden"
page() { sed '/^<p class=tool>/d; /^<style>/,/<\/style>/d; /^<script>/,/<\/script>/d; /Security-Policy/d' page.html; }
page  # without the version and a date, and without the viewer
report layers-json layers --json "$TESTDATA/layers/dead_channel.npz" "$TESTDATA/layers/golden.npz" | tee report.json
sed -i 1d report.json
report layers-text layers --from-json report.json
report layers-junit layers -q --from-json report.json --junit report.xml
cat report.xml
report layers-html layers -q --from-json report.json --html page.html
page
