# The page says what the text says: verdict, reasons, layers and tensors; without a graph tensors alone.
export SOURCE_DATE_EPOCH=0
fit=$TESTDATA/fit
btftool fit -q --dtype fp16,bf16 --graph "$fit/model.onnx" "$fit/golden.npz" --html page.html; echo "exit $?"
sed "/^<style>/,/<\/style>/d; /^<script>/,/<\/script>/d; s/sha256-[^']*/sha256-HASH/" page.html
btftool fit -q --dtype fp16,bf16 --graph "$fit/model.onnx" "$fit/golden.npz" --html again.html -j 3; cmp page.html again.html
btftool fit -q --dtype bf16 "$fit/golden.npz" --html page.html; echo "exit $?"
grep -E '^<(title|h1|h2|details|div><dt>graph)' page.html
btftool fit -q --dtype int8 --graph "$fit/model.onnx" "$fit/golden.npz" --html page.html; echo "exit $?"
grep -E '^<(h1|h2|p class=note)|>(up|output|bias)</bdi>' page.html
btftool fit -q "$fit/golden.npz" --html nowhere/page.html; echo "exit $?"
btftool fit -q --graph "$fit/model.onnx" --emit names page.html --html page.html "$fit/golden.npz"; echo "exit $?"
