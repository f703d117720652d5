#include "formats/json/json_bytes.h"

#include <algorithm>
#include <array>
#include <span>

#include "btf/try.h"

namespace btf {
namespace {

constexpr std::uint64_t kWindow = std::uint64_t{64} << 10;

}  // namespace

JsonBytes::JsonBytes(const ByteSource& source, JsonExtent extent)
    : source_(source), end_(extent.end()), window_offset_(extent.offset) {}

int JsonBytes::refill() {
  window_offset_ += window_.size();
  at_ = 0;
  window_.resize(trouble_ ? std::min(kWindow, end_ - window_offset_) : 0);
  if (window_.empty()) return kEnd;
  trouble_ = source_.read_at(window_offset_, window_);
  if (trouble_) return byte(0);
  window_.clear();
  return kEnd;
}

Result<bool> begins_as_json(const ByteSource& source) {
  std::array<char, 16> start{};
  const auto some = std::span(start).first(std::min<std::uint64_t>(start.size(), source.size()));
  BTF_TRY(source.read_at(0, std::as_writable_bytes(some)));
  const auto first = std::ranges::find_if(
      some, [](char c) { return c != ' ' && c != '\n' && c != '\r' && c != '\t'; });
  return first != some.end() && (*first == '{' || *first == '[');
}

Result<bool> stream_of_json(const ByteSource& beginning) {
  std::array<char, sizeof(std::uint64_t)> start;
  if (beginning.size() < start.size()) return false;
  BTF_TRY(beginning.read_at(0, std::as_writable_bytes(std::span(start))));
  const bool zeros = std::string_view(start.data(), start.size()).contains('\0');
  return zeros ? false : begins_as_json(beginning);
}

}  // namespace btf
