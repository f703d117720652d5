#include "sets/gguf_parts.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/finding_table.h"
#include "core/numbers.h"

namespace btf {
namespace {

constexpr std::string_view kGgufEnding = ".gguf";
constexpr std::string_view kOf = "-of-";
constexpr std::size_t kDigits = 5;

// The name before "-00001-of-00003.gguf", and the last of these numbers.
struct FirstPart {
  std::string_view stem;
  std::uint64_t count = 0;
};

std::string five_digits(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

std::optional<FirstPart> parse_first_part(std::string_view path) {
  const std::size_t suffix = 1 + kDigits + kOf.size() + kDigits + kGgufEnding.size();
  if (path.size() < suffix || !path.ends_with(kGgufEnding)) return std::nullopt;
  const std::string_view stem = path.substr(0, path.size() - suffix);
  const std::string_view digits = path.substr(path.size() - kGgufEnding.size() - kDigits, kDigits);
  const auto count = parse_number<std::uint64_t>(digits);
  const std::string first =
      "-" + five_digits(1) + std::string(kOf) + std::string(digits) + std::string(kGgufEnding);
  if (!count || *count == 0 || path.substr(stem.size()) != first) return std::nullopt;
  return FirstPart{stem, *count};
}

class GgufParts final : public SetIndex {
 public:
  explicit GgufParts(std::string_view path) {
    const FirstPart first = *parse_first_part(path);
    const std::string stem(first.stem.substr(first.stem.rfind('/') + 1));
    for (std::uint64_t i = 1; i <= first.count; ++i)
      entries_.push_back({.file = stem + "-" + five_digits(i) + std::string(kOf) +
                                  five_digits(first.count) + std::string(kGgufEnding)});
  }

  std::span<const IndexEntry> entries() const override { return entries_; }

  // Does the file say that it is this part of so many?
  Status check(std::size_t number, const TensorFile& file,
               const FindingSink& report) const override {
    constexpr FindingCode kCode("gguf-split");
    const auto say = [&](std::string what) {
      report({.severity = kCode.severity(),
              .code = kCode,
              .tensor = {},
              .offset = 0,
              .message = std::move(what)});
    };
    if (file.format() != "gguf") {
      say("the name says part of a split GGUF file, the format is " +
          std::string(file.format_title()));
      return {};
    }
    BTF_ASSIGN(const FileAttributes attributes, file.attributes());
    const auto said = [&](const std::string& key) {
      const auto found = attributes.metadata.find(key);
      return found == attributes.metadata.end() ? "missing" : found->second;
    };
    for (const auto& [key, expected] : {std::pair<std::string, std::size_t>{"split.no", number},
                                        {"split.count", entries_.size()}})
      if (said(key) != std::to_string(expected)) {
        say(key + " is " + said(key) + ", the file name says " + std::to_string(expected));
        return {};
      }
    return {};
  }

 private:
  std::vector<IndexEntry> entries_;
};

}  // namespace

bool named_as_first_gguf_part(std::string_view path) { return parse_first_part(path).has_value(); }

Result<std::unique_ptr<SetIndex>> read_gguf_parts(const ByteSource&, const std::string& path) {
  return std::make_unique<GgufParts>(path);
}

}  // namespace btf
