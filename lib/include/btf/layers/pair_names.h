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

// How tensors become pairs. Automatic: by their names where both sides name some, else their order;
// where names make them and no name is on both sides, the tiers. Exact: without tiers.
enum class PairBy : std::uint8_t { automatic, name, number, exact };

BTF_API std::span<const Named<PairBy>> pair_by_names();

// How a pair was found, from the surest on.
enum class PairTier : std::uint8_t {
  map,
  exact,
  qdq,     // what a quantised model computes with in place of a tensor, as ONNX Runtime names it
  prefix,  // without a prefix that all names of one side have
  stem,    // without what programs add to a name
  sanitised,
  module,
  tail,
  // For two files whose names have nothing in common; layers has none of these.
  only,   // each has one tensor
  order,  // names of one side are arr_0, arr_1, as NumPy names unnamed arrays
};

BTF_API std::span<const Named<PairTier>> pair_tier_names();

// A tensor that has no pair, since another form of it has the pair: in a quantised model the number
// before QuantizeLinear, its codes, and what further DequantizeLinear make of these.
struct BesideName {
  std::string name;
  std::string compared;  // the other form, on the same side
};

// Names of which more than one pair could be made.
struct Ambiguity {
  std::vector<std::string> actual;
  std::vector<std::string> golden;
  PairTier tier{};
};

// A line of a map.
struct NameRule {
  std::string actual;
  std::string golden;
  std::uint64_t line = 0;  // from 1

  bool operator==(const NameRule&) const = default;
};

// Pairs of names: literal, or a regular expression for actual's and its replacement
// of a name.
struct NameMap {
  std::vector<NameRule> names{};
  std::vector<NameRule> patterns{};

  bool empty() const { return names.empty() && patterns.empty(); }
};

// Lines of ACTUAL<tab>GOLDEN or /REGEX/REPLACEMENT/; empty ones and those that begin with # are
// passed over. A name of one side twice is an error.
BTF_API Result<NameMap> parse_name_map(std::string_view text);

// The use that was made of a map.
struct MapUse {
  bool used = false;                  // a line of it pairs something
  std::vector<std::string> unused{};  // lines that pair nothing, with the reason
};

// The error of a map of which no line pairs anything; `path` is its own.
BTF_API Error no_use(const MapUse& use, const std::string& path);

}  // namespace btf
