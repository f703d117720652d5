# What the criteria and the selection do not take: exit 2, and what was expected.
file=$TESTDATA/good/mixed.btf
try() { btftool diff "$@" "$file" "$file"; echo "[$*] exit $?"; }
for option in --rtol --atol; do
  for value in 1,2 1e-3,0=x 0=-1 0=inf a=1 =1 0= 0=1=2 1, 0=1,0=1 0=1,-4=2 4=1 -5=1; do try "$option" "$value"; done
done
for value in -1 1.5 1e3 0x1 0=x 0=-1 18446744073709551616 4=1; do try --ulp "$value"; done
for words in "--rtol 1 --rtol 2" "--rtol 0=1 --rel-tol 1=2" "--cosine 0 --cosine 0" "--show 1 --show 2" "--heatmap --heatmap" \
  "--tensor 0 --tensor 0" "--junit a --junit b" "--pair 0:0 --pair 1:1"; do try $words; done
try --tensor 0,1 --rtol 2=1
for value in -1 1.5 101% -1% nan% % inf; do try --max-mismatch "$value"; done
for value in 1.1 -2 nan x; do try --cosine "$value"; done
for option in --psnr --snr; do for value in nan inf x; do try "$option" "$value"; done; done
for option in --rmse --max-abs; do for value in -1e-9 nan inf x; do try "$option" "$value"; done; done
for value in 0.99 0.99= =1 1.1=1 -0.1=1 0.5=-1 0.5=nan 0.5=1,0.5=2; do try --quantile "$value"; done
try --quantile 0.5=1 --quantile 0.5=2
for value in 0 -1 x; do try --top-k "$value"; done
for value in 0 0: :0 a:b 0:1:2 0-1 0:4 -5:0; do try --pair "$value"; done
try --pair 0:0 --tensor 0
for value in '' , 0,0 0,1,2 x 256; do try "--heatmap=$value"; done
try --show 1000001
try --summary --json
try --summary --all
try --summary --show 1
try --summary --heatmap
try --include '*'
try --exclude '*'
