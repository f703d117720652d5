// Where tensors are in a pickle, and what they are called there.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "btf/error.h"
#include "formats/pickle.h"

namespace btf {

struct NamedNode {
  std::optional<std::string> name;  // its keys, from the outside in; nothing: the pickle is it
  Pickle::Node node = 0;
};

// Tensors, and storages that stand by themselves, in dicts, lists and objects, in their order; what
// else is in these is left out. One may be there under several names. A module gives the names of
// its state_dict. Where there are too many ways to a tensor it has the name of the first.
Result<std::vector<NamedNode>> find_torch_tensors(const Pickle& pickle);

// Keys of the storages that these tensors are made of, given or not.
std::set<std::string, std::less<>> storages_of(const Pickle& pickle,
                                               const std::vector<NamedNode>& tensors);

}  // namespace btf
