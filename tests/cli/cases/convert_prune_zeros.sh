# Explicit zeros of COO stay unless they are pruned; -0.0 is none.
btftool convert "$TESTDATA/good/coo_unsorted.btf" kept.btf
btftool inspect kept.btf
btftool convert --prune-zeros kept.btf pruned.btf
btftool inspect pruned.btf
btftool diff pruned.btf kept.btf
