// Options of a conversion: which go together, all rules once.
#include <algorithm>
#include <array>

#include "btf/convert.h"
#include "btf/try.h"
#include "core/recipient.h"
#include "formats/find_format.h"

namespace btf {
namespace {

constexpr auto kDuplicates = std::to_array<Named<Duplicates>>({
    {Duplicates::error, "error"},
    {Duplicates::sum, "sum"},
    {Duplicates::first, "first"},
    {Duplicates::last, "last"},
});

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

Status check_spec(const ConvertOptions& options) {
  if (!options.spec) return {};
  if (options.spec->as_text)
    return wrong("`ConvertOptions::spec` describes raw bytes; numbers in text are read, not written");
  if (!options.spec->storage) return wrong("`ConvertOptions::spec` needs dims: fp16:hwc8:1x3x224x224");
  if (options.plain || options.where_possible)
    return wrong("`ConvertOptions::spec` cannot be combined with `plain` and `where_possible`");
  if (options.quantization.block)
    return wrong("`ConvertOptions::spec` cannot be combined with `quantization.block`");
  if (options.dtype.value_or(options.spec->dtype) != options.spec->dtype ||
      options.layout.value_or(options.spec->layout) != options.spec->layout)
    return wrong("`ConvertOptions::spec` contradicts `dtype` or `layout`");
  return {};
}

Status check_shuffle(const ConvertOptions& options, const FormatRow* format) {
  const bool by_layout = options.layout && spec(*options.layout).shuffled();
  const bool asked = options.shuffle.value_or(false);
  if (!by_layout && !asked) return {};
  const std::string option = asked ? "`shuffle`" : "`layout` shuffled";
  if (!by_layout && options.layout && *options.layout != Layout::linear)
    return wrong(option + " takes elements in the order of kLINEAR, not of " +
                 std::string(spec(*options.layout).name));
  if (options.plain) return wrong(option + " and `plain` exclude each other");
  if (format != nullptr && !format->has(kShuffled))
    return wrong(option + " is for BTF, the output is " + std::string(format->title));
  return {};
}

Status check_names(const ConvertOptions& options, const FormatRow* format) {
  const bool given = options.names.has_value() || !options.rename.empty();
  if (options.drop_names && given) return wrong("`drop_names` cannot be combined with other names");
  // A single tensor's may be that of its file.
  if (options.names && format != nullptr && !format->has(kNamed))
    return wrong("`names` is for a format that holds names, the output is " +
                 std::string(format->title));
  return {};
}

Status check_scales(const ConvertOptions& options) {
  const Quantization& scales = options.quantization;
  const bool scaled = scales.scale || scales.automatic;
  if (scales.scale && scales.automatic) return wrong("`quantization.scale` and `quantization.automatic` exclude each other");
  if (scaled + scales.block.has_value() + scales.dequantize > 1)
    return wrong("`quantization.scale`, `quantization.block` and `quantization.dequantize` exclude each other");
  if (scales.axis && !scales.automatic) return wrong("`quantization.axis` goes with `quantization.automatic`");
  if (scales.zero_point && scales.find_zero_point)
    return wrong("`quantization.zero_point` and `quantization.find_zero_point` exclude each other");
  if ((scales.zero_point || scales.find_zero_point) && (scales.block || !scales.active()))
    return wrong("`quantization.zero_point` goes with `quantization.scale` or `quantization.dequantize`");
  if (scales.find_zero_point && scales.scale)
    return wrong("`quantization.find_zero_point` goes with `quantization.automatic` or `quantization.dequantize`");
  if (!scales.scale_blocks.empty() && !scales.dequantize)
    return wrong("`scale_blocks` goes with `quantization.dequantize`");
  if (std::ranges::find(scales.scale_blocks, 0U) != scales.scale_blocks.end())
    return wrong("a block of `scale_blocks` has no indices");
  if (!scaled || options.dtype || options.spec) return {};
  if (scales.automatic) return wrong("`quantization.automatic` needs `dtype`, the type to quantise to");
  return wrong("`quantization.scale` needs `dtype`: it decides between quantising and dequantising");
}

// Rules that need no tensor; the others are checked when tensors are measured.
Status check_recipient(const ConvertOptions& options, const FormatRow* format) {
  if (!options.recipient) return {};
  const RecipientRow& row = info(*options.recipient);
  const std::string option = "`recipient` " + std::string(row.name) + ": ";
  const auto asks = [&](const std::optional<Objection>& objection) -> Status {
    if (objection) return wrong(option + objection->message);
    return {};
  };
  if (format != nullptr)
    BTF_TRY(
        asks(format_objection(row, format->name, format->title, options.compression.has_value())));
  if (options.dtype) BTF_TRY(asks(dtype_objection(row, info(*options.dtype).code())));
  if (options.coo_code) BTF_TRY(asks(layout_objection(row, *options.coo_code)));
  if (options.shuffle.value_or(false))
    BTF_TRY(asks(layout_objection(row, spec(Layout::shuffled).code())));
  const bool stays = options.layout && options.layout != Layout::coo && !options.plain;
  return stays ? asks(layout_objection(row, spec(*options.layout).code())) : Status{};
}

}  // namespace

std::span<const Named<Duplicates>> duplicates_names() { return kDuplicates; }

Status check_options(const ConvertOptions& options, std::string_view format) {
  const FormatRow* row = nullptr;
  if (!format.empty()) {
    BTF_ASSIGN(row, format_to_write({.path = "-", .format = std::string(format)}));
  }
  BTF_TRY(check_spec(options));
  if (options.as_uint && row != nullptr && !row->has(kNumpyArrays))
    return wrong("`as_uint` goes with NumPy's arrays: .npy, .npz, JSON of Polygraphy");
  BTF_TRY(check_shuffle(options, row));
  BTF_TRY(check_names(options, row));
  BTF_TRY(check_scales(options));
  BTF_TRY(check_recipient(options, row));
  if (options.compression &&
      (*options.compression < kLeastCompression || *options.compression > kGreatestCompression))
    return wrong("`compression` takes a number from " + std::to_string(kLeastCompression) + " to " +
                 std::to_string(kGreatestCompression) + ", not '" +
                 std::to_string(*options.compression) + "'");
  return {};
}

}  // namespace btf
