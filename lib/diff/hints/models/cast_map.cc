#include "diff/hints/models/cast_map.h"

#include <array>

#include "diff/pairs/rows.h"
#include "elements/cast_slab.h"
#include "kernels/number/widen.h"

namespace btf::hints {

ElementMap cast_map(MovedSide side, DType stored, DType through, const CastPolicy& policy) {
  const auto apply = [=](const auto*, const std::byte* codes, std::uint64_t count, auto* out) {
    using Real = std::remove_reference_t<decltype(*out)>;
    std::array<std::byte, kPairRun * sizeof(std::uint64_t)> cast;
    LossAccount account;
    cast_run({stored, through, policy}, codes, cast.data(), count, account);
    widener<Real>(through)(cast.data(), 1, count, out);
  };
  return {.side = side, .narrow = apply, .wide = apply};
}

}  // namespace btf::hints
