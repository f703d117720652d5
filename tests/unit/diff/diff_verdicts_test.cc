// The verdicts of NumPy and torch (testdata/oracle) against those of diff().
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "support/diff_pair.h"

using btf::DiffOptions;
using btf::DiffResult;
using btf::DType;
using btf::TensorDiff;
using bytes::Words;

namespace {

using Counts = std::map<std::string, int>;

// The fields of a line, taken one after the other.
class Line {
 public:
  explicit Line(const std::string& text) : stream_(text) {}

  std::string word() {
    std::string word;
    if (!(stream_ >> word)) throw std::runtime_error("a field is missing");
    return word;
  }

  template <typename Number, typename... Base>
  Number number(Base... base) {
    return parse<Number>(word(), base...);
  }

  double real() { return number<double>(); }
  bool flag() { return number<unsigned>() != 0; }
  DType dtype() { return btf::parse_dtype(word()).value(); }
  std::uint64_t hex() { return number<std::uint64_t>(16); }

  // "." is the empty list.
  Words list() {
    Words all;
    std::istringstream items(word());
    for (std::string item; std::getline(items, item, ',');)
      if (item != ".") all.push_back(parse<std::uint64_t>(item));
    return all;
  }

  template <typename Number, typename... Base>
  static Number parse(const std::string& text, Base... base) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value, base...);
    if (read.ec != std::errc{} || read.ptr != end) throw std::runtime_error("no number: " + text);
    return value;
  }

  void end() {
    std::string more;
    if (stream_ >> more) throw std::runtime_error("a field too many: " + more);
  }

 private:
  std::istringstream stream_;
};

Words codes_of(DType dtype, const std::string& digits) {
  const std::size_t width = btf::info(dtype).bits / 4U;
  Words codes;
  for (std::size_t at = 0; at < digits.size(); at += width)
    codes.push_back(Line::parse<std::uint64_t>(digits.substr(at, width), 16));
  return codes;
}

struct Pair {
  pairs::Tensor actual;
  pairs::Tensor golden;

  TensorDiff diff(const DiffOptions& options) const { return pairs::diff(actual, golden, options); }
};

// Both dtypes, and then the codes of both; in between the dims if `dims` is true.
Pair pair_of(Line& line, bool dims = false) {
  Pair pair;
  pair.actual.dtype = line.dtype();
  pair.golden.dtype = line.dtype();
  if (dims) pair.actual.dims = line.list();
  pair.actual.codes = codes_of(pair.actual.dtype, line.word());
  pair.golden.codes = codes_of(pair.golden.dtype, line.word());
  if (!dims) pair.actual.dims = {pair.actual.codes.size()};
  pair.golden.dims = pair.actual.dims;
  if (pair.actual.codes.size() != pair.golden.codes.size()) throw std::runtime_error("lengths");
  return pair;
}

// check(who judged, the rest of the line); returns how many lines each judge has.
template <typename Check>
Counts for_each_line(const std::string& name, Check&& check) {
  std::ifstream file(BTF_TESTDATA_DIR "/oracle/" + name);
  Counts counts;
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with('#')) continue;
    CAPTURE(text);
    Line line(text);
    const std::string judge = line.word();
    ++counts[judge];
    check(judge, line);
    line.end();
  }
  return counts;
}

DiffOptions plain_options() {
  DiffOptions options = pairs::no_hints();
  options.show = 64;
  return options;
}

// Exactly these elements are refused; bit i is element i.
void check_refused(const TensorDiff& diff, std::uint64_t expected) {
  std::uint64_t refused = 0;
  for (const btf::Mismatch& mismatch : diff.first) refused |= std::uint64_t{1} << mismatch.index[0];
  CHECK(refused == expected);
  CHECK(diff.mismatched == static_cast<std::uint64_t>(std::popcount(expected)));
  CHECK(diff.result == (expected == 0 ? DiffResult::same : DiffResult::different));
}

bool near(double found, double expected) {
  return found == expected ||
         std::abs(found - expected) <= 1e-12 * std::max(std::abs(found), std::abs(expected));
}

bool passes(const Pair& pair, const btf::Gates& gates) {
  DiffOptions options = plain_options();
  options.details = false;
  options.gates = gates;
  // NaN and Inf are not what the gates are asked for here.
  options.gates.max_mismatch = btf::MismatchLimit{100, true};
  return pair.diff(options).result == DiffResult::same;
}

// A gate `margin` below and above the figure.
template <typename Set>
void check_gate(const Pair& pair, double figure, double margin, bool at_least, Set&& set) {
  if (!std::isfinite(figure)) return;
  const auto passes_at = [&](double limit) {
    btf::Gates gates;
    set(gates, limit);
    return passes(pair, gates);
  };
  CHECK(passes_at(figure - margin) == at_least);
  CHECK(passes_at(figure + margin) != at_least);
}

template <typename Set>
void check_most(const Pair& pair, double figure, Set&& set) {
  const double margin = std::max(1e-9 * figure, std::numeric_limits<double>::denorm_min());
  check_gate(pair, figure, margin, false, set);
}

// Of a cosine or of dB, which may be next to 0 by cancellation.
template <typename Set>
void check_least(const Pair& pair, double figure, Set&& set) {
  check_gate(pair, figure, 1e-9 * std::max(1.0, std::abs(figure)), true, set);
}

}  // namespace

TEST_CASE("verdicts: NumPy and torch accept the same elements") {
  int accepted = 0;
  const Counts counts = for_each_line("diff_elements.txt", [&](const std::string&, Line& line) {
    const Pair pair = pair_of(line);
    DiffOptions options = plain_options();
    options.tolerance.rtol = line.real();
    options.tolerance.atol = line.real();
    options.tolerance.equal_nan = line.flag();
    const std::uint64_t refused = line.hex();
    check_refused(pair.diff(options), refused);
    accepted += refused == 0 ? 1 : 0;
  });
  CHECK(counts == Counts{{"both", 8457}, {"fractions", 1498}, {"overflow", 45}});
  CHECK(accepted == 4955);
}

TEST_CASE("verdicts: --close is torch.testing.assert_close, exact where a float meets an integer") {
  int accepted = 0;
  const Counts counts = for_each_line("diff_close.txt", [&](const std::string&, Line& line) {
    const Pair pair = pair_of(line);
    DiffOptions options = plain_options();
    options.tolerance.close = true;
    options.tolerance.equal_nan = line.flag();
    const std::uint64_t refused = line.hex();
    check_refused(pair.diff(options), refused);
    accepted += refused == 0 ? 1 : 0;
  });
  CHECK(counts == Counts{{"torch", 1600}});
  CHECK(accepted == 658);
}

TEST_CASE("verdicts: steps are NumPy's nulp") {
  int accepted = 0;
  const Counts counts = for_each_line("diff_ulp.txt", [&](const std::string&, Line& line) {
    const Pair pair = pair_of(line);
    DiffOptions options = plain_options();
    options.tolerance.ulp = line.number<std::uint64_t>();
    options.tolerance.equal_nan = line.flag();
    const auto most = line.number<std::uint64_t>();
    const std::uint64_t refused = line.hex();
    const TensorDiff diff = pair.diff(options);
    CHECK(diff.max_ulp == most);
    check_refused(diff, refused);
    accepted += refused == 0 ? 1 : 0;
  });
  CHECK(counts == Counts{{"cast", 335}, {"codes", 456}, {"integers", 365}, {"numpy", 644}});
  CHECK(accepted == 1064);
}

TEST_CASE("verdicts: NumPy's figures") {
  int unequal = 0;
  int top_k_differs = 0;
  const Counts counts = for_each_line("diff_figures.txt", [&](const std::string&, Line& line) {
    const Pair pair = pair_of(line, true);
    const auto finite = line.number<std::uint64_t>();
    const double rmse = line.real();
    const double cosine = line.real();
    const double psnr = line.real();
    const double snr = line.real();
    const double max_abs = line.real();
    DiffOptions options = plain_options();
    options.figures = true;
    std::vector<btf::QuantileValue> quantiles;
    std::istringstream points(line.word());
    for (std::string point; std::getline(points, point, ',');) {
      const std::size_t equals = point.find('=');
      quantiles.push_back({Line::parse<double>(point.substr(0, equals)),
                           Line::parse<double>(point.substr(equals + 1))});
      options.gates.quantiles.push_back({quantiles.back().q, 1});
    }
    options.gates.top_k = line.number<std::uint64_t>();
    const auto rows = line.number<std::uint64_t>();
    const auto disagreeing = line.number<std::uint64_t>();
    const std::string first = line.word();

    const TensorDiff diff = pair.diff(options);
    REQUIRE(diff.figures);
    CHECK(diff.figures->pairs == finite);
    CHECK(near(diff.figures->rmse, rmse));
    // An angle near 90 degrees is the small difference of large sums.
    CHECK(std::abs(diff.figures->cosine - cosine) <= 1e-12);
    CHECK((near(diff.figures->psnr, psnr) || std::abs(diff.figures->psnr - psnr) <= 1e-12));
    CHECK((near(diff.figures->snr, snr) || std::abs(diff.figures->snr - snr) <= 1e-12));
    CHECK(diff.max_abs == max_abs);
    REQUIRE(diff.quantiles.size() == quantiles.size());
    for (std::size_t i = 0; i < quantiles.size(); ++i) {
      CHECK(diff.quantiles[i].q == quantiles[i].q);
      CHECK(diff.quantiles[i].value == quantiles[i].value);
    }
    REQUIRE(diff.top_k);
    CHECK(diff.top_k->rows == rows);
    CHECK(diff.top_k->disagreeing == disagreeing);
    if (first == "-")
      CHECK_FALSE(diff.top_k->first);
    else
      CHECK(diff.top_k->first == Line(first).list());

    check_most(pair, rmse, [](btf::Gates& gates, double limit) { gates.rmse = limit; });
    check_most(pair, max_abs, [](btf::Gates& gates, double limit) { gates.max_abs = limit; });
    for (const btf::QuantileValue& quantile : quantiles)
      check_most(pair, quantile.value, [&](btf::Gates& gates, double limit) {
        gates.quantiles = {{quantile.q, limit}};
      });
    check_least(pair, cosine, [](btf::Gates& gates, double limit) { gates.cosine = limit; });
    check_least(pair, psnr, [](btf::Gates& gates, double limit) { gates.psnr = limit; });
    check_least(pair, snr, [](btf::Gates& gates, double limit) { gates.snr = limit; });
    unequal += rmse != 0 ? 1 : 0;
    top_k_differs += disagreeing != 0 ? 1 : 0;
  });
  CHECK(counts == Counts{{"numpy", 600}});
  CHECK(unequal == 526);
  CHECK(top_k_differs == 154);
}
