// Files as sources of bytes, and copies of what is no file that can be read twice.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "formats/io/byte_source.h"
#include "formats/io/spool.h"
#include "formats/io/system.h"

namespace btf {

FileStamp stamp_of(const struct stat& status);

// By pread, never by mmap: a file that is cut while it is read is an error and not a signal.
// Bytes before `begin` are no part of the source. `name` is for errors.
std::unique_ptr<ByteSource> file_source(std::string name, Descriptor fd, const struct stat& state,
                                        std::uint64_t begin);

struct CopyKind {
  bool compressed = false;  // see ByteSource
  bool more_follows = false;
};

// A copy that nobody else has.
std::unique_ptr<ByteSource> copied_source(std::string name, Spool content, CopyKind kind);

// One of several that read the same.
std::unique_ptr<ByteSource> shared_source(std::shared_ptr<const ByteSource> source);

}  // namespace btf
