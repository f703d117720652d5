#include "btf/try.h"
#include "formats/io/window.h"
#include "formats/tvm/header.h"
#include "formats/tvm/tvm.h"

namespace btf {
namespace {

class TvmBound final : public StreamBound {
 public:
  Status take(const ByteSource& content, ContentExtent& extent) override {
    Window window(content, content.size());
    for (;;) {
      extent.need(walk_.needs());
      if (walk_.finished() || extent.beyond_room() > 0 || walk_.needs() > content.size()) return {};
      const Status step = walk_.step(window);
      if (!step && step.error().finding.empty()) return step;
      if (!step) return {};
    }
  }
  std::string_view whose() const override { return "the last header of TVM's parameters"; }
  std::uint64_t needed(const ContentExtent& extent) const override { return extent.least(); }
  std::uint64_t least(const ContentExtent& extent, const ByteSource&,
                      std::uint64_t frames) const override {
    return frames > 1 ? extent.least() : 0;
  }

 private:
  TvmWalk walk_;
};

}  // namespace

std::unique_ptr<StreamBound> tvm_bound() { return std::make_unique<TvmBound>(); }

}  // namespace btf
