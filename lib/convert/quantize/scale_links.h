// Which tensors of a file are the scales and zero points of which codes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "btf/attributes.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/quantize.h"
#include "convert/quantize/scales.h"
#include "kernels/scale/scaled_cast.h"

namespace btf {

// A name that several have is no one's.
using NamedTensors = std::unordered_map<std::string, std::optional<std::uint64_t>>;

void add_name(NamedTensors& names, const std::string& name, std::uint64_t index);

// A scale by its name, and another that has as good a name.
struct NamedScales {
  QuantizedBy by;
  std::optional<std::uint64_t> rival{};
};

// Tensors with the names of scales and zero points of these codes; nothing without a scale.
std::optional<NamedScales> scales_called_after(const NamedTensors& names, const std::string& codes);

// The kind of codes of this name and dtype that are known and cannot be decoded; empty for all
// others.
std::string_view undecoded_codes(const TensorInfo& codes);

// Does the name say that the tensor belongs to codes, so that it is none itself: a scale, a zero
// point, a shape, the order of groups?
bool is_called_part(std::string_view name);

// Why a tensor of this name is no scale of weights, though programs write it beside them: "a
// maximum, ..."; empty for all others.
std::string_view why_no_scale(std::string_view name);

// Scales that were given with a tensor, and not found in its file.

// Are they scales that this tensor of codes can have?
Status check_given_scale(const GivenScale& given, const TensorInfo& codes);

// Puts them into the scales of a plan.
void take_given_scale(const GivenScale& given, Scales& scales);

// Which quantisations mean nothing for a pair of dtypes, and what is said of them.

std::unexpected<Error> refuse_scaling(std::string message);

// Dense, and of a dtype that a scale can make numbers of?
bool holds_codes(const TensorInfo& record);

// Why these codes of the file cannot be scaled.
std::string no_scales_text(const TensorFile& file, const TensorInfo& codes);

bool is_integer(DType dtype);

// Is it one of this integer dtype's?
bool is_code(std::int64_t number, DType integer);

// The zero point that is given or to be found, as a code of the dtype `codes`.
Status check_zero_point(const Quantization& wanted, DType codes);

// Overflow and rounding of a cast with a scale.
Status check_scaled_policy(const ScaledCast& cast);

// Dtypes that quantising with a scale to be found, and dequantising, may give.
Status check_quantized_dtype(DType dtype);
Status check_dequantized_dtype(DType dtype);

// Which tensors of a file are the scales and zero points of which codes.

// By the file's own links first, then by names (docs/convert.md, section 3). The place in the file
// says it only where no tensor has a name.
class ScaleLinks {
 public:
  ScaleLinks() = default;
  // `attributes` are the file's.
  static ScaleLinks of(const TensorFile& file, const FileAttributes& attributes);

  // Nothing where none is known.
  const QuantizedBy* find(std::uint64_t codes) const;
  // An error if the file or its names give these codes two scales.
  Status check_clear(const TensorFile& file, std::uint64_t codes) const;

  bool any() const { return !links_.empty(); }
  // True if scales follow their codes, as in a file whose tensors have no names.
  bool by_place() const { return by_place_; }

  // Scales and zero points of codes of the file.
  const std::set<std::uint64_t>& companions() const { return companions_; }

  // Those of the file, of whatever, that it says to be scales and zero points.
  const std::set<std::uint64_t>& parts() const { return parts_; }

  // Is it a scale, a zero point or the like, whatever of, and so no codes?
  bool is_part(const TensorInfo& record) const;

 private:
  void link(std::uint64_t codes, const QuantizedBy& by);
  void link_by_names(const TensorFile& file);

  std::map<std::uint64_t, QuantizedBy> links_;     // by the index of the codes
  std::map<std::uint64_t, std::uint64_t> rivals_;  // likewise: another scale
  std::set<std::uint64_t> companions_;
  std::set<std::uint64_t> parts_;
  bool by_place_ = false;
};

// Tensors of the file that could be the scales of these codes, if anything said so; empty without
// any: "'a' (float32 [3]), 'b_amax' (float32 [], a maximum, not a scale: ...)".
std::string scale_candidates(const TensorFile& file, const TensorInfo& codes);

}  // namespace btf
