// Any file under any options: what convert() writes is well-formed, and when its account says that
// no value changed, none did. The options come first, the file behind them.
#include <algorithm>

#include "btf/diff.h"
#include "well_formed.h"

namespace fuzz {
namespace {

struct Request {
  btf::ConvertOptions options;
  std::string name = "x.btf";
  bool random_access = true;
  bool compress = false;  // once more, compressed
};

btf::Quantization quantization(Input& input) {
  btf::Quantization result;
  switch (input.below(5)) {
    case 0:
      result.scale = 0.03125 * double(input.byte());
      break;
    case 1:
      result.automatic = true;
      break;
    case 2:
      result.automatic = true;
      result.axis = static_cast<std::uint32_t>(input.below(4));
      break;
    case 3:
      result.block = input.row(btf::block_formats()).format;
      break;
    default:
      result.dequantize = true;
  }
  if (input.rarely(3)) result.zero_point = static_cast<std::int8_t>(input.byte());
  return result;
}

// From -4 to 5, most of them small.
std::int64_t small(Input& input) { return static_cast<std::int64_t>(input.below(10)) - 4; }

std::optional<std::int64_t> bound(Input& input) {
  return input.flag() ? std::optional(small(input)) : std::nullopt;
}

btf::Edit edit(Input& input) {
  const std::uint64_t kind = input.below(6);
  const std::uint64_t count = input.below(6);
  if (kind == 0) {
    btf::Slice slice;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::int64_t step = small(input);
      if (step == 0)
        slice.parts.emplace_back(small(input));
      else
        slice.parts.emplace_back(btf::SliceRange{bound(input), bound(input), step});
    }
    return slice;
  }
  if (kind == 1) return btf::Squeeze{};
  if (kind == 2) return btf::Unsqueeze{small(input)};
  if (kind == 3) {
    btf::Reshape reshape;
    for (std::uint64_t i = 0; i < count; ++i)
      reshape.dims.push_back(std::max<std::int64_t>(small(input), -1));
    return reshape;
  }
  btf::Permute permute;
  for (std::uint64_t i = 0; i < count; ++i)
    permute.order.push_back(static_cast<std::uint32_t>(input.below(6)));
  return permute;
}

// 24 bytes at most, so that the file begins at the same place whatever they say.
Request request(BytesView bytes) {
  Input input(bytes);
  Request result;
  btf::ConvertOptions& options = result.options;
  const std::uint64_t flags = input.byte();
  if (flags & 1) options.dtype = input.row(btf::dtypes()).dtype;
  if (flags & 2) options.layout = input.row(btf::layouts()).layout;
  options.prune_zeros = (flags & 4) != 0;
  options.where_possible = (flags & 8) != 0;
  options.as_uint = (flags & 16) != 0;
  result.random_access = (flags & 32) == 0;
  if (flags & 64) options.duplicates = static_cast<btf::Duplicates>(input.below(4));
  if (flags & 128) options.shuffle = input.flag();
  const std::uint64_t more = input.byte();
  options.plain = (more & 7) == 1;
  if (more & 8) {
    options.policy.overflow = static_cast<btf::Overflow>(input.below(4));
    options.policy.rounding = static_cast<btf::Rounding>(input.below(5));
    options.policy.lossless = input.rarely(8);
  }
  if (more & 16) options.coo_code = btf::kCooCodeTfrt;
  if ((more & 0x60) == 0x60) options.quantization = quantization(input);
  if ((more & 0x80) != 0) {
    options.tensors.emplace();
    const std::uint64_t count = input.below(3);
    for (std::uint64_t i = 0; i <= count; ++i) options.tensors->push_back(input.below(5));
  }
  switch (input.below(8)) {
    case 1:
      result.name = "x.npy";
      break;
    case 2:
      result.name = "x.raw";
      break;
    default:
      break;
  }
  if (input.rarely(4)) {
    const std::uint64_t count = input.below(3);
    for (std::uint64_t i = 0; i <= count; ++i) options.edits.push_back(edit(input));
  }
  result.compress = input.rarely(16);
  return result;
}

// The tensors of both files one by one, where the account says that they are the same.
void check_unchanged(const btf::TensorFile& input, const Converted& output,
                     const btf::ConvertOptions& options, const btf::OpenOptions& as_written) {
  if (options.plain || !options.edits.empty() || options.quantization.active()) return;
  if (options.duplicates != btf::Duplicates::error) return;
  const auto written = open(output.bytes, as_written);
  if (!written) broken("the output cannot be opened: " + written.error().message);
  for (const btf::TensorReport& report : output.reports) {
    if (report.loss.changed() != 0 || report.target_dims != report.source_dims) continue;
    if (std::ranges::find(report.target_dims, 0U) != report.target_dims.end()) continue;
    btf::DiffOptions compare{.actual_tensors = {{report.target}},
                             .golden_tensors = {{report.source}},
                             .details = false,
                             .hints = false,
                             .execution = alone()};
    const auto same = btf::diff(*written, input, compare, [](const btf::TensorDiff&) {});
    if (!same) broken("the output cannot be compared: " + same.error().message);
    require(*same, "no loss was told, and values differ");
  }
}

void check_compressed(const btf::TensorFile& input, const Request& wanted, const Bytes& plain) {
  btf::ConvertOptions options = wanted.options;
  options.compression = btf::kMinCompression;
  const Converted packed =
      fuzz::convert(input, wanted.name + ".zst", options, wanted.random_access);
  if (!packed.status) broken("it cannot be compressed: " + packed.status.error().message);
  const auto unpacked = content(packed.bytes);
  if (!unpacked) broken("what was compressed cannot be read: " + unpacked.error().message);
  require(*unpacked == plain, "compressed it has other content");
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  constexpr std::size_t kOptions = 24;
  if (size < kOptions) return 0;
  const Request wanted = request(view(data, kOptions));
  const auto input = open(view(data, size).subspan(kOptions));
  if (!input) return 0;
  const Converted output = fuzz::convert(*input, wanted.name, wanted.options, wanted.random_access);
  if (!output.status) {
    require(!output.status.error().message.empty(), "an error says nothing");
    return 0;
  }
  if (wanted.compress) check_compressed(*input, wanted, output.bytes);
  btf::OpenOptions as_written;
  if (wanted.name == "x.raw") {
    require(output.reports.size() == 1, "raw bytes of several tensors");
    const btf::TensorReport& report = output.reports.front();
    const auto storage =
        btf::resolve(report.target_layout, report.target_dims, report.target_dtype);
    if (!storage) broken("raw bytes of a layout that cannot be: " + storage.error().message);
    as_written.spec = btf::TensorSpec{report.target_dtype, report.target_layout, *storage};
  } else if (wanted.name == "x.npy" && wanted.options.as_uint) {
    return 0;  // what it holds is not said in it
  } else if (wanted.name == "x.npy") {
    as_written.spec = btf::TensorSpec{.dtype = output.reports.front().target_dtype, .storage = {}};
  }
  check_canonical(output.bytes, as_written);
  check_unchanged(*input, output, wanted.options, as_written);
  return 0;
}
