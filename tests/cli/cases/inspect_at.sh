# One element: its value, its bits and where it lies. Negative numbers count from the end.
at() { btftool inspect --tensor "$2" --at "$3" "$TESTDATA/good/$1" | sed 1,2d; }
at mixed.btf 0 0,2,7,7
at mixed.btf 0 0,-1,-1,-1
at layouts_f16.btf 2 0,2,4,6
at layouts_f16.btf 10 0,1,2,3
at dtypes.btf 15 2,2,3
at dtypes.btf 15 2,2,4
at coo_code2.btf 5 1,6
at coo_code2.btf 5 0,3
at scalars.btf 0 ''
