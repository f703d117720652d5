// A conversion of files into a directory that several processes share: each converts some of them
// (docs/scaling.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/convert.h"
#include "btf/error.h"
#include "btf/tensor_set.h"

namespace btf {

// A file of the input before it is converted.
struct PlannedFile {
  std::string name;  // below the input's directory
  std::string path;
  std::uint64_t bytes = 0;
};

// All on the caller's thread. Numbers are those of the files of pick().
class BTF_API ConvertShare {
 public:
  virtual ~ConvertShare();
  // All files, before the first is converted. What is returned are those to be converted here,
  // ascending.
  virtual Result<std::vector<std::uint64_t>> pick(std::span<const PlannedFile> files) = 0;
  virtual void begin(std::uint64_t number) = 0;
  // `outputs` are written, of `bytes` together.
  virtual void end(std::uint64_t number, std::span<const std::string> outputs,
                   std::uint64_t bytes) = 0;
};

// As convert() of several files to a directory. An error: `directory` is to be one file. Nothing of
// this share is written if a file of it cannot be converted.
BTF_API Status convert(const TensorSet& input, const std::string& directory,
                       const ConvertOptions& options, ConvertShare& share,
                       const TensorReportSink& report = {});

}  // namespace btf
