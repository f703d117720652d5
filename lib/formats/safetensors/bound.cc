#include <algorithm>
#include <span>
#include <string>

#include "btf/try.h"
#include "formats/safetensors/header.h"
#include "formats/safetensors/safetensors.h"

namespace btf {
namespace {

class SafetensorsBound final : public StreamBound {
 public:
  // The whole header is read at once, when it is there.
  Status take(const ByteSource& content, ContentExtent& extent) override {
    if (header_bytes_ == 0) {
      BTF_ASSIGN(const std::string start, first_bytes(content));
      const auto data_offset = safetensors_data_offset(start);
      header_bytes_ = data_offset.value_or(kUnlimited);
      if (data_offset) extent.need(header_bytes_);
    }
    if (content.size() < header_bytes_) return {};
    header_bytes_ = kUnlimited;
    const auto header = read_safetensors_header(content);
    if (!header && header.error().finding.empty()) return std::unexpected(header.error());
    if (!header || header->entries.empty()) return {};
    if (const Checked end = checked_add(header->data_offset, header->entries.back().end))
      extent.need(*end);
    return {};
  }
  std::string_view whose() const override { return "its safetensors header"; }
  std::uint64_t needed(const ContentExtent& extent) const override { return extent.least(); }
  std::uint64_t least(const ContentExtent& extent, const ByteSource&,
                      std::uint64_t frames) const override {
    return frames > 1 ? extent.least() : 0;
  }

  static Result<std::string> first_bytes(const ByteSource& content) {
    std::string start(std::min<std::uint64_t>(content.size(), kSafetensorsStart), '\0');
    BTF_TRY(content.read_at(0, std::as_writable_bytes(std::span(start))));
    return start;
  }

 private:
  std::uint64_t header_bytes_ = 0;  // with the length in front; kUnlimited: nothing more to read
};

}  // namespace

Result<bool> begins_as_safetensors(const ByteSource& beginning) {
  BTF_ASSIGN(const std::string start, SafetensorsBound::first_bytes(beginning));
  return begins_as_safetensors(std::string_view(start));
}

std::unique_ptr<StreamBound> safetensors_bound() { return std::make_unique<SafetensorsBound>(); }

}  // namespace btf
