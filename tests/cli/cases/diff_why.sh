# The cause that explains a difference, with its evidence; nothing is applied.
golden=$TESTDATA/good/mixed.btf
# The bytes of kHWC in a record that says kLINEAR.
btftool convert --tensor 0 --layout kHWC "$golden" slip.btf
printf '\0' | dd of=slip.btf bs=1 seek=25 conv=notrunc status=none
btftool diff --tensor 0 --show 1 slip.btf "$golden"; echo "exit $?"
btftool diff --tensor 0 --show 0 --no-hints slip.btf "$golden" | grep -c why
btftool diff --tensor 0 --show 0 --json slip.btf "$golden" | grep -o '"hints":[^]]*'
# The bits of float16 in a record that says bfloat16.
btftool -q convert --tensor 0 --dtype fp16 "$golden" misread.btf
btftool -q convert --tensor 0 --dtype fp16 "$golden" half.btf
printf '\201' | dd of=misread.btf bs=1 seek=24 conv=notrunc status=none
btftool diff --show 1 misread.btf half.btf; echo "exit $?"
# One element as its own cause.
btftool diff --tensor 1 --show 0 "$TESTDATA/good/mixed_noisy.btf" "$golden" | grep why
