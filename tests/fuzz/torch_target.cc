// Any bytes as a pickle of a PyTorch file, and as such a file. The first byte says which.
#include <algorithm>
#include <iterator>

#include "formats/io/byte_source.h"
#include "formats/pickle.h"
#include "formats/torch_tensors.h"
#include "formats/torch_walk.h"
#include "well_formed.h"

namespace {

// As PyTorch writes it when it is told to leave crcs out: else all that is changed would be refused
// before it is looked at.
fuzz::Bytes without_crcs(fuzz::BytesView file) {
  constexpr std::byte kEntry[] = {std::byte{'P'}, std::byte{'K'}, std::byte{1}, std::byte{2}};
  fuzz::Bytes changed(file.begin(), file.end());
  for (auto at = changed.begin();;) {
    at = std::search(at, changed.end(), std::begin(kEntry), std::end(kEntry));
    if (changed.end() - at < 20) return changed;
    std::fill_n(at + 16, 4, std::byte{});
    at += 4;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(fuzz::view(data, size));
  if (input.flag()) {
    fuzz::check_file(without_crcs(input.rest()), {});
    return 0;
  }
  const btf::MemorySource source(input.rest());
  const auto pickle = btf::Pickle::read(source);
  if (!pickle) {
    fuzz::require(!pickle.error().finding.empty(), "a pickle is refused without a finding");
    return 0;
  }
  fuzz::require(pickle->node_count() <= source.size(), "more values than opcodes");
  const auto tensors = btf::find_torch_tensors(*pickle);
  if (!tensors) return 0;
  for (const btf::NamedNode& named : *tensors) {
    const auto tensor = btf::read_torch_tensor(*pickle, named.node);
    if (!tensor) continue;
    if (tensor->held)
      fuzz::require(tensor->held->size() == tensor->storage_bytes, "bytes that are not counted");
    fuzz::require(tensor->dims.size() == tensor->strides.size() || !tensor->foreign.empty(),
                  "sizes without strides");
  }
  fuzz::require(btf::storages_of(*pickle, *tensors).size() <= pickle->node_count(),
                "more storages than values");
  return 0;
}
