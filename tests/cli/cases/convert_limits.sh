# Gates on what a tensor may lose: exit 2, a sentence, and the output as it was.
in=$TESTDATA/good/mixed.btf
echo old > out.btf
try() { btftool -q convert --tensor 1 "$@" "$in" out.btf; echo "exit $?: $(head -c 3 out.btf | tr '\0\2' '_2')"; }
try --dtype int8 --max-zero 1%
try --dtype int8 --max-zero 5
try --dtype int8 --scale auto --min-snr 60dB
try --dtype int8 --scale 0.001 --max-overflow 0
try --dtype int8 --scale auto --max-zero 1% --max-overflow 0 --min-snr 40dB
btftool convert --json --tensor 1 --dtype int8 --scale auto --min-snr 40 "$in" out.btf 2>/dev/null | grep -o '"loss":.*'
btftool convert --json --tensor 1 --dtype int8 --scale auto "$in" out.btf 2>/dev/null | grep -o '"snr":[^,}]*'
for bad in '--max-zero -1' '--max-zero 101%' '--max-zero 1.5' '--max-overflow x%' '--min-snr x' '--min-snr inf'; do
  btftool convert $bad "$in" out.btf 2>&1 | head -1
done
