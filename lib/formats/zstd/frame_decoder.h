// One frame of a seekable file, decompressed whole and checked.
#pragma once

#include <zstd.h>

#include <memory>
#include <span>

#include "btf/error.h"
#include "core/buffer.h"
#include "formats/io/byte_source.h"
#include "formats/zstd/seek_table.h"

namespace btf::zstd {

// Not for several threads at once.
class FrameDecoder {
 public:
  FrameDecoder();

  // `out` has place.content bytes. Refuses a frame whose header, content or checksum is another
  // than the table says.
  Status read(const ByteSource& file, const FramePlace& place, std::span<std::byte> out);

  // The same, and the content is for nobody. It may have none.
  Status check(const ByteSource& file, const FramePlace& place);

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  Buffer compressed_;
  Buffer content_;  // that is only checked
};

}  // namespace btf::zstd
