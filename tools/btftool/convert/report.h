// The report of a conversion: text on standard error, JSON on standard output.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convert/told.h"
#include "io/context.h"
#include "report/text/json_document.h"

namespace btftool {

class ConvertReport {
 public:
  ConvertReport(const Context& context, const ConvertCommand& command);

  void take(const ToldTensor& tensor);
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

  void take_loss(const ToldTensor& tensor);
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
