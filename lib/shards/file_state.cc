#include "btf/share.h"
#include "btf/try.h"
#include "formats/io/byte_source.h"

namespace btf {

Result<std::optional<FileState>> FileState::of(const std::string& path) {
  if (path.empty()) return std::nullopt;
  BTF_ASSIGN(const std::optional<struct stat> status, status_of_path(path));
  if (!status) return std::nullopt;
  const FileStamp stamp = stamp_of(*status);
  return FileState{stamp.bytes, stamp.changed};
}

}  // namespace btf
