# Gates on the whole tensor, just met and just missed; which one failed, and what was found.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
compare() {
  btftool diff --tensor 0 --show 0 --no-hints "$@" "$noisy" "$golden" >report
  echo "[$*] exit $?"
  grep -e '^tensor' -e failed -e '^same' -e '^diff' report
}
compare --max-mismatch 3
compare --max-mismatch 2
compare --max-mismatch 1.5625%
compare --max-mismatch 1.5624%
compare --rtol 9.9e-4 --max-mismatch 0
compare --cosine 0.99999
compare --cosine 0.9999999999
compare --psnr 82
compare --psnr 83
compare --snr 78
compare --snr 79
compare --rmse 6.84e-5
compare --rmse 6.83e-5
compare --max-abs 6.251e-4
compare --max-abs 6.25e-4
compare --quantile 0.5=0,0.99=3.8e-4
compare --quantile 0.5=0 --quantile 0.99=1e-5
compare --top-k 1
compare --top-k 8
# All must hold; each that does not is named.
compare --rtol 1e-4 --cosine 0.9999999999 --max-abs 1 --rmse 1e-5
# Gates alone judge no pair of numbers, but NaN must agree.
btftool diff --tensor 1 --show 1 --cosine 0.9 --no-hints "$noisy" "$golden"; echo "exit $?"
