#include <algorithm>
#include <vector>

#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/readers.h"

namespace btf {
namespace {

constexpr std::string_view kSuffix = ".raw";

class RawReader final : public TensorReader {
 public:
  explicit RawReader(TensorInfo info) : info_(std::move(info)) {}

  std::uint64_t tensor_count() const override { return 1; }
  Result<TensorInfo> tensor(std::uint64_t) const override { return info_; }

 private:
  TensorInfo info_;
};

// Other specs with these dims that have this size: the same dtype in other layouts, and other
// dtypes in the same layout; if there are none, any pair.
std::string other_types_of_size(const TensorSpec& spec, std::uint64_t bytes) {
  std::vector<std::string> names;
  const auto try_pair = [&](const DTypeInfo& dtype, const LayoutSpec& layout) {
    if (!layout.dense() || layout.shuffled()) return;
    const auto storage = resolve(layout.layout, spec.storage->dims, dtype.dtype);
    if (!storage || storage_bytes(*storage, dtype.dtype) != bytes) return;
    const std::string text = spec_text(dtype.dtype, layout.layout, {});
    names.push_back(text.substr(0, text.rfind(':')));
  };
  for (const LayoutSpec& layout : layouts()) try_pair(info(spec.dtype), layout);
  for (const DTypeInfo& dtype : dtypes())
    if (dtype.dtype != spec.dtype) try_pair(dtype, btf::spec(spec.layout));
  if (names.empty())
    for (const LayoutSpec& layout : layouts())
      for (const DTypeInfo& dtype : dtypes()) try_pair(dtype, layout);
  if (names.empty()) return "; no dtype and layout with these dims fits";
  std::string text = "; these fit: ";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text;
}

std::string said(const TensorSpec& spec) {
  return std::string(info(spec.dtype).name) + " " + dims_text(spec.storage->dims) +
         (spec.strided ? " with these strides" : " in " + std::string(btf::spec(spec.layout).name));
}

// Strides determine where the last element ends, but not whether padding follows it.
std::uint64_t padded_elements(const StridedLayout& storage) {
  Checked most = storage.storage_elements;
  for (const StorageAxis& axis : storage.axes) {
    const Checked size = checked_mul(axis.extent, axis.stride);
    if (size && most) most = std::max(*most, *size);
  }
  return storage.storage_elements == 0 ? 0 : *most;
}

Result<TensorSpec> spec_of(const OpenRequest& request) {
  if (request.options.spec) return *request.options.spec;
  const auto name = parse_dump_name(request.path);
  if (!name)
    return fail(ErrorCode::invalid_argument,
                "raw bytes need a spec, TYPE:LAYOUT:DIMS such as "
                "fp16:hwc8:1x3x224x224");
  TensorSpec spec;
  spec.dtype = name->dtype;
  spec.layout = request.options.layout_in.value_or(Layout::linear);
  BTF_ASSIGN(spec.storage, resolve(spec.layout, name->dims, spec.dtype));
  return spec;
}

struct RawSize {
  std::uint64_t needed = 0;  // up to the last element
  std::uint64_t padded = 0;  // including the padding after it, which strides leave open
};

RawSize size_of(const TensorSpec& spec) {
  const std::uint64_t needed = storage_bytes(*spec.storage, spec.dtype);
  if (!spec.strided) return {needed, needed};
  const Checked padded = stream_bytes(padded_elements(*spec.storage), info(spec.dtype).bits);
  return {needed, padded.value_or(needed)};
}

bool is_raw(const OpenRequest& request) {
  if (request.options.spec) return request.options.spec->storage && !request.options.spec->as_text;
  const std::string_view path = request.path;
  return path.size() > kSuffix.size() && same_name(kSuffix, path.substr(path.size() - 4));
}

}  // namespace

std::optional<std::uint64_t> raw_bytes(const OpenRequest& request) {
  if (!is_raw(request)) return std::nullopt;
  const auto spec = spec_of(request);
  return spec ? std::optional(size_of(*spec).padded) : std::nullopt;
}

Result<bool> recognizes_raw(const ByteSource&, const OpenRequest& request) {
  return is_raw(request);
}

Result<std::unique_ptr<TensorReader>> open_raw(const ByteSource& source,
                                               const OpenRequest& request) {
  BTF_ASSIGN(TensorSpec spec, spec_of(request));
  const auto [needed, padded] = size_of(spec);
  if ((source.size() != needed && source.size() != padded) || source.more_follows()) {
    std::string wanted = std::to_string(needed);
    if (padded != needed) wanted += concat(" (with the last padding ", padded, ")");
    const std::string found = source.more_follows()
                                  ? concat("more than ", source.size())
                                  : concat(source.size(), other_types_of_size(spec, source.size()));
    return malformed("raw-size", std::min(needed, source.size()),
                     said(spec) + " takes " + wanted + " bytes, the file has " + found);
  }
  TensorInfo info;
  info.dtype = spec.dtype;
  info.dtype_code = btf::info(spec.dtype).code();
  info.layout = spec.layout;
  info.layout_code = btf::spec(spec.layout).code();
  info.dims = spec.storage->dims;
  info.storage = *std::move(spec.storage);
  info.data_bytes = source.size();
  return std::make_unique<RawReader>(std::move(info));
}

// There is nothing to check beyond the size.
Status check_raw(const TensorFile&, const FindingSink&) { return {}; }

namespace {

class RawWriter final : public TensorWriter {
 public:
  explicit RawWriter(const WriteRequest& request)
      : name_(request.spec == nullptr ? parse_dump_name(content_name(request.path))
                                      : std::nullopt) {}

  Status announce(const RecordShape& record) override {
    if (bytes_)
      return fail(ErrorCode::unsupported,
                  "raw bytes hold one tensor, the result has more: select one");
    const LayoutSpec* layout = find_layout(record.layout_code);
    if (layout == nullptr || !layout->dense())
      return fail(ErrorCode::unsupported,
                  "raw bytes hold no COO; a layout such as kLINEAR is needed");
    if (name_ && (name_->dtype != record.dtype || name_->dims != record.dims))
      return fail(ErrorCode::refused,
                  "the name of the output stands for " + std::string(info(name_->dtype).name) +
                      " " + dims_text(name_->dims) + ", the result is " +
                      std::string(info(record.dtype).name) + " " + dims_text(record.dims));
    bytes_ = record.payload;
    return {};
  }

  Result<std::uint64_t> total_bytes() const override {
    if (!bytes_) return fail(ErrorCode::unsupported, "raw bytes hold one tensor, there is none");
    return *bytes_;
  }

  Status begin(ByteSink&) override { return {}; }
  Result<std::uint64_t> begin_record(ByteSink&, const RecordShape&) override { return 0; }
  Status end_record(ByteSink&) override { return {}; }

 private:
  std::optional<DumpName> name_;
  std::optional<std::uint64_t> bytes_;
};

}  // namespace

std::unique_ptr<TensorWriter> raw_writer(const WriteRequest& request) {
  return std::make_unique<RawWriter>(request);
}

}  // namespace btf
