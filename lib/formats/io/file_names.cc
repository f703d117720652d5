#include "formats/io/file_names.h"

#include <xxhash.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "btf/try.h"

namespace btf {
namespace {

struct HashedName {
  std::uint64_t hash = 0;
  std::uint64_t number = 0;
};

}  // namespace

Result<std::string> name_at(const ByteSource& source, const NamePlace& place) {
  std::string name(place.bytes, '\0');
  BTF_TRY(source.read_at(place.at, std::as_writable_bytes(std::span(name))));
  return name;
}

Result<std::optional<std::pair<std::uint64_t, std::uint64_t>>> find_same_names(
    const ByteSource& source, std::span<const NamePlace> names) {
  std::vector<HashedName> hashed;
  hashed.reserve(names.size());
  for (std::uint64_t i = 0; i < names.size(); ++i) {
    BTF_ASSIGN(const std::string name, name_at(source, names[i]));
    hashed.push_back({XXH64(name.data(), name.size(), 0), i});
  }
  std::ranges::sort(hashed, {},
                    [](const HashedName& name) { return std::tuple(name.hash, name.number); });
  std::optional<std::pair<std::uint64_t, std::uint64_t>> same;
  for (auto run = hashed.begin(); run != hashed.end();) {
    const auto run_end = std::find_if(
        run, hashed.end(), [&](const HashedName& name) { return name.hash != run->hash; });
    // Different names with equal hashes practically never occur unless someone constructed them.
    std::map<std::string, std::uint64_t> texts;
    for (auto name = run; run_end - run > 1 && name != run_end; ++name) {
      BTF_ASSIGN(std::string text, name_at(source, names[name->number]));
      const auto [first, fresh] = texts.emplace(std::move(text), name->number);
      if (!fresh && (!same || name->number < same->second))
        same = std::pair(first->second, name->number);
    }
    run = run_end;
  }
  return same;
}

}  // namespace btf
