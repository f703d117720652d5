// Elements of a layer that were recomputed from its own inputs, by the model and its weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "btf/layout.h"

namespace btf {

enum class SpotState : std::uint8_t {
  unchecked,  // `why` says why not
  follows,    // every element is what its inputs give: the layer is right, whatever they are
  coarser,    // computed with fewer bits than others of its kind: spread as rounding is, and small
  rounded,    // what is computed from it took finer numbers than were dumped
  off,        // elements are not: the layer computed something else, or its dump is wrong
  used,       // likewise, and what is computed from the layer was computed from this dump
  unused,     // what is computed from the layer was computed from other numbers: its dump is wrong
};

// One of the elements that do not follow: the one that is furthest off.
struct SpotElement {
  Dims index{};
  double actual = 0;
  double golden = 0;
  double recomputed = 0;  // from actual's inputs
  double explained = 0;   // how far rounding may take it from that
};

struct SpotCheck {
  SpotState state = SpotState::unchecked;
  std::uint64_t checked = 0;  // elements of actual
  std::uint64_t off = 0;      // of these
  std::uint64_t overflowed =
      0;  // Inf of these, where their inputs give a number: the type is small
  std::uint64_t golden_checked = 0;
  std::uint64_t golden_off = 0;
  std::string precision{};  // of the arithmetic that they are judged by: "float16"
  // What the layer adds to what its own inputs give: norm(actual - recomputed) / norm(recomputed),
  // over the elements of the sample.
  std::optional<double> own_error{};
  // The same of others of its kind in this run: of four in five it is no larger. Nothing: there is
  // none.
  std::optional<double> usual_error{};
  // Of a coarser layer: what it adds to the error of the outputs, if errors add up as independent
  // ones do.
  std::optional<double> adds{};
  std::string where{};  // what is off is: "dim 1 = 5", "spread"; empty: nothing is
  std::string holds{};  // the layer whose numbers it has in place of its own
  std::optional<SpotElement> element{};
  std::string why{};
};

}  // namespace btf
