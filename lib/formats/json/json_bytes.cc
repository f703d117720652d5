#include "formats/json/json_bytes.h"

#include <algorithm>

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

}  // namespace btf
