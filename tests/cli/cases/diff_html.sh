# The page without its style and its script: verdict, tables, and the report as JSON. Names are text, whatever is in them.
name=$'<i>&"\x1b\xff\xe2\x80\xae.btf'
cp "$TESTDATA/good/mixed_noisy.btf" "$name"
export SOURCE_DATE_EPOCH=0
btftool diff -q --no-hints --tensor 0-2 --rtol 1e-6 --cosine 0.9 --html page.html "$name" "$TESTDATA/good/mixed.btf"; echo "exit $?"
sed "/^<style>/,/<\/style>/d; /^<script>/,/<\/script>/d; s/sha256-[^']*/sha256-HASH/" page.html
# Nothing is loaded; one script runs.
grep -ciE '<link|@import|url\(|src=|https?:' page.html
grep -o '<script[^>]*>' page.html
# The same bytes for any number of threads.
btftool diff -q -j 3 --no-hints --tensor 0-2 --rtol 1e-6 --cosine 0.9 --html again.html "$name" "$TESTDATA/good/mixed.btf"
cmp page.html again.html
