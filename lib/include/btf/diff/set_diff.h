// What a comparison of two sets tells: for every pair of files begin(), take() for each of its
// tensors, end().
#pragma once

#include <cstdint>
#include <string>

#include "btf/api.h"
#include "btf/diff/tensor_diff.h"

namespace btf {

// Files of two sets that are compared with each other, or a file that only one set has.
struct FilePair {
  std::string name;    // actual's path, or the path below both directories
  std::string actual;  // paths; empty: there is no such file
  std::string golden;
  // Tensors of several files may have one name, so that reports show the file with it.
  bool tells_file = true;
  std::string actual_name{};  // of tensors that are a pair, actual's name where it differs

  // "0/xs against xs"
  BTF_API std::string both_names() const;
};

enum class PairResult : std::uint8_t {
  same,
  different,
  missing,
  bytes,  // different too: files beside the tensors
  trouble,
};

struct PairOutcome {
  PairResult result = PairResult::same;
  std::string error{};  // of trouble, and how bytes differ
};

class BTF_API SetDiffSink {
 public:
  virtual ~SetDiffSink();
  virtual void begin(const FilePair& pair) = 0;
  virtual void take(const TensorDiff& diff) = 0;
  // Is missing() to be called for the tensors of a file that only one side has?
  virtual bool lists_missing() const { return false; }
  virtual void missing(const TensorDiff&) {}
  virtual void end(const FilePair& pair, const PairOutcome& outcome) = 0;
};

}  // namespace btf
