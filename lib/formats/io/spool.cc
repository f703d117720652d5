#include "formats/io/spool.h"

#include <fcntl.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "btf/try.h"
#include "core/checked_math.h"

namespace btf {

Result<Spool> Spool::create() {
  Spool spool = in_memory();
  BTF_TRY(spool.move_to_file());
  return spool;
}

Status Spool::move_to_file() {
  const std::string directory = temporary_directory();
  std::string name = directory + "/btf-XXXXXX";
  Descriptor fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.open()) return system_failure("create a temporary file in " + directory);
  ::unlink(name.c_str());
  Spool file(std::move(fd));
  BTF_TRY(file.write_at(0, start_));
  *this = std::move(file);
  return {};
}

std::uint64_t Spool::room() {
  struct statvfs room {};
  if (::statvfs(temporary_directory().c_str(), &room) != 0) return UINT64_MAX;
  const Checked bytes = checked_mul(room.f_bavail, room.f_frsize);
  return bytes ? *bytes - *bytes / 16 : UINT64_MAX;
}

Status Spool::append(std::span<const std::byte> bytes) { return write_at(size_, bytes); }

Status Spool::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  const Checked end = checked_add(offset, bytes.size());
  if (!fd_.open() && end && *end <= kInMemory) {
    start_.resize(std::max<std::uint64_t>(start_.size(), *end));
    std::ranges::copy(bytes, start_.begin() + static_cast<std::ptrdiff_t>(offset));
    size_ = start_.size();
    return {};
  }
  if (!fd_.open()) BTF_TRY(move_to_file());
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_failure("write a temporary file in " + temporary_directory());
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
    if (offset > size_) size_ = offset;
  }
  return {};
}

Status Spool::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (!fd_.open() && fits(offset, out.size(), size_)) {
    std::copy_n(start_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return {};
  }
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return system_failure("read a temporary file in " + temporary_directory());
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace btf
