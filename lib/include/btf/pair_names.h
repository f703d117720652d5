// Pairs of tensors of two sides by their names (docs/layers.md, section 2).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"

namespace btf {

enum class PairBy : std::uint8_t {
  automatic,  // by name if both sides have names, else by number
  name,       // equal names; if no name is on both sides, also the tiers below
  number,     // position in the file
  exact,      // equal names only
};

BTF_API std::span<const Named<PairBy>> pair_by_names();

// The rule by which two names were matched, from the most to the least certain (docs/layers.md,
// section 2).
enum class PairTier : std::uint8_t {
  map,        // a line of a name map
  exact,      // equal names
  qdq,        // the tensor that a quantised model computes with instead, as ONNX Runtime names it
  prefix,     // equal without a prefix that all names of one side have
  stem,       // equal without what programs add to a name
  sanitised,  // equal after replacing characters that file names cannot hold
  module,     // equal paths of modules
  tail,       // equal ends of the names
  // The last two are for two files whose names have nothing in common, and not for layers.
  only,   // each file has one tensor
  order,  // one side has the names arr_0, arr_1, ... that NumPy gives unnamed arrays
};

BTF_API std::span<const Named<PairTier>> pair_tier_names();

// A tensor of a quantised model that is not compared, because another form of it is: the tensor
// before QuantizeLinear, its codes, or the output of a further DequantizeLinear.
struct BesideName {
  std::string name;
  std::string compared;  // the form that is compared, on the same side
};

// Names that match in more than one way, and are therefore not paired.
struct Ambiguity {
  std::vector<std::string> actual;
  std::vector<std::string> golden;
  PairTier tier{};
};

// A line of a name map.
struct NameRule {
  std::string actual;
  std::string golden;
  std::uint64_t line = 0;  // from 1

  bool operator==(const NameRule&) const = default;
};

// Pairs of names that the user gives.
struct NameMap {
  std::vector<NameRule> names{};     // literal names
  std::vector<NameRule> patterns{};  // a regular expression for actual's name, and its replacement

  bool empty() const { return names.empty() && patterns.empty(); }
};

// Parses lines of the form ACTUAL<tab>GOLDEN or /REGEX/REPLACEMENT/. Empty lines and lines that
// begin with # are ignored. An error if a line is malformed, or if a name occurs twice on one side.
BTF_API Result<NameMap> parse_name_map(std::string_view text);

// Which lines of a map paired something.
struct MapUse {
  bool used = false;                  // at least one line did
  std::vector<std::string> unused{};  // lines that paired nothing, with the reason
};

// The error of a map of which no line paired anything. `path` is the path of the map.
BTF_API Error no_use(const MapUse& use, const std::string& path);

}  // namespace btf
