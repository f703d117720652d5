#include "io/json.h"

namespace btftool {
namespace {

template <typename T>
Json or_null(const std::optional<T>& value, auto&& convert) {
  return value ? Json(convert(*value)) : Json(nullptr);
}

}  // namespace

Json json_finding(const btf::Finding& finding, const std::string& name) {
  Json json{{"severity", finding.severity == btf::Severity::error ? "error" : "warning"},
            {"code", finding.code},
            {"tensor", or_null(finding.tensor, [](std::uint64_t i) { return json_number(i); })},
            {"offset", json_number(finding.offset)},
            {"message", finding.message}};
  if (!name.empty()) json["name"] = name;
  if (finding.count) json["count"] = json_number(*finding.count);
  if (finding.index) json["index"] = json_dims(*finding.index);
  return json;
}

Json json_finding(const btf::Error& error, std::optional<std::uint64_t> tensor) {
  return json_finding(btf::Finding{btf::Severity::error,
                                   error.finding.empty() ? "unreadable" : error.finding, tensor,
                                   error.offset, error.message});
}

Json json_loss(const btf::LossAccount& loss) {
  return {
      {"elements", json_number(loss.elements)},     {"changed", json_number(loss.changed())},
      {"overflowed", json_number(loss.overflowed)}, {"nan", json_number(loss.nan)},
      {"nan_lost", json_number(loss.nan_lost)},     {"to_zero", json_number(loss.to_zero)},
      {"inexact", json_number(loss.inexact)},       {"max_abs_error", json_number(loss.max_abs)},
      {"max_rel_error", json_number(loss.max_rel)}};
}

Json json_stats(const btf::TensorStats& stats, btf::DType dtype) {
  const auto value = [&](const btf::Extreme& extreme) { return json_value(dtype, extreme.code); };
  const auto place = [](const btf::Extreme& extreme) { return json_dims(extreme.index); };
  const auto number = [](double x) { return json_number(x); };
  return {{"count", json_number(stats.elements)},
          {"finite", json_number(stats.finite)},
          {"min", or_null(stats.min, value)},
          {"max", or_null(stats.max, value)},
          {"mean", or_null(stats.mean, number)},
          {"std", or_null(stats.std, number)},
          {"nan", json_number(stats.nan)},
          {"pos_inf", json_number(stats.positive_inf)},
          {"neg_inf", json_number(stats.negative_inf)},
          {"zeros", json_number(stats.zeros)},
          {"zero_share", stats.elements > 0 ? json_number(static_cast<double>(stats.zeros) /
                                                          static_cast<double>(stats.elements))
                                            : Json(nullptr)},
          {"subnormals", json_number(stats.subnormals)},
          {"min_index", or_null(stats.min, place)},
          {"max_index", or_null(stats.max, place)},
          {"first_nan_index", or_null(stats.first_nan, json_dims)}};
}

}  // namespace btftool
