// An output of text: by the rules of every output (byte_sink.h), but a terminal may have it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "formats/io/byte_sink.h"

namespace btf {

Result<std::unique_ptr<ByteSink>> create_text_sink(const std::string& path, std::uint64_t size);

}  // namespace btf
