#include "formats/zstd/zstd_errors.h"

#include <zstd_errors.h>

#include <new>

#include "core/finding_table.h"

namespace btf::zstd {

std::unexpected<Error> wrong_frame(std::uint64_t index, std::uint64_t offset, std::string what) {
  return malformed("zstd-frame", offset,
                   "zstd frame " + std::to_string(index) + " at byte " + std::to_string(offset) +
                       ": " + std::move(what));
}

std::unexpected<Error> wrong_table(std::uint64_t offset, std::string what) {
  return malformed("seek-table", offset, "seek table: " + std::move(what));
}

std::unexpected<Error> frame_error(std::size_t code, std::uint64_t index, std::uint64_t offset,
                                   const FrameWalk& walk) {
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc();
    case ZSTD_error_checksum_wrong:
      return wrong_frame(index, offset, "its content does not match its checksum");
    case ZSTD_error_dictionary_wrong: {
      auto error = wrong_frame(index, offset, "it needs a dictionary, which is not supported");
      error.error().code = ErrorCode::unsupported;
      return error;
    }
    case ZSTD_error_prefix_unknown:
    case ZSTD_error_version_unsupported:
      return wrong_frame(index, offset, "no frame begins here");
    case ZSTD_error_frameParameter_windowTooLarge: {
      auto error = wrong_frame(index, offset, "it needs a window of more than 128 MiB of memory");
      error.error().code = ErrorCode::unsupported;
      return error;
    }
    case ZSTD_error_frameParameter_unsupported:
      return wrong_frame(index, offset, "a reserved bit of its header is set");
    case ZSTD_error_srcSize_wrong:
      return wrong_frame(index, offset, "it ends too early");
    case ZSTD_error_dstSize_tooSmall:
      return wrong_frame(index, offset, "it holds more than it says");
    default:
      if (std::string fault = walk.fault(); !fault.empty())
        return wrong_frame(index, offset, std::move(fault));
      return wrong_frame(index, offset,
                         std::string("it is damaged (") + ZSTD_getErrorName(code) + ")");
  }
}

}  // namespace btf::zstd
