#include "diff/attribute_differences.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "btf/try.h"
#include "core/read_errors.h"
#include "diff/models/model_differences.h"

namespace btf {
namespace {

constexpr std::size_t kLongest = 60;
constexpr std::size_t kBefore = 10;

// Collects "axis 0 against 1".
class Differences {
 public:
  // `both`: what one side alone says is no difference.
  explicit Differences(bool both) : both_(both) {}

  // Empty: it is not said.
  void compare(const std::string& what, const std::string& actual, const std::string& golden) {
    if (actual == golden || (both_ && (actual.empty() || golden.empty()))) return;
    const auto said = [](const std::string& text) { return text.empty() ? "none" : text; };
    add(what + " " + said(actual) + " against " + said(golden));
  }

  void compare(const std::string& what, const std::map<std::string, std::string>& actual,
               const std::map<std::string, std::string>& golden) {
    for (const auto& [key, value] : actual) {
      const auto other = golden.find(key);
      if (other == golden.end())
        compare(of(what, key), quoted(value, 0), "");
      else if (value != other->second)
        compare_values(of(what, key), value, other->second);
    }
    for (const auto& [key, value] : golden)
      if (!actual.contains(key)) compare(of(what, key), "", quoted(value, 0));
  }

  static std::string quoted(const std::string& value, std::size_t begin) {
    const std::string part = value.substr(begin, kLongest);
    return (begin > 0 ? "'..." : "'") + part +
           (begin + part.size() < value.size() ? "...'" : "'");
  }

  // Long texts are cut to the part where they begin to differ.
  static std::pair<std::string, std::string> where_they_part(const std::string& actual,
                                                             const std::string& golden) {
    const auto alike = static_cast<std::size_t>(
        std::ranges::mismatch(actual, golden).in1 - actual.begin());
    const bool is_long = std::max(actual.size(), golden.size()) > kLongest;
    const std::size_t begin = is_long && alike > kBefore ? alike - kBefore : 0;
    return {quoted(actual, begin), quoted(golden, begin)};
  }

  std::string take() {
    if (more_ > 0) text_ += ", and " + std::to_string(more_) + " more";
    return std::move(text_);
  }

 private:
  static constexpr std::size_t kMost = 5;

  static std::string of(const std::string& what, const std::string& key) {
    return what + " '" + key + "'";
  }

  void compare_values(const std::string& what, const std::string& actual,
                      const std::string& golden) {
    const auto [left, right] = where_they_part(actual, golden);
    compare(what, left, right);
  }

  void add(const std::string& text) {
    if (++count_ > kMost)
      ++more_;
    else
      text_ += (text_.empty() ? "" : ", ") + text;
  }

  bool both_;
  std::string text_;
  std::size_t count_ = 0;
  std::size_t more_ = 0;
};

std::string kind_text(ScaleOf kind) {
  return std::string(std::ranges::find(scale_of_names(), kind, &Named<ScaleOf>::value)->name);
}

std::string number_or_none(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "";
}

std::string layout_name(Layout layout) {
  const LayoutSpec& row = spec(layout);
  return std::string(row.name) + (row.dla.empty() ? "" : " of " + std::string(row.dla));
}

}  // namespace

void note_types(TensorDiff& diff) {
  const DiffTensor& actual = *diff.actual;
  const DiffTensor& golden = *diff.golden;
  std::string types;
  if (actual.dtype != golden.dtype)
    types = "dtype " + std::string(info(actual.dtype).name) + " against " +
            std::string(info(golden.dtype).name);
  if (actual.layout != golden.layout)
    types += (types.empty() ? "layout " : ", layout ") + layout_name(actual.layout) + " against " +
             layout_name(golden.layout);
  if (!types.empty()) diff.reason = types + (diff.reason.empty() ? "" : ", ") + diff.reason;
}

Result<AttributeDifferences> AttributeDifferences::of(const TensorFile& actual,
                                                      const TensorFile& golden) {
  AttributeDifferences found;
  found.actual_.file = &actual;
  found.golden_.file = &golden;
  BTF_ASSIGN(found.actual_.attributes, actual.attributes());
  BTF_ASSIGN(found.golden_.attributes, golden.attributes());
  return found;
}

const TensorAttributes& AttributeDifferences::Side::tensor(std::uint64_t index) const {
  static const TensorAttributes kNone;
  const auto found = attributes.tensors.find(index);
  return found == attributes.tensors.end() ? kNone : found->second;
}

std::string AttributeDifferences::Side::name(const std::optional<std::uint64_t>& index) const {
  if (!index) return "";
  const auto own = file->own_name(*index);
  return own && *own ? "'" + **own + "'" : "tensor " + std::to_string(*index);
}

std::string AttributeDifferences::of_tensors(std::uint64_t actual, std::uint64_t golden) const {
  Differences found(actual_.file->format() != golden_.file->format());
  const TensorAttributes& left = actual_.tensor(actual);
  const TensorAttributes& right = golden_.tensor(golden);
  found.compare("role", left.role, right.role);
  found.compare("attribute", left.others, right.others);
  const QuantizedBy none;
  const QuantizedBy& a = left.quantized ? *left.quantized : none;
  const QuantizedBy& b = right.quantized ? *right.quantized : none;
  found.compare("scales", left.quantized ? actual_.name(a.scale) : "",
                right.quantized ? golden_.name(b.scale) : "");
  if (!left.quantized || !right.quantized) return found.take();
  if (a.kind != b.kind)
    found.compare("scales for each", kind_text(a.kind), kind_text(b.kind));
  found.compare("axis of the scales", number_or_none(a.axis), number_or_none(b.axis));
  found.compare("block of the scales", number_or_none(a.block), number_or_none(b.block));
  found.compare("scale of all blocks", actual_.name(a.global_scale), golden_.name(b.global_scale));
  if (a.global_reciprocal != b.global_reciprocal)
    found.compare("scale of all blocks is", a.global_reciprocal ? "divided by" : "multiplied",
                  b.global_reciprocal ? "divided by" : "multiplied");
  found.compare("zero points", actual_.name(a.zero_point), golden_.name(b.zero_point));
  found.compare("attribute of the scales", a.others, b.others);
  return found.take();
}

std::vector<FileDifference> AttributeDifferences::of_files() const {
  std::vector<FileDifference> all;
  const bool both = actual_.file->format() != golden_.file->format();
  const auto compare = [&](const std::string& part,
                           const std::map<std::string, std::string>& actual,
                           const std::map<std::string, std::string>& golden) {
    for (const auto& [key, value] : actual) {
      const auto other = golden.find(key);
      if (other == golden.end()) {
        if (!both) all.push_back({part, key, "", Differences::quoted(value, 0), ""});
        continue;
      }
      if (value == other->second) continue;
      const auto [left, right] = Differences::where_they_part(value, other->second);
      all.push_back({part, key, "", left, right});
    }
    for (const auto& [key, value] : golden)
      if (!both && !actual.contains(key))
        all.push_back({part, key, "", "", Differences::quoted(value, 0)});
  };
  compare("metadata", actual_.attributes.metadata, golden_.attributes.metadata);
  compare("attribute", actual_.attributes.others, golden_.attributes.others);
  return all;
}

std::string FileDifference::text() const {
  const auto said = [](const std::string& value) { return value.empty() ? "none" : value; };
  std::string text = part;
  if (!subject.empty()) text += " '" + subject + "'";
  if (!subject.empty() || !what.empty()) text += ":";
  if (!what.empty()) text += " " + what;
  return text + " " + said(actual) + " against " + said(golden);
}

Result<FileDifferences> file_differences(const TensorFile& actual, const TensorFile& golden,
                                         bool strict) {
  FileDifferences found;
  auto models = ModelDifferences::of(actual, golden);
  if (!models && is_of_reading(models.error())) return std::unexpected(models.error());
  if (!strict) {
    found.uncompared = models ? models->summary()
                              : "only tensors were compared; the graphs cannot be: " +
                                    models.error().text();
    return found;
  }
  if (!models) return std::unexpected(models.error());
  BTF_ASSIGN(const auto attributes, AttributeDifferences::of(actual, golden));
  found.graphs = models->models;
  found.all = attributes.of_files();
  std::ranges::move(models->all, std::back_inserter(found.all));
  return found;
}

}  // namespace btf
