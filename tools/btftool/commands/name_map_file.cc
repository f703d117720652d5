#include "commands/name_map_file.h"

#include <utility>

#include "io/read_text.h"

namespace btftool {

btf::Result<btf::NameMap> read_name_map(const Context& context, const std::string& path) {
  const auto text = read_text(path);
  if (!text) return std::unexpected(text.error().in_file(path));
  auto map = btf::parse_name_map(*text);
  if (!map) return std::unexpected(map.error().in_file(path));
  if (map->empty()) context.log.warning(path + ": has no map line");
  return map;
}

btf::Status check_map_use(const Context& context, const std::string& path,
                          const btf::MapUse& use) {
  if (!use.used && !use.unused.empty()) return std::unexpected(btf::no_use(use, path));
  for (const std::string& unused : use.unused) context.log.warning(path + ": " + unused);
  return {};
}

}  // namespace btftool
