// Known kinds of files that have no tensors or are not supported. Messages name them, so that they
// are not misread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "btf/file.h"
#include "formats/io/byte_source.h"

namespace btf {

// What a file is recognised by.
struct FileStart {
  std::string_view bytes;  // its first bytes
  std::uint64_t size = 0;  // of the whole file; for an endless stream, of the bytes read
  std::string_view name;   // name of its content as given: "dir/x.npy" for "dir/x.npy.zst"
};

struct UnsupportedFormat {
  std::string_view what;    // "is ..."
  std::string_view advice;  // how to make a file that btftool reads
  std::size_t offset = 0;   // offset of the bytes that identify it
  std::string_view bytes{};
  std::string_view ending{};  // of its name, in lower case; with `bytes`, both must match
  bool (*fits)(const FileStart& start) = nullptr;  // additional condition
  // Has no tensors, so that a directory may contain it next to its tensors.
  bool tensorless = false;
};

std::span<const UnsupportedFormat> unsupported_formats();

// A kind of text, recognised by what its first bytes contain; in JSON without tensors, a word.
struct TextKind {
  std::string_view mark;
  std::string_view what;  // "is ..."
};

std::span<const TextKind> text_kinds();
std::span<const TextKind> json_kinds();

struct FoundKind {
  std::string text;         // "is ...; advice"
  bool tensorless = false;  // see UnsupportedFormat
};

// The kind of a file by its first bytes, else by its extension; unset if it is none of these.
Result<std::optional<FoundKind>> find_unsupported_format(const ByteSource& source,
                                                         std::string_view path);

// The kind of a placeholder for a file of any format: a Git LFS pointer, the answer of a server.
Result<std::optional<FoundKind>> find_placeholder(const ByteSource& source);

// Describes a file of an unknown kind: what it is not, its length, and what its size could mean.
std::string unknown_kind(const ByteSource& source, std::string_view path);

// Returns true if a directory may contain this file next to its tensors: text, an image, an
// archive. False for files that are named like tensor files, whatever they contain, and for files
// that fit the options' spec.
Result<bool> accompanies_tensors(const std::string& path, const OpenOptions& options);

}  // namespace btf
