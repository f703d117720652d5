// How several processes share the work of one command: each measures some of its items, and one of
// them judges all (docs/scaling.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "btf/api.h"
#include "btf/error.h"

namespace btf {

// Size and time of the last change of a file, by which a later process notices that the file is no
// longer the one that was measured.
struct FileState {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const FileState&) const = default;

  // Unset if there is no such file; an error if the system cannot tell.
  BTF_API static Result<std::optional<FileState>> of(const std::string& path);
};

// Decides which items a process measures, and holds the measurements of all others. `Planned`
// describes an item before it is measured, `Measured` holds its result. Items are numbered as they
// are passed to plan(). All members are called on the caller's thread: plan() once, then for each
// item is_own() and, by its answer, take() after it was measured, or known().
template <typename Planned, typename Measured>
class ItemShare {
 public:
  virtual ~ItemShare() = default;
  // Called once with all items, before the first is measured. An error ends the run.
  virtual Status plan(std::span<const Planned> items) = 0;
  // Returns true if this process measures the item.
  virtual bool is_own(std::uint64_t number) const = 0;
  // The measurement of an item that another process has measured; nullptr if there is none.
  virtual const Measured* known(std::uint64_t number) const = 0;
  // Called for each item of this process as soon as it has been measured.
  virtual void take(std::uint64_t number, const Measured& item) = 0;
};

}  // namespace btf
