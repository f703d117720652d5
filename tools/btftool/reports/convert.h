// The words for one converted tensor, worked out of its report.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "cli/support.h"
#include "io/context.h"
#include "report/text/json.h"

namespace btftool {

// What a tensor lost, for totals.
struct TensorLoss {
  std::string title{};  // "tensor 5 'fc1.weight'"
  std::string cast{};   // "float32 -> float16"
  btf::LossAccount account{};
  std::uint64_t sign_lost = 0;  // as many at most
  std::optional<double> snr{};
  bool sampled = false;  // the snr is that of a few of its elements

  // Numbers that are gone, not only rounded: beyond the range, NaN where there is none, signs.
  bool harmed() const { return account.overflowed > 0 || account.nan_lost > 0 || sign_lost > 0; }
};

// Texts without the limits on how many of a kind are shown. None: there is nothing to say.
struct ConversionMessage {
  std::optional<std::string> raw{};     // what its file of raw bytes holds
  std::optional<std::string> ending{};  // path of its file, if that ends as no format does
  std::vector<std::string> warnings{};
  std::optional<std::string> alarm{};   // a large part is lost
  std::optional<std::string> numpy{};   // a dtype that only a package adds to NumPy
  std::optional<std::string> dense{};   // title, where it was sparse and nobody asked for dense
  std::optional<std::string> scale{};   // that was found
  std::optional<std::string> loss{};    // what matters
  std::optional<std::string> losses{};  // all of it
  TensorLoss lost{};
  Json json{};  // of the document
};

// `named`: messages say the names of tensors.
ConversionMessage told(const btf::TensorReport& report, const ConvertCommand& command, bool named);

// As a part keeps it.
Json json_told(const ConversionMessage& tensor);

// `node`: of `json`; what is wrong with it is told there. `scaled`: by options of scales.
ConversionMessage read_told(const Json& json, const JsonNode& node, bool scaled);

// The report of a conversion: text on standard error, JSON on standard output.

class ConvertReport {
 public:
  ConvertReport(const Context& context, const ConvertCommand& command);

  void take(const ConversionMessage& tensor);
  // When the output has been written: tensors with numbers that are gone, warnings, what else is to
  // be said, ordinary rounding in one line, and totals. `others`: files beside the tensors.
  void finish(std::uint64_t bytes, const std::vector<std::string>& others);
  // When it has not: warnings alone.
  void give_up();

 private:
  // Tensors and elements with one kind of loss.
  struct Tally {
    std::uint64_t tensors = 0;
    std::uint64_t elements = 0;

    void add(std::uint64_t count);
  };
  // Rounding from one dtype to another.
  struct Rounding {
    std::uint64_t tensors = 0;
    std::uint64_t elements = 0;
    Tally to_zero{};
    std::optional<TensorLoss> least_snr{};  // the tensor with it
    TensorLoss largest_error{};
  };

  void take_loss(const ConversionMessage& tensor);
  std::string rounding_line() const;
  void say_warnings();
  void say_totals();
  Json json_totals() const;

  const Context& context_;
  const ConvertCommand& command_;
  JsonDocument json_;
  // Never limited: a single number that became Inf decides whether a network works.
  std::vector<std::string> harmed_;
  std::vector<std::string> harm_alarmed_;
  std::vector<std::string> notes_;
  std::vector<std::string> warned_;
  std::vector<std::string> alarmed_;
  std::string last_ending_;
  std::set<std::string> numpy_;
  std::vector<std::string> dense_;  // the first few
  std::uint64_t densified_ = 0;
  Limited raw_;
  Limited endings_;
  Limited warnings_;
  Limited harm_alarms_;
  Limited alarms_;
  Limited scales_;
  std::vector<std::string> rounded_;  // a line each
  std::map<std::string, Rounding> roundings_;
  std::uint64_t tensors_ = 0;
  Tally overflowed_;
  Tally nan_lost_;
  Tally sign_lost_;
  Tally to_zero_;
  Tally inexact_;
};

}  // namespace btftool
