// Numbers that went through a dtype that does not hold them.
#include <array>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/searches/searches.h"
#include "diff/pairs/rows.h"
#include "elements/cast_slab.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

// Golden cast to `through` and read again.
ElementMap cast_map(DType golden, DType through) {
  const auto apply = [golden, through](const auto*, const std::byte* codes, std::uint64_t count,
                                       auto* out) {
    using Real = std::remove_reference_t<decltype(*out)>;
    std::array<std::byte, kPairRun * sizeof(std::uint64_t)> cast;
    LossAccount account;
    cast_run({golden, through, {}}, codes, cast.data(), count, account);
    widener<Real>(through)(cast.data(), 1, count, out);
  };
  return {.side = MovedSide::golden, .narrow = apply, .wide = apply};
}

}  // namespace

SearchResult find_lost_precision(const Inquiry& inquiry) {
  const DType golden = inquiry.input.golden.dtype();
  for (const DTypeInfo& row : dtypes()) {
    // Of bool and of powers of two too little is left to know it by.
    if (row.kind == NumberKind::boolean || row.fp.power_of_two || is_lossless(golden, row.dtype))
      continue;
    const ElementMap map = cast_map(golden, row.dtype);
    if (!fits_anywhere(inquiry, map) ||
        !convincing(inquiry, map.side, mapped(inquiry, map, inquiry.mismatches),
                    mapped(inquiry, map, inquiry.anywhere), static_cast<double>(dtypes().size())))
      continue;
    BTF_ASSIGN(const MapTally all, tally(inquiry, map));
    if (!bears_out(inquiry, all)) continue;
    return Finding{{Cause::rounding, "actual is golden rounded to " + name_of(row.dtype) + ": " +
                                         share_text(all.elements - all.exceptions, all.elements)},
                   all.exceptions};
  }
  return std::nullopt;
}

}  // namespace btf::hints
