// Reads and writes NumPy's .npz.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/decoded_cache.h"
#include "formats/io/byte_source.h"
#include "formats/npy.h"
#include "formats/npy_writer.h"
#include "formats/readers.h"
#include "formats/zip.h"
#include "formats/zip_writer.h"

namespace btf {
namespace {

constexpr std::string_view kNpyEnding = ".npy";

struct NpzMembers {
  ZipDirectory directory;
  std::vector<std::uint32_t> arrays;   // numbers in the directory
  std::vector<std::uint32_t> skipped;  // the other members

  const ZipMember& array(std::uint64_t index) const { return directory.members()[arrays[index]]; }
  // The name of the array, without the extension that NumPy appends.
  std::string name(std::uint64_t index) const;
};

// Zip files of other programs, recognised by a member that all of them have.
constexpr std::pair<std::string_view, std::string_view> kOtherArchives[] = {
    {"model.weights.h5", "a Keras model"},
    {"archive_format", "a PyTorch export archive (.pt2)"},
    {"word/document.xml", "a document of Word"},
};

std::string NpzMembers::name(std::uint64_t index) const {
  std::string_view name = directory.name(array(index));
  name.remove_suffix(kNpyEnding.size());
  return std::string(name);
}

// Refuses zip files of other programs and those without arrays.
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
    return fail(ErrorCode::unsupported, "is a zip file without arrays: none of its ",
                members.size(), " members is named *.npy, as in NumPy's .npz");
  return found;
}

std::string skipped_text(const NpzMembers& members) {
  const std::size_t count = members.skipped.size();
  const ZipMember& first = members.directory.members()[members.skipped.front()];
  const std::string name = quoted_member(members.directory.name(first));
  return (count == 1 ? "a member is not an array and is skipped: "
                     : concat(count, " members are not arrays and are skipped, the first: ")) +
         name;
}

// Checks the member and its header, and then its content.
Status check_array(const TensorFile& file, const NpzMembers& members, std::uint64_t index,
                   const FindingSink& report) {
  const auto info = file.tensor(index);
  if (!info) return std::unexpected(info.error());
  if (!info->dtype) {
    constexpr FindingCode kCode("foreign-dtype");
    report({kCode.severity(), kCode, index, info->record_offset, info->unknown_dtype_text()});
  }
  const ZipMember& member = members.array(index);
  BTF_ASSIGN(const std::uint64_t data, locate(file.source(), members.directory, member));
  return read_content({file.source(), members.directory, member, data}, {});
}

}  // namespace

Status check_npz(const TensorFile& file, const FindingSink& report) {
  BTF_ASSIGN(const NpzMembers members, read_npz_members(file.source()));
  if (!members.skipped.empty()) {
    constexpr FindingCode kCode("npz-skipped");
    const ZipMember& first = members.directory.members()[members.skipped.front()];
    report({kCode.severity(), kCode, {}, first.header_offset, skipped_text(members)});
  }
  Status unread;  // encrypted or of an unknown compression; does not stop the check of others
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const Status status = check_array(file, members, i, report);
    if (status) continue;
    const Error& error = status.error();
    if (error.finding.empty() && error.code != ErrorCode::unsupported)
      return std::unexpected(file.about(i, error));
    if (error.finding.empty()) {
      if (unread) unread = std::unexpected(file.about(i, error));
      continue;
    }
    report({Severity::error, error.finding, i, error.offset, error.message});
  }
  return unread;
}

namespace {

// The name of an unsupported type may be long; messages only need its beginning.
constexpr std::size_t kLongestType = 60;

struct Array {
  TensorInfo tensor;
  std::optional<NpyType> type;  // unset if no dtype corresponds to it
};

class NpzReader final : public TensorReader {
 public:
  NpzReader(const ByteSource& source, NpzMembers members, const OpenOptions& options)
      : source_(source), members_(std::move(members)), overrides_(options) {}

  Status check_told() const {
    return overrides_.check(tensor_count(), [&](std::uint64_t index) -> Status {
      BTF_ASSIGN(const NpyHeader header, this->header(index));
      return overrides_.fits(header);
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
    BTF_ASSIGN(Sources sources, content(index, array));
    sources.arranged = npy_elements(*sources.content, array.tensor, *array.type);
    return sources_.emplace(index, std::move(sources)).first->second.elements();
  }

  Result<const ByteSource*> stored(std::uint64_t index) const override {
    const auto known = stored_.find(index);
    if (known != stored_.end()) return known->second.content.get();
    BTF_ASSIGN(const Array array, read(index));
    BTF_ASSIGN(Sources sources, content(index, array));
    return stored_.emplace(index, std::move(sources)).first->second.content.get();
  }

 private:
  // The sources for the elements of a tensor in use.
  struct Sources {
    std::unique_ptr<ByteSource> content;   // stored or inflated bytes
    std::unique_ptr<ByteSource> arranged;  // byte-swapped, or with codes packed

    const ByteSource* elements() const { return arranged ? arranged.get() : content.get(); }
  };

  // The content of its member, which is checked when it is read to its end.
  Result<Sources> content(std::uint64_t index, const Array& array) const {
    const ZipMember& member = members_.array(index);
    BTF_ASSIGN(const std::uint64_t data, locate(source_, members_.directory, member));
    const ZipPlace place{source_, members_.directory, member, data};
    Sources sources;
    if (member.method == zip::kDeflated) {
      // Members without elements are not read otherwise, so check them here.
      if (array.tensor.data_bytes == 0) BTF_TRY(read_content(place, {}));
      sources.content =
          contents_.source(index, member.size, source_, [place] { return inflated(place); });
    } else {
      auto content = std::make_unique<CrcCheckedSource>(place);
      BTF_TRY(content->read_up_to(array.tensor.data_offset));
      sources.content = std::move(content);
    }
    return sources;
  }

  // The beginning of an array, read for its header only.
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
    if (deflated) found.inflated = member_beginning(source_, member, data);
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
    const auto type = overrides_.type_of(members_.name(index), header);
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
  DtypeOverrides overrides_;
  mutable DecodedCache contents_;
  mutable std::map<std::uint64_t, Sources> sources_;
  mutable std::map<std::uint64_t, Sources> stored_;  // of tensors of a foreign dtype
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

namespace {

class NpzWriter final : public TensorWriter {
 public:
  explicit NpzWriter(bool as_uint) : as_uint_(as_uint) {}

  Status announce(const RecordShape& record) override {
    BTF_TRY(check_npy_record(record));
    const Checked size = checked_add(npy_header_text(record, as_uint_).size(), data_bytes(record));
    if (!size) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
    // NumPy's names for arrays without a name.
    const std::string name = record.name.empty() ? concat("arr_", count_) : record.name;
    ++count_;
    return zip_.announce(name + std::string(kNpyEnding), *size);
  }

  Result<std::uint64_t> total_bytes() const override { return zip_.total_bytes(); }

  std::uint64_t data_bytes(const RecordShape& record) const override {
    return npy_data_bytes(record);
  }

  Status begin(ByteSink& sink) override {
    zip_.begin(sink);
    return {};
  }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    const std::string header = npy_header_text(record, as_uint_);
    BTF_TRY(sink.begin_piece(header.size()));
    BTF_ASSIGN(const std::uint64_t begin, zip_.begin_member(sink));
    BTF_TRY(zip_.content().write_at(begin, std::as_bytes(std::span(header))));
    BTF_TRY(sink.begin_piece(data_bytes(record)));
    const std::uint64_t data = begin + header.size();
    spread_ = info(record.dtype).half_byte() ? spread_sink(zip_.content(), data, data_bytes(record))
                                             : nullptr;
    return data;
  }

  ByteSink* elements() override { return spread_ ? spread_.get() : &zip_.content(); }

  Status end_record(ByteSink& sink) override { return zip_.end_member(sink); }

  Status end(ByteSink& sink) override { return zip_.end(sink); }

 private:
  bool as_uint_;
  std::uint64_t count_ = 0;
  ZipWriter zip_;
  std::unique_ptr<ByteSink> spread_;  // for 4-bit codes with one byte each
};

}  // namespace

std::unique_ptr<TensorWriter> npz_writer(const WriteRequest& request) {
  return std::make_unique<NpzWriter>(request.as_uint);
}

}  // namespace btf
