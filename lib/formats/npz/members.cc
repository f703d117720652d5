#include "formats/npz/members.h"

#include <utility>

#include "btf/try.h"

namespace btf {

std::string NpzMembers::name(std::uint64_t index) const {
  std::string_view name = directory.name(array(index));
  name.remove_suffix(kNpyEnding.size());
  return std::string(name);
}

Result<NpzMembers> read_npz_members(const ByteSource& source) {
  NpzMembers found;
  BTF_ASSIGN(found.directory, ZipDirectory::read(source));
  const ZipDirectory& directory = found.directory;
  const std::vector<ZipMember>& members = directory.members();
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    const bool array = directory.name(members[i]).ends_with(kNpyEnding);
    (array ? found.arrays : found.skipped).push_back(i);
  }
  if (found.arrays.empty() && !members.empty())
    return fail(ErrorCode::unsupported, "is a zip file without arrays: the name of none of its " +
                                            std::to_string(members.size()) +
                                            " members ends in .npy, as those of NumPy's .npz do");
  return found;
}

}  // namespace btf
