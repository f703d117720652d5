#include "diff/layers/verdict/sanity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "diff/layers/verdict/words.h"

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

  static bool is_alike(const LayerSide& one, const LayerSide& other) {
    constexpr double kCode = 0.01;  // of the largest: a step of int8
    const double step = kCode * other.peak;
    const auto near = [&](double a, double b) { return std::abs(a - b) <= step; };
    return near(one.peak, other.peak) && std::ranges::equal(one.samples, other.samples, near) &&
           std::abs(one.norm - other.norm) <= kCode * other.norm;
  }

  // Layers that hold the same numbers, in order. Fingerprints nearly always tell: only where two
  // are equal it is looked any further.
  std::vector<std::vector<std::uint64_t>> alike_layers() const {
    const auto key_of = [&](std::uint64_t i) {
      const LayerFigures& figures = *layer(i).figures;
      return std::tie(figures.elements, figures.actual.samples);
    };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> prints;
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      const auto& figures = layer(i).figures;
      if (!figures || figures->pairs < kFew || figures->actual.peak == 0) continue;
      prints.emplace_back(figures->actual.fingerprint, i);
    }
    std::ranges::sort(prints, [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      const auto left = key_of(a.second);
      const auto right = key_of(b.second);
      return left != right ? left < right : a.second < b.second;
    });
    std::vector<std::vector<std::uint64_t>> alike;
    for (auto from = prints.begin(); from != prints.end();) {
      const auto to = std::find_if(from, prints.end(), [&](const auto& print) {
        return print.first != from->first || key_of(print.second) != key_of(from->second);
      });
      if (to - from > 1) {
        auto& layers = alike.emplace_back();
        for (auto at = from; at != to; ++at) layers.push_back(at->second);
      }
      from = to;
    }
    std::ranges::sort(alike);
    return alike;
  }

  // Those where golden's numbers are not the same.
  void find_reused() {
    for (const std::vector<std::uint64_t>& layers : alike_layers()) {
      const LayerSide& first = layer(layers[0]).figures->golden;
      // Views of one tensor, what changes nothing, and what rounds to codes of 8 bits.
      if (std::ranges::all_of(
              layers, [&](std::uint64_t i) { return is_alike(layer(i).figures->golden, first); }))
        continue;
      std::string message = quoted(layer(layers[0]).actual) + " and ";
      message += layers.size() == 2 ? quoted(layer(layers[1]).actual)
                                    : std::to_string(layers.size() - 1) + " more";
      add(kReusedBuffer, layers, message + " hold the same numbers: was a buffer used again?");
    }
  }

  // A layer whose numbers are golden's of another one, up to rounding.
  void find_shifted() {
    std::optional<Lookup> golden;  // of healthy layers nothing is looked up
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      const auto& figures = layer(i).figures;
      if (!figures || figures->pairs < kFew || figures->relative_error < kOff ||
          figures->actual.norm == 0)
        continue;
      // If golden's own are as close, only a bias or a view separates the two.
      if (same_numbers(*figures, *figures)) continue;
      if (!golden) golden = lookup();
      if (const auto other = find_numbers(*golden, i, *figures))
        add(kShifted, {i},
            quoted(layer(i).actual) + " holds the numbers of golden's " +
                quoted(layer(*other).golden) + ": are names or dumps shifted?");
    }
  }

  // Golden's layers of one size and about one norm, by each of their samples: of very many layers
  // most are alike in size and norm, and few in a number.
  struct Alike {
    std::array<std::vector<std::pair<double, std::uint64_t>>, 4> by_sample;
    double largest_rms = 0;
  };
  using Lookup = std::map<std::pair<std::uint64_t, long>, Alike>;

  static long norm_class(double norm) { return std::lround(std::log(norm) / kClose); }

  static double rms(const LayerFigures& figures) {
    return figures.golden.norm / std::sqrt(static_cast<double>(figures.pairs));
  }

  Lookup lookup() const {
    Lookup lookup;
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      const auto& figures = layer(i).figures;
      if (!figures || !(figures->golden.norm > 0) || !std::isfinite(figures->golden.norm)) continue;
      Alike& alike = lookup[{figures->elements, norm_class(figures->golden.norm)}];
      for (std::size_t s = 0; s < alike.by_sample.size(); ++s)
        alike.by_sample[s].emplace_back(figures->golden.samples[s], i);
      alike.largest_rms = std::max(alike.largest_rms, rms(*figures));
    }
    for (auto& [key, alike] : lookup)
      for (auto& samples : alike.by_sample) std::ranges::sort(samples);
    return lookup;
  }

  std::optional<std::uint64_t> find_numbers(const Lookup& golden, std::uint64_t i,
                                            const LayerFigures& own) const {
    if (!std::isfinite(own.actual.norm)) return std::nullopt;
    // Where one sample is 0, those of many others are.
    const auto& samples = own.actual.samples;
    const auto magnitude = [](double x) { return std::abs(x); };
    const auto s = static_cast<std::size_t>(std::ranges::max_element(samples, {}, magnitude) -
                                            samples.begin());
    const long from = norm_class(own.actual.norm * (1 - kClose));
    const long to = norm_class(own.actual.norm * (1 + kClose));
    for (long norm = from; norm <= to; ++norm) {
      const auto at = golden.find({own.elements, norm});
      if (at == golden.end()) continue;
      const auto& candidates = at->second.by_sample[s];
      const double reach = 2 * kClose * (at->second.largest_rms + std::abs(samples[s]));
      auto next = std::ranges::lower_bound(candidates, samples[s] - reach, {}, kSample);
      for (; next != candidates.end() && next->first <= samples[s] + reach; ++next)
        if (next->second != i && close_norm(own, *layer(next->second).figures) &&
            same_numbers(own, *layer(next->second).figures))
          return next->second;
    }
    return std::nullopt;
  }

  static bool close_norm(const LayerFigures& own, const LayerFigures& other) {
    return std::abs(own.actual.norm - other.golden.norm) <= kClose * own.actual.norm;
  }

  static bool same_numbers(const LayerFigures& own, const LayerFigures& other) {
    if (own.elements != other.elements) return false;
    const double size = rms(other);
    const auto close = [&](double a, double b) {
      return std::abs(a - b) <= kClose * (size + std::abs(b));
    };
    if (!close(own.actual.peak, other.golden.peak)) return false;
    bool varied = false;
    for (std::size_t i = 0; i < own.actual.samples.size(); ++i) {
      if (!close(own.actual.samples[i], other.golden.samples[i])) return false;
      varied = varied || std::abs(other.golden.samples[i]) > 2 * kClose * size;
    }
    const double mean = other.golden.norm * std::sqrt(static_cast<double>(other.pairs));
    return varied && std::abs(own.actual.sum - other.golden.sum) <= kClose * mean;
  }

  static constexpr std::uint64_t kFew = 16;
  static constexpr double kClose = 0.01;
  static constexpr auto kSample = &std::pair<double, std::uint64_t>::first;

  const LayerReport& report_;
  std::vector<SanityFinding> found_;
};

}  // namespace

std::vector<SanityFinding> check_sanity(const LayerReport& report) { return Sanity(report).run(); }

}  // namespace btf
