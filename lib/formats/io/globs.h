// Names by globs, as the shell has them; `*` matches slashes too.
#pragma once

#include <fnmatch.h>

#include <ranges>
#include <span>
#include <string>

#include "btf/tensor_spec.h"

namespace btf {

inline bool glob_matches(const std::string& glob, const std::string& name) {
  return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

// The last rule whose glob matches the name; nullptr: none does.
inline const TensorSpec* spec_by_name(std::span<const NamedSpec> rules, const std::string& name) {
  for (const NamedSpec& rule : rules | std::views::reverse)
    if (glob_matches(rule.glob, name)) return &rule.spec;
  return nullptr;
}

}  // namespace btf
