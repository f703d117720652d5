// Reads PyTorch files: the members of the zip file, the pickle, and the storages.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/layout.h"
#include "core/numbers.h"
#include "formats/decoded_cache.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/pickle.h"
#include "formats/readers.h"
#include "formats/torch_tensors.h"
#include "formats/torch_walk.h"
#include "formats/zip.h"
#include "formats/zip_writer.h"

namespace btf {
namespace {

// With torch.serialization.set_crc32_options(False), CRCs are zero although the file is valid.
// PyTorch stores its members, so a program that deflated one has written its CRC too.
inline bool has_crc(const ZipMember& member) {
  return member.crc != 0 || member.size == 0 || member.method == zip::kDeflated;
}

// Each file of a distributed checkpoint is several torch.save files in a row, of which only the
// last one would be seen.
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
  // Errors in other zip files are reported by their readers; one of the system may not come again.
  if (!directory && is_system_error(directory.error())) return std::unexpected(directory.error());
  if (!directory) return false;
  return std::ranges::any_of(directory->members(), [&](const ZipMember& member) {
    return directory->name(member).ends_with(kTorchPickleMember);
  });
}

namespace {

Status check_member(const ByteSource& source, const ZipDirectory& directory,
                    const ZipMember& member) {
  BTF_ASSIGN(const std::uint64_t data, locate(source, directory, member));
  return has_crc(member) ? read_content({source, directory, member, data}, {}) : Status{};
}

}  // namespace

// Reads all members, including those that no tensor uses completely.
Status check_torch(const TensorFile& file, const FindingSink& report) {
  BTF_TRY(check_tensors(file, "foreign-dtype", report));
  BTF_ASSIGN(const ZipDirectory directory, ZipDirectory::read(file.source()));
  for (const ZipMember& member : directory.members()) {
    const Status status = check_member(file.source(), directory, member);
    if (status) continue;
    const Error& error = status.error();
    // Other compression methods are reported with the tensors that need the member.
    if (error.finding.empty() && error.code != ErrorCode::unsupported) return status;
    if (!error.finding.empty())
      report({Severity::error, error.finding, {}, error.offset, error.message});
  }
  return {};
}

namespace {

// The number of the only member with this name; unset if there is none.
Result<std::optional<std::size_t>> find_pickle(const ZipDirectory& directory) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < directory.members().size(); ++i) {
    const std::string_view name = directory.name(directory.members()[i]);
    if (!name.ends_with(kTorchPickleMember) ||
        name.substr(0, name.size() - kTorchPickleMember.size()).contains('/'))
      continue;
    if (found)
      return malformed(
          kPickleFinding, directory.members()[i].header_offset,
          "there are two pickles: " + quoted_member(directory.name(directory.members()[*found])) +
              " and " + quoted_member(name));
    found = i;
  }
  return found;
}

// The content of a member: read in place, or inflated.
struct MemberContent {
  const ByteSource* source = nullptr;
  std::uint64_t offset = 0;
};

class TorchReader final : public TensorReader {
 public:
  static Result<std::unique_ptr<TensorReader>> open(const ByteSource& source) {
    auto reader = std::make_unique<TorchReader>(source);
    BTF_ASSIGN(reader->directory_, ZipDirectory::read(source));
    const ZipDirectory& directory = reader->directory_;
    BTF_ASSIGN(const auto pickle, find_pickle(directory));
    if (!pickle) return malformed(kPickleFinding, 0, "there is no data.pkl");
    const std::string_view name = directory.name(directory.members()[*pickle]);
    reader->folder_ = name.substr(0, name.size() - kTorchPickleMember.size() + 1);
    if (directory.find(reader->folder_ + "constants.pkl"))
      return fail(ErrorCode::unsupported,
                  "is a TorchScript archive, which btftool does not read; "
                  "torch.save(torch.jit.load(f).state_dict(), ...) makes a file that it does");
    BTF_TRY(reader->read_pickle(*pickle));
    BTF_TRY(reader->read_byte_order());
    return reader;
  }

  explicit TorchReader(const ByteSource& source) : source_(source) {}

  std::uint64_t tensor_count() const override { return tensors_.size(); }
  // Tensors may share storages, as tied weights do.
  bool overlap_is_settled() const override { return true; }
  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    return tensors_[index].name;
  }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    auto call = read_torch_tensor(pickle_, tensors_[index].node);
    if (!call) return std::unexpected(call.error());
    TensorInfo info;
    info.index = index;
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    info.dims = call->dims;
    info.foreign_dtype = call->foreign;
    info.foreign_reason = call->why;
    if (!call->foreign.empty() || !call->why.empty()) {
      if (info.foreign_dtype.empty()) info.foreign_dtype = info_name(*call->type->dtype);
      return info;
    }
    if (call->type == nullptr)
      return malformed(kPickleFinding, 0, "the pickle: a tensor over bytes has no type");
    BTF_TRY(place(*call, info));
    return info;
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const auto known = sources_.find(index);
    if (known != sources_.end()) return known->second.elements();
    BTF_ASSIGN(const TorchTensor call, read_torch_tensor(pickle_, tensors_[index].node));
    if (call.type == nullptr || !call.type->dtype)
      return fail(ErrorCode::unsupported,
                  call.why.empty() ? "dtype " + call.foreign + " is not supported" : call.why);
    if (element_count(call.dims) == 0) return nullptr;
    BTF_ASSIGN(const TensorInfo info, tensor(index));
    if (!info.dtype) return fail(ErrorCode::unsupported, info.unknown_dtype_text());
    Sources sources;
    if (call.held) {
      const std::string& held = held_[index] = *call.held;
      sources.held = std::make_unique<MemorySource>(std::as_bytes(std::span(held)));
      sources.content = sources.held.get();
      return sources_.emplace(index, std::move(sources)).first->second.elements();
    }
    BTF_ASSIGN(const std::size_t number, storage(call));
    BTF_ASSIGN(const MemberContent content, content_of(number));
    sources.content = content.source;
    if (content.source == &source_ && has_crc(directory_.members()[number])) {
      BTF_ASSIGN(sources.content, checked(number, content.offset, info, sources.own));
    }
    if (big_endian_ && call.type->bytes > 1)
      sources.swapped = swapped_source(*sources.content, info.data_offset, call.type->bytes);
    return sources_.emplace(index, std::move(sources)).first->second.elements();
  }

  // Finds storages that no listed tensor uses, since a pickle may have tensors in unexpected
  // places.
  Status check_complete() const override {
    const auto used = storages_of(pickle_, tensors_);
    const std::string data = folder_ + "data/";
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    const ZipMember* first = nullptr;
    for (const ZipMember& member : directory_.members()) {
      const std::string_view name = directory_.name(member);
      if (member.size == 0 || !name.starts_with(data) || used.contains(name.substr(data.size())))
        continue;
      if (count++ == 0) first = &member;
      bytes = checked_add(bytes, member.size).value_or(UINT64_MAX);
    }
    if (count == 0) return {};
    const std::string name = quoted_member(directory_.name(*first));
    return malformed("torch-unlisted", first->header_offset,
                     count == 1 ? concat("member ", name, " (", bytes,
                                         " bytes) belongs to no tensor that is listed")
                                : concat(count, " members, the first of them ", name, " (", bytes,
                                         " bytes in all), belong to no tensor that is listed"));
  }

 private:
  // The sources for the elements of a tensor in use.
  struct Sources {
    const ByteSource* content = nullptr;
    std::unique_ptr<CrcCheckedSource> own;
    std::unique_ptr<ByteSource> held;  // bytes in the pickle
    std::unique_ptr<ByteSource> swapped;

    const ByteSource* elements() const { return swapped ? swapped.get() : content; }
  };

  // A tensor that covers a whole storage checks its CRC alone; tensors with parts of it check it
  // together. Of a small storage the rest is read as well, so that each tensor is checked
  // independently.
  Result<const ByteSource*> checked(std::size_t number, std::uint64_t offset,
                                    const TensorInfo& info,
                                    std::unique_ptr<CrcCheckedSource>& own) const {
    constexpr std::uint64_t kSmall = 4U << 20;
    const ZipMember& member = directory_.members()[number];
    const bool all = info.data_offset == offset && info.data_bytes == member.size;
    std::unique_ptr<CrcCheckedSource>& source = all ? own : shared_[number];
    if (!source)
      source = std::make_unique<CrcCheckedSource>(ZipPlace{source_, directory_, member, offset});
    if (!all && member.size <= kSmall) BTF_TRY(source->read_up_to(offset + member.size));
    return source.get();
  }

  static std::string info_name(DType dtype) { return std::string(btf::info(dtype).name); }

  Status read_pickle(std::size_t number) {
    BTF_ASSIGN(const MemberContent content, sound_content_of(number));
    std::vector<Piece> pieces;
    const std::uint64_t bytes = directory_.members()[number].size;
    if (bytes > 0)
      pieces.push_back({.begin = 0,
                        .length = bytes,
                        .source = std::shared_ptr<const ByteSource>(
                            std::shared_ptr<const ByteSource>(), content.source),
                        .offset = content.offset});
    BTF_ASSIGN(const auto text, piecewise_source(std::move(pieces)));
    BTF_ASSIGN(pickle_, Pickle::read(*text));
    BTF_ASSIGN(tensors_, find_torch_tensors(pickle_));
    return {};
  }

  // Older files have no byte order; they are little-endian.
  Status read_byte_order() {
    const auto number = directory_.find(folder_ + "byteorder");
    if (!number) return {};
    BTF_ASSIGN(const MemberContent content, sound_content_of(*number));
    std::string order(std::min<std::uint64_t>(directory_.members()[*number].size, 16), '\0');
    BTF_TRY(content.source->read_at(content.offset, std::as_writable_bytes(std::span(order))));
    big_endian_ = order == "big";
    if (big_endian_ || order == "little") return {};
    return malformed("torch-storage", directory_.members()[*number].header_offset,
                     "its byte order is neither 'little' nor 'big'");
  }

  // A member that is read before any tensor. Inflated content is always compared with its CRC.
  Result<MemberContent> sound_content_of(std::size_t number) const {
    const ZipMember& member = directory_.members()[number];
    BTF_ASSIGN(const MemberContent content, content_of(number));
    if (content.source == &source_ && has_crc(member))
      BTF_TRY(read_content({source_, directory_, member, content.offset}, {}));
    return content;
  }

  Result<MemberContent> content_of(std::size_t number) const {
    const ZipMember& member = directory_.members()[number];
    BTF_ASSIGN(const std::uint64_t data, locate(source_, directory_, member));
    if (member.method != zip::kDeflated) return MemberContent{&source_, data};
    auto& inflated_source = inflated_[number];
    if (!inflated_source) {
      const ZipPlace place{source_, directory_, member, data};
      inflated_source =
          contents_.source(number, member.size, source_, [place] { return inflated(place); });
    }
    return MemberContent{inflated_source.get(), 0};
  }

  // The number of the storage's member.
  Result<std::size_t> storage(const TorchTensor& call) const {
    const std::string name = folder_ + "data/" + call.key;
    const auto number = directory_.find(name);
    if (!number)
      return malformed("torch-storage", 0,
                       "there is no member " + quoted_member(name) + ", which has its elements");
    const ZipMember& member = directory_.members()[*number];
    if (member.size == call.storage_bytes) return *number;
    return malformed("torch-storage", member.header_offset, "its storage should have ",
                     call.storage_bytes, " bytes, member ", quoted_member(name), " has ",
                     member.size);
  }

  // Where the elements are in the file or in inflated content, and their strides.
  Status place(const TorchTensor& call, TensorInfo& info) const {
    const DType dtype = *call.type->dtype;
    info.dtype = dtype;
    info.dtype_code = btf::info(dtype).code();
    if (call.type->packed > 1) {
      const Checked last =
          info.dims.empty() ? std::nullopt : checked_mul(info.dims.back(), call.type->packed);
      if (!last)
        return malformed("size-overflow", 0,
                         "its last dim cannot be doubled, as two elements are "
                         "in a byte");
      info.dims.back() = *last;
    }
    BTF_ASSIGN(StridedLayout dense, resolve(Layout::linear, info.dims, dtype));
    if (element_count(info.dims) == 0) {
      info.storage = std::move(dense);
      return {};
    }
    BTF_ASSIGN(const std::uint64_t last, last_element(call));
    if (!contiguous(call)) {
      if (call.type->packed > 1)
        return cannot_be_read(info, "is a view of packed elements with other strides");
      std::vector<StorageAxis> axes;
      for (std::uint32_t d = 0; d < call.dims.size(); ++d)
        axes.push_back({call.dims[d], call.strides[d], d, AxisPart::whole});
      auto strides = strided(info.dims, std::move(axes), dtype);
      if (!strides)
        return cannot_be_read(
            info, "is a view whose elements overlap; its contiguous() copy can be saved");
      dense = *std::move(strides);
    }
    if (call.held) {
      info.storage = std::move(dense);
      info.data_bytes = call.held->size();
      return {};
    }
    BTF_ASSIGN(const std::size_t number, storage(call));
    BTF_ASSIGN(const MemberContent content, content_of(number));
    const Checked end = checked_mul(*checked_add(last, 1), call.type->bytes);
    if (!end || *end > call.storage_bytes)
      return malformed("torch-storage", content.offset, "its last element is number ", last,
                       " of a storage of ", call.storage_bytes, " bytes");
    const std::uint64_t begin = call.offset * call.type->bytes;
    info.storage = std::move(dense);
    info.data_offset = content.offset + begin;
    info.data_bytes = *end - begin;
    info.record_offset = info.data_offset;
    return {};
  }

  // Keeps the tensor in the list with the reason.
  static Status cannot_be_read(TensorInfo& info, std::string why) {
    info.foreign_dtype = info_name(*info.dtype);
    info.foreign_reason = std::move(why);
    info.dtype.reset();
    info.dtype_code = 0;
    return {};
  }

  static Result<std::uint64_t> last_element(const TorchTensor& call) {
    Checked last = call.offset;
    for (std::size_t d = 0; d < call.dims.size(); ++d)
      last = checked_add(last, checked_mul(call.dims[d] - 1, call.strides[d]));
    if (!last || *last == UINT64_MAX)
      return malformed("size-overflow", 0, "the offset of its last element does not fit 64 bits");
    return *last;
  }

  // Strides of dims of size 1 are ignored.
  static bool contiguous(const TorchTensor& call) {
    std::uint64_t stride = 1;
    for (std::size_t d = call.dims.size(); d-- > 0;) {
      if (call.dims[d] != 1 && call.strides[d] != stride) return false;
      stride *= call.dims[d];
    }
    return true;
  }

  const ByteSource& source_;
  ZipDirectory directory_;
  std::string folder_;  // ends in '/'
  Pickle pickle_;
  std::vector<NamedNode> tensors_;
  bool big_endian_ = false;
  mutable DecodedCache contents_;
  mutable std::map<std::size_t, std::unique_ptr<ByteSource>> inflated_;
  mutable std::map<std::size_t, std::unique_ptr<CrcCheckedSource>> shared_;
  mutable std::map<std::uint64_t, Sources> sources_;
  mutable std::map<std::uint64_t, std::string> held_;
};

}  // namespace

Result<std::unique_ptr<TensorReader>> open_torch(const ByteSource& source,
                                                 const OpenRequest& request) {
  if (request.options.spec)
    return fail(ErrorCode::invalid_argument,
                "is a PyTorch file and describes its tensors itself; no spec applies to it");
  return TorchReader::open(source);
}

}  // namespace btf
