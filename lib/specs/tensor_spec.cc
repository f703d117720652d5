// Parses specs, as --input-spec takes them, and names of files that trtexec dumps.
#include "btf/tensor_spec.h"

#include <algorithm>
#include <array>
#include <vector>

#include "btf/layout.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/layout.h"
#include "core/names.h"
#include "core/numbers.h"

namespace btf {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::string_view kRawEnding = ".raw";
constexpr std::string_view kText = "text";

std::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::invalid_argument, what);
}

Words split(std::string_view text, std::string_view separators) {
  Words words;
  for (;;) {
    const std::size_t end = text.find_first_of(separators);
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

// Where NvMedia's metadata has the size and stride of each dim; index 0 is the innermost.
struct NvMediaOrder {
  std::string_view name;
  std::uint8_t count;
  std::array<std::uint8_t, 4> nchw;
  bool blocks;  // index 0 counts the channels of a block
};

constexpr auto kOrders = std::to_array<NvMediaOrder>({
    {"NHWC", 4, {3, 0, 2, 1}, false},
    {"NCHW", 4, {3, 2, 1, 0}, false},
    {"NCxHWx", 5, {4, 3, 2, 1}, true},
});

// "TensorFormat::kHWC8" without colons, since they separate the parts of a spec.
std::string with_dots(std::string_view text) {
  std::string dotted(text);
  for (std::size_t at = 0; (at = dotted.find("::", at)) != std::string::npos;)
    dotted.replace(at, 2, ".");
  return dotted;
}

class SpecParser {
 public:
  Result<TensorSpec> parse(std::string_view text) {
    if (is_logged_format(text)) return parse_words_of_tensorrt(text, text.rfind(')') + 1);
    if (is_format_sentence(text)) return parse_words_of_tensorrt(text, text.rfind(':'));
    const std::string owned = with_dots(text);
    const Words parts = split(owned, ":");
    spec_.as_text = parts.size() > 1 && same_name(parts.front(), kText);
    const auto said = std::span(parts).subspan(spec_.as_text ? 1 : 0);
    BTF_ASSIGN(spec_.dtype, parse_dtype(said.front()));
    for (const std::string_view part : said.subspan(1)) BTF_TRY(take(part));
    if (spec_.as_text && (order_ || channels_ || strides_ || layout_)) {
      return wrong("numbers in text are in row-major order; use text:TYPE:DIMS");
    } else if (order_) {
      BTF_TRY(finish_nvmedia());
    } else if (channels_) {
      return wrong("'c=' goes with nvmedia=NCxHWx");
    } else if (strides_) {
      BTF_TRY(finish_strides());
    } else if (dims_) {
      BTF_ASSIGN(spec_.storage, resolve(spec_.layout, *dims_, spec_.dtype));
    } else if (layout_) {
      return no_dims();
    }
    return std::move(spec_);
  }

 private:
  static std::unexpected<Error> no_dims() {
    return wrong("a layout without dims: TYPE:LAYOUT:DIMS is needed, as in fp16:hwc8:1x3x224x224");
  }

  // A sentence, or a format of a log, which ends at `end`; dims may follow.
  Result<TensorSpec> parse_words_of_tensorrt(std::string_view text, std::size_t end) {
    const std::string_view said = text.substr(0, end);
    const std::string_view rest = text.substr(std::min(end, text.size()));
    if (!rest.empty()) {
      const std::string_view dims = rest.substr(1);
      if (same_name(dims, "scalar"))
        dims_.emplace();
      else
        BTF_TRY(take_dims(dims));
    }
    if (is_logged_format(text)) {
      BTF_ASSIGN(const LoggedFormat format, parse_logged_format(said));
      if (!dims_) return wrong("strides need dims after them: " + std::string(said) + ":DIMS");
      BTF_ASSIGN(LoggedStorage found, btf::resolve(format, *dims_));
      spec_.dtype = format.dtype;
      spec_.layout = found.layout.value_or(Layout::linear);
      spec_.strided = !found.layout;
      spec_.storage = std::move(found.storage);
      return std::move(spec_);
    }
    BTF_ASSIGN(const TensorRtFormat format, parse_format_sentence(said));
    spec_.dtype = format.dtype;
    spec_.layout = format.layout;
    spec_.strided = format.lanes != 0;
    if (dims_) {
      BTF_ASSIGN(spec_.storage, btf::resolve(format, *dims_));
    } else if (spec_.strided || spec_.layout != Layout::linear) {
      return no_dims();
    }
    return std::move(spec_);
  }

  template <typename T, typename Value>
  Status set(std::optional<T>& target, Value&& value, const std::string& what) {
    if (target) return wrong(what + " twice");
    target = std::forward<Value>(value);
    return {};
  }

  Status take(std::string_view part) {
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos)
      return take_member(part.substr(0, equals), part.substr(equals + 1));
    if (same_name(part, "scalar")) return set(dims_, Dims{}, "dims");
    if (!part.empty() && part.front() >= '0' && part.front() <= '9') return take_dims(part);
    // As printed in lists of tensors.
    if (part.starts_with('[') && part.ends_with(']')) {
      std::string dims(part.substr(1, part.size() - 2));
      std::erase(dims, ' ');
      return dims.empty() ? set(dims_, Dims{}, "dims") : take_dims(dims);
    }
    if (layout_ == Layout::dla_hwc4 && (same_name(part, "xavier") || same_name(part, "orin"))) {
      if (same_name(part, "xavier")) spec_.layout = Layout::dla_hwc4_xavier;
      return {};
    }
    BTF_ASSIGN(const Layout layout, parse_layout(part));
    BTF_TRY(set(layout_, layout, "a layout"));
    if (!btf::spec(layout).dense()) return wrong("raw bytes hold no COO");
    if (btf::spec(layout).shuffled())
      return wrong("raw bytes hold no shuffled elements, only BTF does");
    spec_.layout = layout;
    return {};
  }

  Status take_dims(std::string_view part) {
    Dims dims;
    for (const std::string_view word : split(part, "xX,")) {
      const auto dim = parse_number<std::uint64_t>(word);
      if (!dim)
        return wrong("dims are numbers with x between them, not '" + std::string(part) + "'");
      dims.push_back(*dim);
    }
    if (dims.size() > kMaxRank) return wrong(concat("there are at most ", kMaxRank, " dims"));
    return set(dims_, std::move(dims), "dims");
  }

  Status take_member(std::string_view name, std::string_view value) {
    if (same_name(name, "strides")) return set(strides_, split(value, ","), "strides");
    if (same_name(name, "c")) {
      const auto channels = parse_number<std::uint64_t>(value);
      if (!channels) return wrong("c= takes a number, not '" + std::string(value) + "'");
      return set(channels_, *channels, "c=");
    }
    if (!same_name(name, "nvmedia"))
      return wrong("unknown '" + std::string(name) + "='; there are strides, nvmedia, c");
    const auto* order = std::ranges::find_if(
        kOrders, [&](const NvMediaOrder& row) { return same_name(row.name, value); });
    if (order == kOrders.end())
      return wrong("NvMedia's orders are " + name_list(kOrders) + ", not '" + std::string(value) +
                   "'");
    return set(order_, *order, "nvmedia");
  }

  // Strides in elements. `bytes`: numbers without a B are bytes.
  Result<Dims> strides(bool bytes) const {
    const std::uint64_t width = std::max<std::uint64_t>(info(spec_.dtype).bits / 8, 1);
    Dims result;
    for (std::string_view word : *strides_) {
      const bool suffix = word.ends_with('B') || word.ends_with('b');
      if (suffix) word.remove_suffix(1);
      const auto stride = parse_number<std::uint64_t>(word);
      if (!stride) return wrong("a stride is a number, not '" + std::string(word) + "'");
      const bool in_bytes = bytes || suffix;
      if (in_bytes && *stride % width != 0)
        return wrong(concat("a stride of ", *stride, " bytes is not a whole number of ", width,
                            "-byte elements"));
      result.push_back(in_bytes ? *stride / width : *stride);
    }
    return result;
  }

  Status check_strided() const {
    if (layout_ && *layout_ != Layout::linear)
      return wrong("strides and a layout exclude each other");
    if (!dims_) return wrong("strides need dims: TYPE:DIMS:strides=a,b,c,d");
    return {};
  }

  Status finish_strides() {
    BTF_TRY(check_strided());
    BTF_ASSIGN(const Dims steps, strides(false));
    if (steps.size() != dims_->size()) return wrong_number(dims_->size(), steps.size());
    std::vector<StorageAxis> axes;
    axes.reserve(steps.size());
    for (std::uint32_t d = 0; d < steps.size(); ++d)
      axes.push_back({(*dims_)[d], steps[d], d, AxisPart::whole});
    BTF_ASSIGN(spec_.storage, strided(*dims_, std::move(axes), spec_.dtype));
    spec_.strided = true;
    return {};
  }

  static std::unexpected<Error> wrong_number(std::size_t sizes, std::size_t strides) {
    return wrong(concat("there are ", sizes, " dims and ", strides, " strides"));
  }

  Status finish_nvmedia() {
    if (!strides_) return wrong("nvmedia needs strides: TYPE:SIZES:strides=a,b,c,d");
    BTF_TRY(check_strided());
    BTF_ASSIGN(const Dims steps, strides(true));
    const Dims& sizes = *dims_;
    if (sizes.size() != order_->count || steps.size() != order_->count)
      return wrong(concat("NvMedia's ", order_->name, " has ", order_->count,
                          " sizes and strides, found ", sizes.size(), " and ", steps.size()));
    Dims dims;
    std::vector<StorageAxis> axes;
    for (std::uint32_t d = 0; d < 4; ++d) {
      const std::uint8_t at = order_->nchw[d];
      dims.push_back(sizes[at]);
      axes.push_back({sizes[at], steps[at], d, AxisPart::whole});
    }
    if (order_->blocks) {
      BTF_ASSIGN(dims[1], channels(sizes));
      axes[1].part = AxisPart::blocks;
      axes.push_back({sizes[0], steps[0], 1, AxisPart::lanes});
    } else if (channels_) {
      return wrong("'c=' goes with nvmedia=NCxHWx");
    }
    BTF_ASSIGN(spec_.storage, strided(std::move(dims), std::move(axes), spec_.dtype));
    spec_.strided = true;
    return {};
  }

  Result<std::uint64_t> channels(const Dims& sizes) const {
    const std::uint64_t lanes = sizes[0];
    const std::uint64_t blocks = sizes[3];
    const Checked most = checked_mul(blocks, lanes);
    if (lanes == 0 || !most) return wrong("blocks of 0 channels, or more than fit 64 bits");
    if (!channels_) return *most;
    if (ceil_div(*channels_, lanes) != blocks)
      return wrong(concat(*channels_, " channels are ", ceil_div(*channels_, lanes), " blocks of ",
                          lanes, ", the sizes say ", blocks));
    return *channels_;
  }

  TensorSpec spec_;
  std::optional<Layout> layout_;
  std::optional<Dims> dims_;
  std::optional<Words> strides_;
  std::optional<std::uint64_t> channels_;
  std::optional<NvMediaOrder> order_;
};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// As in trtexec: fp16, int8.
std::string_view short_name(DType dtype) {
  const DTypeInfo& row = info(dtype);
  return row.floating() && !row.aliases.front().empty() ? row.aliases.front() : row.name;
}

std::string joined(std::span<const std::uint64_t> dims, char separator) {
  std::string text;
  for (const std::uint64_t dim : dims)
    text += concat(text.empty() ? "" : std::string(1, separator), dim);
  return text;
}

}  // namespace

Result<TensorSpec> parse_tensor_spec(std::string_view text) {
  auto spec = SpecParser().parse(text);
  if (!spec) return std::unexpected(spec.error().within("'" + std::string(text) + "'"));
  spec->text = text;
  return spec;
}

std::optional<TensorSpec> spec_without_dims(std::string_view text) {
  // All layouts accept these dims.
  auto found = parse_tensor_spec(std::string(text) + ":1x1x1x1");
  if (!found) return std::nullopt;
  found->storage.reset();
  found->text = text;
  return *std::move(found);
}

Result<TensorSpec> spec_with_dims(std::string_view text, std::span<const std::uint64_t> dims) {
  std::string with;
  for (const std::uint64_t dim : dims) with += concat(with.empty() ? ":" : "x", dim);
  return parse_tensor_spec(std::string(text) + (dims.empty() ? ":scalar" : with));
}

std::string spec_text(DType dtype, Layout layout, std::span<const std::uint64_t> dims) {
  const LayoutSpec& row = spec(layout);
  return std::string(short_name(dtype)) + ":" +
         (layout == Layout::linear ? "linear" : std::string(row.name)) +
         (row.dla == "xavier" ? ":xavier" : "") + ":" +
         (dims.empty() ? "scalar" : joined(dims, 'x'));
}

std::optional<DumpName> parse_dump_name(std::string_view path) {
  if (!path.ends_with(kRawEnding)) return std::nullopt;
  const std::string_view base = base_name(path);
  Words words = split(base, ".");
  if (words.size() < 4) return std::nullopt;
  words.pop_back();
  const auto dtype = parse_dtype(words.back());
  if (!dtype) return std::nullopt;
  words.pop_back();
  Dims dims;
  if (words.back().empty()) words.pop_back();  // rank 0
  while (!words.empty()) {
    const auto dim = parse_number<std::uint64_t>(words.back());
    if (!dim) break;
    dims.push_back(*dim);
    words.pop_back();
  }
  if (words.size() < 2 || (words.back() != "input" && words.back() != "output") ||
      dims.size() > kMaxRank)
    return std::nullopt;
  std::ranges::reverse(dims);
  words.pop_back();
  const std::string_view name = base.substr(
      0, static_cast<std::size_t>(words.back().data() + words.back().size() - base.data()));
  return DumpName{std::string(name), *dtype, std::move(dims)};
}

std::string dump_name(std::string_view path, DType dtype, std::span<const std::uint64_t> dims) {
  std::string_view stem = base_name(path);
  if (stem.ends_with(kRawEnding)) stem.remove_suffix(kRawEnding.size());
  return std::string(stem) + ".output." + joined(dims, '.') + "." + std::string(short_name(dtype)) +
         std::string(kRawEnding);
}

}  // namespace btf
