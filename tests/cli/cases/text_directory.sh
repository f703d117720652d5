# A directory of numbers in text: those that a spec names are tensors, and where text is said of all
# files those that begin with a number. None is passed over without a word.
mkdir a b
for d in a b; do printf '1.5 2.25 3\n' >$d/conv1.txt; printf '4 5 6 7 8 9\n' >$d/fc.txt; echo '# How these were made' >$d/README.md; done
for spec in text:fp32 '*.txt=text:fp32' 'conv*=text:fp32'; do
  btftool inspect --input-spec "$spec" a; echo "exit $?"
  btftool diff --actual-spec "$spec" --golden-spec "$spec" a b; echo "exit $?"
done
btftool layers --actual-spec '*.txt=text:fp32' --golden-spec '*.txt=text:fp32' a b | head -2
btftool convert --input-spec text:fp32 a out.npz; btftool inspect out.npz
