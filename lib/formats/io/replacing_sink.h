// A file that appears under its name whole, in commit(), or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/io/byte_sink.h"
#include "formats/io/output_place.h"

namespace btf {

// For a path that is no descriptor and not written in place. `name` is for messages. Until it is
// finished it has no name; where that cannot be, or is not wanted, a temporary one.
Result<std::unique_ptr<ByteSink>> replacing_sink(std::string name, const OutputPlace& place,
                                                 const SinkOptions& options, bool nameless = true);

// 16 random hexadecimal digits, for names that nobody else has; nothing: see errno.
std::optional<std::string> random_digits();

// Is it the name of an output that is not finished, ".btf-0123456789abcdef"? Whoever writes one has
// it locked (flock), so one that is not was left by a process that was killed.
bool is_unfinished(std::string_view file_name);

// Removes those of the directory that no process holds and that are the user's own. At most so many
// entries of it are looked at.
void remove_unfinished(const std::filesystem::path& directory, std::uint64_t most_entries);

}  // namespace btf
