#include "inspect/details.h"

#include <algorithm>
#include <string>

#include "btf/layout.h"
#include "btf/try.h"
#include "cli/arguments.h"

namespace btftool {

namespace {

// Reads the statistics that are asked for beyond the plain ones.
btf::Status read_statistics(const btf::TensorFile& file, const btf::TensorInfo& tensor,
                            const InspectOptions& options, const btf::Execution& execution,
                            InspectDetails& details) {
  details.asked = options.distribution;
  const bool asked = details.asked.bins > 0 || !details.asked.percentiles.empty();
  if (!asked && details.stats->elements <= kMostDistributed)
    details.asked = {.percentiles = *parse_percentiles(kPercentilesShown), .bins = kBinsShown};
  if (asked || details.asked.bins > 0) {
    BTF_ASSIGN(details.distribution,
               btf::distribution(file, tensor, *details.stats, details.asked, execution));
  }
  if (options.by_axis) {
    const auto axis = btf::find_axis(tensor, *options.by_axis);
    auto channels = axis ? btf::channel_stats(file, tensor, *details.stats, *axis, execution)
                         : std::unexpected(axis.error());
    if (channels)
      details.channels = *std::move(channels);
    else if (channels.error().code == btf::ErrorCode::invalid_argument)
      details.no_channels = channels.error();
    else
      return std::unexpected(channels.error());
  }
  return {};
}

}  // namespace

btf::Result<InspectDetails> read_details(const btf::TensorFile& file, const btf::TensorInfo& listed,
                                         const InspectOptions& options,
                                         const btf::Execution& execution) {
  InspectDetails details;
  if (!options.stats && !options.values && !options.at) return details;
  // Blocks with scales among the codes are looked at as the numbers that they stand for.
  std::optional<btf::TensorInfo> numbers;
  if (!listed.dtype && !listed.foreign_dtype.empty()) {
    BTF_ASSIGN(numbers, file.dequantized(listed.index));
  }
  const btf::TensorInfo& tensor = numbers ? *numbers : listed;
  if (!tensor.known())
    return btf::fail(btf::ErrorCode::unsupported,
                     tensor.dtype ? "unknown layout code " + std::to_string(tensor.layout_code)
                                  : tensor.unknown_dtype_text());
  details.dtype = tensor.dtype;
  if (options.stats) {
    BTF_ASSIGN(details.stats, btf::stats(file, tensor, execution));
    BTF_TRY(read_statistics(file, tensor, options, execution, details));
  }
  if (options.values) {
    BTF_ASSIGN(const btf::Slice part, parse_slice(options.slice.value_or("")));
    BTF_ASSIGN(const auto slice, btf::sliced_dims(part, tensor.dims));
    BTF_ASSIGN(details.values, ValueView::read(file, tensor, slice, *options.values));
  }
  if (options.at) {
    BTF_ASSIGN(const auto index, parse_index(*options.at, tensor.dims));
    BTF_ASSIGN(const auto element, btf::read_elements(file, tensor, std::span(&index, 1)));
    details.at = index;
    details.element = element.front();
    if (numbers) details.element.offset.reset();
  }
  // What another process wrote meanwhile may be half of one dump and half of another.
  BTF_TRY(file.check_unchanged());
  return details;
}

std::optional<std::string> tensorrt_limits(const btf::TensorInfo& tensor) {
  if (!tensor.layout || !tensor.storage) return std::nullopt;
  return btf::tensorrt_objection(*tensor.layout, tensor.dims);
}

bool is_extension(const btf::TensorInfo& tensor) {
  return tensor.dtype_code >= 128 || tensor.layout_code >= 128;
}

btf::Dims byte_strides(const btf::TensorInfo& tensor) {
  btf::Dims strides;
  for (const btf::StorageAxis& axis : tensor.storage->axes)
    strides.push_back(axis.stride * btf::info(*tensor.dtype).bits / 8);
  std::ranges::reverse(strides);
  return strides;
}

}  // namespace btftool
