#include "formats/btf/reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "formats/decoded/kept_contents.h"
#include "formats/io/compressed_name.h"
#include "formats/io/piecewise_source.h"
#include "formats/io/same_names.h"
#include "formats/onnx/constants.h"
#include "formats/onnx/external.h"
#include "formats/onnx/kind.h"
#include "formats/onnx/messages.h"
#include "formats/onnx/model.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/sequence.h"
#include "formats/onnx/tensor_proto.h"
#include "formats/onnx/values.h"

namespace btf {
namespace {

constexpr std::uint64_t kIndexBytes = 8;

using SharedSource = std::shared_ptr<const ByteSource>;

// Where the bytes of a tensor are, as a BTF file has them.
struct Values {
  SharedSource source;
  std::uint64_t offset = 0;
};

// The index in each dim, for elements known by their numbers. A number outside of the dims
// does so in the first of them.
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
  // `model`: nothing if the file is one tensor.
  OnnxReader(const ByteSource& source, std::string path, std::optional<OnnxModel> model)
      : source_(source),
        window_(source, source.size()),
        files_(std::move(path)),
        model_(std::move(model)) {}

  std::uint64_t tensor_count() const override { return model_ ? model_->entries().size() : 1; }
  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return entry_of(index).place.begin;
  }
  // External data may be shared, and nothing else can be.
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

  // The file itself outlives this.
  SharedSource whole() const { return {SharedSource(), &source_}; }

  // The values of a tensor in use; its external data must be there.
  Result<Values> values_of(const OnnxTensor& tensor) const {
    if (tensor.external) {
      BTF_ASSIGN(SharedSource file, files_.open(tensor.external->location));
      BTF_TRY(check_external(tensor, file->size()));
      return Values{std::move(file), tensor.external->offset};
    }
    if (tensor.in_place()) return Values{whole(), tensor.first.begin};
    // At the offset where the values really begin, which is the one in messages.
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
      return malformed(
          "onnx-external", external.offset,
          what + "begin at byte " + std::to_string(external.offset) +
              (external.length ? " and have " + std::to_string(*external.length) + " bytes" : "") +
              "; that file has " + std::to_string(size));
    const std::uint64_t found = external.length.value_or(size - external.offset);
    if (found == tensor.bytes) return {};
    return malformed("onnx-external", external.offset,
                     what + "have " + std::to_string(found) + " bytes, " +
                         std::string(info(*tensor.type->dtype).name) + " " +
                         dims_text(tensor.dims) + " needs " + std::to_string(tensor.bytes));
  }

  static TensorInfo foreign(const OnnxTensor& tensor) {
    TensorInfo info;
    info.foreign_dtype =
        tensor.type != nullptr ? std::string(tensor.type->name) : std::to_string(tensor.data_type);
    info.foreign_reason =
        tensor.type == nullptr
            ? "its data_type is " + std::to_string(tensor.data_type) + ", which is unknown"
        : tensor.type->field == onnx::tensor::kStrings
            ? "it has strings (STRING), for which there is no dtype"
            : "its data_type is " + std::to_string(tensor.data_type) + " (" +
                  std::string(tensor.type->name) + "), for which there is no dtype";
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
    std::uint64_t index_bytes = 0;  // as a BTF file has them
    bool linear = false;            // they are numbers of elements in row-major order
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
      return wrong("its indices have the data_type " + std::to_string(sparse.indices.data_type) +
                   ", 7 (INT64) was expected");
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

  // The indices, then the values.
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
  mutable KeptContents contents_;
  mutable KeptContents split_;  // made of those
  std::optional<OnnxModel> model_;
  mutable std::map<std::uint64_t, SharedSource> sources_;
};

// By the end of its name; a pipe has none.
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
  // A damaged file is reported as ONNX where its name says so.
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
