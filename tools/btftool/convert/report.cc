#include "convert/report.h"

#include <fmt/format.h>

#include "io/text.h"

namespace btftool {

ConvertReport::ConvertReport(const Context& context, const ConvertCommand& command)
    : context_(context), command_(command) {
  if (command_.json)
    json_.begin_object()
        .members({{"schema", "btftool/convert/1"},
                  {"input", command_.inputs.front()},
                  {"inputs", command_.inputs},
                  {"output", command_.output}})
        .begin_list("tensors");
}

void ConvertReport::Tally::add(std::uint64_t count) {
  tensors += count > 0 ? 1 : 0;
  elements += count;
}

void ConvertReport::take(const ToldTensor& tensor) {
  ++tensors_;
  if (tensor.raw && raw_.pass()) notes_.push_back(*tensor.raw);
  if (tensor.ending && *tensor.ending != last_ending_) {
    last_ending_ = *tensor.ending;
    if (endings_.pass())
      warned_.push_back(last_ending_ +
                        ": unknown extension, BTF is written; --format btf confirms it, "
                        "--format raw writes raw bytes");
  }
  for (const std::string& warning : tensor.warnings)
    if (warnings_.pass()) warned_.push_back(warning);
  if (tensor.numpy && numpy_.insert(*tensor.numpy).second) notes_.push_back(*tensor.numpy);
  constexpr std::size_t kShown = 3;
  if (tensor.dense && ++densified_ <= kShown) dense_.push_back(*tensor.dense);
  if (tensor.scale && scales_.pass()) notes_.push_back(*tensor.scale);
  take_loss(tensor);
  if (command_.json) json_.item(tensor.json);
}

void ConvertReport::take_loss(const ToldTensor& tensor) {
  const btf::LossAccount& loss = tensor.lost.account;
  overflowed_.add(loss.overflowed);
  nan_lost_.add(loss.nan_lost);
  sign_lost_.add(tensor.lost.sign_lost);
  to_zero_.add(loss.to_zero);
  inexact_.add(loss.inexact);
  const std::optional<std::string>& line = context_.global.verbose ? tensor.losses : tensor.loss;
  const bool harmed = tensor.lost.harmed();
  if (tensor.alarm && (harmed ? harm_alarms_ : alarms_).pass())
    (harmed ? harm_alarmed_ : alarmed_).push_back(*tensor.alarm);
  if (!line) return;
  if (harmed) return harmed_.push_back(*line);
  if (context_.global.verbose || rounded_.empty()) rounded_.push_back(*line);
  Rounding& all = roundings_[tensor.lost.cast];
  ++all.tensors;
  all.elements += loss.elements;
  all.to_zero.add(loss.to_zero);
  if (tensor.lost.snr && (!all.least_snr || *tensor.lost.snr < *all.least_snr->snr))
    all.least_snr = tensor.lost;
  if (all.tensors == 1 || loss.max_abs > all.largest_error.account.max_abs)
    all.largest_error = tensor.lost;
}

// "299 of 300 tensors were rounded: float32 -> float16: snr 73.1 dB or more, least in tensor 5 'w'".
std::string ConvertReport::rounding_line() const {
  std::uint64_t rounded = 0;
  for (const auto& [cast, all] : roundings_) rounded += all.tensors;
  std::string text = fmt::format("{} of {} tensors were rounded: ", rounded, tensors_);
  for (bool first = true; const auto& [cast, all] : roundings_) {
    text += (first ? "" : "; ") + cast;
    first = false;
    if (roundings_.size() > 1) text += fmt::format(" in {}", all.tensors);
    text += ": ";
    const TensorLoss& worst = all.least_snr ? *all.least_snr : all.largest_error;
    text += worst.snr ? fmt::format("snr {}{:.4g} dB or more", worst.sampled ? "about " : "",
                                    *worst.snr)
                      : fmt::format("largest error {:.6g}", worst.account.max_abs);
    if (all.tensors > 1)
      text += fmt::format("{} in {}", worst.snr ? ", least" : "", worst.title);
    if (all.to_zero.tensors > 0)
      text += fmt::format(", {} of {} became zero, in {}", all.to_zero.elements, all.elements,
                          counted(all.to_zero.tensors, "tensor"));
  }
  return text;
}

void ConvertReport::say_warnings() {
  for (const std::string& warning : warned_) context_.log.warning(warning);
  if (endings_.held_back() > 0)
    context_.log.warning(fmt::format("and {} more files", endings_.held_back()));
  if (warnings_.held_back() > 0)
    context_.log.warning(fmt::format("and {} more", warnings_.held_back()));
}

void ConvertReport::say_totals() {
  if (tensors_ < 2) return;
  std::string text;
  const auto add = [&](const Tally& tally, const char* what) {
    if (tally.tensors == 0) return;
    text += fmt::format("{}{} of {} tensors {}: {}", text.empty() ? "" : "; ", tally.tensors,
                        tensors_, what, counted(tally.elements, "element"));
  };
  add(overflowed_, "overflowed");
  add(nan_lost_, "lost NaN");
  add(sign_lost_, "changed in a type without signs");
  if (!text.empty()) context_.log.note(text);
}

Json ConvertReport::json_totals() const {
  Json json{{"tensors", json_number(tensors_)}};
  for (const auto& [member, tally] :
       {std::pair("overflowed", &overflowed_), {"nan_lost", &nan_lost_},
        {"to_zero", &to_zero_}, {"inexact", &inexact_}})
    json[member] = {{"tensors", json_number(tally->tensors)},
                    {"elements", json_number(tally->elements)}};
  return json;
}

void ConvertReport::finish(std::uint64_t bytes, const std::vector<std::string>& others) {
  for (const std::string& alarm : harm_alarmed_) context_.log.alarm(alarm);
  for (const std::string& line : harmed_) context_.log.note(line);
  say_warnings();
  for (const std::string& alarm : alarmed_) context_.log.alarm(alarm);
  if (const std::uint64_t more = harm_alarms_.held_back() + alarms_.held_back(); more > 0)
    context_.log.alarm(fmt::format("{} more tensors lost a large part", more));
  for (const std::string& note : notes_) context_.log.note(note);
  if (densified_ > 0) {
    std::string tensors;
    for (const std::string& title : dense_) tensors += (tensors.empty() ? "" : ", ") + title;
    if (densified_ > dense_.size())
      tensors += fmt::format(" and {} more", densified_ - dense_.size());
    context_.log.note("sparse (COO) in the input, dense in the output: " + tensors);
  }
  if (raw_.held_back() > 0)
    context_.log.note(fmt::format("and {} more files of raw bytes", raw_.held_back()));
  if (scales_.held_back() > 0)
    context_.log.note(fmt::format("and the scales of {} more tensors", scales_.held_back()));
  std::uint64_t rounded = 0;
  for (const auto& [cast, all] : roundings_) rounded += all.tensors;
  if (context_.global.verbose || rounded == 1)
    for (const std::string& line : rounded_) context_.log.note(line);
  if (rounded > 1) context_.log.note(rounding_line());
  say_totals();
  context_.log.detail(fmt::format("{}: {} written", command_.output, counted(bytes, "byte")));
  if (command_.json)
    context_.out.line(json_.end()
                          .members({{"losses", json_totals()}, {"output_bytes", json_number(bytes)}})
                          .members(json_others(others))
                          .end()
                          .take());
}

void ConvertReport::give_up() { say_warnings(); }

}  // namespace btftool
