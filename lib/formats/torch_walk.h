// Finds the tensors in a pickle and their names.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "btf/error.h"
#include "formats/pickle.h"

namespace btf {

struct NamedNode {
  std::optional<std::string> name;  // keys from the outside in; unset if it is the whole pickle
  Pickle::Node node = 0;
};

// Finds tensors, and storages that were saved by themselves, in dicts, lists and objects, in order;
// ignores everything else. A tensor may have several names. Names in a module are those of its
// state_dict. If there are too many paths to a tensor, only the first one gives a name.
Result<std::vector<NamedNode>> find_torch_tensors(const Pickle& pickle);

// Keys of all storages that the pickle refers to, including those of tensors that cannot be read.
std::set<std::string, std::less<>> storages_of(const Pickle& pickle,
                                               const std::vector<NamedNode>& tensors);

}  // namespace btf
