# What a float16 network computed is dumped as float32: its numbers are close as float16, and no wider.
golden=$TESTDATA/good/mixed.btf
btftool -q convert --tensor 0 --dtype fp16 "$golden" half.btf && btftool convert --dtype fp32 half.btf actual.btf
btftool diff --tensor 0 --close --summary actual.btf "$golden"; echo "exit $?"
btftool diff --tensor 0 --close-as fp16 actual.btf "$golden"; echo "exit $?"
btftool diff --tensor 0 --close-as fp16 --json actual.btf "$golden" | grep -o '"tolerance":{[^}]*}'
# Integers are exact whatever is said, and a float is what is asked for.
btftool diff --tensor 2 --close-as fp16 "$golden" "$golden" | tail -n 1
btftool diff --close-as int8 actual.btf "$golden"; echo "exit $?"
btftool diff --close-as fp17 actual.btf "$golden"; echo "exit $?"
