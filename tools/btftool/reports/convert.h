// The report of a conversion: messages for each tensor, and totals.
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

// The loss of one tensor, for totals.
struct TensorLoss {
  std::string title{};  // "tensor 5 'fc1.weight'"
  std::string cast{};   // "float32 -> float16"
  btf::LossAccount account{};
  std::optional<double> snr{};
  bool sampled = false;  // the snr is estimated from some of the elements

  // Returns true if values are lost and not only rounded: values out of range, NaN, signs.
  bool harmed() const {
    return account.overflowed > 0 || account.nan_lost > 0 || account.sign_lost > 0;
  }
};

// Messages about one converted tensor. ConvertReport decides how many of a kind are shown.
struct ConversionMessage {
  std::optional<std::string> raw{};     // what a raw output file holds
  std::optional<std::string> ending{};  // the output path, if its extension is of no format
  std::vector<std::string> warnings{};
  std::optional<std::string> alarm{};   // a large part is lost
  std::optional<std::string> numpy{};   // the dtype needs a package beside NumPy
  std::optional<std::string> dense{};   // title of a sparse tensor that became dense unasked
  std::optional<std::string> scale{};   // the scales that were found
  std::optional<std::string> loss{};    // the losses that matter
  std::optional<std::string> losses{};  // all losses
  TensorLoss lost{};
  Json json{};  // the tensor in the JSON report
};

// If `named` is set, messages have the name of the tensor.
ConversionMessage describe(const btf::TensorReport& report, const ConvertCommand& command,
                           bool named);

// Writes and reads a message in a part. `node` must be that of `json`; errors are recorded there.
// `scaled` must be true if the conversion used scales.
Json to_json(const ConversionMessage& tensor);
ConversionMessage read_message(const Json& json, const JsonNode& node, bool scaled);

// Prints the report of a conversion: text to standard error, JSON to standard output.
class ConvertReport {
 public:
  ConvertReport(const Context& context, const ConvertCommand& command);

  void take(const ConversionMessage& tensor);
  // Called when the output has been written. Prints tensors with lost values first, then warnings,
  // notes, one line about rounding, and totals. `others` are input files that were not read.
  void finish(std::uint64_t bytes, const std::vector<std::string>& others);
  // Called instead if writing failed. Prints only the warnings.
  void give_up();

 private:
  // Counts of one kind of loss.
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
    std::optional<TensorLoss> least_snr{};  // the tensor with the lowest snr
    TensorLoss largest_error{};             // the tensor with the largest error
  };

  void take_loss(const ConversionMessage& tensor);
  std::string rounding_line() const;
  void print_warnings();
  void print_totals();
  Json json_totals() const;

  const Context& context_;
  const ConvertCommand& command_;
  JsonDocument json_;
  // All of these are shown: a single value that became Inf can break a network.
  std::vector<std::string> harmed_;
  std::vector<std::string> harm_alarmed_;
  std::vector<std::string> notes_;
  std::vector<std::string> warned_;
  std::vector<std::string> alarmed_;
  std::string last_ending_;
  std::set<std::string> numpy_;
  std::vector<std::string> dense_;  // the first few
  std::uint64_t densified_ = 0;
  MessageLimit raw_;
  MessageLimit endings_;
  MessageLimit warnings_;
  MessageLimit harm_alarms_;
  MessageLimit alarms_;
  MessageLimit scales_;
  std::vector<std::string> rounded_;  // lines about single tensors
  std::map<std::string, Rounding> roundings_;
  std::uint64_t tensors_ = 0;
  Tally overflowed_;
  Tally nan_lost_;
  Tally sign_lost_;
  Tally to_zero_;
  Tally inexact_;
};

}  // namespace btftool
