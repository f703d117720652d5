// The content of members, all of it: read from front to back and compared with its crc.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

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

// An error, which names the member, if its content has another crc than the directory says.
Status check_crc(const ZipPlace& place, std::uint32_t crc);

// An error if its size or its crc are not what the directory says, after everything was handed out.
Status read_content(const ZipPlace& place, const TakeBytes& take);

// The content of a deflated member.
Result<Spool> inflated(const ZipPlace& place);

}  // namespace btf
