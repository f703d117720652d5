// Formats in TensorRT's verbose logs: "Half(160000,1:8,1600,8)".
#include <algorithm>
#include <numeric>
#include <utility>

#include "btf/tensorrt/format.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/numbers.h"
#include "core/strided.h"

namespace btf {
namespace {

std::unexpected<Error> wrong(std::string_view text, const std::string& what) {
  return fail(ErrorCode::invalid_argument, "'" + std::string(text) + "': " + what);
}

// How many steps a stride is taken for; with one of them it is said of nothing.
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

// The layout that has these strides on these dims. Rows come in the order of their codes, kLINEAR
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
      return fail(ErrorCode::invalid_argument,
                  "a stride of " + std::to_string(format.strides[d]) + " vectors of " +
                      std::to_string(format.components) + " elements does not fit 64 bits");
    const bool vectors = format.vector_dim == d && format.components > 1;
    axes.push_back({extent(format, dims, d), *stride, d,
                    vectors ? AxisPart::blocks : AxisPart::whole});
    if (vectors) axes.push_back({format.components, 1, d, AxisPart::lanes});
  }
  return strided(Dims(dims.begin(), dims.end()), std::move(axes), format.dtype);
}

// The dims that the strides say, in vectors, from the innermost out; 1 where they say nothing.
// Nothing: rows are padded, so that they say none.
std::optional<std::pair<Dims, std::uint32_t>> said_dims(const LoggedFormat& format) {
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
                             "' (that of a dynamic shape is known when it runs)");
    format.strides.push_back(*stride);
    if (format.strides.size() > kMaxRank)
      return wrong(text, "there are at most " + std::to_string(kMaxRank) + " dims");
    if (end == list.npos) return format;
    list.remove_prefix(end + 1);
  }
}

Result<LoggedStorage> resolve(const LoggedFormat& format, std::span<const std::uint64_t> dims) {
  if (dims.size() != format.strides.size())
    return fail(ErrorCode::invalid_argument,
                "there are " + std::to_string(format.strides.size()) + " strides, and " +
                    std::to_string(dims.size()) + " dims in " + dims_text(dims));
  if (auto found = named(format, dims)) return *std::move(found);
  BTF_ASSIGN(StridedLayout storage, by_strides(format, dims));
  return LoggedStorage{std::nullopt, std::move(storage)};
}

std::vector<LoggedShape> shapes_of(const LoggedFormat& format) {
  const auto said = said_dims(format);
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

}  // namespace btf
