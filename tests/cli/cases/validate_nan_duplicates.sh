# A sparse float16 [4] whose index 1 is there twice: the NaN and the Inf in it are found all the same.
{
  printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\200\2\0\0\0\0\0\0\4\0\0\0\0\0\0\0'
  printf '\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0'
  printf '\3\0\0\0\0\0\0\0\0\176\0\74\0\174\0\0'
} >twice.btf
btftool validate --nan twice.btf
