#include "diff/layers/measured_pairs.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "btf/try.h"
#include "core/errors.h"
#include "core/numbers.h"
#include "diff/layers/measure.h"
#include "diff/loaded_pair.h"
#include "diff/sets/file_pairs.h"
#include "sets/names/match.h"
#include "sets/names/name_keys.h"
#include "sets/pairs/pairs.h"
#include "sets/pairs/tied_names.h"

namespace btf {
namespace {

// A tensor of one side, without its elements.
struct DumpedTensor {
  SetTensor tensor;
  std::string name;
  std::optional<DType> dtype{};
  Dims dims{};
  std::string role{};
  std::optional<std::uint64_t> recorded{};  // position in the recorded order
  std::unique_ptr<TensorInfo> info{};  // of a file's only tensor, so that it need not be read again
  std::shared_ptr<const FileScales> scales{};  // of its file, if scales are requested
  std::unique_ptr<Error> trouble{};  // if set, its header cannot be read and only the name is known
  bool waits = false;                // its dims are taken from its partner
};

class LayerPairing {
 public:
  LayerPairing(TensorSet& actual, TensorSet& golden, const LayerOptions& options,
               const MeasurementScope& scope, LayerReport& report)
      : actual_(actual),
        golden_(golden),
        options_(options),
        scope_(scope),
        report_(report),
        queue_(options.execution,
               [this](std::uint64_t number, const Result<LayerFigures>& found, bool settled) {
                 if (settled) settle(number);
                 take(number, found);
               }) {
    for (const NameRule& line : options.map.names) {
      mapped_.insert(line.actual);
      mapped_.insert(line.golden);
    }
  }

  Result<PairedLayers> run() {
    BTF_ASSIGN(actual_specs_, FileSpecs::apply(options_.actual, actual_));
    BTF_ASSIGN(golden_specs_, FileSpecs::apply(options_.golden, golden_));
    if (options_.dequantize && !options_.actual_scale && !actual_.one_file())
      found_.actual_set_scales = SetScales::of(actual_);
    if (options_.dequantize && !options_.golden_scale && !golden_.one_file())
      found_.golden_set_scales = SetScales::of(golden_);
    const std::vector<MemberPair> pairs = members();
    if (!actual_.one_file() || !golden_.one_file()) replaced_ = replaced_members(pairs);
    report_.layers.reserve(pairs.size());
    open_pairs_ahead(actual_, golden_, pairs, options_.execution);
    for (const MemberPair& pair : pairs)
      options_.map.empty() ? take_members(pair) : defer_members(pair);
    pair_rest();
    if (!ended_) BTF_TRY(queue_.drain());
    if (ended_) return std::unexpected(*ended_);
    add_golden_only();
    return std::move(found_);
  }

 private:
  std::vector<MemberPair> members() const {
    // One pair, called by the path of its file, since what is compared are the tensors in it.
    if (actual_.one_file() && golden_.one_file())
      return {{.name = actual_.path(), .actual = 0, .golden = 0}};
    std::vector<MemberPair> pairs = pair_members(actual_, golden_);
    std::erase_if(pairs, [this](const MemberPair& pair) {
      return SetScales::only_scales(pair, found_.actual_set_scales, found_.golden_set_scales);
    });
    return pairs;
  }

  // For files with a single tensor: names that both sides have for different tensors.
  std::unordered_set<std::string> replaced_members(const std::vector<MemberPair>& pairs) const {
    std::vector<std::string> actual;
    std::vector<std::string> golden;
    for (const MemberPair& pair : pairs) {
      if (pair.actual) actual.push_back(actual_.member(*pair.actual).name);
      if (pair.golden) golden.push_back(golden_.member(*pair.golden).name);
    }
    return replaced_names(actual, golden);
  }

  Result<std::optional<GivenScale>> given_scale(const TensorSet& set, std::uint64_t member) const {
    return found_.given_scale(options_, set, member, &set == &actual_);
  }

  Result<std::shared_ptr<const FileScales>> scales_of(const TensorSet& set, std::uint64_t member,
                                                      const TensorFile& file) const {
    BTF_ASSIGN(const std::optional<GivenScale> given, given_scale(set, member));
    if (!options_.dequantize && !given) return nullptr;
    BTF_ASSIGN(FileScales scales,
               FileScales::of(file, {options_.dequantize, given, options_.scale_blocks},
                              options_.execution));
    return std::make_shared<const FileScales>(std::move(scales));
  }

  Result<std::vector<DumpedTensor>> tensors_of(const TensorSet& set, std::uint64_t member,
                                               std::optional<std::uint64_t> only) const {
    if (const Error* const trouble = set.trouble(member)) return std::unexpected(*trouble);
    if (waits_for_dims(set, member)) {
      std::vector<DumpedTensor> raw;
      raw.push_back({.tensor = {member, 0}, .name = set.member(member).name, .waits = true});
      return raw;
    }
    BTF_ASSIGN(const auto file, set.file(member));
    BTF_ASSIGN(const FileAttributes attributes, file->attributes());
    BTF_ASSIGN(const std::shared_ptr<const FileScales> scales, scales_of(set, member, *file));
    std::vector<DumpedTensor> found;
    const std::uint64_t count = only ? *only + 1 : file->tensor_count();
    for (std::uint64_t i = only.value_or(0); i < count; ++i) {
      Result<TensorInfo> info = file->tensor(i);
      BTF_ASSIGN(const std::string name, info ? Result<std::string>(info->name) : file->name(i));
      if (scales && scales->is_companion(i) && !mapped_.contains(name)) continue;
      DumpedTensor dumped{{member, i}, name};
      if (info) {
        dumped.dtype = info->dtype;
        dumped.dims = info->dims;
      } else {
        dumped.trouble = std::make_unique<Error>(info.error());
      }
      if (const auto at = attributes.tensors.find(i); at != attributes.tensors.end()) {
        dumped.role = at->second.role;
        dumped.recorded = at->second.order;
      }
      if (info && file->tensor_count() == 1)
        dumped.info = std::make_unique<TensorInfo>(*std::move(info));
      dumped.scales = scales;
      found.push_back(std::move(dumped));
    }
    return found;
  }

  // Unreadable tensors are reported, and the others are used.
  std::vector<DumpedTensor> readable(const TensorSet& set, std::optional<std::uint64_t> member,
                                     std::optional<std::uint64_t> only) {
    if (!member) return {};
    auto found = tensors_of(set, *member, only);
    if (found && !only) warn_of_unlisted_data(set, *member);
    if (found) return *std::move(found);
    note_trouble(found.error().in_file(set.member(*member).path));
    return {};
  }

  // Several attempts to read a file may fail for the same reason, which is reported once.
  void note_trouble(const Error& error) {
    std::string text = error.text();
    if (std::ranges::find(report_.troubles, text) == report_.troubles.end())
      report_.troubles.push_back(std::move(text));
  }

  // Warns about data outside the listed tensors, which is not compared.
  void warn_of_unlisted_data(const TensorSet& set, std::uint64_t member) {
    if (waits_for_dims(set, member)) return;
    const auto file = set.file(member);
    if (!file) return;
    if (const Status complete = (*file)->check_complete(); !complete)
      (complete.error().code == ErrorCode::io ? report_.troubles : report_.warnings)
          .push_back(complete.error().text());
  }

  void take_members(const MemberPair& pair) {
    if (pair.error) return report_.troubles.push_back(pair.error->text());
    std::vector<DumpedTensor> actual = readable(actual_, pair.actual, pair.actual_tensor);
    std::vector<DumpedTensor> golden = readable(golden_, pair.golden, pair.golden_tensor);
    // Two files with one tensor each are a pair, whatever the names.
    if (actual_.one_file() && golden_.one_file() && actual.size() == 1 && golden.size() == 1)
      return add(actual[0], golden[0], PairTier::exact);
    if (actual.size() == 1 && golden.size() == 1 && actual[0].name == golden[0].name &&
        !replaced_.contains(actual[0].name))
      return add(actual[0], golden[0], PairTier::exact);
    const std::unordered_set<std::string> replaced =
        replaced_names(names_of(actual), names_of(golden));
    // Pairs by names that are unique on each side.
    std::unordered_map<std::string, std::vector<std::size_t>> others;
    for (std::size_t g = 0; g < golden.size(); ++g) others[golden[g].name].push_back(g);
    std::unordered_map<std::string, std::uint64_t> own;
    for (const DumpedTensor& dumped : actual) ++own[dumped.name];
    std::vector<bool> taken(golden.size(), false);
    for (DumpedTensor& dumped : actual) {
      const auto at = others.find(dumped.name);
      if (at == others.end() || at->second.size() > 1 || own[dumped.name] > 1 ||
          replaced.contains(dumped.name) || replaced_.contains(dumped.name)) {
        defer(rest_actual_, std::move(dumped));
        continue;
      }
      taken[at->second[0]] = true;
      add(dumped, golden[at->second[0]], PairTier::exact);
    }
    for (std::size_t g = 0; g < golden.size(); ++g)
      if (!taken[g]) defer(rest_golden_, std::move(golden[g]));
  }

  // A map has precedence over all other rules and needs all names, so pairing is left to
  // pair_rest().
  void defer_members(const MemberPair& pair) {
    if (pair.error) return report_.troubles.push_back(pair.error->text());
    for (DumpedTensor& dumped : readable(actual_, pair.actual, pair.actual_tensor))
      defer(rest_actual_, std::move(dumped));
    for (DumpedTensor& dumped : readable(golden_, pair.golden, pair.golden_tensor))
      defer(rest_golden_, std::move(dumped));
  }

  // Keeps a tensor for pair_rest(). There may be many.
  static void defer(std::vector<DumpedTensor>& rest, DumpedTensor dumped) {
    dumped.info.reset();
    rest.push_back(std::move(dumped));
  }

  static std::vector<std::string> names_of(const std::vector<DumpedTensor>& list) {
    std::vector<std::string> names;
    names.reserve(list.size());
    for (const DumpedTensor& dumped : list) names.push_back(dumped.name);
    return names;
  }

  static bool may_be_pair(const DumpedTensor& actual, const DumpedTensor& golden) {
    return actual.trouble || golden.trouble || actual.waits || golden.waits ||
           element_count(actual.dims) == element_count(golden.dims);
  }

  void pair_rest() {
    const auto may = [this](std::uint64_t l, std::uint64_t r) {
      return may_be_pair(rest_actual_[l], rest_golden_[r]);
    };
    std::vector<std::string> equal;
    for (const Layer& layer : report_.layers)
      if (layer.actual == layer.golden) equal.push_back(layer.golden);
    NameMatches matches = match_names(names_of(rest_actual_), names_of(rest_golden_), options_.map,
                                      {.may = may, .lists = NameLists::whole, .equal = equal});
    std::vector<bool> left(rest_actual_.size(), true);
    right_.assign(rest_golden_.size(), true);
    for (const NameMatch& match : matches.pairs) {
      left[match.left] = right_[match.right] = false;
      add(rest_actual_[match.left], rest_golden_[match.right], match.tier);
    }
    report_.ambiguous = std::move(matches.unclear);
    found_.map = std::move(matches.map);
    for (const SubstitutedName& substituted : matches.left_substituted) {
      left[substituted.number] = false;
      keep_dump(found_.actual_dumps, rest_actual_[substituted.number], std::nullopt, true);
      report_.actual_beside.push_back(
          {rest_actual_[substituted.number].name, substituted.compared});
    }
    for (const SubstitutedName& substituted : matches.right_substituted) {
      right_[substituted.number] = false;
      keep_dump(found_.golden_dumps, rest_golden_[substituted.number], std::nullopt, true);
      report_.golden_beside.push_back(
          {rest_golden_[substituted.number].name, substituted.compared});
    }
    place_quantised(matches);
    for (auto* const list : {&report_.actual_beside, &report_.golden_beside})
      std::ranges::sort(*list, {}, &BesideName::name);
    pair_tied(left);
    for (std::size_t l = 0; l < left.size(); ++l) {
      if (!left[l]) continue;
      const DumpedTensor& dumped = rest_actual_[l];
      report_.actual_only.push_back(dumped.name);
      found_.actual_rest.push_back({dumped.name, dumped.recorded, dumped.tensor.index});
      keep_dump(found_.actual_dumps, rest_actual_[l], std::nullopt);
    }
    report_.paired = report_.layers.size();
  }

  // Names and positions of all tensors of a side, paired or not.
  struct AllOf {
    std::vector<std::string> names;
    std::vector<SetTensor> tensors;
  };

  AllOf all_of(bool golden, const std::vector<DumpedTensor>& rest,
               const std::vector<bool>& alone) const {
    AllOf all;
    for (std::size_t i = 0; i < report_.layers.size(); ++i) {
      all.names.push_back(golden ? report_.layers[i].golden : report_.layers[i].actual);
      all.tensors.push_back(golden ? found_.golden[i] : found_.actual[i]);
    }
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (!alone[i]) continue;
      all.names.push_back(rest[i].name);
      all.tensors.push_back(rest[i].tensor);
    }
    return all;
  }

  // The tensor that the other side stores under another name, which may be paired already.
  static std::optional<std::size_t> place_of_tied(const TensorSet& own, const DumpedTensor& dumped,
                                                  const TiedNames& ties, const AllOf& others) {
    if (dumped.waits || dumped.trouble) return std::nullopt;
    if (const auto at = ties.stored_as(dumped.name, others.names)) return at;
    const auto file = own.file(dumped.tensor.member);
    if (!file) return std::nullopt;
    const auto shared = SharedBytes(**file).names(dumped.tensor.index);
    if (!shared) {
      own.note(dumped.tensor.member, shared.error());
      return std::nullopt;
    }
    for (const std::string& name : *shared)
      if (const auto at = std::ranges::find(others.names, name); at != others.names.end())
        return static_cast<std::size_t>(at - others.names.begin());
    return std::nullopt;
  }

  // `left`: which of the rest of actual have no partner.
  void pair_tied(std::vector<bool>& left) {
    const auto of_side = [&](TensorSet& own, std::vector<DumpedTensor>& rest,
                             std::vector<bool>& alone, TensorSet& other, const AllOf& others) {
      if (std::ranges::find(alone, true) == alone.end()) return;
      TiedNames ties;
      for (std::uint64_t member = 0; member < other.member_count(); ++member)
        if (const auto file = other.file(member))
          if (const Status added = ties.add(**file); !added)
            note_trouble(added.error().in_file((*file)->path()));
      for (std::size_t i = 0; i < rest.size(); ++i) {
        if (!alone[i]) continue;
        const auto at = place_of_tied(own, rest[i], ties, others);
        if (!at) continue;
        const SetTensor& tensor = others.tensors[*at];
        auto found = tensors_of(other, tensor.member, tensor.index);
        if (!found) note_trouble(found.error().in_file(other.member(tensor.member).path));
        if (!found || found->empty()) continue;
        const bool is_actual = &rest == &rest_actual_;
        DumpedTensor& actual = is_actual ? rest[i] : found->front();
        DumpedTensor& golden = is_actual ? found->front() : rest[i];
        if (!may_be_pair(actual, golden)) continue;
        alone[i] = false;
        add(actual, golden, PairTier::map);
      }
    };
    const AllOf goldens = all_of(true, rest_golden_, right_);
    const AllOf actuals = all_of(false, rest_actual_, left);
    of_side(actual_, rest_actual_, left, golden_, goldens);
    of_side(golden_, rest_golden_, right_, actual_, actuals);
  }

  // For a quantised side in one file: what codes are made from is computed before what is made from
  // codes, so a layer gets a later position if necessary. Outputs that were requested come first in
  // a file.
  void place_quantised(const NameMatches& matches) {
    std::unordered_map<std::string, std::uint64_t> layers;
    const auto place = [&](const std::vector<SubstitutedName>& list,
                           const std::vector<DumpedTensor>& rest, std::string Layer::* name,
                           std::uint64_t LayerPositions::* stored, QuantisedOrder side) {
      // The dump counts as shuffled if more than one in this many tensors precedes those that it is
      // computed from.
      constexpr std::uint64_t kShuffled = 4;
      layers.clear();
      for (std::uint64_t i = 0; i < report_.layers.size(); ++i)
        layers.emplace(report_.layers[i].*name, i);
      std::set<std::uint64_t> asked;
      std::set<std::uint64_t> before;
      for (const SubstitutedName& substituted : list) {
        const DumpedTensor& form = rest[substituted.number];
        const auto layer = layers.find(substituted.compared);
        if (layer == layers.end() || qdq_name(form.name).form == QdqForm::dequantised_again)
          continue;
        asked.insert(layer->second);
        std::uint64_t& own = found_.places[layer->second].*stored;
        if (form.tensor.index < own) continue;
        before.insert(layer->second);
        own = form.tensor.index;
      }
      if (asked.empty()) return;
      found_.quantised_order =
          before.size() * kShuffled > asked.size() ? QuantisedOrder::shuffled : side;
    };
    if (actual_.one_file())
      place(matches.left_substituted, rest_actual_, &Layer::actual, &LayerPositions::actual_stored,
            QuantisedOrder::actual);
    if (golden_.one_file() && found_.quantised_order == QuantisedOrder::none)
      place(matches.right_substituted, rest_golden_, &Layer::golden, &LayerPositions::golden_stored,
            QuantisedOrder::golden);
  }

  void add_golden_only() {
    for (std::size_t r = 0; r < right_.size(); ++r) {
      if (!right_[r]) continue;
      const DumpedTensor& dumped = rest_golden_[r];
      keep_dump(found_.golden_dumps, dumped, std::nullopt);
      Layer layer;
      layer.golden = dumped.name;
      layer.golden_dtype = dumped.dtype;
      layer.golden_dims = dumped.dims;
      layer.role = dumped.role;
      layer.state = LayerState::missing;
      report_.layers.push_back(std::move(layer));
      found_.actual.push_back({});
      found_.golden.push_back(dumped.tensor);
      found_.codes.push_back(false);
      found_.places.push_back(
          {.golden_recorded = dumped.recorded, .golden_stored = dumped.tensor.index});
    }
  }

  // Completes a tensor that waits for its dims with those of its partner.
  static Status complete_dims(TensorSet& set, FileSpecs& specs, DumpedTensor& dumped,
                              TensorSet& others, const DumpedTensor& other, bool other_is_golden) {
    const std::uint64_t member = dumped.tensor.member;
    BTF_ASSIGN(const bool waits, specs.waits(member, set));
    if (waits) {
      if (other.waits) return std::unexpected(specs.no_dims(member, set));
      BTF_ASSIGN(const auto file, others.file(other.tensor.member));
      const auto tensor = other_is_golden ? &MemberPair::golden_tensor : &MemberPair::actual_tensor;
      MemberPair pair{.name = other.name};
      pair.*tensor = other.tensor.index;
      BTF_TRY(specs.complete(member, set, {}, {*file, pair, tensor, other_is_golden}));
    }
    BTF_ASSIGN(const auto own, set.file(member));
    BTF_ASSIGN(const TensorInfo info, own->tensor(0));
    dumped.dtype = info.dtype;
    dumped.dims = info.dims;
    dumped.waits = false;
    return {};
  }

  void complete_pair(DumpedTensor& actual, DumpedTensor& golden) {
    const auto is_list = [](const FileSpecs& specs, const DumpedTensor& dumped,
                            const TensorSet& set) -> Result<bool> {
      if (!dumped.waits || !specs.is_list(dumped.tensor.member)) return false;
      return specs.waits(dumped.tensor.member, set);
    };
    // An error is that of complete_dims(), too, or is noted in the set.
    const auto left = is_list(actual_specs_, actual, actual_);
    const auto right = is_list(golden_specs_, golden, golden_);
    for (const auto& [list, dumped] : {std::pair(&left, &actual), {&right, &golden}})
      if (!*list) dumped->trouble = std::make_unique<Error>(list->error());
    if (actual.trouble || golden.trouble) return;
    if (*left && *right) {
      actual.waits = golden.waits = false;
      return;
    }
    if (actual.waits)
      if (const Status done = complete_dims(actual_, actual_specs_, actual, golden_, golden, true);
          !done)
        actual.trouble = std::make_unique<Error>(done.error());
    if (golden.waits && !actual.trouble)
      if (const Status done = complete_dims(golden_, golden_specs_, golden, actual_, actual, false);
          !done)
        golden.trouble = std::make_unique<Error>(done.error());
  }

  void add(DumpedTensor& actual, DumpedTensor& golden, PairTier tier) {
    if (actual.waits || golden.waits) complete_pair(actual, golden);
    const std::uint64_t number = report_.layers.size();
    Layer& layer = report_.layers.emplace_back();
    layer.actual = actual.name;
    layer.golden = golden.name;
    layer.tier = tier;
    layer.actual_dtype = actual.dtype;
    layer.golden_dtype = golden.dtype;
    layer.actual_dims = actual.dims;
    layer.golden_dims = golden.dims;
    layer.role = golden.role.empty() ? actual.role : golden.role;
    report_.actual_flat |= Layer::is_flat(actual.dims, golden.dims);
    report_.golden_flat |= Layer::is_flat(golden.dims, actual.dims);
    found_.actual.push_back(actual.tensor);
    found_.golden.push_back(golden.tensor);
    keep_dump(found_.actual_dumps, actual, number);
    keep_dump(found_.golden_dumps, golden, number);
    found_.places.push_back({.actual_recorded = actual.recorded,
                             .golden_recorded = golden.recorded,
                             .actual_stored = actual.tensor.index,
                             .golden_stored = golden.tensor.index});
    const Error* const trouble = (actual.trouble ? actual : golden).trouble.get();
    Result<LayerPair> pair =
        trouble != nullptr ? std::unexpected(*trouble) : open_pair(actual, golden);
    const bool fits = pair && element_count(pair->actual.dims) == element_count(pair->golden.dims);
    if (pair && !fits) layer.fault = LayerFault::shape;
    found_.codes.push_back(fits && are_codes(*pair));
    if (scope_.plan != nullptr) return plan(actual, golden, fits ? &*pair : nullptr);
    if (pair) pair->quantised = tier == PairTier::qdq;
    if (scope_.share != nullptr && !scope_.share->is_own(scope_.first + number))
      return take_known(number);
    if (!pair) return take(number, std::unexpected(pair.error()));
    if (!fits) return publish(number, false);
    if (ended_) return;
    if (const Status added = queue_.add(number, *std::move(pair)); !added) ended_ = added.error();
  }

  static bool are_codes(const LayerPair& pair) {
    const auto numbers = [](const TensorInfo& tensor, const QuantizePlan& scales) {
      return info(*tensor.dtype).floating() || scales.scaling != Scaling::none;
    };
    return !numbers(pair.actual, pair.actual_scales) && numbers(pair.golden, pair.golden_scales);
  }

  void plan(const DumpedTensor& actual, const DumpedTensor& golden, const LayerPair* pair) {
    PlannedLayer planned{.name = golden.name,
                         .actual_path = actual_.member(actual.tensor.member).path,
                         .golden_path = golden_.member(golden.tensor.member).path};
    if (pair != nullptr) {
      planned.actual_bytes = pair->actual.data_bytes;
      planned.golden_bytes = pair->golden.data_bytes;
    }
    scope_.plan->push_back(std::move(planned));
  }

  void take_known(std::uint64_t number) {
    const MeasuredLayer* const known = scope_.share->known(scope_.first + number);
    if (known == nullptr) return;
    report_.layers[number].figures = known->figures;
    report_.layers[number].trouble = known->trouble;
    if (known->unread) note_unread(number);
  }

  void note_unread(std::uint64_t number) {
    const Layer& layer = report_.layers[number];
    found_.unread.push_back("'" + layer.name() + "' could not be measured: " + layer.trouble);
  }

  // Passes what was measured to the share, if there is one.
  void publish(std::uint64_t number, bool unread) {
    const Layer& layer = report_.layers[number];
    if (scope_.share != nullptr)
      scope_.share->take(scope_.first + number,
                         {.figures = layer.figures, .trouble = layer.trouble, .unread = unread});
  }

  void keep_dump(std::vector<NamedDump>& dumps, const DumpedTensor& dumped,
                 std::optional<std::uint64_t> layer, bool beside = false) const {
    if (options_.graph && !dumped.waits)
      dumps.push_back({dumped.name, dumped.tensor, layer, beside});
  }

  // Codes with scales become the numbers that they stand for.
  static Result<TensorInfo> usable(const TensorFile& file, DumpedTensor& dumped) {
    const std::uint64_t index = dumped.tensor.index;
    BTF_ASSIGN(std::optional<TensorInfo> decoded, file.dequantized(index));
    const auto known = std::exchange(dumped.info, nullptr);
    if (!decoded && known) decoded = std::move(*known);
    if (!decoded) {
      BTF_ASSIGN(decoded, file.tensor(index));
    }
    BTF_TRY(file.check_overlap(*decoded));
    if (!decoded->known())
      return fail(ErrorCode::unsupported, decoded->dtype ? "a layout that is not supported"
                                                         : decoded->unknown_dtype_text());
    return *std::move(decoded);
  }

  Result<QuantizePlan> plan_of(const TensorFile& file, const DumpedTensor& dumped,
                               const TensorInfo& record) const {
    if (!dumped.scales) return QuantizePlan{};
    return dumped.scales->plan(file, record, options_.execution);
  }

  Result<LayerPair> open_pair(DumpedTensor& actual, DumpedTensor& golden) {
    LayerPair pair;
    BTF_ASSIGN(pair.actual_file, actual_.file(actual.tensor.member));
    BTF_ASSIGN(pair.golden_file, golden_.file(golden.tensor.member));
    BTF_ASSIGN(pair.actual, usable(*pair.actual_file, actual));
    BTF_ASSIGN(pair.golden, usable(*pair.golden_file, golden));
    BTF_ASSIGN(pair.actual_scales, plan_of(*pair.actual_file, actual, pair.actual));
    BTF_ASSIGN(pair.golden_scales, plan_of(*pair.golden_file, golden, pair.golden));
    if (actual.scales)
      BTF_TRY(actual.scales->check_found(*pair.actual_file, pair.actual, pair.actual_scales,
                                         pair.golden, pair.golden_scales));
    if (golden.scales)
      BTF_TRY(golden.scales->check_found(*pair.golden_file, pair.golden, pair.golden_scales,
                                         pair.actual, pair.actual_scales));
    found_.actual_scaled |= pair.actual_scales.scaling != Scaling::none;
    found_.golden_scaled |= pair.golden_scales.scaling != Scaling::none;
    return pair;
  }

  void settle(std::uint64_t number) {
    actual_.settle(found_.actual[number].member);
    golden_.settle(found_.golden[number].member);
  }

  void take(std::uint64_t number, const Result<LayerFigures>& figures) {
    if (!figures && figures.error().code == ErrorCode::cancelled) {
      ended_ = figures.error();
      return;
    }
    if (figures)
      report_.layers[number].figures = *figures;
    else
      report_.layers[number].trouble = figures.error().text();
    const bool unread = !figures && is_read_error(figures.error());
    if (unread) note_unread(number);
    publish(number, unread);
  }

  TensorSet& actual_;
  TensorSet& golden_;
  const LayerOptions& options_;
  const MeasurementScope& scope_;
  LayerReport& report_;
  PairedLayers found_;
  FileSpecs actual_specs_;
  FileSpecs golden_specs_;
  std::unordered_set<std::string> mapped_;
  std::unordered_set<std::string> replaced_;  // equal names of members that are not paired
  std::vector<DumpedTensor> rest_actual_;
  std::vector<DumpedTensor> rest_golden_;
  std::vector<bool> right_;     // golden's tensors without a partner
  std::optional<Error> ended_;  // the error that ended measuring
  MeasureQueue queue_;          // last member, so that it is destroyed first
};

}  // namespace

Result<std::optional<GivenScale>> PairedLayers::given_scale(const LayerOptions& options,
                                                            const TensorSet& set,
                                                            std::uint64_t member,
                                                            bool of_actual) const {
  const auto& given = of_actual ? options.actual_scale : options.golden_scale;
  if (given) return given;
  return (of_actual ? actual_set_scales : golden_set_scales).given(set, member, options.execution);
}

Result<PairedLayers> pair_and_measure(TensorSet& actual, TensorSet& golden,
                                      const LayerOptions& options, const MeasurementScope& scope,
                                      LayerReport& report) {
  return LayerPairing(actual, golden, options, scope, report).run();
}

}  // namespace btf
