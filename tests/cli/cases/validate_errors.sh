# Every fault is named, and the file is not well-formed.
btftool validate "$TESTDATA"/bad/*.btf
