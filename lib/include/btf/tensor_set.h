// Tensors in order, by number and by name, in any storage: a file, a directory with
// all that is below it, files that an index or a manifest names, a list of these.
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
#include "btf/layers/pair_names.h"
#include "btf/validate.h"

namespace btf {

// A file of a set.
struct SetMember {
  std::string path;   // to open it by
  std::string place;  // below the directory that it was found in, or the index's; else its path
  // The base of its tensors' names: the index's name for it, else `place` without known extensions.
  std::string name;
};

using MemberFilter = std::function<bool(const SetMember&)>;

// A tensor of a set.
struct SetTensor {
  std::uint64_t member = 0;
  std::uint64_t index = 0;  // in its file

  bool operator==(const SetTensor&) const = default;
};

// Members are opened on use, and few are open at a time. One that cannot be read
// is trouble of that member, not of the set. Members of a directory are in natural order ("fc2"
// before "fc10"). Not for several threads at once.
class BTF_API TensorSet {
 public:
  // A file, "-" for stdin, a directory, or an index (x.safetensors.index.json, a manifest,
  // trtexec's tensor_summary.json), which stands for the files that it names. Symbolic links are
  // followed. Other files in a directory, such as text and images, are others() and not members,
  // unless `keep` selects them.
  static Result<TensorSet> open(const std::string& path, const OpenOptions& options = {},
                                const MemberFilter& keep = {});
  // Several, in this order; at least one.
  static Result<TensorSet> open(std::span<const std::string> paths, const OpenOptions& options = {},
                                const MemberFilter& keep = {});
  // The set of one open file, which must stay open as long as the set exists.
  static TensorSet of(const TensorFile& file);

  TensorSet(TensorSet&&) noexcept;
  TensorSet& operator=(TensorSet&&) noexcept;
  ~TensorSet();

  // As it was opened; of several: the first.
  const std::string& path() const;
  // Is it one file, so that messages need not say which, and tensors have the file's numbers?
  bool one_file() const;

  // Do its members stand in an order that is given, as an index gives it, and not in natural order?
  bool order_given() const;

  // The index that gives its tensors their order of execution; empty: none does.
  std::string order_path() const;

  // Files beside the tensors of directories; each with its path as name.
  const std::vector<SetMember>& others() const;

  // Outputs in directories that are being written, or were left by a process that was killed:
  // ".btf-" and 16 hexadecimal digits. They are neither members nor others.
  const std::vector<SetMember>& unfinished() const;

  // Paths of all files that are read for its tensors: members, indexes, external data of models.
  // Models are opened for that.
  std::vector<std::string> files_read() const;

  std::uint64_t member_count() const;
  SetMember member(std::uint64_t member) const;
  std::string path(std::uint64_t member) const;        // that of the member
  std::string_view place(std::uint64_t member) const;  // likewise
  // Why it cannot be opened, where that shows without trying: no file, a directory without end. Or
  // an error of the system that was met when it was tried, or noted: what could not be read once is
  // trouble for good, even if it can be read the next time.
  const Error* trouble(std::uint64_t member) const;
  // An error of reading a member, met where nothing but the member itself can be blamed for it, as
  // when names are looked for. Of several the first counts; others than those of the system are not
  // noted: they will be met again.
  void note(std::uint64_t member, const Error& error) const;
  // The options that the file is opened with: an index may describe its contents.
  Result<OpenOptions> open_options(std::uint64_t member) const;
  // Opens this member with these options from now on, in place of the set's. Its name becomes that
  // of its file without any extension.
  void open_as(std::uint64_t member, OpenOptions options);
  // An error if one of the options' `named_specs` is of no file, and of no tensor of a file that
  // can be opened.
  Status check_named_specs() const;
  // Opened, if it is not. An error too if it was changed since it was open before, or does not hold
  // its index.
  Result<std::shared_ptr<const TensorFile>> file(std::uint64_t member) const;

  // The current size of the file; 0 if unknown.
  std::uint64_t bytes(std::uint64_t member) const;

  // Opens these members ahead of use, in this order, on a thread of its own. Once.
  void open_ahead(std::vector<std::uint64_t> members);

  // Differences between a member and its index.
  Status check_index(std::uint64_t member, const FindingSink& report) const;

  // A manifest of the set, or of the tensors with these numbers: JSON that opens as the same set,
  // and names files as they were named here.
  Result<std::string> manifest(
      const std::optional<std::vector<std::uint64_t>>& tensors = std::nullopt) const;

  // An error if an open file has changed since it was opened. Call it after the last read.
  Status check_unchanged() const;
  Status check_unchanged(std::uint64_t member) const;
  // Whoever had the member open has asked it after the last read: check_unchanged() need not,
  // unless file() gives it out again.
  void settle(std::uint64_t member);

  // Numbers of tensors go through all members. These open each member once, and fail if one cannot
  // be opened.
  Result<std::uint64_t> tensor_count() const;
  Result<SetTensor> tensor(std::uint64_t number) const;
  // Numbers of the tensors in a selection: "0,2-5,-1,conv*,!fc" (docs/cli.md, section 5).
  Result<std::vector<std::uint64_t>> select(std::string_view text) const;
  // Tensors that an index of shards gives to another shard, which has them: copies that programs do
  // not read. By member and index.
  Result<std::vector<SetTensor>> copies() const;
  // As if members that cannot be opened had no tensors.
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

// As TensorSet::open() of each; two directories are listed at the same time if the execution allows
// more than one thread. Where neither can be opened, the error is actual's.
BTF_API Result<TwoSets> open_two_sets(const SetOperand& actual, const SetOperand& golden,
                                      const Execution& execution = {});

// True for a directory. A missing path is false: opening it reports the error.
BTF_API Result<bool> is_directory(const std::string& path);

// True for an index, which means the files that it names.
BTF_API bool is_index(const std::string& path);

// The error of a set without members: an empty directory, one with other files only, an index that
// names none.
BTF_API Error no_files(const TensorSet& set);

}  // namespace btf
