// Any bytes as a file of TVM's parameters: the two magic numbers stand where they should.
#include <algorithm>
#include <vector>

#include "core/numbers.h"
#include "formats/tvm.h"
#include "well_formed.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::BytesView view = fuzz::view(data, size);
  std::vector<std::byte> file(8 + view.size());
  btf::store_little(file.data(), btf::kTvmMagic);
  std::ranges::copy(view, file.begin() + 8);
  fuzz::check_file(file, {});
  return 0;
}
