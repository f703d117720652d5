// Casts tiles by a cast of runs; elements that are not contiguous go through buffers.
#pragma once

#include "kernels/cast/cast_runs.h"
#include "kernels/move/move.h"

namespace btf {

// Casts runs of one pair.
class RunCast {
 public:
  RunCast() = default;
  RunCast(const RunCast&) = delete;
  RunCast& operator=(const RunCast&) = delete;
  virtual ~RunCast() = default;

  virtual void operator()(const CastRuns& work, LossAccount& account) const = 0;
};

void cast_tile(const RunCast& run, const CastJob& job, const Tile& tile, LossAccount& account);

}  // namespace btf
