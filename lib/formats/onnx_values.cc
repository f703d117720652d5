// Values of ONNX tensors: varints, external files, and the reader.
#include "formats/onnx_values.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/btf_reader.h"
#include "formats/decoded_cache.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/io/output.h"
#include "formats/onnx.h"
#include "formats/onnx_model.h"
#include "formats/protobuf.h"

namespace btf {
namespace {

class ExternalFiles {
 public:
  explicit ExternalFiles(std::string model) : model_(std::move(model)) {}

  // Opens each file once. Refuses files outside the model's folder, by name or through links. If
  // the model itself is a link, as in download caches, the files may also be in the real folder.
  Result<std::shared_ptr<const ByteSource>> open(const std::string& location);

  // The files that were opened.
  std::vector<std::string> paths() const;

  // An error if one of them has changed since.
  Status check_unchanged() const;

 private:
  std::string path_of(const std::string& location) const;
  Result<std::shared_ptr<const ByteSource>> open_new(const std::string& location) const;

  std::string model_;  // path
  std::map<std::string, std::shared_ptr<const ByteSource>> opened_;
};

namespace fs = std::filesystem;

// Why a location is not acceptable; empty if it is.
std::string_view fault_of(std::string_view location) {
  if (location.empty()) return "which is not a file name";
  if (location.contains('\0')) return "which has a NUL byte";
  if (location.contains('\\')) return "which has a backslash, a separator on some systems";
  if (location.starts_with('/')) return "which is absolute, not a path from the model's directory";
  while (!location.empty()) {
    const std::string_view part = location.substr(0, location.find('/'));
    if (part == "..") return "outside the model's directory";
    location.remove_prefix(std::min(part.size() + 1, location.size()));
  }
  return {};
}

// True if the path is in the folder or below it.
bool is_within(const fs::path& path, const fs::path& folder) {
  auto part = path.begin();
  for (const fs::path& step : folder)
    if (part == path.end() || *part++ != step) return false;
  return part != path.end();
}

std::string external_text(const std::string& location) {
  return "its external data are in '" + location + "'";
}

std::unexpected<Error> elsewhere(const std::string& location, std::string_view what) {
  return malformed("onnx-external", 0, external_text(location) + ", " + std::string(what));
}

Result<std::shared_ptr<const ByteSource>> ExternalFiles::open(const std::string& location) {
  const auto found = opened_.find(location);
  if (found != opened_.end()) return found->second;
  const std::string_view fault = fault_of(location);
  if (!fault.empty()) return elsewhere(location, fault);
  auto opened = open_new(location);
  if (!opened) return std::unexpected(std::move(opened).error());
  return opened_.emplace(location, *std::move(opened)).first->second;
}

std::vector<std::string> ExternalFiles::paths() const {
  std::vector<std::string> paths;
  for (const auto& [location, file] : opened_) paths.push_back(path_of(location));
  return paths;
}

Status ExternalFiles::check_unchanged() const {
  for (const auto& [location, file] : opened_) BTF_TRY(file->check_unchanged());
  return {};
}

std::string ExternalFiles::path_of(const std::string& location) const {
  return model_.substr(0, model_.rfind('/') + 1) + location;
}

Result<std::shared_ptr<const ByteSource>> ExternalFiles::open_new(
    const std::string& location) const {
  if (model_ == "-" || model_.starts_with("/dev/"))
    return fail(ErrorCode::unsupported, external_text(location) + ", and a pipe has no directory");
  const std::string folder = model_.substr(0, model_.rfind('/') + 1);
  const std::string path = path_of(location);
  // Non-blocking, so that a pipe without a writer does not hang.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.open())
    return std::unexpected(system_failure("open").error().within(external_text(location)));
  struct stat state{};
  if (::fstat(fd.get(), &state) != 0) return system_failure("stat");
  if (!S_ISREG(state.st_mode)) return elsewhere(location, "which is not a regular file");
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  // Removed or moved meanwhile; anything else is the system's own reason.
  if (error) {
    auto failed =
        system_failure(ErrorCode::io, error.value(),
                       external_text(location) + ", which cannot be looked at: " + error.message());
    if (!is_not_there(failed.error())) return failed;
  }
  struct stat really{};
  if (error || ::stat(real.c_str(), &really) != 0 || really.st_dev != state.st_dev ||
      really.st_ino != state.st_ino)
    return fail(ErrorCode::io, external_text(location) + ", whose real path is changing");
  const fs::path given = fs::canonical(folder.empty() ? "." : folder, error);
  const bool inside = !error && is_within(real, given);
  const fs::path model = fs::canonical(model_, error);
  if (!inside && (error || !is_within(real, model.parent_path())))
    return elsewhere(location,
                     "which is a link to '" + real.string() + "', outside the model's directory");
  return file_source(path, std::move(fd), state, 0);
}

using namespace onnx::tensor;

class ValueReader {
 public:
  ValueReader(const ByteSource& source, const OnnxTensor& tensor)
      : source_(source),
        tensor_(tensor),
        dtype_(info(*tensor.type->dtype)),
        width_(dtype_.buffer_bytes()),
        signed_(!dtype_.half_byte() && dtype_.kind == NumberKind::signed_integer),
        extends_(signed_ || dtype_.half_byte() || (dtype_.floating() && dtype_.bits <= 16)),
        expected_(tensor.bytes / width_),
        what_(std::ranges::find(tensor.message->rules, tensor.field, &ProtoRule::number)->name) {}

  Result<Spool> run() {
    Window window(source_, source_.size());
    BTF_TRY(for_each_field(window, tensor_.place, *tensor_.message, [&](const ProtoField& field) {
      return field.number == tensor_.field ? take(field) : Status{};
    }));
    if (count_ != expected_)
      return malformed("onnx-tensor", tensor_.place.begin, dtype_.name, " ",
                       dims_text(tensor_.dims), " needs ", expected_, " numbers, ", what_, " has ",
                       count_);
    BTF_TRY(flush());
    return std::move(spool_);
  }

 private:
  static constexpr std::size_t kBlock = 64U << 10;

  Status take(const ProtoField& field) {
    if (field.type == ProtoType::varint) return take_number(field.value);
    if (!tensor_.varints) return take_bytes(field.content);
    PackedVarints numbers(source_, field.content);
    for (;;) {
      BTF_ASSIGN(const auto number, numbers.next());
      if (!number) return {};
      BTF_TRY(take_number(*number));
    }
  }

  Status take_bytes(const ProtoRange& range) {
    for (std::uint64_t at = range.begin; at < range.end;) {
      if (block_.size() == kBlock) BTF_TRY(flush());
      const std::size_t had = block_.size();
      const std::uint64_t some = std::min<std::uint64_t>(kBlock - had, range.end - at);
      block_.resize(had + some);
      BTF_TRY(source_.read_at(at, std::span(block_).subspan(had)));
      at += some;
    }
    count_ += range.size() / width_;
    return {};
  }

  Status take_number(std::uint64_t number) {
    // A negative int32 should be sign-extended to 64 bits, but not all programs do that.
    if (tensor_.field == kInt32s && number <= UINT32_MAX && extends_)
      number =
          static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(number)));
    if (!in_range(number))
      return malformed("onnx-tensor", tensor_.place.begin, "number ", count_, " of ", what_, " is ",
                       number_text(number), ", which is not a code of ", dtype_.name);
    if (++count_ > expected_) return {};
    std::array<std::byte, 8> bytes;
    store_little(bytes.data(), number);
    if (block_.size() + width_ > kBlock) BTF_TRY(flush());
    block_.insert(block_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(width_));
    return {};
  }

  bool in_range(std::uint64_t number) const {
    if (width_ == 8) return true;
    const unsigned bits = static_cast<unsigned>(width_) * 8;
    if (dtype_.kind == NumberKind::boolean) return number <= 1;
    if (!signed_ && number >> bits == 0) return true;
    if (!extends_) return false;
    const std::uint64_t sign = number >> (bits - 1);
    return sign == 0 || sign == UINT64_MAX >> (bits - 1);
  }

  std::string number_text(std::uint64_t number) const {
    return tensor_.field == kUint64s ? std::to_string(number)
                                     : std::to_string(static_cast<std::int64_t>(number));
  }

  Status flush() {
    BTF_TRY(spool_.append(block_));
    block_.clear();
    return {};
  }

  const ByteSource& source_;
  const OnnxTensor& tensor_;
  const DTypeInfo& dtype_;
  std::uint64_t width_;  // bytes of a number; two 4-bit codes are one number
  bool signed_;
  // Codes may have been sign-extended. False for floats and packed 4-bit codes, which no program
  // treats as signed numbers.
  bool extends_;
  std::uint64_t expected_;  // numbers
  std::string what_;
  std::uint64_t count_ = 0;
  std::vector<std::byte> block_;
  Spool spool_ = Spool::in_memory();
};

}  // namespace

Result<Spool> read_onnx_values(const ByteSource& source, const OnnxTensor& tensor) {
  return ValueReader(source, tensor).run();
}

namespace {

constexpr std::uint64_t kIndexBytes = 8;

using SharedSource = std::shared_ptr<const ByteSource>;

// Where the bytes of a tensor are, in the form of BTF.
struct Values {
  SharedSource source;
  std::uint64_t offset = 0;
};

// Splits element numbers into an index for each dim. A number that is too large gives an index that
// is too large in the first dim.
Result<Spool> split_indices(const ByteSource& source, std::uint64_t offset, std::uint64_t count,
                            const Dims& dims) {
  constexpr std::uint64_t kBlock = 4096;
  Spool spool = Spool::in_memory();
  std::vector<std::byte> numbers, indices;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t some = std::min(kBlock, count - done);
    numbers.resize(some * kIndexBytes);
    BTF_TRY(source.read_at(offset + done * kIndexBytes, numbers));
    indices.resize(some * dims.size() * kIndexBytes);
    for (std::uint64_t i = 0; i < some; ++i) {
      auto number = load_little<std::uint64_t>(numbers.data() + i * kIndexBytes);
      for (std::uint64_t d = dims.size(); d-- > 0;) {
        const bool split = d > 0 && dims[d] > 0;
        store_little(indices.data() + (i * dims.size() + d) * kIndexBytes, split ? number % dims[d]
                                                                           : d > 0
                                                                               ? std::uint64_t{0}
                                                                               : number);
        if (split) number /= dims[d];
      }
    }
    BTF_TRY(spool.append(indices));
    done += some;
  }
  return spool;
}

class OnnxReader final : public TensorReader {
 public:
  // `model` is unset if the file is a single tensor.
  OnnxReader(const ByteSource& source, std::string path, std::optional<OnnxModel> model)
      : source_(source),
        window_(source, source.size()),
        files_(std::move(path)),
        model_(std::move(model)) {}

  std::uint64_t tensor_count() const override { return model_ ? model_->entries().size() : 1; }
  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return entry_of(index).place.begin;
  }
  // External data may be shared; nothing else can be.
  bool overlap_is_settled() const override { return true; }
  std::vector<std::string> other_files() const override { return files_.paths(); }
  Status check_unchanged() const override { return files_.check_unchanged(); }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    const OnnxEntry entry = entry_of(index);
    BTF_ASSIGN(TensorInfo info, entry.sparse ? sparse_info(entry) : dense_info(entry));
    info.index = index;
    info.record_offset = entry.place.begin;
    return info;
  }

  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    if (model_) return model_->name(source_, model_->entries()[index]);
    BTF_ASSIGN(const ProtoRange name, find_onnx_name(window_, {0, source_.size()}));
    if (name.size() == 0) return std::nullopt;
    return name_at(source_, {name.begin, name.size()});
  }

  Result<FileAttributes> attributes() const override {
    return model_ && !model_->is_sequence() ? model_->attributes(source_) : FileAttributes();
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const auto known = sources_.find(index);
    if (known != sources_.end()) return known->second.get();
    const OnnxEntry entry = entry_of(index);
    BTF_ASSIGN(SharedSource source, entry.sparse ? sparse_source(entry) : dense_source(entry));
    return sources_.emplace(index, std::move(source)).first->second.get();
  }

 private:
  OnnxEntry entry_of(std::uint64_t index) const {
    return model_ ? model_->entries()[index] : OnnxEntry{.place = {0, source_.size()}};
  }

  // The file's own source, which outlives this object.
  SharedSource whole() const { return {SharedSource(), &source_}; }

  // The values of a tensor in use; its external data must have been opened.
  Result<Values> values_of(const OnnxTensor& tensor) const {
    if (tensor.external) {
      BTF_ASSIGN(SharedSource file, files_.open(tensor.external->location));
      BTF_TRY(check_external(tensor, file->size()));
      return Values{std::move(file), tensor.external->offset};
    }
    if (tensor.in_place()) return Values{whole(), tensor.first.begin};
    // At the offset where the values begin, which messages contain.
    SharedSource made = contents_.source(tensor.place.begin, tensor.bytes, source_,
                                         [this, tensor]() -> Result<Spool> {
                                           BTF_TRY(check_room_for(tensor.bytes));
                                           return read_onnx_values(source_, tensor);
                                         });
    std::vector<Piece> pieces{{tensor.first.begin, tensor.bytes, std::move(made), 0}};
    BTF_ASSIGN(SharedSource source, piecewise_source(std::move(pieces)));
    return Values{std::move(source), tensor.first.begin};
  }

  static Status check_external(const OnnxTensor& tensor, std::uint64_t size) {
    const OnnxExternal& external = *tensor.external;
    const std::string what = "its external data in '" + external.location + "' ";
    if (!fits(external.offset, external.length.value_or(0), size))
      return malformed("onnx-external", external.offset, what, "begin at byte ", external.offset,
                       external.length ? concat(" and have ", *external.length, " bytes") : "",
                       "; that file has ", size);
    const std::uint64_t found = external.length.value_or(size - external.offset);
    if (found == tensor.bytes) return {};
    return malformed("onnx-external", external.offset, what, "have ", found, " bytes, ",
                     info(*tensor.type->dtype).name, " ", dims_text(tensor.dims), " needs ",
                     tensor.bytes);
  }

  static TensorInfo foreign(const OnnxTensor& tensor) {
    TensorInfo info;
    info.foreign_dtype =
        tensor.type != nullptr ? std::string(tensor.type->name) : std::to_string(tensor.data_type);
    info.foreign_reason = tensor.type == nullptr
                              ? concat("its data_type is ", tensor.data_type, ", which is unknown")
                          : tensor.type->field == onnx::tensor::kStrings
                              ? "it has strings (STRING), for which there is no dtype"
                              : concat("its data_type is ", tensor.data_type, " (",
                                       tensor.type->name, "), for which there is no dtype");
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    info.dims = tensor.dims;
    info.data_offset = tensor.external ? tensor.external->offset : tensor.first.begin;
    info.data_bytes = tensor.external ? tensor.external->length.value_or(0) : tensor.value_bytes;
    return info;
  }

  Result<TensorInfo> dense_info(const OnnxEntry& entry) const {
    BTF_ASSIGN(const OnnxTensor tensor, read_onnx_entry(window_, entry));
    if (tensor.type == nullptr || !tensor.type->dtype) return foreign(tensor);
    BTF_ASSIGN(const Values values, values_of(tensor));
    TensorInfo info;
    info.dtype = tensor.type->dtype;
    info.dtype_code = btf::info(*info.dtype).code();
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    info.dims = tensor.dims;
    info.data_offset = values.offset;
    info.data_bytes = tensor.bytes;
    BTF_ASSIGN(info.storage, resolve(Layout::linear, info.dims, *info.dtype));
    return info;
  }

  Result<SharedSource> dense_source(const OnnxEntry& entry) const {
    BTF_ASSIGN(const OnnxTensor tensor, read_onnx_entry(window_, entry));
    BTF_TRY(check_usable(tensor));
    BTF_ASSIGN(Values values, values_of(tensor));
    return std::move(values.source);
  }

  static Status check_usable(const OnnxTensor& tensor) {
    if (tensor.type != nullptr && tensor.type->dtype) return {};
    return fail(ErrorCode::unsupported, foreign(tensor).unknown_dtype_text());
  }

  struct Sparse {
    Dims dims;
    OnnxTensor values;
    OnnxTensor indices;
    std::uint64_t index_bytes = 0;  // size in the form of BTF
    bool linear = false;            // element numbers in row-major order
  };

  Result<Sparse> read_sparse(const OnnxEntry& entry) const {
    BTF_ASSIGN(OnnxSparse parts, read_onnx_sparse(window_, entry.place));
    Sparse sparse{.dims = std::move(parts.dims), .values = {}, .indices = {}};
    BTF_ASSIGN(sparse.values, read_onnx_tensor(window_, parts.values));
    BTF_ASSIGN(sparse.indices, read_onnx_tensor(window_, parts.indices));
    const auto wrong = [&](const std::string& what) {
      return malformed("onnx-tensor", entry.place.begin, "it is a sparse tensor, and " + what);
    };
    if (!element_count(sparse.dims))
      return malformed("size-overflow", entry.place.begin,
                       "the product of the dims does not fit 64 bits");
    if (sparse.values.dims.size() != 1)
      return wrong("its values have the dims " + dims_text(sparse.values.dims) +
                   ", one dim was expected");
    if (sparse.indices.type == nullptr || sparse.indices.type->dtype != DType::int64)
      return wrong(concat("its indices have the data_type ", sparse.indices.data_type,
                          ", 7 (INT64) was expected"));
    const std::uint64_t nnz = sparse.values.dims[0];
    const std::uint64_t rank = sparse.dims.size();
    const Dims by_dim{nnz, rank};
    const bool linear = sparse.indices.dims == Dims{nnz};
    if (!linear && sparse.indices.dims != by_dim)
      return wrong("its indices have the dims " + dims_text(sparse.indices.dims) + ", " +
                   dims_text(by_dim) + " or " + dims_text(Dims{nnz}) + " were expected");
    const Checked index_bytes = checked_mul(nnz, rank * kIndexBytes);
    if (!index_bytes || !checked_add(index_bytes, sparse.values.bytes))
      return malformed("size-overflow", entry.place.begin,
                       "the size of its indices does not fit 64 bits");
    sparse.index_bytes = *index_bytes;
    sparse.linear = linear && rank != 1;
    return sparse;
  }

  Result<TensorInfo> sparse_info(const OnnxEntry& entry) const {
    BTF_ASSIGN(const Sparse sparse, read_sparse(entry));
    TensorInfo info;
    if (sparse.values.type == nullptr || !sparse.values.type->dtype) {
      info = foreign(sparse.values);
      info.dims = sparse.dims;
      return info;
    }
    BTF_TRY(values_of(sparse.values));
    BTF_TRY(values_of(sparse.indices));
    info.dtype = sparse.values.type->dtype;
    info.dtype_code = btf::info(*info.dtype).code();
    info.layout = Layout::coo;
    info.layout_code = spec(Layout::coo).code();
    info.dims = sparse.dims;
    info.coo = CooParts{sparse.values.dims[0], 0, sparse.index_bytes};
    info.data_bytes = sparse.index_bytes + sparse.values.bytes;
    return info;
  }

  // The indices followed by the values.
  Result<SharedSource> sparse_source(const OnnxEntry& entry) const {
    BTF_ASSIGN(const Sparse sparse, read_sparse(entry));
    BTF_TRY(check_usable(sparse.values));
    BTF_ASSIGN(Values values, values_of(sparse.values));
    BTF_ASSIGN(Values indices, values_of(sparse.indices));
    if (sparse.linear)
      indices = {split_.source(entry.place.begin, sparse.index_bytes, source_,
                               [indices, bytes = sparse.index_bytes, dims = sparse.dims,
                                nnz = sparse.values.dims[0]]() -> Result<Spool> {
                                 BTF_TRY(check_room_for(bytes));
                                 return split_indices(*indices.source, indices.offset, nnz, dims);
                               }),
                 0};
    std::vector<Piece> pieces;
    if (sparse.index_bytes > 0)
      pieces.push_back({0, sparse.index_bytes, std::move(indices.source), indices.offset});
    if (sparse.values.bytes > 0)
      pieces.push_back(
          {sparse.index_bytes, sparse.values.bytes, std::move(values.source), values.offset});
    BTF_ASSIGN(SharedSource source, piecewise_source(std::move(pieces)));
    return source;
  }

  const ByteSource& source_;
  mutable Window window_;
  mutable ExternalFiles files_;
  mutable DecodedCache contents_;
  mutable DecodedCache split_;  // decoded indices
  std::optional<OnnxModel> model_;
  mutable std::map<std::uint64_t, SharedSource> sources_;
};

// By the extension; a pipe has none.
bool may_be_onnx(std::string_view path) {
  if (path == "-" || path.starts_with("/dev/")) return true;
  const std::string_view name = content_name(path);
  return ends_in(name, kOnnxModelEnding) || ends_in(name, kOnnxTensorEnding);
}

}  // namespace

Result<bool> recognizes_onnx(const ByteSource& source, const OpenRequest& request) {
  if (!may_be_onnx(request.path)) return false;
  const auto& spec = request.options.spec;
  if (spec && (spec->storage || spec->as_text)) return false;
  const auto kind = onnx_kind(source);
  if (kind) return *kind != OnnxKind::other;
  if (kind.error().finding.empty()) return std::unexpected(kind.error());
  // A damaged file is reported as ONNX if it is named so.
  BTF_ASSIGN(const bool btf, offset_table_fits(source));
  if (btf || request.path == "-" || request.path.starts_with("/dev/")) return false;
  return onnx_begins(source);
}

Result<std::unique_ptr<TensorReader>> open_onnx(const ByteSource& source,
                                                const OpenRequest& request) {
  if (request.options.spec)
    return fail(ErrorCode::invalid_argument,
                "is an ONNX file and describes its tensors itself; no spec applies to it");
  BTF_ASSIGN(const OnnxKind kind, onnx_kind(source));
  std::optional<OnnxModel> model;
  if (kind == OnnxKind::sequence) {
    BTF_ASSIGN(model, read_onnx_sequence(source));
    if (model->entries().empty())
      return fail(ErrorCode::unsupported,
                  "is a sequence (or an optional) of ONNX: it holds no tensors");
  }
  if (kind == OnnxKind::model) {
    BTF_ASSIGN(model, OnnxModel::read(source));
    if (model->entries().empty())
      return fail(ErrorCode::unsupported,
                  "is an ONNX model without initializers: it holds no tensors");
  }
  return std::make_unique<OnnxReader>(source, std::string(request.path), std::move(model));
}

}  // namespace btf
