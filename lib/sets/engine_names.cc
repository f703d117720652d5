#include "sets/engine_names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/names.h"
#include "sets/names/names.h"

namespace btf {
namespace {

constexpr std::uint32_t kSeveral = UINT32_MAX;

// Names of raw bytes; all else says itself what it holds.
constexpr auto kRawEndings = std::to_array<std::string_view>({".raw", ".bin", ".dat", ".buf"});

std::string without_percent(std::string_view name) {
  std::string text;
  for (std::size_t at = 0; at < name.size(); ++at) {
    unsigned code = 0;
    const std::string_view hex = name.substr(at + 1, 2);
    if (name[at] == '%' && hex.size() == 2 &&
        std::from_chars(hex.data(), hex.data() + 2, code, 16).ptr == hex.data() + 2) {
      text += static_cast<char>(code);
      at += 2;
    } else {
      text += name[at];
    }
  }
  return text;
}

}  // namespace

EngineNames::EngineNames(const EngineList& list) : list_(list) {
  for (std::uint32_t i = 0; i < list.tensors.size(); ++i) {
    exact_.emplace(list.tensors[i].name, i);
    const auto [at, added] = sanitised_.emplace(sanitised_name(list.tensors[i].name), i);
    if (!added) at->second = kSeveral;
  }
}

const EngineTensor* EngineNames::named(std::string_view name) const {
  for (const std::string& own : {std::string(name), without_percent(name)})
    if (const auto at = exact_.find(own); at != exact_.end()) return &list_.tensors[at->second];
  const auto at = sanitised_.find(sanitised_name(without_percent(name)));
  return at == sanitised_.end() || at->second == kSeveral ? nullptr : &list_.tensors[at->second];
}

// A folder may be part of the name, as in "model/conv1/out.raw".
const EngineTensor* EngineNames::find(std::string_view path) const {
  std::string_view name = path;
  const auto* const ending = std::ranges::find_if(kRawEndings, [&](std::string_view one) {
    return name.size() > one.size() && same_name(one, name.substr(name.size() - one.size()));
  });
  if (ending == kRawEndings.end()) return nullptr;
  std::string dumped;
  if (const auto dump = parse_dump_name(path)) dumped = dump->name;
  name.remove_suffix(ending->size());
  for (;;) {
    if (const EngineTensor* const found = named(name)) return found;
    const std::size_t slash = name.find('/');
    if (slash == name.npos) break;
    name.remove_prefix(slash + 1);
  }
  return dumped.empty() ? nullptr : named(dumped);
}

}  // namespace btf
