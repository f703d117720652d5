// Any bytes as a model, and a small run of what it computes: `fit` and `layers` are asked about it,
// in one go and in shares. The first eight bytes say how.
#include "btf/fit.h"
#include "btf/layers.h"
#include "btf/part.h"
#include "btf/report.h"
#include "memory_file.h"
#include "network/evaluation.h"
#include "network/network.h"
#include "os_file.h"
#include "report/text/json.h"

namespace fuzz {
namespace {

namespace network = btf::network;
using btf::DType;

constexpr std::uint64_t kTerms = 20000;   // of one value
constexpr std::uint64_t kElements = 500;  // larger values are not dumped
constexpr std::size_t kValues = 200;      // of a model; larger ones are for other targets

struct Numbers {
  std::string name;
  bool whole = false;  // int64, else float32
  btf::Dims dims;
  std::vector<double> numbers;
};

// A run of the network as it is in float32: its inputs are made up, and the rest computed.
std::vector<Numbers> run_of(const network::Network& model, const btf::Dims& dims, double scale) {
  std::vector<Numbers> run;
  std::map<std::uint32_t, std::size_t> places;  // of values in the run
  const auto stored =
      [&](std::uint32_t value) -> btf::Result<std::optional<network::StoredNumbers>> {
    const auto found = places.find(value);
    if (found == places.end()) return std::nullopt;
    const Numbers& known = run[found->second];
    return network::StoredNumbers::of(std::make_shared<const std::vector<double>>(known.numbers),
                                      known.dims, known.whole ? DType::int64 : DType::float32);
  };
  const auto take = [&](std::uint32_t value, Numbers numbers) {
    places[value] = run.size();
    run.push_back(std::move(numbers));
  };
  for (std::uint32_t value = 0; value < model.values().size(); ++value) {
    const network::Value& wanted = model.values()[value];
    if (wanted.weight) continue;
    Numbers numbers{wanted.name, wanted.name.ends_with('i'), {}, {}};
    if (wanted.node == network::kNoNode) {
      std::uint64_t elements = 1;
      for (const std::uint64_t dim : dims) elements *= dim;
      numbers.dims = dims;
      for (std::uint64_t i = 0; i < elements; ++i)
        numbers.numbers.push_back(numbers.whole ? static_cast<double>(i % 3)
                                                : scale * (static_cast<double>(i % 7) / 2 - 1));
      take(value, std::move(numbers));
      continue;
    }
    network::Evaluation evaluation(model, stored, kTerms);
    const auto tensor = evaluation.computed(value);
    if (!tensor || (*tensor)->elements() > kElements) continue;
    numbers.whole = !(*tensor)->floating();
    numbers.dims = (*tensor)->dims();
    for (std::uint64_t i = 0; i < (*tensor)->elements(); ++i)
      numbers.numbers.push_back(numbers.whole
                                    ? std::clamp((*tensor)->value(i), -1e15, 1e15)
                                    : static_cast<double>(static_cast<float>((*tensor)->value(i))));
    take(value, std::move(numbers));
  }
  return run;
}

// Is the name such that it can stand between quotes in JSON as it is?
bool is_plain(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
}

// As a safetensors file. `left_out`: every so many tensors are not in it; 0: all are.
Bytes file_of(const std::vector<Numbers>& run, std::uint64_t left_out) {
  std::string head = "{";
  Bytes data;
  std::uint64_t number = 0;
  for (const Numbers& tensor : run) {
    if (!is_plain(tensor.name) || (left_out > 0 && ++number % left_out == 0)) continue;
    const std::size_t begin = data.size();
    for (const double value : tensor.numbers) {
      const auto real = static_cast<float>(value);
      const auto whole = tensor.whole && value == value ? static_cast<std::int64_t>(value) : 0;
      const auto* const bytes = tensor.whole ? reinterpret_cast<const std::byte*>(&whole)
                                             : reinterpret_cast<const std::byte*>(&real);
      data.insert(data.end(), bytes, bytes + (tensor.whole ? sizeof(whole) : sizeof(real)));
    }
    head += head.size() > 1 ? ",\"" : "\"";
    head += tensor.name + "\":{\"dtype\":\"" + (tensor.whole ? "I64" : "F32") + "\",\"shape\":[";
    for (std::size_t d = 0; d < tensor.dims.size(); ++d)
      head += (d > 0 ? "," : "") + std::to_string(tensor.dims[d]);
    head +=
        "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  head += "}";
  head.resize((head.size() + 7) / 8 * 8, ' ');
  Bytes file;
  for (std::size_t i = 0; i < 8; ++i)
    file.push_back(static_cast<std::byte>(std::uint64_t{head.size()} >> (8 * i)));
  for (const char c : head) file.push_back(static_cast<std::byte>(c));
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

// What another device may have made of it.
void change(std::vector<Numbers>& run, std::uint64_t how, std::uint64_t which) {
  if (run.empty()) return;
  Numbers& chosen = run[which % run.size()];
  for (Numbers& tensor : run) {
    const bool is_chosen = &tensor == &chosen;
    for (std::size_t i = 0; i < tensor.numbers.size(); ++i) {
      double& value = tensor.numbers[i];
      if (how >= 1) value *= 1 + 1e-4 * (static_cast<double>(i % 5) - 2);
      if (is_chosen && how == 2) value = value * 1.5 + .25;
      if (is_chosen && how == 3 && i == 0) value = std::nan("");
    }
    if (is_chosen && how == 4) std::ranges::reverse(tensor.numbers);
    if (is_chosen && how == 5) std::ranges::fill(tensor.numbers, 0);
  }
}

// Measures that several processes make, as they are in their parts.
template <typename Base, typename Planned, typename Measured>
class Parts final : public Base {
 public:
  explicit Parts(std::uint64_t shares) : shares_(shares) {}

  void begin(std::uint64_t share) { share_ = share; }

  btf::Status plan(std::span<const Planned> items) override {
    require(planned_.empty() || planned_.size() == items.size(), "a plan of other items");
    planned_.assign(items.begin(), items.end());
    measured_.resize(items.size());
    return {};
  }
  bool is_own(std::uint64_t number) const override {
    return share_ < shares_ && number % shares_ == share_;
  }
  const Measured* known(std::uint64_t number) const override {
    return share_ < shares_ || !measured_[number] ? nullptr : &*measured_[number];
  }
  void take(std::uint64_t number, const Measured& item) override {
    require(is_own(number) && !measured_[number], "an item that was not to be measured");
    const std::string line = written(number, item);
    auto again = read(line);
    if (!again) broken("an item that was written cannot be read: " + again.error().message);
    if (const std::string twice = written(number, again->measured); twice != line)
      broken("an item is read as another:\n" + line + "\n" + twice);
    measured_[number] = std::move(again->measured);
  }

 private:
  std::string written(std::uint64_t number, const Measured& item) const {
    // What it could not be made of, and of which files it was, merge has no use for.
    if constexpr (std::is_same_v<Measured, btf::MeasuredFit>)
      return part_line(btf::FitPartItem{number, planned_[number].name, {item.measures}}).found;
    else
      return part_line(btf::LayerItem{number,
                                      planned_[number].name,
                                      planned_[number].actual_path,
                                      planned_[number].golden_path,
                                      {item.figures, item.trouble, item.unread, item.check}})
          .found;
  }
  auto read(const std::string& line) const {
    if constexpr (std::is_same_v<Measured, btf::MeasuredFit>)
      return btf::read_fit_item(line);
    else
      return btf::read_layer_item(line);
  }

  std::uint64_t shares_;
  std::uint64_t share_ = 0;
  std::vector<Planned> planned_;
  std::vector<std::optional<Measured>> measured_;
};

using FitParts = Parts<btf::FitShare, btf::PlannedFit, btf::MeasuredFit>;
using LayerParts = Parts<btf::LayerShare, btf::PlannedLayer, btf::MeasuredLayer>;

constexpr std::uint64_t kShares = 2;

void check_fit(BytesView dump, const btf::FitOptions& options, bool in_parts) {
  const auto file = open(dump);
  if (!file) broken("the dump cannot be opened: " + file.error().message);
  const auto set = [&] {
    std::vector<btf::TensorSet> sets;
    sets.push_back(btf::TensorSet::of(*file));
    return sets;
  };
  auto sets = set();
  const auto report = btf::fit(sets, options);
  require(report || !report.error().message.empty(), "an error says nothing");
  if (report) {
    for (const btf::FitOfType& type : report->types)
      require(type.wide + type.unjudged <= type.layers.size(), "more layers than there are");
    require(!text(*report).empty() && !json(*report).empty(), "a report says nothing");
    static_cast<void>(btf::fits(*report));
  }
  if (!in_parts) return;
  FitParts parts(kShares);
  for (std::uint64_t share = 0; share < kShares; ++share) {
    parts.begin(share);
    sets = set();
    const auto done = btf::measure_fit(sets, options, parts);
    if (done) continue;
    // A part has no place for what could not be read and belongs to no item; a whole report has.
    if (report && std::ranges::find(report->troubles, done.error().message) == report->troubles.end())
      broken("a share ends in an error that the whole run does not tell of: " +
             done.error().message);
    return;
  }
  parts.begin(kShares);
  sets = set();
  const auto judged = btf::judge_measured(sets, options, parts);
  require(judged.has_value() == report.has_value(), "parts end otherwise than the whole run");
  if (report && json(*judged) != json(*report))
    broken("parts say something else than the whole run:\n" + json(*judged) + json(*report));
}

void check_layers(BytesView actual, BytesView golden, const btf::LayerOptions& options,
                  bool in_parts) {
  const auto actual_file = open(actual);
  const auto golden_file = open(golden);
  if (!actual_file || !golden_file) broken("a dump cannot be opened");
  const auto compare = [&](LayerParts* parts, bool measure) -> btf::Result<btf::LayerReport> {
    auto one = btf::TensorSet::of(*actual_file);
    auto other = btf::TensorSet::of(*golden_file);
    if (parts == nullptr) return btf::compare_layers(one, other, nullptr, nullptr, options);
    if (!measure) return btf::judge_measured(one, other, nullptr, nullptr, options, *parts);
    if (auto done = btf::measure_layers(one, other, nullptr, nullptr, options, *parts); !done)
      return std::unexpected(done.error());
    return btf::LayerReport{};
  };
  const auto text_of = [&](const btf::LayerReport& report) {
    return json(
        btf::LayerRun{.actual = "a", .golden = "b", .judge = options.judge, .report = report});
  };
  const auto report = compare(nullptr, false);
  if (!report) return require(!report.error().message.empty(), "an error says nothing");
  const std::string written = text_of(*report);
  require(!report->verdict.words.empty(), "a verdict says nothing");
  if (const auto again = btf::read_layer_report(written); !again)
    broken("a report that was written cannot be read: " + again.error().message);
  if (!in_parts) return;
  LayerParts parts(kShares);
  for (std::uint64_t share = 0; share < kShares; ++share) {
    parts.begin(share);
    require(compare(&parts, true).has_value(),
            "a share ends in an error, and the whole run does not");
  }
  parts.begin(kShares);
  const auto judged = compare(&parts, false);
  require(judged.has_value(), "parts end otherwise than the whole run");
  if (text_of(*judged) != written)
    broken("parts say something else than the whole run:\n" + text_of(*judged) + written);
}

void check(BytesView data) {
  static const std::array<btf::Dims, 4> kDims{{{2, 3, 4, 4}, {1, 6}, {3, 4, 5}, {}}};
  static constexpr std::array kScales{1., 3000., 1e-6, 1e20};
  static constexpr std::array kTypes{DType::float16, DType::bfloat16, DType::int8,
                                     DType::float8_e4m3fn};
  Input input(data);
  const btf::Dims dims = input.row(kDims);
  const double scale = input.row(kScales);
  const DType dtype = input.row(kTypes);
  const std::uint64_t left_out = input.below(5);
  const std::uint64_t how = input.below(6);
  const std::uint64_t which = input.byte();
  const bool in_parts = input.rarely(4);
  const std::uint64_t commands = input.below(3);
  const BytesView bytes = input.rest();

  const std::string path = file_with(bytes);
  const auto model = network::Network::read(path);
  if (!model) return require(!model.error().message.empty(), "an error says nothing");
  if (model->values().size() > kValues) return;
  std::vector<Numbers> run = run_of(*model, dims, scale);
  const Bytes golden = file_of(run, left_out > 1 ? left_out : 0);
  if (commands != 1) {
    btf::FitOptions options{.dtypes = {dtype}, .graph = path, .execution = alone()};
    if (how == 1) options.dtypes = {kTypes.begin(), kTypes.end()};
    check_fit(golden, options, in_parts);
  }
  if (commands == 0) return;
  change(run, how, which);
  btf::LayerOptions options{.graph = path, .hints = which % 2 == 0, .execution = alone()};
  options.judge.compute = dtype;
  check_layers(file_of(run, left_out == 1 ? 3 : 0), golden, options, in_parts);
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::check(fuzz::view(data, size));
  return 0;
}
