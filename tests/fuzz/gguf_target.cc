// Any bytes as a GGUF file, behind its magic number. Blocks that are decoded are the same numbers
// wherever reading begins.
#include <algorithm>
#include <vector>

#include "formats/gguf.h"
#include "well_formed.h"

namespace {

constexpr std::uint64_t kMax = 1U << 16;

void check_blocks(fuzz::BytesView bytes) {
  const auto file = fuzz::open(bytes);
  if (!file || file->format() != "gguf") return;
  fuzz::require(file->attributes().has_value(), "the keys of a sound file cannot be told");
  for (std::uint64_t i = 0; i < std::min(file->tensor_count(), fuzz::kTensors); ++i) {
    const auto numbers = file->dequantized(i);
    // As float32 an empty one may be too large, where its blocks are not.
    fuzz::require(numbers || !numbers.error().finding.empty(), "numbers fail without a finding");
    if (!numbers) continue;
    fuzz::require(numbers->has_value(), "a tensor of GGUF is no numbers");
    if (!(*numbers)->known() || (*numbers)->data_bytes > kMax || (*numbers)->data_bytes == 0)
      continue;
    const auto source = file->elements(i);
    fuzz::require(source.has_value(), "elements have no source");
    const std::uint64_t size = (*numbers)->data_bytes;
    fuzz::Bytes whole(size);
    fuzz::require((*source)->read_at((*numbers)->data_offset, whole).has_value(), "it is not read");
    const std::uint64_t begin = size * 2 / 3 + i % 3;
    fuzz::Bytes part(size - std::min(begin, size));
    fuzz::require((*source)->read_at((*numbers)->data_offset + size - part.size(), part) &&
                      std::equal(part.rbegin(), part.rend(), whole.rbegin()),
                  "a part is another than in the whole");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::BytesView view = fuzz::view(data, size);
  fuzz::Bytes file(btf::kGgufMagic.size() + view.size());
  std::ranges::copy(std::as_bytes(std::span(btf::kGgufMagic)), file.begin());
  std::ranges::copy(view, file.begin() + btf::kGgufMagic.size());
  fuzz::check_file(file, {});
  check_blocks(file);
  return 0;
}
