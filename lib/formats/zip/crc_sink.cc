#include "formats/zip/crc_sink.h"

#include <string>

#include "formats/zip/crc.h"

namespace btf {

Status CrcSink::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  // Its share of the crc: its own crc, shifted by the bytes after it.
  const std::uint64_t behind = end_ - offset - bytes.size();
  sum_ ^= CrcJoin()(crc_of(bytes), 0, behind);
  missing_ -= bytes.size();
  return sink_.write_at(offset, bytes);
}

Result<std::uint32_t> CrcSink::crc() const {
  if (missing_ == 0) return sum_.load();
  return fail(ErrorCode::io, "a member of the zip file was not written as a whole: " +
                                 std::to_string(static_cast<std::int64_t>(missing_)) +
                                 " bytes are missing");
}

}  // namespace btf
