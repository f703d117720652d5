#include "kernels/cast/cast_rows.h"
#include "kernels/cast/cast_runs.h"
#include "kernels/cast/cast_tile.h"

namespace btf {
namespace {

class FastCast final : public RunCast {
 public:
  explicit FastCast(CastRunsFn run) : run_(run) {}
  void operator()(const CastRuns& work, LossAccount& account) const override {
    run_(work, account);
  }

 private:
  CastRunsFn run_;
};

}  // namespace

bool is_default(const CastPolicy& policy) {
  return policy.rounding == Rounding::by_table &&
         (policy.overflow == Overflow::saturate || policy.overflow == Overflow::error);
}

bool cast_fast_applies(const CastJob& job) {
  return is_default(job.policy) && find_cast_runs(job.from, job.to) != nullptr;
}

void cast_fast_tile(const CastJob& job, const Tile& tile, LossAccount& account) {
  cast_tile(FastCast(find_cast_runs(job.from, job.to)), job, tile, account);
}

}  // namespace btf
