// Conversion of a set: what the options mean for it, which files are written, and an output that is
// not a path.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/tensor_set.h"
#include "formats/io/output.h"

namespace btf {

// convert() with an output that is no path.

// Asked once, when the size of the output is known (0: it is not).
using MakeSink = std::function<Result<std::unique_ptr<ByteSink>>(const SinkOptions& options)>;

// The name only says the format, as the end of a path does.
Result<std::uint64_t> convert_into(const TensorFile& input, const std::string& name,
                                   const MakeSink& make_sink, const ConvertOptions& options,
                                   const TensorReportSink& report = {});

// Which files a conversion to a directory writes, and what they are called.

struct PlannedOutput {
  std::string path;
  std::vector<std::uint64_t> tensors;  // numbers of the set
};

// Does `output` name a directory that gets a file for each file of the input, or each tensor? Not
// if it gets one under the input's own name, which is said by output_path().
Result<bool> files_in_directory(const std::string& output, const TensorSet& input,
                                const ConvertOptions& options);

// In the order of the tensors. No two have the same path, and none is a file of the input.
Result<std::vector<PlannedOutput>> outputs_in(const std::string& directory, const TensorSet& input,
                                              const std::vector<std::uint64_t>& tensors,
                                              const ConvertOptions& options);

// A name of a tensor as that of a file in the directory, whatever it is: no slash, no dot in front,
// nothing that cannot be printed, no more bytes than names of files have. Different names stay
// different. `ending` is put behind it.
std::string safe_file_name(const std::string& name, const std::string& ending);

// The directories that a path goes through.
Status make_folder(const std::string& path);

}  // namespace btf
