# Every member with a value: criteria, quantiles, top-k, heat map, histogram.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
btftool diff --json --tensor 0 --show 1 --ulp 5 --quantile 0.5=0,1=1e-3 --top-k 2 --heatmap 1 --no-hints "$noisy" "$golden"
btftool diff --json --tensor 0 --show 0 --close --rtol 0=1 --max-mismatch 1% --no-hints "$noisy" "$golden"
btftool diff --json --tensor 2 --cosine 0.5 --no-equal-nan "$golden" "$golden" -q
