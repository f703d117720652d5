#include "diff/file_specs.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "btf/tensor_spec.h"
#include "btf/try.h"
#include "cli/diff_arguments.h"
#include "diff/given_pairs.h"
#include "diff/globs.h"

namespace btftool {
namespace {

// The tensor whose dims are meant: the partner that is known, the one that is selected, the only
// one, or the one that is called as the file.
btf::Result<std::uint64_t> partner(const std::string& name, const DiffCommand& command,
                                   const OtherSide& other) {
  const std::uint64_t count = other.file.tensor_count();
  if (other.pair.*other.tensor) return *(other.pair.*other.tensor);
  const btf::TensorSet set = btf::TensorSet::of(other.file);
  if (command.pairs.size() == 1)
    if (const auto found = side_of_pair(command.pairs.front(), set, other.golden))
      return found->index;
  for (const std::string& text : {command.tensors.value_or(""), "@" + name}) {
    const auto found = text.empty() ? btf::Result<std::vector<std::uint64_t>>() : set.select(text);
    if (found && found->size() == 1) return found->front();
  }
  if (count == 1) return 0;
  return btf::fail(btf::ErrorCode::invalid_argument,
                   "the dims are to be those of a tensor of " + other.file.path() + ", which has " +
                       std::to_string(count) + " and none called '" + name +
                       "'; --pair 0:G says which, or the spec the dims");
}

// One that says something else than the spec.
bool contradicts(const std::string& path, const btf::OpenOptions& open) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  const auto file = btf::TensorFile::open(path, open);
  return file && file->says_dims();
}

bool matches_file(const SpecRule& rule, const btf::TensorSet& set) {
  for (std::uint64_t member = 0; member < set.member_count(); ++member)
    if (glob_matches(rule.glob, set.member(member))) return true;
  return false;
}

// A tensor of an archive, say.
btf::Status matches_tensor(const SpecRule& rule, const btf::TensorSet& set) {
  const auto found = set.select_readable("@" + rule.glob);
  if (found && !found->empty()) return {};
  return btf::fail(btf::ErrorCode::invalid_argument,
                   rule.source + ": no file of " + set.path() + " matches");
}

}  // namespace

btf::Result<FileSpecs> FileSpecs::apply(const std::vector<SpecRule>& rules,
                                        const btf::OpenOptions& open, btf::TensorSet& set) {
  FileSpecs specs;
  specs.open_ = open;
  std::vector<const SpecRule*> of_files;
  for (const SpecRule& rule : rules) {
    if (matches_file(rule, set)) {
      of_files.push_back(&rule);
    } else {
      BTF_TRY(matches_tensor(rule, set));
      BTF_ASSIGN(btf::TensorSpec spec, btf::parse_tensor_spec(rule.spec));
      specs.open_.named_specs.push_back({rule.glob, std::move(spec)});
    }
  }
  for (std::uint64_t member = 0; member < set.member_count() && !rules.empty(); ++member) {
    const btf::SetMember file = set.member(member);
    const SpecRule* last = nullptr;
    for (const SpecRule* const rule : of_files)
      if (glob_matches(rule->glob, file)) last = rule;
    if (last == nullptr && specs.open_.named_specs.empty()) continue;
    btf::OpenOptions options = specs.open_;
    if (last != nullptr) {
      options.spec = spec_without_dims(last->spec);
      if (options.spec) {
        specs.waiting_.emplace(member, *last);
      } else {
        BTF_ASSIGN(options.spec, btf::parse_tensor_spec(last->spec));
      }
    }
    set.open_as(member, std::move(options));
  }
  return specs;
}

// Arrays of NumPy and outputs of trtexec lack a dtype at most, and text may say its shape.
bool FileSpecs::waits(std::uint64_t member, const btf::TensorSet& set) const {
  const auto waiting = waiting_.find(member);
  if (waiting == waiting_.end()) return false;
  // What can be read once only is not tried.
  if (set.member(member).path == "-")
    return is_list(member) || !btf::parse_tensor_spec(waiting->second.spec);
  const auto file = set.file(member);
  if (!file) return !contradicts(set.member(member).path, open_);
  return !(*file)->says_dims();
}

bool FileSpecs::is_list(std::uint64_t member) const {
  const auto spec = spec_without_dims(waiting_.at(member).spec);
  return spec && spec->as_text;
}

btf::Status FileSpecs::complete(std::uint64_t member, btf::TensorSet& set,
                                const DiffCommand& command, const OtherSide& other) {
  const auto waiting = waiting_.find(member);
  const SpecRule& rule = waiting->second;
  const btf::SetMember file = set.member(member);
  const auto refuse = [&](const btf::Error& error) {
    return std::unexpected(error.within(rule.source).in_file(file.path));
  };
  const auto index = partner(file.name, command, other);
  if (!index) return refuse(index.error());
  BTF_ASSIGN(const btf::TensorInfo tensor, other.file.tensor(*index));
  const auto spec = spec_with_dims(rule.spec, tensor.dims);
  if (!spec) return refuse(spec.error());
  btf::OpenOptions options = open_;
  options.spec = *spec;
  set.open_as(member, std::move(options));
  waiting_.erase(waiting);
  return {};
}

btf::Error FileSpecs::no_dims(std::uint64_t member, const btf::TensorSet& set) const {
  return btf::Error{btf::ErrorCode::invalid_argument, "neither side says the dims"}
      .within(waiting_.at(member).source)
      .in_file(set.member(member).path);
}

btf::Error with_likely_specs(btf::Error error, std::uint64_t bytes,
                             const btf::Result<std::shared_ptr<const btf::TensorFile>>& other,
                             const std::string& option) {
  constexpr std::size_t kMost = 3;
  const bool unknown = error.finding == "offset-table-too-long" || error.finding == "not-btf";
  if (!unknown || error.file.ends_with(".btf") || !other) return error;
  std::vector<std::string> specs;
  for (std::uint64_t i = 0; i < (*other)->tensor_count() && specs.size() < kMost; ++i) {
    const auto tensor = (*other)->tensor(i);
    if (!tensor || !tensor->dtype) continue;
    for (std::string& spec :
         btf::specs_of_size(tensor->dims, bytes, *tensor->dtype, kMost - specs.size()))
      if (std::ranges::find(specs, spec) == specs.end()) specs.push_back(std::move(spec));
  }
  std::string list;
  for (const std::string& spec : specs) list += (list.empty() ? "" : ", ") + spec;
  if (!specs.empty())
    error.message +=
        "; with the dims of " + (*other)->path() + " its size is that of " + option + " " + list;
  return error;
}

}  // namespace btftool
