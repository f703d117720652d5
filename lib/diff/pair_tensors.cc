#include "btf/diff.h"
#include "btf/try.h"
#include "diff/pairs/tensor_pairs.h"
#include "diff/scaled_side.h"

namespace btf {

Result<TensorPairing> pair_tensors(const TensorFile& actual, const TensorFile& golden,
                                   const DiffOptions& options) {
  TensorPairs::Candidates candidates{options.actual_tensors, options.golden_tensors};
  if (options.dequantize) {
    BTF_ASSIGN(const FileScales left,
               FileScales::of(actual, true, options.actual_scale, options.execution));
    BTF_ASSIGN(const FileScales right,
               FileScales::of(golden, true, options.golden_scale, options.execution));
    left.leave_out(actual, candidates.actual);
    right.leave_out(golden, candidates.golden);
  }
  DiffOptions whole;
  whole.pair_by = options.pair_by;
  whole.map = options.map;
  BTF_ASSIGN(const TensorPairs found, TensorPairs::of(actual, golden, whole, candidates));
  TensorPairing pairing{.pairs = {}, .map = found.map()};
  for (std::uint64_t i = 0; i < found.size(); ++i) pairing.pairs.push_back(found.at(i));
  return pairing;
}

}  // namespace btf
