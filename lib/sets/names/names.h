// Names of one tensor in different programs, brought to one key. Two names belong together at a
// tier if their keys there are equal and unique on both sides.
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
  std::optional<PairTier> tier{};  // nothing: the names are equal, or one of them is alone
  std::string note{};              // of one that is alone: which could be meant
};

struct NamePairing {
  std::vector<NamePair> pairs;  // by left; then what only the right list has. Each name once
  MapUse map;
};

// Pairs all names of both sides, or all that are left of them besides those that are `equal`.
NamePairing pair_lists(std::span<const std::string> left, std::span<const std::string> right,
                       const NameMap& map, const MayMatch& may,
                       std::span<const std::string> equal = {});

// Does the note say that another form of the tensor is compared in its place?
bool is_beside(const std::string& note);

// Close names of the other side for names without a pair: a note for each of the left list, then of
// the right one. Empty: nothing is close.
std::vector<std::string> close_names(std::span<const std::string> left,
                                     std::span<const std::string> right);

// Names of one tensor in different programs, brought to one key. Two names belong together at a
// tier if their keys there are equal and unique on both sides.

// The parts that keys are made of.
struct NameForms {
  std::string_view name;
  std::string stem{};    // stem_of()
  std::string module{};  // module_path()
  std::string op{};
};

NameForms forms_of(std::string_view name);

// The key of a name at a tier that names decide. Empty: it has none there.
struct TierRow {
  PairTier tier{};
  std::string (*key)(const NameForms& name) = nullptr;
};

// In the order in which they are tried; rows of one tier stand side by side.
std::span<const TierRow> tier_rows();

// Without what programs that dump put around it.
std::string stem_of(std::string_view name);

// As a name of a file: all that is no letter and no digit is an underscore, none of them in front.
std::string sanitised_name(std::string_view name);

// Names of tensors of modules as /layer1/layer1.0/conv1/Conv_output_0 without what exporters add:
// "layer1.0.conv1". `op` takes the ONNX operator at its end, here "Conv".
std::string module_path(std::string_view name, std::string* op = nullptr);

// The keys by which a prefix that all names of one side have is looked for.
using NameKey = std::string (*)(std::string_view name);
std::span<const NameKey> prefix_keys();

// How trtexec cut a name in the middle, to "begin...end": the bytes of both.
using NameCut = std::pair<std::size_t, std::size_t>;

// The cut of a name without prefix and suffix; nothing: it is not cut.
std::optional<NameCut> cut_of(std::string_view name);

// What a tensor of ONNX Runtime's quantised models is to the tensor of the float model, from what
// is compared with that first.
enum class QdqForm : std::uint8_t {
  dequantised,        // X_DequantizeLinear_Output: what is computed with in place of X
  dequantised_again,  // X_DequantizeLinear_Output_1: the same for one of several consumers
  plain,              // X: what the codes are made of, or in front of an output what they stand for
  before,             // X_QuantizeLinear_Input
  weight,             // X_quantized: codes
  codes,              // X_QuantizeLinear_Output
};

struct QdqName {
  std::string base;  // X
  QdqForm form = QdqForm::plain;
};

QdqName qdq_name(std::string_view name);

// The part that a name cut so and the whole name share. Empty: the whole one is shorter.
std::string cut_key(std::string_view name, const NameCut& cut);

// An order that is part of names: 12 of "0012_conv". Nothing: there is none.
std::optional<std::uint64_t> leading_number(std::string_view name);

}  // namespace btf
