// Any bytes as a .npy file. The first byte says which dtype was told for it, the rest is the file.
#include "well_formed.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(fuzz::view(data, size));
  btf::OpenOptions options;
  const std::uint64_t told = input.byte();
  if (told < btf::dtypes().size())
    options.spec = btf::TensorSpec{.dtype = btf::dtypes()[told].dtype, .storage = {}};
  fuzz::check_file(input.rest(), options);
  return 0;
}
