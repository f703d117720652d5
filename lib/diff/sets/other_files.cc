#include "diff/sets/other_files.h"

#include <map>
#include <string>
#include <utility>

#include "btf/try.h"
#include "formats/io/compare_files.h"

namespace btf {

std::vector<FilePair> pair_others(const TensorSet& actual, const TensorSet& golden,
                                  const MemberFilter& wanted) {
  std::map<std::string, FilePair> pairs;
  const auto take = [&](const TensorSet& set, std::string FilePair::* side) {
    for (const SetMember& other : set.others()) {
      if (wanted && !wanted(other)) continue;
      FilePair& pair = pairs[other.place];
      pair.name = other.place;
      pair.*side = other.path;
    }
  };
  take(actual, &FilePair::actual);
  take(golden, &FilePair::golden);
  std::vector<FilePair> list;
  for (auto& [place, pair] : pairs) list.push_back(std::move(pair));
  return list;
}

Result<PairOutcome> compare_bytes(const FilePair& pair) {
  if (pair.actual.empty() || pair.golden.empty()) return PairOutcome{.result = PairResult::missing};
  BTF_ASSIGN(const ByteDifference found, compare_files(pair.actual, pair.golden));
  const std::string byte = std::to_string(found.offset);
  switch (found.end) {
    case FileEnd::both:
      return PairOutcome{.result = PairResult::same};
    case FileEnd::neither:
      return PairOutcome{PairResult::bytes, "no tensors; byte " + byte + " differs"};
    case FileEnd::left:
      return PairOutcome{PairResult::bytes, "no tensors; actual ends at byte " + byte};
    case FileEnd::right:
      return PairOutcome{PairResult::bytes, "no tensors; golden ends at byte " + byte};
  }
  std::unreachable();
}

}  // namespace btf
