#include <array>
#include <optional>

#include "btf/try.h"
#include "formats/npy/array.h"
#include "formats/npy/npy.h"

namespace btf {
namespace {

class NpyReader final : public TensorReader {
 public:
  NpyReader(TensorInfo info, std::unique_ptr<ByteSource> elements)
      : info_(std::move(info)), elements_(std::move(elements)) {}

  std::uint64_t tensor_count() const override { return 1; }
  Result<TensorInfo> tensor(std::uint64_t) const override { return info_; }
  Result<const ByteSource*> elements(std::uint64_t) const override { return elements_.get(); }

 private:
  TensorInfo info_;
  std::unique_ptr<ByteSource> elements_;  // big-endian ones, and 4-bit ones
};

}  // namespace

Result<bool> recognizes_npy(const ByteSource& source, const OpenRequest&) {
  std::array<char, kNpyMagic.size()> start{};
  if (source.size() < start.size()) return false;
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  return std::string_view(start.data(), start.size()) == kNpyMagic;
}

Result<std::unique_ptr<TensorReader>> open_npy(const ByteSource& source,
                                               const OpenRequest& request) {
  const std::optional<TensorSpec>& spec = request.options.spec;
  if (spec && spec->storage)
    return fail(ErrorCode::invalid_argument,
                "is a .npy file and describes itself; a spec may give the dtype only");
  const NpyPlace place{.begin = 0, .end = source.size()};
  BTF_ASSIGN(const NpyHeader header, read_npy_header(source, place));
  BTF_ASSIGN(const NpyType type, npy_type(header.descr, spec));
  BTF_ASSIGN(TensorInfo tensor, npy_tensor(source, place, header, type));
  auto elements = npy_elements(source, tensor, type);
  return std::make_unique<NpyReader>(std::move(tensor), std::move(elements));
}

// Whatever is wrong with a header keeps the file from being opened; the codes of 4-bit elements are
// checked wherever elements are.
Status check_npy(const TensorFile&, const FindingSink&) { return {}; }

}  // namespace btf
