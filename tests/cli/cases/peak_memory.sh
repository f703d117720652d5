# 64 MiB at most, whatever the size of the file, the threads and the work. Prints what takes more.
header() { printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0'; }
# float32 [128, 64, 128, 64], 256 MiB of zeros that take no space
{ header; printf '\200\0\0\0\0\0\0\0\100\0\0\0\0\0\0\0\200\0\0\0\0\0\0\0\100\0\0\0\0\0\0\0'; } >zeros.btf
truncate -s $((64 + (256 << 20))) zeros.btf
# 2 Mi random bytes as int8 [2, 1024, 1024]
head -c 2097152 /dev/urandom >bytes.raw

needs time -f %M true
within() {
  local most=$1
  shift
  command time -o peak -f %M "$@" >/dev/null
  [ "$(tail -n 1 peak)" -le $((most << 10)) ] || echo "$*: $(tail -n 1 peak) KiB, more than $most MiB"
}
for jobs in 1 16; do
  within 64 btftool -q -j $jobs convert --layout kHWC8 --dtype fp16 zeros.btf out.btf
  within 64 btftool -q -j $jobs convert --layout kCHW32 --dtype int8 zeros.btf out.btf
  within 64 btftool -q -j $jobs convert --permute 3,2,1,0 zeros.btf out.btf
  within 64 btftool -q -j $jobs convert --permute 0,2,3,1 --reshape -1,32 --slice ::-1 zeros.btf out.btf
  within 64 btftool -q -j $jobs convert --layout kHWC zeros.btf hwc.btf
  within 64 btftool -q -j $jobs diff zeros.btf hwc.btf
done
within 64 btftool -q convert --layout coo zeros.btf out.btf
within 64 btftool -q inspect --stats hwc.btf
within 64 btftool -q validate hwc.btf

btftool -q convert --input-spec int8:linear:2x1024x1024 --layout coo bytes.raw entries.btf
for memory in 16M 256M; do
  most=64
  [ $memory = 16M ] && most=24
  within $most btftool -q --max-memory $memory convert --permute 2,1,0 entries.btf $memory.btf
  within $most btftool -q --max-memory $memory convert --permute 2,1,0 --layout kLINEAR entries.btf dense_$memory.btf
  within $most btftool -q --max-memory $memory diff $memory.btf dense_$memory.btf
done
cmp 16M.btf 256M.btf
cmp dense_16M.btf dense_256M.btf
btftool diff 256M.btf dense_256M.btf
