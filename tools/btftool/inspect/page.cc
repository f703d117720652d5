#include "inspect/page.h"

#include "cli/arguments.h"

namespace btftool {
namespace {

constexpr std::uint32_t kBins = 32;

}  // namespace

InspectOptions for_page(InspectOptions options) {
  btf::DistributionOptions& asked = options.distribution;
  if (options.stats && asked.bins == 0 && asked.percentiles.empty())
    asked.percentiles = *parse_percentiles(kPercentilesShown);
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
  if (!options.stats) details.distribution.reset();
  if (options.by_axis) return;
  details.channels.reset();
  details.no_channels.reset();
}

}  // namespace btftool
