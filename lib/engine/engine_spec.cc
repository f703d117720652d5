// The specs of a tensor's bytes, from an engine's layer list.
#include <algorithm>

#include "btf/tensorrt/engine_list.h"
#include "btf/try.h"
#include "formats/io/globs.h"

namespace btf {
namespace {

std::string open_dims_text(const std::vector<std::int64_t>& dims) {
  std::string text;
  for (const std::int64_t dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

std::string joined(const Dims& dims) {
  std::string text;
  for (const std::uint64_t dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

// Where dims are said that the list does not.
std::string shapes_text(const EngineSpecs& specs, const EngineTensor& tensor) {
  if (specs.in_manifest) return "a manifest's 'spec' of '@LIST:DIMS' says them";
  return "`shapes` " + tensor.name + ":DIMS says them";
}

std::unexpected<Error> not_said(const EngineSpecs& specs, const EngineTensor& tensor,
                                const std::string& what) {
  return fail(ErrorCode::invalid_argument, specs.path + ": '" + tensor.name + "' " + what);
}

// The shape that is given for the tensor; the last one counts.
const Dims* given_shape(const EngineSpecs& specs, const EngineTensor& tensor) {
  const Dims* found = nullptr;
  for (const EngineShape& shape : specs.shapes)
    if (shape.glob == tensor.name || glob_matches(shape.glob, tensor.name)) found = &shape.dims;
  return found;
}

// The least size of the open dim with which the tensor takes so many bytes.
std::optional<std::uint64_t> open_dim(const TensorRtFormat& format, Dims dims, std::size_t open,
                                      std::uint64_t bytes) {
  const auto size = [&](std::uint64_t dim) -> std::optional<std::uint64_t> {
    dims[open] = dim;
    const auto storage = resolve(format, dims);
    if (!storage) return std::nullopt;
    return storage_bytes(*storage, format.dtype);
  };
  std::uint64_t least = 1;
  std::uint64_t most = std::max<std::uint64_t>(bytes, 1) * 2;  // 4-bit types: two in a byte
  while (least < most) {
    const std::uint64_t middle = least + (most - least) / 2;
    const auto taken = size(middle);
    if (taken && *taken < bytes)
      least = middle + 1;
    else
      most = middle;
  }
  return size(least) == bytes ? std::optional(least) : std::nullopt;
}

Result<Dims> dims_of(const EngineSpecs& specs, const EngineTensor& tensor,
                     const TensorRtFormat& format, std::optional<std::uint64_t> bytes) {
  const Dims* const given = given_shape(specs, tensor);
  if (!tensor.dims) {
    if (given != nullptr) return *given;
    return not_said(specs, tensor, "has no dims there; " + shapes_text(specs, tensor));
  }
  Dims dims;
  std::vector<std::size_t> open;
  for (const std::int64_t dim : *tensor.dims) {
    if (dim < 0) open.push_back(dims.size());
    dims.push_back(dim < 0 ? 1 : static_cast<std::uint64_t>(dim));
  }
  if (given != nullptr) {
    bool fits = given->size() == dims.size();
    for (std::size_t d = 0; fits && d < dims.size(); ++d)
      fits = (*tensor.dims)[d] < 0 || (*given)[d] == dims[d];
    if (fits) return *given;
    return not_said(specs, tensor,
                    "has the dims " + open_dims_text(*tensor.dims) + ", and not " + joined(*given));
  }
  if (open.empty()) return dims;
  if (open.size() == 1 && bytes) {
    if (const auto dim = open_dim(format, dims, open.front(), *bytes)) {
      dims[open.front()] = *dim;
      return dims;
    }
    return not_said(specs, tensor,
                    "has the dims " + open_dims_text(*tensor.dims) + ", and none of " +
                        std::to_string(*bytes) + " bytes");
  }
  return not_said(specs, tensor,
                  "has the dims " + open_dims_text(*tensor.dims) +
                      ", of which -1 are known when it runs; " + shapes_text(specs, tensor));
}

}  // namespace

Result<TensorSpec> engine_spec(const EngineSpecs& specs, const EngineTensor& tensor,
                               std::optional<std::uint64_t> bytes) {
  if (!tensor.format)
    return not_said(specs, tensor,
                    tensor.words.empty()
                        ? std::string("has no format there: an engine built with detailed "
                                      "profiling verbosity says it")
                        : "has the format '" + tensor.words + "', which says no layout");
  BTF_ASSIGN(const Dims dims, dims_of(specs, tensor, *tensor.format, bytes));
  const std::string text = tensor.format->lanes == 0
                               ? spec_text(tensor.format->dtype, tensor.format->layout, dims)
                               : format_sentence(*tensor.format) + ":" + joined(dims);
  auto spec = parse_tensor_spec(text);
  if (!spec)
    return std::unexpected(spec.error().within("'" + tensor.name + "'").in_file(specs.path));
  return spec;
}

}  // namespace btf
