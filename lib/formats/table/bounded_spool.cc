#include "formats/table/bounded_spool.h"

#include <string>

#include "btf/try.h"

namespace btf {

Result<BoundedSpool> BoundedSpool::create(std::optional<std::uint64_t> expected) {
  return BoundedSpool(Spool::in_memory(), expected, Spool::room());
}

Status BoundedSpool::append(std::span<const std::byte> bytes) {
  if (bytes.size() > room_ - spool_.size())
    return fail(ErrorCode::no_space, "a stream takes more than the " + std::to_string(room_) +
                                         " bytes of temporary space in " + temporary_directory());
  return spool_.append(bytes);
}

Result<std::uint64_t> BoundedSpool::most() {
  if (spool_.size() < most_) return most_;
  BTF_ASSIGN(most_, bound_.most(spool_));
  return most_;
}

Status BoundedSpool::check_room() const {
  if (bound_.beyond_room() == 0) return {};
  return fail(ErrorCode::no_space, "its tensors need " + std::to_string(bound_.beyond_room()) +
                                       " bytes of temporary space, at most " +
                                       std::to_string(room_) + " are available in " +
                                       temporary_directory());
}

}  // namespace btf
