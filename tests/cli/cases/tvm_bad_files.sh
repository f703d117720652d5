# Each way in which a file of TVM's parameters can be wrong has a sentence of its own, exit code 2, and validate tells it as a finding; all
# within 256 MiB of address space.
try_bad_files "convert --format npy" "$TESTDATA"/tvm-bad/*.params
