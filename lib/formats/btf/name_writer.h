// Writes the name table of a BTF file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "btf/error.h"
#include "core/checked_math.h"
#include "formats/io/byte_sink.h"

namespace btf {

class NameWriter {
 public:
  // The name of the next tensor; empty: it has none.
  Status add(const std::string& name);
  void set_attributes(std::string json) { attributes_ = std::move(json); }

  // Bytes of the table; 0: there is nothing to write. Nothing: it is larger than one may be.
  Checked bytes() const;
  Status write(ByteSink& sink, std::uint64_t offset) const;

 private:
  std::vector<std::uint32_t> ends_;
  std::string names_;
  std::string attributes_;
};

}  // namespace btf
