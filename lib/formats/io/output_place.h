// The kind of file that an output's path names, and whether it can be written: known at the start.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>

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

// A file by what it is, and not by its name: device and inode of a regular file or a disk.
using FileIdentity = std::pair<dev_t, ino_t>;

// Nothing: there is none yet, or it is a pipe, a terminal or the like.
std::optional<FileIdentity> output_identity(const std::string& path);
std::optional<FileIdentity> input_identity(const std::string& path);

// Where an output goes, be it there or not: its directory by what it is, and its name in there.
// Nothing: a descriptor, or the directory is not there.
std::optional<std::pair<FileIdentity, std::string>> output_spot(const std::string& path);

// Do they lead to one place? Two names of a file are two places, but where it is written by way of
// a descriptor.
bool same_place(const std::string& one, const std::string& other);

// Is the file itself written, and not replaced?
bool in_place(const std::string& path);

// A file of the input may be replaced by an output, once that is whole. What is written in place,
// as a descriptor of the process is, would be overwritten while it is read. Can it be so at all?
bool may_write_over(const std::string& output);
// An error that names both, if it is one of these files.
Status check_written_over(const std::string& output, std::span<const std::string> inputs);

// How messages call it.
std::string output_name(const std::string& path);

}  // namespace btf
