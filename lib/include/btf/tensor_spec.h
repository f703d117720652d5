// Specs: texts that give the dtype, layout and dims of bytes that do not describe themselves.
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
  Layout layout = Layout::linear;        // kLINEAR also if the spec gives strides
  std::optional<StridedLayout> storage;  // unset if the spec is a dtype alone
  bool strided = false;                  // the spec gives strides and not a layout
  std::string text{};                    // the spec as written
  bool as_text = false;                  // the file holds decimal numbers in text
};

// A spec for the files, or the tensors in a file, whose names a glob matches.
struct NamedSpec {
  std::string glob;
  TensorSpec spec;
};

// Parses a spec. The forms are (docs/formats.md, section 2.1):
// "fp16:hwc8:1x3x224x224": dtype, layout (kLINEAR may be left out) and logical dims ("scalar" for
// rank 0). "kDLA_HWC4:xavier" is the layout with the pitch of Xavier.
// "fp16:1x3x4x5:strides=96,32,8,1": strides in elements, or in bytes with a B after the number.
// "fp16:5x4x3x1:strides=2,16,64,192:nvmedia=NCHW": sizes and strides in bytes, innermost first, as
// NvMedia's tensor metadata has them. NCxHWx has five of each, and ":c=3" gives the number of
// channels if they do not fill the last block. "bf16": the dtype alone. "Channel major FP16 format
// where channel % 8 == 0:1x3x224x224", "Half(1,1:8,2,1):1x3x2x2": TensorRT's own descriptions
// (btf/tensorrt.h). "text:fp32:1x3x224x224": decimal numbers in row-major order; without dims, all
// that there are.
BTF_API Result<TensorSpec> parse_tensor_spec(std::string_view text);

// Parses a spec that has no dims. Unset if it has dims or is malformed.
BTF_API std::optional<TensorSpec> spec_without_dims(std::string_view text);
// The same spec with dims.
BTF_API Result<TensorSpec> spec_with_dims(std::string_view text,
                                          std::span<const std::uint64_t> dims);

// Writes a spec: "fp16:hwc8:1x3x224x224".
BTF_API std::string spec_text(DType dtype, Layout layout, std::span<const std::uint64_t> dims);

// Specs that give tensors with these dims this size in bytes: at most `most`, the most likely ones
// first. `like` is the dtype to try first.
BTF_API std::vector<std::string> specs_of_size(std::span<const std::uint64_t> dims,
                                               std::uint64_t bytes, DType like, std::size_t most);

// What the name of a file dumped by trtexec says: NAME.input|output.D0.D1.(..).TYPE.raw. Unset for
// other names. The name does not say the layout.
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
