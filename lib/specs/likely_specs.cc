// Specs from sentences of TensorRT's logs, and specs that a size allows.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "btf/layout.h"
#include "btf/tensor_spec.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/layout.h"
#include "core/names.h"
#include "core/numbers.h"

namespace btf {
namespace {

constexpr std::string_view kType = "TYPE";
constexpr std::string_view kThreeDims = "with 3 spatial dimensions";

struct SentenceRow {
  std::string_view text;  // TYPE stands for a dtype
  Layout layout = Layout::linear;
  std::uint8_t lanes = 0;  // TensorRtFormat::lanes
  std::uint32_t row_pitch = 1;
};

// clang-format off: a row a line
using enum Layout;
constexpr auto kSentences = std::to_array<SentenceRow>({
  {"Row major linear TYPE format", linear},
  {"Row major TYPE format", linear},
  {"Two wide channel vectorized row major TYPE format", chw2},
  {"Four wide channel vectorized row major TYPE format", chw4},
  {"Sixteen wide channel vectorized row major TYPE format", chw16},
  {"Thirty-two wide channel vectorized row major TYPE format", chw32},
  {"Thirty-two wide channel vectorized row major TYPE format with 3 spatial dimensions", cdhw32},
  {"Channel major TYPE format where channel % 8 == 0", hwc8},
  {"Channel major TYPE format where channel % 8 == 0 with 3 spatial dimensions", dhwc8},
  {"Channel major TYPE format where channel % 16 == 0", hwc16},
  {"Channel major TYPE format", hwc},
  {"Channel major TYPE format with 3 spatial dimensions", dhwc},
  {"Channel major TYPE format where channel % 4 == 0", linear, 4},
  {"Channel major TYPE format where channel % 2 == 0", linear, 2},
  {"Channel major TYPE format where channel % 8 == 0 and H stride % 32 == 0", linear, 8, 32},
  {"Row major TYPE format where column stride % 64 == 0", dla_linear},
  {"Channel major TYPE format where channel == 4 and column stride % 32 == 0", dla_hwc4_xavier},
  {"Channel major TYPE format where channel == 1 and column stride % 32 == 0", dla_hwc4_xavier},
  {"Channel major TYPE format where column stride % 32 == 0", dla_hwc4_xavier},
});

// clang-format on

constexpr auto kSentenceTexts = [] {
  std::array<std::string_view, kSentences.size()> texts;
  std::ranges::transform(kSentences, texts.begin(), &SentenceRow::text);
  return texts;
}();

using SentenceWords = std::vector<std::string>;

// Lower-case words without the full stop. Words that sentences use in two forms are unified.
SentenceWords words_of(std::string_view text) {
  SentenceWords words;
  std::string word;
  const auto finish = [&] {
    if (word == "c") word = "channel";
    if (word == "h") word = "column";  // "H stride"
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t';
    const bool sign = c == '%' || c == '=';
    if (space || c == ',' || (sign != (!word.empty() && (word[0] == '%' || word[0] == '='))))
      finish();
    if (!space && c != ',') word += ascii_lower(c);
  }
  finish();
  return words;
}

// "H stride" counts elements and, on a DLA, "column stride" bytes; this distinguishes them.
std::string key_of(std::string_view text) {
  SentenceWords words = words_of(text);
  std::string key;
  const auto three = words_of(kThreeDims);
  const auto found = std::ranges::search(words, three);
  const bool has_three = !found.empty();
  words.erase(found.begin(), found.end());
  // Conditions may come in any order.
  std::vector<std::string> conditions;
  bool condition = false;
  for (const std::string& word : words) {
    if (word == "format") continue;  // some types have no such word after them
    if (word == "where" || word == "and") {
      condition = true;
      conditions.emplace_back();
    } else if (condition) {
      conditions.back() += word + ' ';
    } else {
      key += word + ' ';
    }
  }
  std::ranges::sort(conditions);
  for (const std::string& one : conditions) key += "where " + one;
  return has_three ? key + std::string(kThreeDims) : key;
}

// The text without the full stop and the enumerator.
struct Stripped {
  std::string_view text;
  std::string_view enumerator;
};

Stripped strip(std::string_view text) {
  const auto trim = [&] {
    while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.remove_suffix(1);
    while (text.starts_with(' ')) text.remove_prefix(1);
  };
  trim();
  Stripped stripped{text, {}};
  const std::size_t open = text.rfind("(k");
  if (!text.ends_with(')') || open == text.npos) return stripped;
  stripped.enumerator = text.substr(open + 1, text.size() - open - 2);
  text = text.substr(0, open);
  trim();
  stripped.text = text;
  return stripped;
}

// The word that is a type, and the text with TYPE in its place.
struct TypedText {
  std::optional<DType> dtype;
  std::string text;
};

TypedText typed(std::string_view text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (const auto dtype = parse_dtype(word); dtype && !word.empty())
      return {*dtype, std::string(text.substr(0, begin)) + std::string(kType) +
                          std::string(text.substr(end))};
    begin = end + 1;
  }
  return {std::nullopt, std::string(text)};
}

// The number of words that only one of the two has.
std::size_t words_apart(std::string_view a, std::string_view b) {
  SentenceWords left = words_of(a);
  SentenceWords right = words_of(b);
  std::ranges::sort(left);
  std::ranges::sort(right);
  std::vector<std::string> different;
  std::ranges::set_symmetric_difference(left, right, std::back_inserter(different));
  return different.size();
}

std::string with_type(std::string_view row, std::string_view type) {
  std::string text(row);
  return text.replace(text.find(kType), kType.size(), type);
}

std::unexpected<Error> unknown(std::string_view text, const TypedText& said) {
  const auto nearest = std::ranges::min_element(
      kSentences, {}, [&](const SentenceRow& row) { return words_apart(row.text, said.text); });
  const std::string type(said.dtype ? info(*said.dtype).name : "float16");
  return fail(ErrorCode::invalid_argument, "'" + std::string(text) +
                                               "' is not a known format of TensorRT; '" +
                                               with_type(nearest->text, type) + "' is the nearest");
}

// Strides in elements if channels are the last stored dim.
Result<StridedLayout> channels_last(const TensorRtFormat& format,
                                    std::span<const std::uint64_t> dims) {
  const auto rank = static_cast<std::uint32_t>(dims.size());
  if (rank < 3)
    return fail(ErrorCode::invalid_argument,
                "channels, rows and columns take 3 dims or more, found " + dims_text(dims));
  const std::uint32_t channel = rank - 3;
  std::vector<StorageAxis> axes(rank);
  axes[channel] = {dims[channel], 1, channel, AxisPart::whole};
  Checked stride = round_up(dims[channel], format.lanes);
  const auto place = [&](std::uint32_t d) {
    axes[d] = {dims[d], stride.value_or(0), d, AxisPart::whole};
    stride = checked_mul(stride, dims[d]);
  };
  place(rank - 1);
  if (stride) stride = round_up(*stride, format.row_pitch);
  for (std::uint32_t d = rank - 1; d-- > 0;)
    if (d != channel) place(d);
  if (!stride)
    return fail(ErrorCode::invalid_argument,
                "the size of dims " + dims_text(dims) + " does not fit 64 bits");
  return strided(Dims(dims.begin(), dims.end()), std::move(axes), format.dtype);
}

bool is_row(const SentenceRow& row, const TensorRtFormat& format) {
  return row.layout == format.layout && row.lanes == format.lanes &&
         row.row_pitch == format.row_pitch;
}

}  // namespace

bool is_format_sentence(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), ascii_lower);
  return lower.contains("row major") || lower.contains("channel major") ||
         lower.starts_with("unknown format") || lower.contains(" vectorized ");
}

Result<TensorRtFormat> parse_format_sentence(std::string_view text) {
  const Stripped said = strip(text);
  if (same_name(said.text, "unknown format"))
    return fail(ErrorCode::invalid_argument,
                "TensorRT only describes it as '" + std::string(text) + "'");
  // Tensors of a fused kernel only have a type.
  if (const auto dtype = parse_dtype(said.text)) return TensorRtFormat{.dtype = *dtype};
  const TypedText own = typed(said.text);
  const std::string key = key_of(own.text);
  const auto* const row = std::ranges::find_if(
      kSentences, [&](const SentenceRow& one) { return key_of(one.text) == key; });
  if (!own.dtype || row == kSentences.end()) return unknown(text, own);
  const TensorRtFormat format{*own.dtype, row->layout, row->lanes, row->row_pitch};
  if (!said.enumerator.empty() && format.lanes == 0) {
    const auto named = parse_layout(said.enumerator);
    if (!named || !same_name(spec(*named).name, spec(format.layout).name))
      return fail(ErrorCode::invalid_argument, "'" + std::string(text) +
                                                   "' says two things: its words are " +
                                                   std::string(spec(format.layout).name));
  }
  return format;
}

std::string format_sentence(const TensorRtFormat& format) {
  const auto* const row =
      std::ranges::find_if(kSentences, [&](const SentenceRow& one) { return is_row(one, format); });
  return row == kSentences.end() ? std::string() : with_type(row->text, info(format.dtype).name);
}

std::span<const std::string_view> format_sentences() { return kSentenceTexts; }

Result<StridedLayout> resolve(const TensorRtFormat& format, std::span<const std::uint64_t> dims) {
  return format.lanes == 0 ? resolve(format.layout, dims, format.dtype)
                           : channels_last(format, dims);
}

namespace {

// Formats in TensorRT's verbose logs: "Half(160000,1:8,1600,8)".

std::unexpected<Error> wrong(std::string_view text, const std::string& what) {
  return fail(ErrorCode::invalid_argument, "'" + std::string(text) + "': " + what);
}

// How often a stride is taken; if once, the stride does not matter.
std::uint64_t extent(const LoggedFormat& format, std::span<const std::uint64_t> dims,
                     std::uint32_t d) {
  return format.vector_dim == d ? ceil_div(dims[d], format.components) : dims[d];
}

bool has_strides(const StridedLayout& storage, const LoggedFormat& format) {
  const auto rank = static_cast<std::uint32_t>(format.strides.size());
  const int vector_dim = format.vector_dim ? static_cast<int>(*format.vector_dim) : -1;
  if (storage.components != format.components) return false;
  if (format.components > 1 && storage.vectorized_dim != vector_dim) return false;
  const Dims strides = tensorrt_strides(storage);
  for (std::uint32_t d = 0; d < rank; ++d)
    if (extent(format, storage.dims, d) > 1 && strides[d] != format.strides[d]) return false;
  return true;
}

// The layout that has these strides for these dims. The table is sorted by layout codes, kLINEAR
// first.
std::optional<LoggedStorage> named(const LoggedFormat& format,
                                   std::span<const std::uint64_t> dims) {
  for (const LayoutSpec& row : layouts()) {
    if (!row.dense() || row.shuffled()) continue;
    auto storage = resolve(row.layout, dims, format.dtype);
    if (storage && has_strides(*storage, format))
      return LoggedStorage{row.layout, *std::move(storage)};
  }
  return std::nullopt;
}

Result<StridedLayout> by_strides(const LoggedFormat& format, std::span<const std::uint64_t> dims) {
  std::vector<StorageAxis> axes;
  for (std::uint32_t d = 0; d < dims.size(); ++d) {
    const Checked stride = checked_mul(format.strides[d], format.components);
    if (!stride)
      return fail(ErrorCode::invalid_argument, "a stride of ", format.strides[d], " vectors of ",
                  format.components, " elements does not fit 64 bits");
    const bool vectors = format.vector_dim == d && format.components > 1;
    axes.push_back(
        {extent(format, dims, d), *stride, d, vectors ? AxisPart::blocks : AxisPart::whole});
    if (vectors) axes.push_back({format.components, 1, d, AxisPart::lanes});
  }
  return strided(Dims(dims.begin(), dims.end()), std::move(axes), format.dtype);
}

// The dims implied by the strides, in vectors, from the innermost out; 1 where strides do not tell.
// Unset if rows are padded, since then strides do not imply dims.
std::optional<std::pair<Dims, std::uint32_t>> implied_dims(const LoggedFormat& format) {
  const auto rank = static_cast<std::uint32_t>(format.strides.size());
  std::vector<std::uint32_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t d) { return format.strides[d]; });
  if (format.strides[order.front()] != 1) return std::nullopt;
  Dims dims(rank, 1);
  for (std::uint32_t at = 1; at < rank; ++at) {
    const std::uint64_t inner = format.strides[order[at - 1]];
    const std::uint64_t outer = format.strides[order[at]];
    if (inner == 0 || outer % inner != 0) return std::nullopt;
    dims[order[at - 1]] = outer / inner;
  }
  return std::pair(std::move(dims), order.back());
}

}  // namespace

bool is_logged_format(std::string_view text) {
  const std::size_t open = text.find('(');
  return open != text.npos && text.contains(')') && parse_dtype(text.substr(0, open)).has_value();
}

Result<LoggedFormat> parse_logged_format(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == text.npos || !text.ends_with(')'))
    return wrong(text, "a format of a log is TYPE(STRIDES), such as Half(160000,1:8,1600,8)");
  LoggedFormat format;
  BTF_ASSIGN(format.dtype, parse_dtype(text.substr(0, open)));
  std::string_view list = text.substr(open + 1, text.size() - open - 2);
  while (true) {
    const std::size_t end = list.find(',');
    std::string_view word = list.substr(0, end);
    if (const std::size_t mark = word.find(':'); mark != word.npos) {
      const auto components = parse_number<std::uint64_t>(word.substr(mark + 1));
      if (!components || *components == 0)
        return wrong(text, "'" + std::string(word) + "' is not STRIDE:ELEMENTS of a vector");
      if (format.vector_dim) return wrong(text, "two dims are vectorised");
      format.vector_dim = static_cast<std::uint32_t>(format.strides.size());
      format.components = *components;
      word = word.substr(0, mark);
    }
    const auto stride = parse_number<std::uint64_t>(word);
    if (!stride)
      return wrong(text, "a stride is a number, not '" + std::string(word) +
                             "' (strides of a dynamic shape are only known at run time)");
    format.strides.push_back(*stride);
    if (format.strides.size() > kMaxRank)
      return wrong(text, concat("there are at most ", kMaxRank, " dims"));
    if (end == list.npos) return format;
    list.remove_prefix(end + 1);
  }
}

Result<LoggedStorage> resolve(const LoggedFormat& format, std::span<const std::uint64_t> dims) {
  if (dims.size() != format.strides.size())
    return fail(ErrorCode::invalid_argument, "there are ", format.strides.size(), " strides, and ",
                dims.size(), " dims in ", dims_text(dims));
  if (auto found = named(format, dims)) return *std::move(found);
  BTF_ASSIGN(StridedLayout storage, by_strides(format, dims));
  return LoggedStorage{std::nullopt, std::move(storage)};
}

std::vector<LoggedShape> shapes_of(const LoggedFormat& format) {
  const auto said = implied_dims(format);
  if (!said) return {};
  auto [dims, unknown] = *said;
  if (format.vector_dim) {
    const Checked most = checked_mul(dims[*format.vector_dim], format.components);
    if (!most) return {};
    dims[*format.vector_dim] = *most;
  }
  std::vector<LoggedShape> shapes;
  for (const LayoutSpec& row : layouts()) {
    if (!row.dense() || row.shuffled()) continue;
    const auto storage = resolve(row.layout, dims, format.dtype);
    if (storage && has_strides(*storage, format)) shapes.push_back({row.layout, dims, unknown});
  }
  return shapes;
}

namespace {

// Preference among pairs of the same size; lower values are more usual.
enum class Usual : std::uint8_t { row_major, held_by_tensorrt, other };

Usual how_usual(const LayoutSpec& layout, DType dtype) {
  if (layout.layout == Layout::linear) return Usual::row_major;
  for (const TensorRtSupport& row : layout.tensorrt) {
    const auto held = std::span(row.dtypes).first(row.count);
    if (std::ranges::find(held, dtype) != held.end()) return Usual::held_by_tensorrt;
  }
  return Usual::other;
}

}  // namespace

std::vector<std::string> specs_of_size(std::span<const std::uint64_t> dims, std::uint64_t bytes,
                                       DType like, std::size_t most) {
  // Floats before integers; layouts by their codes, of which the lowest are the most usual.
  std::vector<const DTypeInfo*> types{&info(like)};
  for (const bool floating : {true, false})
    for (const DTypeInfo& row : dtypes())
      if (row.dtype != like && row.floating() == floating) types.push_back(&row);
  std::vector<std::string> specs;
  for (const Usual usual : {Usual::row_major, Usual::held_by_tensorrt, Usual::other})
    for (const LayoutSpec& layout : layouts())
      for (const DTypeInfo* const dtype : types) {
        if (!layout.dense() || layout.shuffled() || how_usual(layout, dtype->dtype) != usual)
          continue;
        const auto storage = resolve(layout.layout, dims, dtype->dtype);
        if (!storage || storage_bytes(*storage, dtype->dtype) != bytes) continue;
        if (specs.size() == most) return specs;
        specs.push_back(spec_text(dtype->dtype, layout.layout, dims));
      }
  return specs;
}

}  // namespace btf
