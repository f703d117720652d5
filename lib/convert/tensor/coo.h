// COO entries converted to another dtype or layout: cast, added up if indices repeat, or made from
// dense elements.
#pragma once

#include <memory>
#include <utility>

#include "convert/tensor/target.h"
#include "core/resources.h"
#include "elements/elements.h"

namespace btf {

// The result of casting an element that is not stored, i.e. zero bits.
struct AbsentElement {
  std::uint64_t code = 0;
  LossAccount one;
};

// Accounts for `count` such elements. An error if the policy forbids what happens to them.
Status account_for_absent(const CastJob& job, const AbsentElement& absent, std::uint64_t count,
                          Losses& losses);

// The entries of a COO record as the target needs them: one for each index, with codes of the
// target's dtype. If duplicates are added up, the exact sum is cast.
class CastEntries final : public CooSource {
 public:
  // `key` maps indices of the target. Everything that `work` refers to must outlive the result.
  static Result<std::unique_ptr<CastEntries>> open(const TensorConversion& work, CooKey key);

  Result<CooRun> next_run() override;
  Status rewind() override;

  // The losses since the last call or rewind().
  Losses take_account() { return std::exchange(account_, Losses(work_.measures_noise())); }

 private:
  CastEntries(const TensorConversion& work, std::unique_ptr<CooSource> entries)
      : work_(work),
        job_(work.target.job),
        entries_(std::move(entries)),
        account_(work.measures_noise()) {}

  Status fill();
  Result<CooRun> cast(const CooRun& run);
  std::unexpected<Error> refuse_in(const CooRun& run);
  Status add_up(CooEntry& entry);
  Result<Dims> index_of(const CooEntry& entry) const;

  TensorConversion work_;
  CastJob job_;
  std::unique_ptr<CooSource> entries_;
  CooRun run_;
  std::uint64_t at_ = 0;  // position in run_
  CooEntry sum_;
  Buffer codes_;
  Losses account_;
};

// A dense tensor made from a COO record whose duplicates are added up. The elements already have
// the target's dtype, and their losses are accounted for.
ElementSource summed_elements(const TensorConversion& work);

}  // namespace btf
