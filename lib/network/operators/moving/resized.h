// A tensor whose elements stand between those of another: what Resize and Upsample make.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "network/operators/operator.h"

namespace btf::network {

enum class ResizeMode : std::uint8_t { nearest, linear, cubic };

// One dim: from an output's index to a place in the input.
struct ResizeAxis {
  double input = 1;
  double output = 1;   // as a whole number
  double resized = 1;  // before it was cut to one
  double scale = 1;
  double begin = 0;  // of the region of interest, relative
  double end = 1;
  bool same = true;  // nothing is resized
};

// The place of an output, in elements of the input.
using Place = double (*)(double x, const ResizeAxis& axis, double length);

// How far a device may be off that computes it in float32.
enum class PlaceError : std::uint8_t {
  by_place,  // it grows with the place
  by_input,  // and with the input, as parts of it do
  by_scale,  // by place, and not at all if the scale is a power of two
  quotient,  // that of one quotient
};

struct PlaceRow {
  std::string_view name;
  PlaceError error{};
  Place place = nullptr;
};

// nullptr: there is no such mode.
const PlaceRow* find_place(std::string_view name);

using Round = double (*)(double);

// The function of a nearest_mode; nullptr: there is no such mode.
Round find_round(std::string_view name);

struct ResizeForm {
  ResizeMode mode = ResizeMode::nearest;
  const PlaceRow* place = nullptr;
  Round round = nullptr;
  double cubic = -0.75;
  bool excludes_outside = false;
  double outside = 0;  // where a region of interest reaches beyond the input
};

// With an axis for each dim. The form's place and rounding are there.
std::unique_ptr<Operator> make_resized(Tensor& x, Dims dims, const ResizeForm& form,
                                       std::vector<ResizeAxis> axes, const Arithmetic& arithmetic);

}  // namespace btf::network
