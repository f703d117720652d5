// Texts about results, and about how tensors were paired.
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

// Returns true if the files differ as a whole and not in their tensors. The text says how.
bool of_whole_files(PairResult result);
std::string whole_files_text(const FilePair& pair, const PairOutcome& outcome);

// "prefix"
std::string_view tier_name(PairTier tier);

// "2 (name), 3 (prefix)". Empty if all names are equal or names were not used.
std::string pairing_text(const PairingCounts& counts);

// Returns a sentence about how names were paired, or about names without a partner. Empty if all
// names are equal.
std::string pairing_sentence(const PairingCounts& counts, const MemberNames& names);

// Counts one pair.
void add_pairing(const TensorDiff& diff, PairingCounts& counts);

// Adds the tolerance by which a tensor was judged, unless it is in the list already.
void note_close(const TensorDiff& diff, std::vector<Tolerance>& close);

// "files differ in 2 things: metadata 'by': 'a' against 'b'; ...", or an empty string.
std::string file_differences_text(const PairOutcome& outcome);

}  // namespace btf::report
