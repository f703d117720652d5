#include "cli/diff_arguments.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "btf/dtype.h"
#include "btf/try.h"
#include "btf/value.h"
#include "cli/arguments.h"

namespace btftool {
namespace {

using btf::Result;
using btf::Status;

std::unexpected<btf::Error> wrong(std::string_view option, std::string_view expected,
                                  std::string_view found) {
  return btf::fail(btf::ErrorCode::invalid_argument, std::string(option) + " takes " +
                                                         std::string(expected) + ", not '" +
                                                         std::string(found) + "'");
}

std::optional<double> parse_value(std::string_view text, double) {
  const auto value = parse_real(text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::optional<std::uint64_t> parse_value(std::string_view text, std::uint64_t) {
  return parse_unsigned(text);
}

}  // namespace

template <typename T>
Status parse_tolerances(std::string_view option, std::string_view text,
                        std::optional<T> btf::Tolerance::*member, btf::Tolerance& general,
                        std::vector<TensorTolerance>& single) {
  const std::string number = std::is_same_v<T, double> ? "a finite number, 0 or more"
                                                       : "a whole number of steps, 0 or more";
  const auto refuse = [&](const std::string& why) {
    return btf::fail(btf::ErrorCode::invalid_argument, std::string(option) + " " + why);
  };
  for (const std::string_view word : split(text, ',')) {
    // Names may have either.
    const std::size_t equals = word.rfind('=');
    const std::size_t mark = equals == word.npos ? word.rfind(':') : equals;
    const auto value = parse_value(word.substr(mark == word.npos ? 0 : mark + 1), T{});
    if (mark == word.npos) {
      if (!value) return wrong(option, number, word);
      if (general.*member)
        return btf::fail(
            btf::ErrorCode::invalid_argument,
            std::string(option) + " takes one number for all tensors; TENSOR=X is for one");
      general.*member = value;
      continue;
    }
    const std::string name(word.substr(0, mark));
    const auto tensor = parse_integer(name);
    const std::string given(word.substr(mark + 1));
    if (!value) return wrong(option, number + ", for " + (tensor ? "tensor " : "") + name, given);
    TensorTolerance entry{.tensor = tensor.value_or(0),
                          .glob = {},
                          .tolerance = {},
                          .source = std::string(option) + " " + std::string(word),
                          .text = std::string(option.substr(2)) + " " + given};
    if (!tensor) {
      entry.glob = name.starts_with('@') ? name.substr(1) : name;
      if (const std::string trouble = glob_trouble(*entry.glob); !trouble.empty())
        return refuse(std::string(word) + ": the glob '" + *entry.glob + "' " + trouble);
    }
    entry.tolerance.*member = value;
    single.push_back(std::move(entry));
  }
  return {};
}

template Status parse_tolerances<double>(std::string_view, std::string_view,
                                         std::optional<double> btf::Tolerance::*, btf::Tolerance&,
                                         std::vector<TensorTolerance>&);
template Status parse_tolerances<std::uint64_t>(std::string_view, std::string_view,
                                                std::optional<std::uint64_t> btf::Tolerance::*,
                                                btf::Tolerance&, std::vector<TensorTolerance>&);

Result<SplitRule> split_spec_rule(std::string_view option, std::string_view text) {
  // A word that begins with a dtype or with text is a spec: its strides and the like have a = too.
  // TensorRT's sentences have a ==.
  std::size_t mark = text.find('=');
  while (mark < text.size() && text.substr(mark).starts_with("=="))
    mark = text.find('=', mark + 2);
  const std::string_view begins = text.substr(0, std::min(text.find(':'), mark));
  if (mark == text.npos || btf::parse_dtype(begins) || text.starts_with("text:"))
    return SplitRule{.glob = {}, .spec = std::string(text)};
  SplitRule rule{.glob = std::string(text.substr(0, mark)),
                 .spec = std::string(text.substr(mark + 1))};
  if (const std::string trouble = glob_trouble(rule.glob); !trouble.empty())
    return btf::fail(btf::ErrorCode::invalid_argument, std::string(option) + " " +
                                                           std::string(text) + ": the glob '" +
                                                           rule.glob + "' " + trouble);
  return rule;
}

Result<SpecRule> parse_spec_rule(std::string_view option, std::string_view text) {
  BTF_ASSIGN(SplitRule parts, split_spec_rule(option, text));
  SpecRule rule{.glob = std::move(parts.glob),
                .spec = std::move(parts.spec),
                .source = std::string(option) + " " + std::string(text)};
  const Status status = check_spec(rule.spec);
  if (!status)
    return btf::fail(btf::ErrorCode::invalid_argument,
                     std::string(option) + " " + status.error().message);
  return rule;
}

Status check_spec(const std::string& spec) {
  const auto whole = btf::parse_tensor_spec(spec);
  if (whole || btf::spec_without_dims(spec)) return {};
  return std::unexpected(whole.error());
}

Result<btf::GivenScale> parse_given_scale(std::string_view option, std::string_view text) {
  const auto refuse = [&] {
    return wrong(option, "S, S,Z or AXIS:S,Z/S,Z/..., such as 0.02,-3", text);
  };
  btf::GivenScale given;
  std::string_view list = text;
  if (const std::size_t mark = text.find(':'); mark != text.npos) {
    const auto axis = parse_unsigned(text.substr(0, mark));
    if (!axis || *axis >= btf::kMaxRank) return refuse();
    given.axis = static_cast<std::uint32_t>(*axis);
    list = text.substr(mark + 1);
  }
  for (const std::string_view word : split(list, '/')) {
    const std::size_t comma = word.find(',');
    const auto scale = parse_real(word.substr(0, comma));
    const auto zero =
        comma == word.npos ? std::optional<std::int64_t>(0) : parse_integer(word.substr(comma + 1));
    if (!scale || !zero || *scale <= 0) return refuse();
    given.scales.push_back(*scale);
    given.zero_points.push_back(*zero);
  }
  if (!given.axis && given.scales.size() != 1) return refuse();
  return given;
}

Result<std::vector<std::string>> parse_pairs(std::string_view text) {
  std::vector<std::string> pairs;
  for (const std::string_view word : split(text, ',')) {
    const std::size_t mark = word.find(':', 1);
    const bool numbers = word.find_first_not_of("0123456789-:") == word.npos;
    const bool several = mark < word.size() && word.find(':', mark + 1) != word.npos;
    const bool parted = mark < word.size() - 1 && !(numbers && several);
    const auto number = [&](std::string_view side) { return !numbers || parse_integer(side); };
    if (!parted || !number(word.substr(0, mark)) || !number(word.substr(mark + 1)))
      return wrong("--pair", "ACTUAL:GOLDEN, numbers or names, such as 0:3,conv1:fc", word);
    pairs.emplace_back(word);
  }
  return pairs;
}

Result<btf::MismatchLimit> parse_mismatch_limit(std::string_view text) {
  btf::MismatchLimit limit;
  limit.percent = text.ends_with('%');
  if (limit.percent) {
    const auto share = parse_real(text.substr(0, text.size() - 1));
    if (!share || *share < 0 || *share > 100)
      return wrong("--max-mismatch", "a share from 0% to 100%", text);
    limit.value = *share;
    return limit;
  }
  const auto count = parse_value(text, std::uint64_t{});
  if (!count) return wrong("--max-mismatch", "a count or a share, such as 10 or 0.1%", text);
  limit.value = static_cast<double>(*count);
  return limit;
}

Result<double> parse_limit(std::string_view option, std::string_view text,
                           const btf::FigureInfo& figure) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const bool decibels = figure.unit == "dB";
  const double least = figure.least_limit();
  const double most = figure.most_limit();
  const auto value = decibels ? parse_decibels(text) : parse_real(text);
  if (value && *value >= least && *value <= most) return *value;
  if (decibels) return wrong(option, "a number of decibels such as 30dB", text);
  if (most < kLargest)
    return wrong(
        option, "a number from " + btf::number_text(least) + " to " + btf::number_text(most), text);
  return wrong(option, least == 0 ? "a finite number, 0 or more" : "a finite number", text);
}

Status parse_quantiles(std::string_view text, std::vector<btf::QuantileGate>& gates) {
  for (const std::string_view word : split(text, ',')) {
    const std::size_t mark = word.find('=');
    const auto q = parse_real(word.substr(0, mark));
    const auto most = mark < word.size() ? parse_real(word.substr(mark + 1)) : std::nullopt;
    if (!q || !most || *q < 0 || *q > 1 || *most < 0)
      return wrong("--quantile", "Q=MAX with Q from 0 to 1 and MAX 0 or more, such as 0.99=1e-3",
                   word);
    if (std::ranges::find(gates, *q, &btf::QuantileGate::q) != gates.end())
      return btf::fail(btf::ErrorCode::invalid_argument,
                       "--quantile " + btf::number_text(*q) + " is given more than once");
    gates.push_back({*q, *most});
  }
  return {};
}

Result<std::vector<std::int32_t>> parse_axes(std::string_view text) {
  std::vector<std::int32_t> axes;
  for (const std::string_view word : split(text, ',')) {
    const auto axis = parse_integer(word);
    constexpr auto kRank = std::int64_t{btf::kMaxRank};
    if (!axis || *axis < -kRank || *axis >= kRank)
      return wrong("--heatmap", "one axis or two, such as 2,3 or -2,-1", text);
    axes.push_back(static_cast<std::int32_t>(*axis));
  }
  if (axes.size() > 2 || (axes.size() == 2 && axes[0] == axes[1]))
    return wrong("--heatmap", "one axis or two different ones, such as 2,3 or -2,-1", text);
  return axes;
}

}  // namespace btftool
