#include "inspect/finite_check.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "btf/try.h"
#include "core/dtype_table.h"
#include "elements/coo_record.h"
#include "elements/element_access.h"
#include "elements/parallel.h"
#include "elements/records/linear_walk.h"
#include "kernels/number/widen.h"

namespace btf {
namespace {

struct Special {
  std::string_view code;
  std::string_view name;
  std::uint64_t count = 0;
  std::uint64_t first = 0;  // row-major number
  std::uint64_t entry = 0;  // COO: its position in the record; entries may share an index
};

class FiniteCheck {
 public:
  explicit FiniteCheck(const TensorInfo& record)
      : record_(record), row_(info(*record.dtype)), widen_(widener<double>(*record.dtype)) {}

  Status run(const ByteSource& source, const Execution& execution) {
    if (record_.coo) return run_coo(source, execution);
    BTF_ASSIGN(LinearWalk walk, LinearWalk::open(source, record_, {}, execution));
    for (;;) {
      BTF_TRY(check_cancelled(execution));
      BTF_ASSIGN(const std::optional<LinearSlab> slab, walk.next());
      if (!slab) return {};
      take(slab->codes, slab->first, slab->count);
      if (execution.progress) execution.progress(slab->count * row_.bits / 8);
    }
  }

  Status report(const ByteSource& source, const FindingSink& sink) const {
    for (const Special& special : specials_) {
      if (special.count == 0) continue;
      const Dims index = index_of(record_.dims, special.first);
      BTF_ASSIGN(const std::uint64_t offset, offset_of(source, special, index));
      std::string text;
      for (const std::uint64_t i : index) text += (text.empty() ? "" : ", ") + std::to_string(i);
      sink({.severity = Severity::error,
            .code = special.code,
            .tensor = record_.index,
            .offset = offset,
            .message = std::to_string(special.count) + " " + std::string(special.name) +
                       ", the first at [" + text + "]",
            .count = special.count,
            .index = index});
    }
    return {};
  }

 private:
  Result<std::uint64_t> offset_of(const ByteSource& source, const Special& special,
                                  const Dims& index) const {
    if (record_.coo) return record_.coo->values_offset + special.entry * row_.bits / 8;
    BTF_ASSIGN(const std::vector<Element> place, elements_at(source, record_, {{index}}));
    return place.front().offset.value_or(record_.data_offset);
  }

  // Elements without an entry have bits of zero, which is a number in every dtype.
  Status run_coo(const ByteSource& source, const Execution& execution) {
    BTF_ASSIGN(const auto entries,
               sorted_entries(source, record_, row_major_key(record_.dims), execution));
    for (;;) {
      BTF_ASSIGN(const CooRun run, entries->next_run());
      if (run.count == 0) return {};
      for (std::uint64_t i = 0; i < run.count; ++i)
        take(run.code(i), run.keys[i], 1, run[i].position);
    }
  }

  void take(const std::byte* codes, std::uint64_t first, std::uint64_t count,
            std::uint64_t entry = 0) {
    std::array<double, 1024> values;
    for (std::uint64_t at = 0; at < count; at += values.size()) {
      const std::uint64_t n = std::min<std::uint64_t>(values.size(), count - at);
      widen_(codes + at * row_.buffer_bytes(), 1, n, values.data());
      for (std::uint64_t i = 0; i < n; ++i) {
        if (std::isfinite(values[i])) continue;
        Special& special = specials_[std::isnan(values[i]) ? 0 : 1];
        if (special.count++ > 0) continue;
        special.first = first + at + i;
        special.entry = entry;
      }
    }
  }

  const TensorInfo& record_;
  const DTypeInfo& row_;
  WidenFn<double> widen_;
  std::array<Special, 2> specials_{{{"element-nan", "NaN"}, {"element-inf", "Inf"}}};
};

}  // namespace

Status check_finite(const ByteSource& source, const TensorInfo& record, const FindingSink& report,
                    const Execution& execution) {
  const DTypeInfo& row = info(*record.dtype);
  if (!row.floating() || row.fp.specials == FloatSpecials::none) return {};
  FiniteCheck check(record);
  BTF_TRY(check.run(source, execution));
  return check.report(source, report);
}

}  // namespace btf
