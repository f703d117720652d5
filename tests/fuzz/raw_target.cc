// Raw bytes: a line with what is said of them, then the bytes.
#include <algorithm>

#include "btf/tensor_spec.h"
#include "well_formed.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all = fuzz::text(fuzz::view(data, size));
  const std::size_t end = std::min(all.find('\n'), all.size());
  auto spec = btf::parse_tensor_spec(all.substr(0, end));
  if (!spec) return 0;
  const btf::OpenOptions options{.spec = *std::move(spec)};
  fuzz::check_file(fuzz::view(data, size).subspan(std::min(end + 1, size)), options);
  return 0;
}
