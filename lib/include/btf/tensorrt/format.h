// Formats in TensorRT's own words: the sentences of an engine's layer list, and the types and
// strides of verbose logs. docs/layouts.md lists both.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"

namespace btf {

// "Channel major FP16 format where channel % 8 == 0", or a bare type, "Half", which is row-major.
struct TensorRtFormat {
  DType dtype{};
  Layout layout = Layout::linear;
  // Where no layout is like it: channels last, their number rounded up to `lanes`, and rows that
  // begin at multiples of `row_pitch` elements. 0: `layout` says it.
  std::uint8_t lanes = 0;
  std::uint32_t row_pitch = 1;
};

// Has it the words that such sentences have, and no spec?
BTF_API bool is_format_sentence(std::string_view text);

// With or without the full stop and the enumerator, "(kLINEAR)", at the end. An error names the
// sentence that is nearest.
BTF_API Result<TensorRtFormat> parse_format_sentence(std::string_view text);

// The sentence as TensorRT has it.
BTF_API std::string format_sentence(const TensorRtFormat& format);

// All formats that have a sentence of their own.
BTF_API std::span<const std::string_view> format_sentences();

BTF_API Result<StridedLayout> resolve(const TensorRtFormat& format,
                                      std::span<const std::uint64_t> dims);

// "Half(160000,1:8,1600,8)": a stride for each dim, in vectors of as many elements as stand behind
// the stride of the dim that is vectorised.
struct LoggedFormat {
  DType dtype{};
  Dims strides;
  std::optional<std::uint32_t> vector_dim;
  std::uint64_t components = 1;  // of a vector
};

BTF_API bool is_logged_format(std::string_view text);
BTF_API Result<LoggedFormat> parse_logged_format(std::string_view text);

// The layout whose strides on these dims they are; nothing: of none.
struct LoggedStorage {
  std::optional<Layout> layout;
  StridedLayout storage;
};
BTF_API Result<LoggedStorage> resolve(const LoggedFormat& format,
                                      std::span<const std::uint64_t> dims);

// A layout that has these strides, with the dims that they say. The outermost one is not said, and
// of the vectorised one the strides only say how many vectors there are.
struct LoggedShape {
  Layout layout{};
  Dims dims;
  std::uint32_t unknown_dim = 0;
};
BTF_API std::vector<LoggedShape> shapes_of(const LoggedFormat& format);

}  // namespace btf
