// Any bytes as a BTF file: headers, checks, elements. The input is the file.
#include "well_formed.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::check_file(fuzz::view(data, size));
  return 0;
}
