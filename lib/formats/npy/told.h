// The specs that a caller gives for the arrays of an archive.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "btf/file.h"
#include "formats/npy/array.h"

namespace btf {

class ToldTypes {
 public:
  explicit ToldTypes(const OpenOptions& options);

  const std::optional<TensorSpec>& of_all() const { return of_all_; }
  // The spec given by name; nullptr: there is none.
  const TensorSpec* of(const std::string& name) const;

  // The type of the array with this name. A spec given by name must fit; one given for all is used
  // where it fits.
  Result<NpyType> type_of(const std::string& name, const NpyHeader& header) const;

  // An error if something is said of all, and fits none of them. `fits` asks array by array and
  // gives the reason of one that it does not fit.
  Status check(std::uint64_t arrays, const std::function<Status(std::uint64_t)>& fits) const;
  // May it be said of this one?
  Status fits(const NpyHeader& header) const;

 private:
  std::optional<TensorSpec> of_all_;
  std::vector<NamedSpec> named_;
};

}  // namespace btf
