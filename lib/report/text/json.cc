#include "report/text/json.h"

#include <cmath>
#include <string>

#include "btf/layout.h"
#include "btf/value.h"

namespace btf::report {
namespace {

constexpr std::uint64_t kExact = 1ULL << 53;  // beyond it a reader's double may lose digits

}  // namespace

bool json_exact(std::uint64_t value) { return value <= kExact; }

Json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json json_number(std::uint64_t value) {
  if (!json_exact(value)) return std::to_string(value);
  return value;
}

Json json_others(const std::vector<std::string>& paths) {
  return paths.empty() ? Json::object() : Json{{"other_files", paths}};
}

Json json_dims(const Dims& dims) {
  Json array = Json::array();
  for (const std::uint64_t dim : dims) array.push_back(json_number(dim));
  return array;
}

Json json_value(DType dtype, std::uint64_t code) {
  const DTypeInfo& row = btf::info(dtype);
  if (row.kind == NumberKind::boolean) return code != 0;
  if (row.floating()) return json_number(btf::value_double(dtype, code));
  const std::string text = btf::value_text(dtype, code);
  const std::uint64_t magnitude = std::stoull(text.front() == '-' ? text.substr(1) : text);
  if (magnitude > kExact) return text;
  return std::stoll(text);
}

void add_layout(Json& object, const std::string& prefix, Layout layout) {
  const LayoutSpec& row = btf::spec(layout);
  object[prefix + "layout"] = row.name;
  if (!row.dla.empty()) object[prefix + "dla"] = row.dla;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace btf::report
