// diff --image: the worst of the tensors that differ, as a picture.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "btf/diff/set_diff.h"
#include "io/context.h"
#include "io/picture.h"

namespace btftool {

class DifferencePicture {
 public:
  // `several`: there are several files, and pairs are told by their names.
  DifferencePicture(const DiffCommand& command, bool several);

  // Takes each pair that was compared, in order. A pair that is the same is drawn only if all are.
  void note(const btf::FilePair& files, const btf::TensorDiff& diff);
  // The number of the one that is drawn; nothing: there is none.
  std::optional<std::uint64_t> pair() const;
  void draw(const Context& context, const btf::Result<btf::ComparedFiles>& files);
  // To where it goes; says on standard output what it shows. Nothing, if none was asked for.
  btf::Status write(const Context& context) const;

 private:
  struct Chosen {
    btf::FilePair files;
    btf::DiffTensor actual;
    btf::DiffTensor golden;
    double error = 0;
    std::optional<btf::Dims> place{};  // of the largest error
    bool different = false;
  };

  const DiffCommand& command_;
  bool several_;
  std::optional<PictureTarget> target_;
  std::optional<Chosen> chosen_;
  std::uint64_t different_ = 0;
  std::optional<btf::Result<btf::DrawnTensor>> drawn_;
};

// Has the picture all of standard output?
bool picture_takes_output(const DiffCommand& command);

}  // namespace btftool
