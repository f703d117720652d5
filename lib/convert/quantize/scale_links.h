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
#include "kernels/scale/scale.h"

namespace btf {

// Index by name; unset if several tensors have the name.
using NamedTensors = std::unordered_map<std::string, std::optional<std::uint64_t>>;

void add_name(NamedTensors& names, const std::string& name, std::uint64_t index);

// Scales identified by name, and another tensor whose name matches equally well.
struct NamedScales {
  QuantizedBy by;
  std::optional<std::uint64_t> rival{};
};

// The tensors named like scales and zero points of these codes; unset if there is no scale.
std::optional<NamedScales> scales_named_after(const NamedTensors& names, const std::string& codes);

// Describes codes of a known kind that cannot be decoded, recognised by name and dtype; empty for
// others.
std::string_view undecoded_codes(const TensorInfo& codes);

// Returns true if the name belongs to a companion of codes, as a scale, a zero point, a shape or
// the order of groups has.
bool is_companion_name(std::string_view name);

// Why a tensor of this name is not a scale of weights, although programs store it next to them: "a
// maximum, ..."; empty for other names.
std::string_view why_not_scale(std::string_view name);

// An error if the scales cannot belong to this tensor of codes.
Status check_given_scale(const GivenScale& given, const TensorInfo& codes);

// Copies given scales into a plan.
void apply_given_scale(const GivenScale& given, Scales& scales);

// Rules for which dtypes can be quantised, and their messages.

std::unexpected<Error> refuse_scaling(std::string message);

// Returns true for dense tensors whose dtype can be scaled.
bool holds_codes(const TensorInfo& record);

// Explains why these codes of the file cannot be scaled.
std::string no_scales_text(const TensorFile& file, const TensorInfo& codes);

bool is_integer(DType dtype);

// Returns true if the integer dtype can represent `number`.
bool is_code(std::int64_t number, DType integer);

// Checks that a zero point, given or automatic, is possible for the dtype `codes`.
Status check_zero_point(const Quantization& wanted, DType codes);

// Checks overflow and rounding of a cast with a scale.
Status check_scaled_policy(const ScaledCast& cast);

// Dtypes that quantising with an automatic scale, and dequantising, can produce.
Status check_quantized_dtype(DType dtype);
Status check_dequantized_dtype(DType dtype);

// Finds scales by the file's own links first, then by names (docs/convert.md, section 3). Position
// is used only if no tensor has a name.
class ScaleLinks {
 public:
  ScaleLinks() = default;
  // `attributes` must be those of the file.
  static ScaleLinks of(const TensorFile& file, const FileAttributes& attributes);

  // nullptr if none is known.
  const QuantizedBy* find(std::uint64_t codes) const;
  // An error if the file or its names give these codes two different scales.
  Status check_clear(const TensorFile& file, std::uint64_t codes) const;

  bool any() const { return !links_.empty(); }
  // True if scales follow their codes, as in a file whose tensors have no names.
  bool by_place() const { return by_place_; }

  // Scales and zero points of codes in the file.
  const std::set<std::uint64_t>& companions() const { return companions_; }

  // Tensors that the file says are scales or zero points, whatever they belong to.
  const std::set<std::uint64_t>& parts() const { return parts_; }

  // Returns true for a scale, a zero point or another companion, which is not codes itself.
  bool is_part(const TensorInfo& record) const;

 private:
  void link(std::uint64_t codes, const QuantizedBy& by);
  void link_by_names(const TensorFile& file);

  std::map<std::uint64_t, QuantizedBy> links_;     // by the index of the codes
  std::map<std::uint64_t, std::uint64_t> rivals_;  // another scale, by the index of the codes
  std::set<std::uint64_t> companions_;
  std::set<std::uint64_t> parts_;
  bool by_place_ = false;
};

// Lists the tensors of the file that could be the scales of these codes: "'a' (float32 [3]),
// 'b_amax' (float32 [], a maximum, not a scale: ...)". Empty if there is none.
std::string scale_candidates(const TensorFile& file, const TensorInfo& codes);

}  // namespace btf
