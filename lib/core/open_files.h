// How many files may be open at a time.
#pragma once

#include <cstddef>

namespace btf {

// `most`, or fewer where a process may have few; one at least. Several ask for their share.
std::size_t open_files(std::size_t most);

}  // namespace btf
