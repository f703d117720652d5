// Which names the objects that are open have had, so that none comes twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/json/token.h"

namespace btf {

// The record of a name: two with the same hash are compared again.
struct JsonNameSeen {
  std::uint64_t hash = 0;
  std::uint64_t offset = 0;  // of its first byte, behind the opening quote
};

class JsonNames {
 public:
  std::size_t size() const { return seen_.size(); }
  void add(const JsonNameSeen& name) { seen_.push_back(name); }

  // Names from `first` on are those of the object that ends at byte `end`, and are forgotten. Where
  // the second of two stands that are the same.
  Result<std::optional<std::uint64_t>> end_object(std::size_t first, const ByteSource& source,
                                                  std::uint64_t end);

 private:
  std::vector<JsonNameSeen> seen_;
};

}  // namespace btf
