# A directory is a set of named tensors, for every command; files become one file and come apart again.
mkdir -p d/sub
cp "$TESTDATA/good/mixed.btf" d/
cp "$TESTDATA/good/scalars.btf" d/sub/s.btf
for name in fc10 fc2; do cp "$TESTDATA/npy/int16.f.big.v1.npy" d/sub/$name.npy; done
btftool inspect d
btftool inspect --tensor 'sub/fc*,mixed#1,-1' d
btftool inspect --json --tensor '!mixed*,!sub/s*' d | grep -o '"name":"[^"]*"'
btftool inspect --tensor sub/fc3 d; echo "exit $?"
btftool validate d
echo "== one file"
btftool convert d all.btf; echo "exit $?"
btftool inspect all.btf
btftool convert --exclude 'sub/*' --tensor 0-5 d some.btf; btftool inspect some.btf | head -n 1
btftool convert some.btf d/sub/fc2.npy some.btf; btftool inspect some.btf | tail -n 1
btftool convert --tensor '!fc2' some.btf some.btf
btftool diff some.btf d/mixed.btf
btftool convert - d/sub/fc2.npy two.btf <d/sub/fc10.npy; btftool inspect two.btf | tail -n 1
btftool convert --dtype int8 d/mixed.btf d/sub/fc2.npy x.btf; echo "exit $?"
echo "== many files"
btftool convert --format npy --exclude 'mixed#3' d arrays/; echo "exit $?"
(cd arrays && find . -type f | sort)
btftool convert --dtype fp16 -q d half/; (cd half && find . -type f | sort)
btftool convert --format raw --tensor 'sub/fc2,sub/fc10' d raw/; ls raw/sub
btftool convert --format npy --compress --tensor 0 d packed/; ls packed
btftool convert --format npy --rename 'sub/fc2=../../up' --rename 'sub/fc10=.hidden' --tensor 'sub/fc*' d named/; ls -A named
printf 'sub/fc2=same\nsub/fc10=same\n' >names
btftool convert --format npy --rename-file names --tensor 'sub/fc*' d named2/; echo "exit $?"
btftool convert --rename a=b d/mixed.btf out.btf; echo "exit $?"
btftool convert --format npy --rename a=b d/mixed.btf named2/; echo "exit $?"
btftool convert d d; echo "exit $?"
btftool convert --format btf arrays arrays; ls arrays
btftool convert --lossless --dtype fp16 d lossless/; echo "exit $?"
btftool convert --compress d small/; (cd small && find . -type f | sort); btftool diff d small | tail -n 1
mkdir empty
for command in "inspect empty" "validate empty" "convert empty e.btf"; do btftool $command; echo "exit $?"; done
