// PyTorch's conventions for the members of its zip files.
#pragma once

#include "formats/zip/directory.h"
#include "formats/zip/wire.h"

namespace btf {

// torch.serialization.set_crc32_options(False) leaves zeros where the crcs would be: there is
// nothing to compare with, and the file is sound. PyTorch stores its members: who deflated one
// wrote its crc too.
inline bool has_crc(const ZipMember& member) {
  return member.crc != 0 || member.size == 0 || member.method == zip::kDeflated;
}

}  // namespace btf
