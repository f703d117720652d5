#include <array>

#include "btf/tensor_spec.h"
#include "core/names.h"
#include "formats/find_format.h"
#include "formats/io/compressed_name.h"
#include "formats/open_source.h"
#include "formats/other_kinds.h"
#include "formats/table/endings.h"
#include "formats/text/text.h"

namespace btf {
namespace {

constexpr std::array<std::string_view, 4> kPacked{".gz", ".bz2", ".xz", ".lz4"};

// "x.npy", and "x.npy.gz" too.
bool named_as_tensors(std::string_view name) {
  for (const std::string_view packed : kPacked)
    if (ends_in(name, packed)) name.remove_suffix(packed.size());
  const auto ending = find_ending(name);
  return (ending && !ending->tensorless) || ends_in(name, ".bin");
}

}  // namespace

bool stands_beside_tensors(const std::string& path, const OpenOptions& options) {
  const std::string_view name = content_name(path);
  if (named_as_tensors(name)) return false;
  const auto ending = find_ending(name);
  const bool tensorless = ending && ending->tensorless;
  const std::optional<std::uint64_t> expected = expected_bytes({path, options});
  const auto source = open_source(path, expected);
  if (!source) return tensorless;
  if (expected == (*source)->size()) return false;
  if (options.spec && options.spec->as_text && begins_with_number(**source)) return false;
  // A file that the set's spec does not fit is opened without it.
  const OpenOptions plain;
  const OpenRequest request{path, plain};
  if (const auto format = recognize_format(**source, request)) {
    // A zip file, whose arrays only its directory tells.
    const auto reader = tensorless ? (*format)->open(**source, request) : nullptr;
    return !reader && reader.error().code == ErrorCode::unsupported;
  }
  if (tensorless) return true;
  const auto stand_in = find_stand_in(**source);
  if (!stand_in || *stand_in) return false;
  const auto kind = find_other_kind(**source, path);
  return kind && *kind && (*kind)->tensorless;
}

}  // namespace btf
