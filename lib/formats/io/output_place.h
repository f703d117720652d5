// The kind of file that an output's path names, and whether it can be written: known at the start.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>

#include "btf/error.h"

namespace btf {

// A descriptor, or a path that is written in place, both front to back; else a file that appears
// whole.
struct OutputPlace {
  std::optional<int> descriptor{};   // of this process: "-", /dev/stdout, /dev/fd/N
  bool in_place = false;             // `path` is a pipe, a device, a socket
  std::filesystem::path path{};      // behind all symbolic links
  std::optional<struct stat> old{};  // of the file that is replaced
};

// Changes nothing. An error is not yet named after the path.
Result<OutputPlace> find_output(const std::string& path);

// The descriptor of this process that the path names, if it names one.
std::optional<int> output_descriptor(const std::string& path);

// How messages call it.
std::string output_name(const std::string& path);

}  // namespace btf
