// Which tensor of a TensorRT engine a file is called as.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "btf/tensorrt/engine_list.h"

namespace btf {

// By the tensor's name as it is, with %2f in place of '/', and as programs that dump sanitise it:
// all that is no letter and no digit is an underscore.
class EngineNames {
 public:
  // The list outlives it.
  explicit EngineNames(const EngineList& list);

  // nullptr: of no tensor, of several, or a file that says itself what it holds.
  const EngineTensor* find(std::string_view path) const;
  const EngineTensor* named(std::string_view name) const;

 private:
  const EngineList& list_;
  std::unordered_map<std::string, std::uint32_t> exact_;
  std::unordered_map<std::string, std::uint32_t> sanitised_;  // kSeveral: of more than one
};

}  // namespace btf
