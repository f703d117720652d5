// What listens to a comparison: the reports; finish() is called after the last pair.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/diff.h"
#include "btf/diff/set_diff.h"
#include "btf/error.h"

namespace btftool {

using btf::FilePair;
using btf::PairOutcome;
using btf::PairResult;

// "same"
std::string result_name(PairResult result);
std::string result_name(btf::DiffResult result);

// "no golden file"
std::string missing_side(const FilePair& pair);

// Is the difference one of the files as a whole, whatever tensors they have? And which it is.
bool of_whole_files(PairResult result);
std::string whole_files_text(const FilePair& pair, const PairOutcome& outcome);

// "prefix"
std::string_view tier_name(btf::PairTier tier);

// By which tiers tensors whose names are not equal became pairs.
struct Pairing {
  std::map<btf::PairTier, std::uint64_t> tiers;
  std::uint64_t equal = 0;  // other pairs
  std::uint64_t actual_only = 0;
  std::uint64_t golden_only = 0;

  void add(const btf::TensorDiff& diff);
  // "2 (name), 3 (prefix)"; empty: names are equal, or were not asked.
  std::string text() const;
  // What is to be said of it, and of names of which none has a partner; else empty.
  std::string sentence() const;
};

struct Totals {
  std::uint64_t files = 0;
  std::uint64_t different_files = 0;  // with those that one side does not have
  std::uint64_t troubled_files = 0;   // with those of which a tensor could not be compared
  std::uint64_t tensors = 0;          // without those that could not be compared
  std::uint64_t troubled_tensors = 0;
  std::uint64_t different_tensors = 0;
  std::uint64_t compared = 0;  // elements
  bool directories = false;
  std::optional<std::string> first_different{};  // name of the first tensor, or of a file
  std::vector<std::string> others{};  // paths of files beside the tensors of directories
  bool unwritten = false;  // a report file could not be written
  // What --close has become: different ones, up to a few.
  std::vector<btf::Tolerance> close;
  Pairing pairing;

  // Of two files, of which something was compared: then there is a report.
  bool partly() const { return !directories && tensors > 0 && troubled_tensors > 0; }
  // Of what was compared, the tensors of a troubled file too.
  bool same() const { return different_files == 0 && different_tensors == 0; }
  // Of two files that is trouble of the pair.
  bool nothing() const {
    return directories && same() && troubled_files == 0 && compared == 0;
  }
  bool trouble() const { return troubled_files > 0 || unwritten || nothing(); }
};

// What goes with the exit code: trouble goes before a difference.
PairResult result_of(const Totals& totals);

// Adds the tolerance of a tensor that was judged if no other had it.
void note_close(const btf::TensorDiff& diff, std::vector<btf::Tolerance>& close);

class DiffReport : public btf::SetDiffSink {
 public:
  // Not called when nothing of a single pair of files could be compared, unless the report is a
  // file of its own.
  virtual btf::Status finish(const Totals& totals) = 0;
  virtual bool own_file() const { return false; }
};

}  // namespace btftool
