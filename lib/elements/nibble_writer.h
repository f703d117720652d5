// How 4-bit elements get out of memory, two to a byte and by several workers. Slabs begin and end
// wherever the dims let them, in the middle of a byte too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "btf/layout.h"
#include "elements/slab_io.h"
#include "formats/io/byte_sink.h"

namespace btf {

// The bytes of a tensor whose two codes come from two slabs: who brings the second one writes the
// byte, so that every byte is written once and by one worker.
class NibbleSeams {
 public:
  // The whole byte if its other code is here already. Each code comes once, the other one being 0.
  std::optional<std::byte> join(std::uint64_t byte, std::byte code);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::byte> waiting_;  // about two for each worker
};

// All writers of a tensor share `seams`, which outlive them. Boxes must be contiguous in the
// layout; where they come in order, what is written is in order too.
std::unique_ptr<SlabWriter> nibble_file_writer(ByteSink& sink, std::uint64_t data_offset,
                                               const StridedLayout& storage, NibbleSeams& seams);

// `stream`: the target is larger than the caches.
std::unique_ptr<SlabWriter> nibble_memory_writer(std::byte* data, const StridedLayout& storage,
                                                 bool stream, NibbleSeams& seams);

}  // namespace btf
