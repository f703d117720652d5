// The content of members, all of it: read once from front to back and compared with its crc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/io/spool.h"
#include "formats/zip/directory.h"

namespace btf {

// A member of a file and where its packed bytes begin (locate()).
struct ZipPlace {
  const ByteSource& source;
  const ZipDirectory& directory;
  const ZipMember& member;
  std::uint64_t data_offset = 0;
};

using TakeBytes = std::function<Status(std::span<const std::byte>)>;

// An error if its size or its crc are not what the directory says, after everything was handed out.
Status read_content(const ZipPlace& place, const TakeBytes& take);

// Contents of deflated members, inflated into spools when they are read for the first time. Those
// read last are kept; others are inflated anew when they are wanted again.
class InflatedContents {
 public:
  // The contents as a source. This outlives it.
  std::unique_ptr<ByteSource> source(const ZipPlace& place);

  Result<std::shared_ptr<const Spool>> of(const ZipPlace& place);

 private:
  // As many as one operation reads side by side: a tensor, its scales and its zero points.
  static constexpr std::size_t kKept = 4;
  struct Kept {
    const ZipMember* member = nullptr;
    std::shared_ptr<const Spool> content;
  };

  std::mutex mutex_;
  std::vector<Kept> kept_;  // what was read last is the last
};

}  // namespace btf
