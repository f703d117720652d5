#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "btf/tensorrt/engine_list.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/decoded/kept_contents.h"
#include "formats/interface/check_tensors.h"
#include "formats/io/globs.h"
#include "formats/json/json_bytes.h"
#include "formats/json/json_string.h"
#include "formats/trtexec/outputs.h"
#include "formats/trtexec/trtexec.h"
#include "formats/trtexec/values.h"

namespace btf {
namespace {

// By a spec for its name, for all, or by the layer list of the engine.
std::optional<DType> dtype_told(const OpenOptions& options, const std::string& output) {
  if (const TensorSpec* const own = spec_by_name(options.named_specs, output)) return own->dtype;
  if (options.spec) return options.spec->dtype;
  const EngineTensor* const tensor = options.engine ? options.engine->list.find(output) : nullptr;
  return tensor != nullptr ? tensor->dtype : std::nullopt;
}

class TrtexecReader final : public TensorReader {
 public:
  TrtexecReader(const ByteSource& source, std::vector<TrtexecOutput> outputs,
                const OpenRequest& request)
      : source_(source), outputs_(std::move(outputs)) {
    for (const TrtexecOutput& output : outputs_)
      dtypes_.push_back(dtype_told(request.options, output.name).value_or(DType::float32));
  }

  std::uint64_t tensor_count() const override { return outputs_.size(); }
  bool overlap_is_settled() const override { return true; }
  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return outputs_[index].begin;
  }
  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    return outputs_[index].name;
  }

  // Sizes and dtypes are those of the parsed numbers, not of the text.
  Result<TensorInfo> tensor(std::uint64_t index) const override {
    const TrtexecOutput& output = outputs_[index];
    const DType dtype = dtypes_[index];
    if (!output.open_dims.empty())
      return malformed("trtexec-outputs", output.begin,
                       "output '" + json_shown(output.name) + "' has the dims '" +
                           json_shown(output.open_dims) +
                           "', of which -1 depends on data, and there is no final shape among its "
                           "values");
    TensorInfo tensor;
    tensor.index = index;
    tensor.record_offset = output.begin;
    tensor.dims = output.dims;
    tensor.dtype = dtype;
    tensor.text_digits = 6;  // the default precision of C++ streams
    tensor.dtype_code = info(dtype).code();
    tensor.layout = Layout::linear;
    tensor.layout_code = spec(Layout::linear).code();
    BTF_ASSIGN(tensor.storage, resolve(Layout::linear, tensor.dims, dtype));
    tensor.data_bytes = storage_bytes(*tensor.storage, dtype);
    if (element_count(output.dims) == output.count) return tensor;
    return malformed("trtexec-outputs", output.values_at,
                     "output '" + json_shown(output.name) + "' is " + dims_text(output.dims) +
                         " and should have " + std::to_string(*element_count(output.dims)) +
                         " values, it has " + std::to_string(output.count));
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const auto known = sources_.find(index);
    if (known != sources_.end()) return known->second.get();
    BTF_ASSIGN(const TensorInfo tensor, tensor(index));
    auto source = contents_.source(index, tensor.data_bytes, source_, [this, index] {
      return read_trtexec_values(source_, outputs_[index], dtypes_[index]);
    });
    return sources_.emplace(index, std::move(source)).first->second.get();
  }

 private:
  const ByteSource& source_;
  std::vector<TrtexecOutput> outputs_;
  std::vector<DType> dtypes_;
  mutable KeptContents contents_;
  mutable std::map<std::uint64_t, std::unique_ptr<ByteSource>> sources_;
};

}  // namespace

Result<bool> recognizes_trtexec(const ByteSource& source, const OpenRequest&) {
  BTF_ASSIGN(const bool json, begins_as_json(source));
  if (!json) return false;
  constexpr std::uint64_t kStart = 4096;
  std::string start(std::min({kStart, source.size(), source.read_ahead_end(0)}), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  return begins_as_trtexec_outputs(start);
}

Result<std::unique_ptr<TensorReader>> open_trtexec(const ByteSource& source,
                                                   const OpenRequest& request) {
  const OpenOptions& options = request.options;
  BTF_ASSIGN(std::vector<TrtexecOutput> outputs, read_trtexec_outputs(source));
  bool dims_said = options.spec && options.spec->storage;
  for (const TrtexecOutput& output : outputs) {
    const TensorSpec* const own = spec_by_name(options.named_specs, output.name);
    dims_said = dims_said || (own != nullptr && own->storage);
  }
  if (dims_said)
    return fail(ErrorCode::invalid_argument,
                "is text of trtexec --exportOutput and has its own dims; a spec may give the "
                "dtype only");
  return std::make_unique<TrtexecReader>(source, std::move(outputs), request);
}

Status check_trtexec(const TensorFile& file, const FindingSink& report) {
  BTF_TRY(check_tensors(file, "foreign-dtype", report));
  return check_elements(file, report);
}

}  // namespace btf
