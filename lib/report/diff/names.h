// The words for results, and for what made pairs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "btf/report.h"

namespace btf::report {

// "same"
std::string result_name(PairResult result);
std::string result_name(DiffResult result);

// "no golden file"
std::string missing_side(const FilePair& pair);

// Is the difference one of the files as a whole, whatever tensors they have? And which it is.
bool of_whole_files(PairResult result);
std::string whole_files_text(const FilePair& pair, const PairOutcome& outcome);

// "prefix"
std::string_view tier_name(PairTier tier);

// "2 (name), 3 (prefix)"; empty: names are equal, or were not asked.
std::string pairing_text(const PairingCounts& counts);

// A sentence on how names were paired, or on names without any partner; empty if all are equal.
std::string pairing_sentence(const PairingCounts& counts, const MemberNames& names);

// Counts one pair.
void add_pairing(const TensorDiff& diff, PairingCounts& counts);

// Adds the tolerance of a tensor that was judged if no other had it.
void note_close(const TensorDiff& diff, std::vector<Tolerance>& close);

// "files differ in 2 things: metadata 'by': 'a' against 'b'; ..."; empty: they do not.
std::string file_differences_text(const PairOutcome& outcome);

}  // namespace btf::report
