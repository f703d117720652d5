#include "diff/type_rules.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "btf/try.h"
#include "diff/file_specs.h"
#include "diff/globs.h"

namespace btftool {
namespace {

struct TypeRule {
  std::string glob;
  btf::DType dtype{};
};

std::optional<btf::DType> dtype_alone(const SpecRule& rule) {
  const auto dtype = btf::parse_dtype(rule.spec);
  return dtype ? std::optional(*dtype) : std::nullopt;
}

bool matches(const std::string& glob, const std::string& path, const std::string& tensor) {
  return glob_matches(glob, tensor) || glob_matches_path(glob, path);
}

}  // namespace

DtypeOf dtype_of(const std::vector<SpecRule>& rules) {
  std::vector<TypeRule> types;
  for (const SpecRule& rule : rules)
    if (const auto dtype = dtype_alone(rule)) types.push_back({rule.glob, *dtype});
  if (types.empty()) return {};
  return [types = std::move(types)](std::string_view path, std::string_view tensor) {
    std::optional<btf::DType> last;
    for (const TypeRule& rule : types)
      if (matches(rule.glob, std::string(path), std::string(tensor))) last = rule.dtype;
    return last;
  };
}

bool names_a_tensor(const SpecRule& rule, const btf::TensorSet& set) {
  if (!dtype_alone(rule)) return false;
  for (std::uint64_t member = 0; member < set.member_count(); ++member) {
    const auto file = set.file(member);
    if (!file || !tells_no_dtypes(**file)) continue;
    for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) {
      const auto name = (*file)->name(i);
      if (name && matches(rule.glob, (*file)->path(), *name)) return true;
    }
  }
  return false;
}

btf::Result<btf::OpenOptions> with_types(const btf::OpenOptions& open,
                                         const std::vector<SpecRule>& rules,
                                         std::span<const std::string> paths) {
  if (rules.empty()) return open;
  btf::OpenOptions options = open;
  options.dtype_of = dtype_of(rules);
  if (std::ranges::find(paths, "-") != paths.end()) return options;
  std::vector<bool> used(rules.size());
  for (const std::string& path : paths) {
    // What cannot be opened is trouble of the command itself.
    const auto set = btf::TensorSet::open(path, options);
    for (std::size_t i = 0; set && i < rules.size(); ++i)
      if (!used[i]) used[i] = names_a_tensor(rules[i], *set);
  }
  const auto unused = std::ranges::find(used, false);
  if (unused == used.end()) return options;
  return btf::fail(btf::ErrorCode::invalid_argument,
                   rules[static_cast<std::size_t>(unused - used.begin())].source +
                       ": no tensor matches in files that name tensors and do not tell dtypes, "
                       "such as trtexec's JSON");
}

}  // namespace btftool
