# Of many errors the first 20 of every file are told, the others counted.
{
  printf '\31\0\0\0\0\0\0\0'
  for i in {1..25}; do printf '\0\0\1\0\0\0\0\0'; done
} >broken.btf
btftool inspect broken.btf broken.btf 2>errors; echo "exit $?"
sed 's/tensor [0-9]*/tensor N/' errors | uniq -c
