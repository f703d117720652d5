#include "formats/npz/members.h"

#include <algorithm>
#include <utility>

#include "btf/try.h"

namespace btf {
namespace {

// Zip files of other programs, by a member that each of theirs has.
constexpr std::pair<std::string_view, std::string_view> kOtherArchives[] = {
    {"model.weights.h5", "a Keras model"},
    {"archive_format", "a PyTorch export archive (.pt2)"},
    {"word/document.xml", "a document of Word"},
};

}  // namespace

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
  if (found.arrays.empty())
    for (const auto& [member, what] : kOtherArchives)
      if (std::ranges::any_of(members, [&](const ZipMember& m) {
            return ("/" + std::string(directory.name(m))).ends_with("/" + std::string(member));
          }))
        return fail(ErrorCode::unsupported, "is " + std::string(what) +
                                                ", which btftool does not read; numpy.savez and "
                                                "safetensors write arrays that it does");
  if (found.arrays.empty() && !members.empty())
    return fail(ErrorCode::unsupported, "is a zip file without arrays: none of its " +
                                            std::to_string(members.size()) +
                                            " members is named *.npy, as in NumPy's .npz");
  return found;
}

}  // namespace btf
