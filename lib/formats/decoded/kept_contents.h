// Contents that are made of other bytes: inflated, decoded, parsed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/io/spool.h"

namespace btf {

// They are made when they are read for the first time. Those read last are kept; others are made
// anew when they are wanted again.
class KeptContents {
 public:
  using Make = std::function<Result<Spool>()>;

  // Contents of this size as a source, made from `from`. This outlives it. Each
  // has a key of its own.
  std::unique_ptr<ByteSource> source(std::uint64_t key, std::uint64_t size, const ByteSource& from,
                                     Make make);

  Result<std::shared_ptr<const Spool>> of(std::uint64_t key, const Make& make);

 private:
  // As many as one operation reads side by side: a tensor, its scales and its zero points.
  static constexpr std::size_t kKept = 4;
  struct Kept {
    std::uint64_t key = 0;
    std::shared_ptr<const Spool> content;
  };

  std::mutex mutex_;
  std::vector<Kept> kept_;  // what was read last is the last
};

// An error if there is no room for the bytes.
Status check_room_for(std::uint64_t bytes);

}  // namespace btf
