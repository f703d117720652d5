#include <map>
#include <optional>
#include <utility>

#include "btf/try.h"
#include "formats/decoded/kept_contents.h"
#include "formats/npy/array.h"
#include "formats/npy/told.h"
#include "formats/npz/members.h"
#include "formats/npz/npz.h"
#include "formats/zip/checked_member.h"
#include "formats/zip/content.h"
#include "formats/zip/member.h"
#include "formats/zip/wire.h"

namespace btf {
namespace {

// A type that is no number here may have a long name, which nobody needs whole.
constexpr std::size_t kLongestType = 60;

struct Array {
  TensorInfo tensor;
  std::optional<NpyType> type;  // nothing: none of this library's
};

class NpzReader final : public TensorReader {
 public:
  NpzReader(const ByteSource& source, NpzMembers members, const OpenOptions& options)
      : source_(source), members_(std::move(members)), told_(options) {}

  Status check_told() const {
    return told_.check(tensor_count(), [&](std::uint64_t index) -> Status {
      BTF_ASSIGN(const NpyHeader header, this->header(index));
      return told_.fits(header);
    });
  }

  std::uint64_t tensor_count() const override { return members_.arrays.size(); }
  bool overlap_is_settled() const override { return true; }
  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    return members_.name(index);
  }

  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return members_.array(index).header_offset;
  }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    BTF_ASSIGN(Array array, read(index));
    return std::move(array.tensor);
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const auto known = sources_.find(index);
    if (known != sources_.end()) return known->second.elements();
    BTF_ASSIGN(const Array array, read(index));
    if (!array.type) return fail(ErrorCode::unsupported, array.tensor.unknown_dtype_text());
    const ZipMember& member = members_.array(index);
    BTF_ASSIGN(const std::uint64_t data, locate(source_, members_.directory, member));
    const ZipPlace place{source_, members_.directory, member, data};
    Sources sources;
    if (member.method == zip::kDeflated) {
      // Nobody reads what has no elements.
      if (array.tensor.data_bytes == 0) BTF_TRY(read_content(place, {}));
      sources.content =
          contents_.source(index, member.size, source_, [place] { return inflated(place); });
    } else {
      auto content = std::make_unique<CheckedMember>(place);
      BTF_TRY(content->read_up_to(array.tensor.data_offset));
      sources.content = std::move(content);
    }
    sources.arranged = npy_elements(*sources.content, array.tensor, *array.type);
    return sources_.emplace(index, std::move(sources)).first->second.elements();
  }

 private:
  // The source of the elements of a tensor in use.
  struct Sources {
    std::unique_ptr<ByteSource> content;   // as it is, or inflated
    std::unique_ptr<ByteSource> arranged;  // turned round, or with two codes in a byte

    const ByteSource* elements() const { return arranged ? arranged.get() : content.get(); }
  };

  // Where an array is that is read for its header only.
  struct Beginning {
    std::unique_ptr<ByteSource> inflated;
    NpyPlace place;
    std::uint64_t packed_end = 0;
  };

  Result<Beginning> beginning(std::uint64_t index) const {
    const ZipMember& member = members_.array(index);
    BTF_ASSIGN(const std::uint64_t data, locate(source_, members_.directory, member));
    const bool deflated = member.method == zip::kDeflated;
    Beginning found;
    if (deflated) found.inflated = beginning_of(source_, member, data);
    const std::uint64_t begin = deflated ? 0 : data;
    found.place = {begin, begin + member.size, "member"};
    found.packed_end = deflated ? data + member.packed : 0;
    return found;
  }

  const ByteSource& content_of(const Beginning& found) const {
    return found.inflated ? *found.inflated : source_;
  }

  Result<NpyHeader> header(std::uint64_t index) const {
    BTF_ASSIGN(const Beginning found, beginning(index));
    return read_npy_header(content_of(found), found.place);
  }

  Result<Array> read(std::uint64_t index) const {
    const ZipMember& member = members_.array(index);
    BTF_ASSIGN(const Beginning found, beginning(index));
    auto array = read_array(index, content_of(found), found.place);
    if (!array)
      return std::unexpected(
          array.error().within("member " + quoted_member(members_.directory.name(member))));
    array->tensor.index = index;
    array->tensor.record_offset = member.header_offset;
    array->tensor.packed_end = found.packed_end;
    return array;
  }

  Result<Array> read_array(std::uint64_t index, const ByteSource& content,
                           const NpyPlace& place) const {
    BTF_ASSIGN(const NpyHeader header, read_npy_header(content, place));
    const auto type = told_.type_of(members_.name(index), header);
    if (!type && type.error().code == ErrorCode::invalid_argument)
      return std::unexpected(type.error());
    if (!type) return foreign(header, place, type.error().message);
    BTF_ASSIGN(TensorInfo tensor, npy_tensor(content, place, header, *type));
    return Array{std::move(tensor), *type};
  }

  static Array foreign(const NpyHeader& header, const NpyPlace& place, std::string why) {
    TensorInfo tensor;
    tensor.foreign_dtype = header.descr.size() > kLongestType
                               ? header.descr.substr(0, kLongestType) + "..."
                               : header.descr;
    tensor.foreign_reason = std::move(why);
    tensor.layout = Layout::linear;
    tensor.layout_code = spec(Layout::linear).code();
    tensor.dims = header.shape;
    tensor.data_offset = header.data_offset;
    tensor.data_bytes = place.end - header.data_offset;
    return {std::move(tensor), std::nullopt};
  }

  const ByteSource& source_;
  NpzMembers members_;
  ToldTypes told_;
  mutable KeptContents contents_;
  mutable std::map<std::uint64_t, Sources> sources_;
};

}  // namespace

Result<bool> recognizes_npz(const ByteSource& source, const OpenRequest&) {
  return ZipDirectory::recognizes(source);
}

Result<std::unique_ptr<TensorReader>> open_npz(const ByteSource& source,
                                               const OpenRequest& request) {
  BTF_ASSIGN(NpzMembers members, read_npz_members(source));
  auto reader = std::make_unique<NpzReader>(source, std::move(members), request.options);
  BTF_TRY(reader->check_told());
  return reader;
}

}  // namespace btf
