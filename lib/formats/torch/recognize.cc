#include <algorithm>
#include <span>
#include <string>

#include "btf/try.h"
#include "formats/io/compressed_name.h"
#include "formats/torch/torch.h"
#include "formats/zip/directory.h"

namespace btf {
namespace {

// Its parts are files of torch.save one behind the other, of which only the last would be seen.
Status refuse_distributed(const ByteSource& source, std::string_view path) {
  const std::string_view name = content_name(path);
  std::string what = "a part of a checkpoint of torch.distributed";
  if (!name.ends_with(".distcp")) {
    if (!name.ends_with(".metadata")) return {};
    std::string start(std::min<std::uint64_t>({64, source.size(), source.read_ahead_end(0)}), '\0');
    BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
    if (!start.contains("torch.distributed")) return {};
    what = "the metadata of a checkpoint of torch.distributed";
  }
  return fail(ErrorCode::unsupported,
              "is " + what +
                  ", which btftool does not read; python -m "
                  "torch.distributed.checkpoint.format_utils dcp_to_torch DIRECTORY model.pt makes "
                  "a file that it does");
}

}  // namespace

Result<bool> recognizes_torch(const ByteSource& source, const OpenRequest& request) {
  BTF_TRY(refuse_distributed(source, request.path));
  BTF_ASSIGN(const bool zip, ZipDirectory::recognizes(source));
  if (!zip) return false;
  const auto directory = ZipDirectory::read(source);
  // Errors in other zip files are reported by their readers.
  if (!directory) return false;
  return std::ranges::any_of(directory->members(), [&](const ZipMember& member) {
    return directory->name(member).ends_with(kTorchPickleMember);
  });
}

}  // namespace btf
