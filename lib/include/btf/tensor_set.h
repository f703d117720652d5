// A sequence of tensors from any storage: a file, a directory with everything below it, the files
// that an index or a manifest names, or a list of these. Tensors are found by number and by name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/pair_names.h"
#include "btf/share.h"
#include "btf/validate.h"

namespace btf {

// A file of a set.
struct SetMember {
  std::string path;  // to open it with
  std::string
      place;  // path below the directory of the set or of the index; else the same as `path`
  // Base for the names of its tensors: the name in the index, else `place` without known
  // extensions.
  std::string name;
};

using MemberFilter = std::function<bool(const SetMember&)>;

// A tensor of a set.
struct SetTensor {
  std::uint64_t member = 0;
  std::uint64_t index = 0;  // in its file

  bool operator==(const SetTensor&) const = default;
};

// Members are opened when they are used, and only a few are open at a time. A member that cannot be
// read is trouble of that member and not of the set. Members of a directory are in natural order
// ("fc2" before "fc10"). An object may be used by one thread at a time.
class BTF_API TensorSet {
 public:
  // Opens a file, "-" for stdin, a directory, or an index that names files
  // (x.safetensors.index.json, a manifest, trtexec's tensor_summary.json). Symbolic links are
  // followed. Files of a directory that hold no tensors, such as text and images, are others() and
  // not members, unless `keep` selects them.
  static Result<TensorSet> open(const std::string& path, const OpenOptions& options = {},
                                const MemberFilter& keep = {});
  // Opens several, in this order; at least one.
  static Result<TensorSet> open(std::span<const std::string> paths, const OpenOptions& options = {},
                                const MemberFilter& keep = {});
  // The set of one open file, which must stay open as long as the set exists.
  static TensorSet of(const TensorFile& file);

  TensorSet(TensorSet&&) noexcept;
  TensorSet& operator=(TensorSet&&) noexcept;
  ~TensorSet();

  // The path that was opened; of several the first.
  const std::string& path() const;
  // Returns true if the set is one file, whose tensors keep their numbers.
  bool one_file() const;

  // Returns true if an index gives the order of the members; false if they are in natural order.
  bool order_given() const;

  // Path of the index that gives the order of execution; empty if there is none.
  std::string order_path() const;

  // Files in directories that hold no tensors. Their path is their name.
  const std::vector<SetMember>& others() const;

  // Unfinished outputs in directories, which are being written or were left by a process that was
  // killed: ".btf-" and 16 hexadecimal digits. They are neither members nor others().
  const std::vector<SetMember>& unfinished() const;

  // Paths of all files that are read for its tensors: members, indexes, external data of models.
  // Models are opened for that.
  std::vector<std::string> files_read() const;

  std::uint64_t member_count() const;
  SetMember member(std::uint64_t member) const;
  std::string path(std::uint64_t member) const;
  std::string_view place(std::uint64_t member) const;
  // Why a member cannot be opened, if that is known: it does not exist, it is in a loop of
  // directories, or an earlier attempt failed. A member that could not be read once stays in
  // trouble, even if it could be read now. nullptr if nothing is known to be wrong.
  const Error* trouble(std::uint64_t member) const;
  // Records an error of reading a member. The first one is kept. Errors of the file's contents are
  // not recorded, since they will occur again.
  void note(std::uint64_t member, const Error& error) const;
  // The options with which the member is opened; an index may add to those of the set.
  Result<OpenOptions> open_options(std::uint64_t member) const;
  // Uses these options for the member from now on. Its name becomes that of its file without any
  // extension.
  void open_as(std::uint64_t member, OpenOptions options);
  // An error if one of the options' `named_specs` matches no file, and no tensor of a file that can
  // be opened.
  Status check_named_specs() const;
  // The member, opened if it is not open. An error also if it has changed since it was open before,
  // or lacks what its index says.
  Result<std::shared_ptr<const TensorFile>> file(std::uint64_t member) const;

  // The current size of the file; 0 if unknown.
  Result<std::uint64_t> bytes(std::uint64_t member) const;
  // The state that the file had when it was opened: that of what was read from it. Before, its
  // state now.
  Result<std::optional<FileState>> state(std::uint64_t member) const;

  // Starts a thread that opens these members ahead of use, in this order. May be called once.
  void open_ahead(std::vector<std::uint64_t> members);

  // Reports the differences between a member and its index.
  Status check_index(std::uint64_t member, const FindingSink& report) const;

  // A manifest (JSON) of the set, or of the tensors with these numbers, which opens as the same
  // set. It names files as they were named here.
  Result<std::string> manifest(
      const std::optional<std::vector<std::uint64_t>>& tensors = std::nullopt) const;

  // An error if an open file has changed since it was opened. Call it after the last read.
  Status check_unchanged() const;
  Status check_unchanged(std::uint64_t member) const;
  // Says that the member was checked after its last read, so that check_unchanged() need not check
  // it again unless file() returns it once more.
  void settle(std::uint64_t member);

  // Tensors are numbered through all members. The functions below open each member once, and fail
  // if one cannot be opened.
  Result<std::uint64_t> tensor_count() const;
  Result<SetTensor> tensor(std::uint64_t number) const;
  // Numbers of the tensors in a selection: "0,2-5,-1,conv*,!fc" (docs/cli.md, section 5).
  Result<std::vector<std::uint64_t>> select(std::string_view text) const;
  // Tensors of a shard that the index assigns to another shard, which has them too: copies that
  // programs do not read.
  Result<std::vector<SetTensor>> copies() const;
  // As select(), but members that cannot be opened count as empty. Needs no numbers.
  Result<std::vector<SetTensor>> select_readable(std::string_view text) const;

 private:
  Result<std::vector<std::uint64_t>> select(std::string_view text,
                                            std::span<const std::uint64_t> first_tensors) const;
  struct State;
  explicit TensorSet(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Two sets that are to be compared.
struct TwoSets {
  TensorSet actual;
  TensorSet golden;
};

struct SetOperand {
  const std::string& path;
  const OpenOptions& options;
  MemberFilter keep{};
};

// Opens both sides; two directories are listed in parallel if the execution allows more than one
// thread. If neither can be opened, the error is that of actual.
BTF_API Result<TwoSets> open_two_sets(const SetOperand& actual, const SetOperand& golden,
                                      const Execution& execution = {});

// Returns true for a directory, and false for a path that does not exist: opening it gives the
// error.
BTF_API Result<bool> is_directory(const std::string& path);

// Returns true for an index, which stands for the files that it names.
BTF_API Result<bool> is_index(const std::string& path);

// The error of a set without members: an empty directory, one without files of tensors, or an index
// that names no files.
BTF_API Error no_files(const TensorSet& set);

}  // namespace btf
