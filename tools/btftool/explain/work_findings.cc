#include <array>

#include "explain/explanations.h"

namespace btftool {
namespace {

// clang-format off
constexpr auto kWorkRows = std::to_array<Explanation>({
    {"tensor-count", "the number of tensors was wrong, and repair took that of the table of offsets",
     "a count of 5 in front of a table of 4", "nothing: OUT has the right number"},
    {"gap-behind-record", "bytes behind a saved tensor belong to none, so that its header may be damaged",
     "dims [8, 8] that were [8, 16] before a bit changed",
     "look at the tensor, or compare it with 'btftool diff'; '--strict' counts it as lost"},
    {"offset-wrong", "the offset of a tensor was wrong, and repair found it behind the one before it",
     "an offset of which a bit has changed", "nothing: the tensor was saved"},
    {"zero-points-unread", "codes have a record of zero points behind their scales, which was not asked for",
     "codes of '--scale auto --zero-point auto', and '--dequantize' alone",
     "'--dequantize --zero-point auto' takes them; '--zero-point 0' says that the record is something else"},
});
// clang-format on

}  // namespace

std::span<const Explanation> work_findings() { return kWorkRows; }

}  // namespace btftool
