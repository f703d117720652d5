#include "inspect/page.h"

namespace btftool {
namespace {

constexpr std::uint32_t kBins = 32;

}  // namespace

InspectOptions for_page(InspectOptions options) {
  options.stats = true;
  if (options.distribution.bins == 0) options.distribution.bins = kBins;
  if (!options.by_axis) options.by_axis = "C";
  return options;
}

btf::InspectedTensor page_details(const InspectDetails& details) {
  return {
      .stats = details.stats, .distribution = details.distribution, .channels = details.channels};
}

void keep_asked_for(InspectDetails& details, const InspectOptions& options) {
  if (!options.stats) details.stats.reset();
  if (options.distribution.bins == 0 && options.distribution.percentiles.empty())
    details.distribution.reset();
  if (options.by_axis) return;
  details.channels.reset();
  details.no_channels.reset();
}

}  // namespace btftool
