// The rules by which convert() and write_tensors() choose and write their outputs, for programs
// that write files of their own in the same way, or want to check an output early.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"

namespace btf {

// Returns `output` or, if that is a directory, the file in it with the name of `input`, as cp does.
// An error if the result is `input` itself, or if the name is needed and `input` is standard input.
BTF_API Result<std::string> output_path(const std::string& output, const std::string& input);

// Names of the formats that can be written: "btf", "npy", ...
BTF_API std::vector<std::string_view> output_formats();

// Returns true for names such as "x.npy.zst", which ask for compression.
BTF_API bool compressed_by_name(std::string_view output);

// Returns true for names such as "x.bin", whose extension belongs to no format. BTF is written
// there unless the options give a format.
BTF_API bool has_unknown_extension(std::string_view output);

// Checks, without changing anything, whether an output can be written. "-" is stdout. /dev/stdout,
// /dev/fd/N and files that are not regular (pipes, devices) are written in place, after what is
// there. Any other file is replaced in one step when everything is written; it keeps the owner and
// mode of the old one if that is permitted, and a symbolic link is followed.
BTF_API Status check_output(const std::string& path);

// Returns the first of `inputs` that the output would overwrite, by device and inode, whatever
// their names are. "-" is standard input among the inputs, and standard output as the output. Unset
// if there is none; pipes and devices hold nothing that could be lost.
BTF_API Result<std::optional<std::string>> overwritten(const std::string& output,
                                               std::span<const std::string> inputs);

// Returns true if the output would replace an existing file (other than a pipe or a device).
BTF_API Result<bool> output_exists(const std::string& output);

// Returns true if both name the same output, whether it exists or not. Symbolic links are followed.
// Hard links of one file are different outputs, since each name is replaced on its own.
BTF_API bool same_output(const std::string& one, const std::string& other);

// Returns true if the output is written in place and not replaced, as descriptors of the process
// and files that are not regular are.
BTF_API bool written_in_place(const std::string& path);

// Returns true for "-", /dev/stdout and every other name of standard output.
BTF_API bool is_standard_output(const std::string& path);

// Writes a whole file by the same rules. Unlike tensors, text may be written to a terminal.
BTF_API Status write_text(const std::string& path, std::string_view text);

}  // namespace btf
