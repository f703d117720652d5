#include "formats/zip/crc_sink.h"

#include <zlib.h>

#include <string>

namespace btf {

static_assert(sizeof(z_off_t) == 8, "members may have more than 2 GiB");

Status CrcSink::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  const uLong part =
      crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  // What it adds: its own crc, moved up by what stands behind it.
  const std::uint64_t behind = end_ - offset - bytes.size();
  sum_ ^= static_cast<std::uint32_t>(crc32_combine(part, 0, static_cast<z_off_t>(behind)));
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
