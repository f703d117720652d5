#include "convert/set_scales.h"

#include <string>
#include <utility>

#include "btf/try.h"
#include "convert/quantize/plan_rules.h"
#include "convert/quantize/scale_axis.h"
#include "convert/quantize/scale_links.h"
#include "convert/quantize/scale_names.h"
#include "convert/quantize/stored_scales.h"

namespace btf {
namespace {

// A file that cannot be opened is an error where it is compared.
bool holds_only_codes(const TensorSet& set, std::uint64_t member) {
  if (set.trouble(member) != nullptr) return false;
  const auto file = set.file(member);
  if (!file || (*file)->tensor_count() != 1) return false;
  const auto record = (*file)->tensor(0);
  return record && holds_codes(*record);
}

class SetScaleReader {
 public:
  SetScaleReader(const TensorSet& set, const Execution& execution)
      : set_(set), execution_(execution) {}

  Result<GivenScale> read(std::uint64_t member, const QuantizedBy& by) const {
    BTF_ASSIGN(const auto codes_file, set_.file(member));
    BTF_ASSIGN(const TensorInfo codes, codes_file->tensor(0));
    if (by.global_scale)
      return refuse_scaling(
          "has a scale for each block in files of their own, which is not "
          "supported");
    BTF_ASSIGN(const auto file, set_.file(by.scale));
    auto given = read_scales(*file, codes);
    if (!given) return std::unexpected(given.error().in_file(file->path()));
    if (!by.zero_point || info(*codes.dtype).floating()) return *std::move(given);
    BTF_ASSIGN(const auto zero_file, set_.file(*by.zero_point));
    auto zeros = read_zero_points(*zero_file, codes, given->scales.size());
    if (!zeros) return std::unexpected(zeros.error().in_file(zero_file->path()));
    given->zero_points = *std::move(zeros);
    return *std::move(given);
  }

 private:
  // Each is its file's only tensor.
  static const QuantizedBy& only_tensor() {
    static const QuantizedBy kOnly{.scale = 0, .zero_point = 0};
    return kOnly;
  }

  static Status check_one_tensor(const TensorFile& file) {
    if (file.tensor_count() == 1) return {};
    return refuse_scaling("has " + std::to_string(file.tensor_count()) +
                          " tensors; scales that are a file of their own are its only tensor");
  }

  Result<GivenScale> read_scales(const TensorFile& file, const TensorInfo& codes) const {
    BTF_TRY(check_one_tensor(file));
    const StoredScales stored(file, codes, &only_tensor(), execution_);
    BTF_ASSIGN(const std::optional<TensorInfo> scales, stored.find(ScaleRole::scale));
    ScaleFit fit;
    if (scales) {
      BTF_ASSIGN(fit, fit_scales(*scales, codes.dims, &only_tensor()));
    }
    if (!fit.fits) return refuse_scaling("has the name of scales, but not their dtype or dims");
    GivenScale given{.axis = fit.axis};
    BTF_ASSIGN(given.scales, stored.read_scales(*scales));
    return given;
  }

  Result<std::vector<std::int64_t>> read_zero_points(const TensorFile& file,
                                                     const TensorInfo& codes,
                                                     std::size_t scales) const {
    BTF_TRY(check_one_tensor(file));
    const StoredScales stored(file, codes, &only_tensor(), execution_);
    BTF_ASSIGN(const std::optional<TensorInfo> record, stored.find(ScaleRole::zero_point));
    if (!record || !is_integer(*record->dtype) || record->storage->elements() != scales)
      return refuse_scaling("has the name of zero points, but does not hold " +
                            std::to_string(scales) + (scales == 1 ? " integer" : " integers"));
    return stored.read_zero_points(*record);
  }

  const TensorSet& set_;
  const Execution& execution_;
};

}  // namespace

Result<std::set<std::uint64_t>> scale_tensors(const TensorFile& file) {
  BTF_ASSIGN(const FileAttributes attributes, file.attributes());
  return ScaleLinks::of(file, attributes).companions();
}

SetScales SetScales::of(const TensorSet& set) {
  SetScales found;
  NamedTensors names;
  for (std::uint64_t i = 0; i < set.member_count(); ++i) add_name(names, set.member(i).name, i);
  for (const auto& [name, member] : names) {
    if (!member) continue;
    const auto by = scales_called_after(names, name);
    if (!by || !holds_only_codes(set, *member)) continue;
    found.scales_.emplace(*member, by->by);
    if (by->rival) found.rivals_.emplace(*member, *by->rival);
    for (const auto& index :
         {std::optional(by->by.scale), by->by.zero_point, by->by.global_scale})
      if (index) found.companions_.insert(*index);
  }
  return found;
}

bool SetScales::only_scales(const MemberPair& pair, const SetScales& actual,
                            const SetScales& golden) {
  const auto other = [](const std::optional<std::uint64_t>& member, const SetScales& scales) {
    return member && !scales.is_companion(*member);
  };
  return !other(pair.actual, actual) && !other(pair.golden, golden);
}

Result<std::optional<GivenScale>> SetScales::given(const TensorSet& set, std::uint64_t member,
                                                   const Execution& execution) const {
  const auto found = scales_.find(member);
  if (found == scales_.end()) return std::nullopt;
  if (const auto rival = rivals_.find(member); rival != rivals_.end())
    return refuse_scaling("its scales may be " + set.member(found->second.scale).path + " or " +
                          set.member(rival->second).path + ": both have the name of its scales");
  BTF_ASSIGN(GivenScale scale, SetScaleReader(set, execution).read(member, found->second));
  return scale;
}

}  // namespace btf
