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

// Called once, when the size of the output is known (0 if it is not).
using MakeSink = std::function<Result<std::unique_ptr<ByteSink>>(const SinkOptions& options)>;

// Converts to a sink of the caller's; `name` only decides the format, as a path's ending does.
Result<std::uint64_t> convert_into(const TensorFile& input, const std::string& name,
                                   const MakeSink& make_sink, const ConvertOptions& options,
                                   const TensorReportSink& report = {});

struct PlannedOutput {
  std::string path;
  std::vector<std::uint64_t> tensors;  // their numbers in the set
};

// Returns true if `output` is a directory that gets a file for each file of the input or for each
// tensor. False if it gets a single file named after the input, see output_path().
Result<bool> files_in_directory(const std::string& output, const TensorSet& input,
                                const ConvertOptions& options);

// The files that a conversion to a directory writes, in the order of the tensors. No two have the
// same path, and none is a file of the input.
Result<std::vector<PlannedOutput>> outputs_in(const std::string& directory, const TensorSet& input,
                                              const std::vector<std::uint64_t>& tensors,
                                              const ConvertOptions& options);

// A tensor's name as a file name: without slashes, leading dots and unprintable characters, and
// short enough for the file system. Different names give different file names. `ending` is
// appended.
std::string safe_file_name(const std::string& name, const std::string& ending);

// Creates the directories of a path that do not exist.
Status make_folder(const std::string& path);

}  // namespace btf
