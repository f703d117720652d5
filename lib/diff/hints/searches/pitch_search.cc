// Rows that were written or read at another distance than they have.
#include <algorithm>
#include <set>
#include <vector>

#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/rearrangement.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kNearPitch = 256;  // every pitch so much off is tried
constexpr unsigned kMostAligned = 12;      // and multiples of up to so large a power of two

// Rows of `width` elements that may be `pitch` apart. No wider than twice and a half, or too little
// would be left to know it by.
std::vector<std::uint64_t> pitches_of(std::uint64_t width, std::uint64_t count, bool near) {
  std::set<std::uint64_t> pitches;
  const std::uint64_t most = std::min(width + width + width / 2, count - 1);
  const std::uint64_t least = std::max<std::uint64_t>(2, width - width / 2);
  if (near)
    for (std::uint64_t by = 1; by <= kNearPitch; ++by) pitches.insert({width + by, width - by});
  for (unsigned power = 1; power <= kMostAligned; ++power) {
    const std::uint64_t unit = 1ULL << power;
    pitches.insert({(width / unit + 1) * unit, width / unit * unit});
  }
  std::erase_if(pitches, [&](std::uint64_t p) { return p < least || p > most || p == width; });
  return {pitches.begin(), pitches.end()};
}

// Row h of actual was read where golden's element h * pitch is.
RearrangedAs read_with(const Dims& dims, std::uint64_t width, std::uint64_t pitch) {
  Rearrangement rule;
  rule.count = unchanged(dims).count;
  rule.digits = {{.step = static_cast<std::int64_t>(pitch)}, {.size = width, .step = 1}};
  return {Cause::pitch,
          "actual is golden's rows of " + std::to_string(width) + " read with a pitch of " +
              std::to_string(pitch),
          std::move(rule)};
}

// Row h of golden begins at actual's element h * pitch.
RearrangedAs stored_with(const Dims& dims, std::uint64_t width, std::uint64_t pitch) {
  Rearrangement rule;
  rule.count = unchanged(dims).count;
  rule.digits = {{.step = static_cast<std::int64_t>(width)},
                 {.size = pitch, .step = 1, .end = std::min(width, pitch)}};
  return {Cause::pitch,
          "actual holds golden's rows of " + std::to_string(width) + " with a pitch of " +
              std::to_string(pitch),
          std::move(rule)};
}

}  // namespace

SearchResult find_pitch(const Inquiry& inquiry) {
  if (inquiry.rounded) return std::nullopt;
  const Dims& dims = inquiry.input.golden.dims();
  const bool dense = inquiry.input.golden.storage() != nullptr;
  std::vector<RearrangedAs> candidates;
  std::uint64_t width = 1;
  for (std::size_t d = dims.size(); d-- > 1;) {
    if (dims[d] == 1) continue;
    const bool innermost = width == 1;
    width *= dims[d];
    if (width >= inquiry.elements) break;
    for (const std::uint64_t pitch : pitches_of(width, inquiry.elements, innermost && dense)) {
      candidates.push_back(stored_with(dims, width, pitch));
      candidates.push_back(read_with(dims, width, pitch));
    }
  }
  return find_rearranged(inquiry, candidates);
}

}  // namespace btf::hints
