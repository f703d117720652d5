#include "btf/diff/set_diff.h"

namespace btf {

SetDiffSink::~SetDiffSink() = default;

std::string FilePair::both_names() const {
  return actual_name.empty() ? name : actual_name + " against " + name;
}

}  // namespace btf
