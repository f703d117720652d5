#include "formats/json/json_names.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "btf/try.h"
#include "formats/json/json_string.h"

namespace btf {
namespace {

// Among names with one hash, in order: the first that equals an earlier one. Different names with
// one hash do not occur in practice unless somebody made them so.
Result<std::optional<std::uint64_t>> find_same(std::span<const JsonNameSeen> names,
                                               const ByteSource& source, std::uint64_t end) {
  std::set<std::string> texts;
  for (const JsonNameSeen& name : names) {
    BTF_ASSIGN(std::string text, json_string_at(source, {name.offset, end - 1 - name.offset}));
    if (!texts.insert(std::move(text)).second) return name.offset;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<std::uint64_t>> JsonNames::end_object(std::size_t first,
                                                           const ByteSource& source,
                                                           std::uint64_t end) {
  const auto names = std::span(seen_).subspan(first);
  std::ranges::sort(names, {},
                    [](const JsonNameSeen& name) { return std::tuple(name.hash, name.offset); });
  std::optional<std::uint64_t> twice;
  for (auto run = names.begin(); run != names.end();) {
    const auto run_end = std::find_if(
        run, names.end(), [&](const JsonNameSeen& name) { return name.hash != run->hash; });
    if (run_end - run > 1) {
      BTF_ASSIGN(const auto found, find_same({run, run_end}, source, end));
      if (found && (!twice || *found < *twice)) twice = found;
    }
    run = run_end;
  }
  seen_.resize(first);
  return twice;
}

}  // namespace btf
