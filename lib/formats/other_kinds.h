// Files that are known and hold no tensors, or hold them in a way that is not read: they are called
// by their names instead of being misread.
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

// The properties that identify a file.
struct FileStart {
  std::string_view bytes;  // the first ones
  std::uint64_t size = 0;  // of all of it; of a stream that goes on, of what was read
  std::string_view name;   // of its content, as it was given: "dir/x.npy" of "dir/x.npy.zst"
};

struct OtherKind {
  std::string_view what;    // "is ..."
  std::string_view advice;  // what makes a file that is read
  std::size_t offset = 0;   // of the bytes that it is known by
  std::string_view bytes{};
  std::string_view ending{};  // of its name, in lower case; with bytes, both must be there
  bool (*fits)(const FileStart& start) = nullptr;  // likewise: what else is there must fit
  bool tensorless = false;  // holds none, so that a directory may have it beside its tensors
};

std::span<const OtherKind> other_kinds();

// Text by what is in its first bytes; in JSON without tensors, a word.
struct TextKind {
  std::string_view mark;
  std::string_view what;  // "is ..."
};

std::span<const TextKind> text_kinds();
std::span<const TextKind> json_kinds();

struct FoundKind {
  std::string text;         // "is ...; advice"
  bool tensorless = false;  // see OtherKind
};

// The kind of a file by its first bytes, or else by its extension; nothing: it is none of these.
Result<std::optional<FoundKind>> find_other_kind(const ByteSource& source, std::string_view path);

// The kind of a stand-in for a file of any format: a Git LFS pointer, the answer of a
// server.
Result<std::optional<FoundKind>> find_stand_in(const ByteSource& source);

// Says of a file of no known kind what it is not, how long it is, and what its size may mean.
std::string unknown_kind(const ByteSource& source, std::string_view path);

// Is the file one that a directory has beside its tensors: text, an image, an archive? What has the
// name of a file of tensors is none, whatever is in it, nor is what the options' spec fits.
bool stands_beside_tensors(const std::string& path, const OpenOptions& options);

}  // namespace btf
