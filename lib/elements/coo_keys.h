// The keys of a COO record's entries, block by block, from their indices in the file.
#pragma once

#include <cstdint>
#include <vector>

#include "btf/file.h"
#include "core/buffer.h"
#include "elements/coo.h"
#include "formats/io/byte_source.h"

namespace btf {

// Not for several threads at once. `source` outlives it.
class CooKeys {
 public:
  CooKeys(const ByteSource& source, const TensorInfo& record, CooKey key);

  // How many entries a block is read with.
  std::uint64_t block_entries() const { return block_entries_; }

  // Reads the indices of `count` entries from number `position` on.
  Status load(std::uint64_t position, std::uint64_t count);

  // How many of them come before one whose index is out of range, and that one as an error.
  std::uint64_t sound() const { return sound_; }
  std::unexpected<Error> out_of_range() const;

  // How many of the sound ones have a key.
  std::uint64_t count() const { return count_; }
  const std::uint64_t* keys() const { return keys_.data(); }
  // Which of the block they are; nullptr: all of them.
  const std::uint64_t* chosen() const { return place_ != nullptr ? nullptr : chosen_.data(); }

 private:
  void find_places(std::uint64_t count);
  void ask_for_keys(std::uint64_t count);

  const ByteSource& source_;
  CooParts parts_;
  Dims dims_;
  CooKey key_;
  const PlaceKey* place_;  // of key_, if it is one
  std::uint64_t block_entries_;
  std::uint64_t position_ = 0;
  std::uint64_t sound_ = 0;
  std::uint64_t count_ = 0;
  Buffer indices_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> chosen_;
  Dims index_;
};

}  // namespace btf
