// Where outputs go: the rules by which convert() and write_tensors() write, for programs that write
// files of their own beside them, or want to know early.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"

namespace btf {

// `output`, or if that is a directory the file in it that has the name of `input`, as cp has it. An
// error if this is `input` itself, or standard input, which has no name.
BTF_API Result<std::string> output_path(const std::string& output, const std::string& input);

// Names of the formats that can be written: "btf", "npy", ...
BTF_API std::vector<std::string_view> output_formats();

// "x.npy.zst": the name asks for compression.
BTF_API bool compressed_by_name(std::string_view output);

// "x.bin": the name has an extension that stands for no format. BTF is written there unless the
// options give a format.
BTF_API bool has_unknown_ending(std::string_view output);

// Can it be written, as far as that shows beforehand? Nothing is changed.
// "-" is stdout. Targets of /dev/stdout and /dev/fd/N, and files that are not regular (a pipe, a
// device), are written in place, behind what is there. A file is replaced in one step when all is
// written, with the owner and the mode of the old one where permitted; a symbolic link is followed.
BTF_API Status check_output(const std::string& path);

// The first of these files that the output would overwrite, by device and inode, however both are
// called; "-" is standard input there, and standard output here. Nothing: none, as far as it is
// there at all, or pipes and devices, which hold nothing that could be lost.
BTF_API std::optional<std::string> overwritten(const std::string& output,
                                               std::span<const std::string> inputs);

// Is there a file already that the output would overwrite, other than a pipe or the like?
BTF_API bool is_file_already(const std::string& output);

// Do these outputs name one file, be it there or not? Behind all symbolic links. Names of one file
// (hard links) are several outputs, since each name is replaced by itself.
BTF_API bool same_output(const std::string& one, const std::string& other);

// Does writing the output change the file itself, and not what its name stands for? So it is with
// descriptors of the process, and with what is no regular file.
BTF_API bool written_in_place(const std::string& path);

// By any name.
BTF_API bool is_standard_output(const std::string& path);

// A whole file. Unlike tensors, text may go to a terminal.
BTF_API Status write_text(const std::string& path, std::string_view text);

}  // namespace btf
