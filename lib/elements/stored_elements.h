// The elements of a dense tensor by their number in the stored array, whole, whatever the layout
// did to their bytes.
#pragma once

#include <cstdint>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/file.h"
#include "core/buffer.h"
#include "formats/io/byte_source.h"

namespace btf {

// For types of 8 bits and more. Not for several threads at once. The source outlives it.
class StoredElements {
 public:
  // As they stand from byte `offset` on.
  StoredElements(const ByteSource& source, std::uint64_t offset, DType dtype);
  // Those of a dense record.
  StoredElements(const ByteSource& source, const TensorInfo& record);

  Status read(std::uint64_t first, std::uint64_t count, std::byte* out);

  // Where they are in memory as they are; nullptr: they have to be read.
  const std::byte* held(std::uint64_t first, std::uint64_t count) const;

  // The byte of the source where an element stands; of a shuffled one its lowest byte does.
  std::uint64_t place(std::uint64_t element) const;

 private:
  // The block that an element is in: its first element, and the number of elements.
  struct Block {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  Block block_of(std::uint64_t element) const;
  Status read_shuffled(const Block& block, std::uint64_t first, std::uint64_t count,
                       std::byte* out);

  const ByteSource& source_;
  std::uint64_t offset_;
  std::uint64_t width_;
  std::uint64_t block_ = 0;     // elements; 0: not shuffled
  std::uint64_t elements_ = 0;  // in all; shuffled ones
  Buffer planes_;
};

}  // namespace btf
