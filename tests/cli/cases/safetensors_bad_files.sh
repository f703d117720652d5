# Each way in which a safetensors file can be wrong has an error of its own, exit code 2, and validate tells it as a finding; all
# within 256 MiB of address space.
try_bad_files "convert --format npy" "$TESTDATA"/safetensors-bad/*.safetensors
