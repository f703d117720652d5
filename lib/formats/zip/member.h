// A member of a zip file: where its bytes are, and whether they are what the directory says.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/zip/directory.h"

namespace btf {

// 'a/b' for messages, cut where it is too long for one.
std::string quoted_member(std::string_view name);

std::unexpected<Error> overlapping(std::string_view name, const ZipMember& member,
                                   const std::string& other);

// Where the packed bytes begin. Refuses what cannot be read: encrypted, packed otherwise than by
// deflate, with sizes that cannot be, with a local header of another member.
Result<std::uint64_t> locate(const ByteSource& source, const ZipDirectory& directory,
                             const ZipMember& member);

// The content of a deflated member from its beginning, for whoever wants no more than a header:
// what is read anew from further in front is no more work, and nothing is compared with the crc.
std::unique_ptr<ByteSource> beginning_of(const ByteSource& source, const ZipMember& member,
                                         std::uint64_t data_offset);

}  // namespace btf
