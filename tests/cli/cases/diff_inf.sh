# Inf equals the same Inf only; the error against 0 has no relative measure.
{
  printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0'
  printf '\0\0\200\77\0\0\200\177\0\0\200\177\0\0\200\177\0\0\200\177\0\0\0\0'
} >actual.btf
{
  printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0'
  printf '\0\0\0\0\0\0\200\177\0\0\200\377\0\0\0\100\0\0\200\177\0\0\0\0'
} >golden.btf
btftool inspect --values actual.btf golden.btf
btftool diff actual.btf golden.btf; echo "exit $?"
btftool diff --atol 2 actual.btf golden.btf | sed -n '1p; $p'
