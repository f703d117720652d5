#include "diff/layers/sanity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "diff/layers/words.h"

namespace btf {
namespace {

// An error of this size is none of rounding.
constexpr double kOff = 0.1;

class Sanity {
 public:
  explicit Sanity(const LayerReport& report) : report_(report) {}

  std::vector<SanityFinding> run() {
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      const Layer& layer = report_.layers[i];
      if (!layer.figures || layer.figures->pairs == 0) continue;
      check_signal(i, *layer.figures);
    }
    find_reused();
    find_shifted();
    return std::move(found_);
  }

 private:
  const Layer& layer(std::uint64_t i) const { return report_.layers[i]; }

  void add(std::string_view code, std::vector<std::uint64_t> layers, std::string message) {
    found_.push_back({std::string(code), std::move(layers), std::move(message)});
  }

  void check_signal(std::uint64_t i, const LayerFigures& figures) {
    const bool golden = figures.golden.peak > 0;
    const bool actual = figures.actual.peak > 0;
    if (golden && !actual)
      add(kAllZero, {i}, quoted(layer(i).actual) + " is all zero, golden is not");
    if (!golden && actual)
      add(kNoSignal, {i}, quoted(layer(i).golden) + " is all zero, actual is not");
  }

  // Layers that hold the same numbers where golden's do not.
  void find_reused() {
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::array<double, 4>>,
             std::vector<std::uint64_t>>
        alike;
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      const auto& figures = layer(i).figures;
      if (!figures || figures->pairs < kFew || figures->actual.peak == 0) continue;
      alike[{figures->elements, figures->actual.fingerprint, figures->actual.samples}].push_back(i);
    }
    for (auto& [key, layers] : alike) {
      if (layers.size() < 2) continue;
      const LayerSide& first = layer(layers[0]).figures->golden;
      // Views of one tensor, and what changes nothing.
      if (std::ranges::all_of(layers, [&](std::uint64_t i) {
            const LayerSide& golden = layer(i).figures->golden;
            return golden.samples == first.samples && golden.peak == first.peak &&
                   std::abs(golden.norm - first.norm) <= kAlike * first.norm;
          }))
        continue;
      std::ranges::sort(layers);
      std::string message = quoted(layer(layers[0]).actual) + " and ";
      message += layers.size() == 2 ? quoted(layer(layers[1]).actual)
                                    : std::to_string(layers.size() - 1) + " more";
      add(kReusedBuffer, layers, message + " hold the same numbers: was a buffer used again?");
    }
  }

  // A layer whose numbers are golden's of another one, up to rounding.
  void find_shifted() {
    std::multimap<double, std::uint64_t> by_norm;
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i)
      if (const auto& figures = layer(i).figures; figures && figures->golden.norm > 0)
        by_norm.emplace(figures->golden.norm, i);
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      const auto& figures = layer(i).figures;
      if (!figures || figures->pairs < kFew || figures->e < kOff || figures->actual.norm == 0)
        continue;
      // Where golden's own are as close, a bias or a view is all that lies between the two.
      if (same_numbers(*figures, *figures)) continue;
      const double norm = figures->actual.norm;
      const auto end = by_norm.upper_bound(norm * (1 + kClose));
      for (auto at = by_norm.lower_bound(norm * (1 - kClose)); at != end; ++at)
        if (at->second != i && same_numbers(*figures, *layer(at->second).figures)) {
          add(kShifted, {i},
              quoted(layer(i).actual) + " holds the numbers of golden's " +
                  quoted(layer(at->second).golden) + ": are names or dumps shifted?");
          break;
        }
    }
  }

  static bool same_numbers(const LayerFigures& own, const LayerFigures& other) {
    if (own.elements != other.elements) return false;
    const double rms = other.golden.norm / std::sqrt(static_cast<double>(other.pairs));
    const auto close = [&](double a, double b) {
      return std::abs(a - b) <= kClose * (rms + std::abs(b));
    };
    if (!close(own.actual.peak, other.golden.peak)) return false;
    bool varied = false;
    for (std::size_t i = 0; i < own.actual.samples.size(); ++i) {
      if (!close(own.actual.samples[i], other.golden.samples[i])) return false;
      varied = varied || std::abs(other.golden.samples[i]) > 2 * kClose * rms;
    }
    const double mean = other.golden.norm * std::sqrt(static_cast<double>(other.pairs));
    return varied && std::abs(own.actual.sum - other.golden.sum) <= kClose * mean;
  }

  static constexpr std::uint64_t kFew = 16;
  static constexpr double kClose = 0.01;
  static constexpr double kAlike = 1e-9;  // but for the order of sums

  const LayerReport& report_;
  std::vector<SanityFinding> found_;
};

}  // namespace

std::vector<SanityFinding> check_sanity(const LayerReport& report) { return Sanity(report).run(); }

}  // namespace btf
