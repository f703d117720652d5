#include "diff/sets/file_specs.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "btf/tensor_spec.h"
#include "btf/try.h"
#include "sets/pairs/given_pairs.h"
#include "sets/pairs/globs.h"

namespace btf {
namespace {

// The tensor whose dims are meant: the partner that is known, the one that is selected, the only
// one, or the one that is called as the file.
Result<std::uint64_t> partner(const std::string& name, const SetDiffOptions& options,
                              const OtherSide& other) {
  const std::uint64_t count = other.file.tensor_count();
  if (other.pair.*other.tensor) return *(other.pair.*other.tensor);
  const TensorSet set = TensorSet::of(other.file);
  if (options.pairs.size() == 1)
    if (const auto found = side_of_pair(options.pairs.front(), set, other.golden))
      return found->index;
  for (const std::string& text : {options.tensors.value_or(""), "@" + name}) {
    const auto found = text.empty() ? Result<std::vector<std::uint64_t>>() : set.select(text);
    if (found && found->size() == 1) return found->front();
  }
  if (count == 1) return 0;
  return fail(ErrorCode::invalid_argument,
              "the spec has no dims, and " + other.file.path() + " has " + std::to_string(count) +
                  " tensors, none named '" + name + "'; give `pairs` 0:G, or dims in the spec");
}

// One that says something else than the spec.
bool contradicts(const std::string& path, const OpenOptions& open) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  const auto file = TensorFile::open(path, open);
  return file && file->says_dims();
}

bool matches_file(const SpecRule& rule, const TensorSet& set) {
  for (std::uint64_t member = 0; member < set.member_count(); ++member)
    if (glob_matches(rule.glob, set.member(member))) return true;
  return false;
}

// A tensor of an archive, say.
Status matches_tensor(const SpecRule& rule, const TensorSet& set) {
  const auto found = set.select_readable("@" + rule.glob);
  if (found && !found->empty()) return {};
  return fail(ErrorCode::invalid_argument, rule.source + ": no file of " + set.path() + " matches");
}

}  // namespace

Result<FileSpecs> FileSpecs::apply(const SetDiffSide& side, TensorSet& set) {
  FileSpecs specs;
  specs.open_ = side.open;
  std::vector<const SpecRule*> of_files;
  for (const SpecRule& rule : side.specs) {
    if (matches_file(rule, set)) {
      of_files.push_back(&rule);
    } else {
      BTF_TRY(matches_tensor(rule, set));
      BTF_ASSIGN(TensorSpec spec, parse_tensor_spec(rule.spec));
      specs.open_.named_specs.push_back({rule.glob, std::move(spec)});
    }
  }
  for (std::uint64_t member = 0; member < set.member_count() && !side.specs.empty(); ++member) {
    const SetMember file = set.member(member);
    const SpecRule* last = nullptr;
    for (const SpecRule* const rule : of_files)
      if (glob_matches(rule->glob, file)) last = rule;
    if (last == nullptr && specs.open_.named_specs.empty()) continue;
    OpenOptions options = specs.open_;
    if (last != nullptr) {
      options.spec = spec_without_dims(last->spec);
      if (options.spec) {
        specs.waiting_.emplace(member, *last);
      } else {
        BTF_ASSIGN(options.spec, parse_tensor_spec(last->spec));
      }
    }
    set.open_as(member, std::move(options));
  }
  return specs;
}

// Arrays of NumPy and outputs of trtexec lack a dtype at most, and text may say its shape.
bool FileSpecs::waits(std::uint64_t member, const TensorSet& set) const {
  const auto waiting = waiting_.find(member);
  if (waiting == waiting_.end()) return false;
  // A stream can be read only once and is not tried.
  if (set.member(member).path == "-")
    return is_list(member) || !parse_tensor_spec(waiting->second.spec);
  const auto file = set.file(member);
  if (!file) return !contradicts(set.member(member).path, open_);
  return !(*file)->says_dims();
}

bool FileSpecs::is_list(std::uint64_t member) const {
  const auto spec = spec_without_dims(waiting_.at(member).spec);
  return spec && spec->as_text;
}

Status FileSpecs::complete(std::uint64_t member, TensorSet& set, const SetDiffOptions& options,
                           const OtherSide& other) {
  const auto waiting = waiting_.find(member);
  const SpecRule& rule = waiting->second;
  const SetMember file = set.member(member);
  const auto refuse = [&](const Error& error) {
    return std::unexpected(error.within(rule.source).in_file(file.path));
  };
  const auto index = partner(file.name, options, other);
  if (!index) return refuse(index.error());
  BTF_ASSIGN(const TensorInfo tensor, other.file.tensor(*index));
  const auto spec = spec_with_dims(rule.spec, tensor.dims);
  if (!spec) return refuse(spec.error());
  OpenOptions open = open_;
  open.spec = *spec;
  set.open_as(member, std::move(open));
  waiting_.erase(waiting);
  return {};
}

Error FileSpecs::no_dims(std::uint64_t member, const TensorSet& set) const {
  return Error{ErrorCode::invalid_argument, "neither side says the dims"}
      .within(waiting_.at(member).source)
      .in_file(set.member(member).path);
}

Error with_likely_specs(Error error, std::uint64_t bytes,
                        const Result<std::shared_ptr<const TensorFile>>& other,
                        const std::string& member) {
  constexpr std::size_t kMost = 3;
  const bool unknown = error.finding == "offset-table-too-long" || error.finding == "not-btf";
  if (!unknown || error.file.ends_with(".btf") || !other) return error;
  std::vector<std::string> specs;
  for (std::uint64_t i = 0; i < (*other)->tensor_count() && specs.size() < kMost; ++i) {
    const auto tensor = (*other)->tensor(i);
    if (!tensor || !tensor->dtype) continue;
    for (std::string& spec :
         specs_of_size(tensor->dims, bytes, *tensor->dtype, kMost - specs.size()))
      if (std::ranges::find(specs, spec) == specs.end()) specs.push_back(std::move(spec));
  }
  std::string list;
  for (const std::string& spec : specs) list += (list.empty() ? "" : ", ") + spec;
  if (!specs.empty())
    error.message +=
        "; with the dims of " + (*other)->path() + " its size is that of " + member + " " + list;
  return error;
}

}  // namespace btf
