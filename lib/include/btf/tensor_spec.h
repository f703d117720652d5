// Specs: dtype, layout and dims of bytes that do not hold them.
#pragma once

#include <cstddef>
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

struct TensorSpec {
  DType dtype{};
  Layout layout = Layout::linear;        // strides of one's own count as kLINEAR
  std::optional<StridedLayout> storage;  // nothing: the spec is a dtype only
  bool strided = false;                  // by strides and not by a layout's name
  std::string text{};                    // as it was written
  bool as_text = false;                  // decimal numbers, not bytes of elements
};

// A spec for the files, or the tensors of an archive, whose names a glob matches.
struct NamedSpec {
  std::string glob;
  TensorSpec spec;
};

// "fp16:hwc8:1x3x224x224": dtype, layout (kLINEAR may be left out) and logical dims; "scalar" for
// none. "kDLA_HWC4:xavier" is the layout with Xavier's rows.
// "fp16:1x3x4x5:strides=96,32,8,1": elements, or bytes with a B behind the number.
// "fp16:5x4x3x1:strides=2,16,64,192:nvmedia=NCHW": sizes and strides in bytes, innermost first, as
// NvMedia's tensor metadata has them; NCxHWx has five of each, and ":c=3" says how many channels
// there are where they do not fill the last block.
// "bf16": the dtype only.
// "Channel major FP16 format where channel % 8 == 0:1x3x224x224", "Half(1,1:8,2,1):1x3x2x2":
// TensorRT's own words (btf/tensorrt/format.h).
// "text:fp32:1x3x224x224": numbers in text, in row-major order; without dims as many as there are.
BTF_API Result<TensorSpec> parse_tensor_spec(std::string_view text);

// The parts of a spec without dims; nothing: it has dims, or is wrong.
BTF_API std::optional<TensorSpec> spec_without_dims(std::string_view text);
// The same spec with dims.
BTF_API Result<TensorSpec> spec_with_dims(std::string_view text, std::span<const std::uint64_t> dims);

// The same language: "fp16:hwc8:1x3x224x224".
BTF_API std::string spec_text(DType dtype, Layout layout, std::span<const std::uint64_t> dims);

// Specs of tensors with these dims and this size in bytes, the usual ones first, at most `most`.
// `like`: the dtype that is the first to try.
BTF_API std::vector<std::string> specs_of_size(std::span<const std::uint64_t> dims,
                                               std::uint64_t bytes, DType like, std::size_t most);

// The parts of the name of a file dumped by trtexec, NAME.input|output.D0.D1.(..).TYPE.raw; nothing
// for other names. The layout is not among them.
struct DumpName {
  std::string name;
  DType dtype{};
  Dims dims;
};
BTF_API std::optional<DumpName> parse_dump_name(std::string_view path);

// "x.raw" -> "x.output.1.3.224.224.fp16.raw"
BTF_API std::string dump_name(std::string_view path, DType dtype,
                              std::span<const std::uint64_t> dims);

}  // namespace btf
