// Different programs' names of one tensor, reduced to common keys. Two names match at a tier if
// their keys there are equal and unique on both sides.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/pair_names.h"
#include "sets/names/match.h"

namespace btf {

struct NamePair {
  std::optional<std::uint64_t> left{};
  std::optional<std::uint64_t> right{};
  std::optional<PairTier> tier{};  // unset if the names are equal or one of them has no partner
  std::string note{};              // for a name without a partner: which name could be meant
};

struct NamePairing {
  std::vector<NamePair> pairs;  // all left names, then unpaired right ones
  MapUse map;
};

// Pairs all names of both sides, or all that remain besides those that are `equal`.
NamePairing pair_lists(std::span<const std::string> left, std::span<const std::string> right,
                       const NameMap& map, const MayMatch& may,
                       std::span<const std::string> equal = {});

// Returns true if the note says that another form of the tensor is compared instead.
bool is_substituted(const std::string& note);

// Close names on the other side for names without a pair: a note for each name of the left list,
// then of the right one; empty if nothing is close.
std::vector<std::string> close_names(std::span<const std::string> left,
                                     std::span<const std::string> right);

// The parts that keys are made of.
struct NameForms {
  std::string_view name;
  std::string stem{};    // stem_of()
  std::string module{};  // module_path()
  std::string op{};
};

NameForms forms_of(std::string_view name);

// How names become keys at a tier. An empty key means that the name has none.
struct TierRow {
  PairTier tier{};
  std::string (*key)(const NameForms& name) = nullptr;
};

// In the order in which they are tried; rows of one tier are adjacent.
std::span<const TierRow> tier_rows();

// A name from a file name: btftool writes %2f and the like for characters that file names cannot
// have.
std::string percent_decoded(std::string_view name);

// The name without what dumping programs add around it.
std::string stem_of(std::string_view name);

// The form of a name in file names: an underscore for everything that is not a letter or digit, but
// none at the beginning.
std::string sanitised_name(std::string_view name);

// The module path of a name without what exporters add: "layer1.0.conv1" for
// /layer1/layer1.0/conv1/Conv_output_0. `op` receives the ONNX operator at its end, here "Conv".
std::string module_path(std::string_view name, std::string* op = nullptr);

// The keys used to look for a prefix that all names of one side share.
using NameKey = std::string (*)(std::string_view name);
std::span<const NameKey> prefix_keys();

// How trtexec shortened a name to "begin...end": the number of bytes kept of both.
using NameCut = std::pair<std::size_t, std::size_t>;

// The cut of a name without prefix and suffix; unset if it is not cut.
std::optional<NameCut> cut_of(std::string_view name);

// How a tensor of ONNX Runtime's quantised models relates to the tensor X of the float model.
// Preferred forms for a comparison come first.
enum class QdqForm : std::uint8_t {
  dequantised,        // X_DequantizeLinear_Output: used in computations instead of X
  dequantised_again,  // X_DequantizeLinear_Output_1: the same for one of several consumers
  plain,              // X: the input of quantisation, or before an output the dequantised result
  before,             // X_QuantizeLinear_Input
  weight,             // X_quantized: codes
  codes,              // X_QuantizeLinear_Output
};

struct QdqName {
  std::string base;  // X
  QdqForm form = QdqForm::plain;
};

QdqName qdq_name(std::string_view name);

// The key shared by a cut name and the whole one. Empty if the whole name is shorter than the cut.
std::string cut_key(std::string_view name, const NameCut& cut);

// The order that a name begins with: 12 for "0012_conv". Unset if there is none.
std::optional<std::uint64_t> leading_number(std::string_view name);

}  // namespace btf
