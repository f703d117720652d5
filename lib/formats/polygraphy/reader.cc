#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/decoded/base64.h"
#include "formats/interface/check_tensors.h"
#include "formats/json/json_bytes.h"
#include "formats/json/json_string.h"
#include "formats/npy/array.h"
#include "formats/npy/npy.h"
#include "formats/npy/told.h"
#include "formats/npz/npz.h"
#include "formats/polygraphy/arrays.h"
#include "formats/polygraphy/polygraphy.h"

namespace btf {
namespace {

// An array in its text: a .npy, or an archive of which the first array counts.
struct Content {
  std::unique_ptr<ByteSource> bytes;
  std::unique_ptr<TensorReader> reader;
};

class PolygraphyReader final : public TensorReader {
 public:
  PolygraphyReader(const ByteSource& source, std::vector<PolygraphyArray> arrays,
                   const OpenOptions& options)
      : source_(source), arrays_(std::move(arrays)), told_(options) {}

  Status check_told() const {
    return told_.check(arrays_.size(), [&](std::uint64_t index) -> Status {
      BTF_TRY(open_text(arrays_[index], told_.of_all()));
      return {};
    });
  }

  std::uint64_t tensor_count() const override { return arrays_.size(); }
  bool overlap_is_settled() const override { return true; }
  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    return arrays_[index].name;
  }
  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return arrays_[index].text.offset;
  }

  // Sizes and dtypes are those of the decoded bytes, not of the text.
  Result<TensorInfo> tensor(std::uint64_t index) const override {
    const PolygraphyArray& array = arrays_[index];
    if (!array.foreign.empty()) return foreign(index);
    BTF_ASSIGN(const Content content, open(index));
    BTF_ASSIGN(TensorInfo info, content.reader->tensor(0));
    info.index = index;
    info.record_offset = array.text.offset;
    return info;
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const PolygraphyArray& array = arrays_[index];
    if (!array.foreign.empty()) return fail(ErrorCode::unsupported, why_foreign(array));
    auto known = contents_.find(index);
    if (known == contents_.end()) {
      BTF_ASSIGN(Content content, open(index));
      known = contents_.emplace(index, std::move(content)).first;
    }
    BTF_ASSIGN(const ByteSource* const own, known->second.reader->elements(0));
    return own != nullptr ? own : known->second.bytes.get();
  }

 private:
  Result<Content> open(std::uint64_t index) const {
    const PolygraphyArray& array = arrays_[index];
    const TensorSpec* const named = told_.of(array.name);
    auto content = open_text(array, named != nullptr ? std::optional(*named) : told_.of_all());
    // A spec for all is used where it fits.
    if (!content && named == nullptr && told_.of_all()) content = open_text(array, std::nullopt);
    if (content) return content;
    return std::unexpected(
        content.error().within("array '" + json_shown(arrays_[index].name) + "'"));
  }

  Result<Content> open_text(const PolygraphyArray& array,
                            const std::optional<TensorSpec>& spec) const {
    if (array.escaped)
      return malformed(kPolygraphyFinding, array.text.offset,
                       "its text has escapes and is not base64; Polygraphy wrote arrays so before "
                       "0.30: load and save it again");
    Content content;
    BTF_ASSIGN(content.bytes,
               base64_source(source_, array.text.offset, array.text.length, kPolygraphyFinding));
    const OpenOptions inner{.spec = spec};
    const OpenRequest request{"", inner};
    BTF_ASSIGN(const bool archive, recognizes_npz(*content.bytes, request));
    BTF_ASSIGN(content.reader,
               archive ? open_npz(*content.bytes, request) : open_npy(*content.bytes, request));
    if (content.reader->tensor_count() > 0) return content;
    return malformed(kPolygraphyFinding, array.text.offset, "its archive holds no array");
  }

  static std::string why_foreign(const PolygraphyArray& array) {
    return array.foreign == "Tensor" ? "it is a tensor of torch, which is not read from such a file"
                                     : "it is bytes of a vectorised binding (" + array.foreign +
                                           "), whose layout is not said";
  }

  TensorInfo foreign(std::uint64_t index) const {
    const PolygraphyArray& array = arrays_[index];
    TensorInfo info;
    info.index = index;
    info.foreign_dtype = array.foreign;
    info.foreign_reason = why_foreign(array);
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    info.record_offset = array.text.offset;
    info.data_offset = array.text.offset;
    info.data_bytes = array.text.length;
    return info;
  }

  const ByteSource& source_;
  std::vector<PolygraphyArray> arrays_;
  ToldTypes told_;
  mutable std::map<std::uint64_t, Content> contents_;  // of arrays that are used
};

}  // namespace

Result<bool> recognizes_polygraphy(const ByteSource& source, const OpenRequest&) {
  BTF_ASSIGN(const bool json, begins_as_json(source));
  if (!json) return false;
  // The mark comes last in what Polygraphy writes: behind the first array, or at the very end.
  const auto marked = [](std::string_view text) {
    return text.contains("\"polygraphy_class\"") ||
           text.contains("\"__polygraphy_encoded_ndarray\"");
  };
  constexpr std::uint64_t kStart = 64U << 10;
  std::string text(std::min(kStart, source.size()), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(text))));
  if (marked(text)) return true;
  BTF_TRY(source.read_at(source.size() - text.size(), std::as_writable_bytes(std::span(text))));
  return marked(text);
}

Result<std::unique_ptr<TensorReader>> open_polygraphy(const ByteSource& source,
                                                      const OpenRequest& request) {
  const std::optional<TensorSpec>& spec = request.options.spec;
  if (spec && spec->storage)
    return fail(ErrorCode::invalid_argument,
                "is JSON of Polygraphy and describes itself; a spec may give the dtype "
                "only");
  BTF_ASSIGN(std::vector<PolygraphyArray> arrays, read_polygraphy_arrays(source));
  auto reader = std::make_unique<PolygraphyReader>(source, std::move(arrays), request.options);
  BTF_TRY(reader->check_told());
  return reader;
}

Status check_polygraphy(const TensorFile& file, const FindingSink& report) {
  BTF_TRY(check_tensors(file, "foreign-dtype", report));
  return check_elements(file, report);
}

}  // namespace btf
