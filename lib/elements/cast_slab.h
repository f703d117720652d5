// Carries the elements of one box from one slab to another.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "btf/cast.h"
#include "elements/slab_io.h"
#include "kernels/cast/kernel_table.h"
#include "kernels/stats/noise.h"

namespace btf {

// Casts and rearranges every element of a box with these counts, and adds it to the account.
void cast_slab(const CastJob& job, std::span<const std::uint64_t> counts, const SourceSlab& source,
               const TargetSlab& target, LossAccount& account);

// A box of a tensor with these dims, and of its elements those whose row-major number is a multiple
// of `step`.
struct SampledBox {
  const Box& box;
  std::span<const std::uint64_t> dims;
  std::uint64_t step = 1;
};

// The noise of a box that was cast.
void slab_noise(const CastJob& job, const SampledBox& sampled, const SourceSlab& source,
                const TargetSlab& target, Noise& noise);

// Does the policy forbid what the account says?
bool forbidden(const CastPolicy& policy, const LossAccount& account);

// The first element of the box, row-major, that the policy forbids, as an error that names it.
std::unexpected<Error> refuse(const CastJob& job, const Box& box, const SourceSlab& source);

// " overflows ", " is not exact in ": the words between an element with this account and its dtype.
const char* what_is_lost(const LossAccount& one);

// The same as refuse() for one element, wherever it was found; `one` is its account.
std::unexpected<Error> refuse_element(const CastJob& job, std::span<const std::uint64_t> index,
                                      const std::byte* element, const LossAccount& one);

// n elements that stand side by side on both sides.
void cast_run(const CastJob& job, const std::byte* source, std::byte* target, std::uint64_t n,
              LossAccount& account);

}  // namespace btf
