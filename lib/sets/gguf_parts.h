// A model in several GGUF files, which their names say: "x-00001-of-00003.gguf".
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "sets/index.h"

namespace btf {

// By its name: the first of several, which stands for all of them.
bool named_as_first_gguf_part(std::string_view path);

// `path` is so named; whether all are there shows when they are opened.
Result<std::unique_ptr<SetIndex>> read_gguf_parts(const ByteSource& source,
                                                  const std::string& path);

}  // namespace btf
