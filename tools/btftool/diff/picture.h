// diff --image: the first pair of tensors that differs, as a picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "btf/diff/set_diff.h"
#include "io/context.h"

namespace btftool {

class DifferencePicture {
 public:
  explicit DifferencePicture(const DiffCommand& command) : command_(command) {}

  // Of each pair that was compared, in order. A pair that is the same is drawn only if all are.
  void note(const btf::FilePair& files, const btf::TensorDiff& diff);

  // Into its file; says on standard output what it shows. Nothing, if none was asked for.
  btf::Status write(const Context& context, const btf::TwoSets& sets) const;

 private:
  struct Chosen {
    std::string actual;  // paths
    std::string golden;
    std::uint64_t actual_tensor = 0;
    std::uint64_t golden_tensor = 0;
    bool different = false;
  };

  const DiffCommand& command_;
  std::optional<Chosen> chosen_;
};

}  // namespace btftool
