#include "report/fit/words.h"

#include <fmt/format.h>

#include <cmath>

#include "report/text/text.h"

namespace btf::report {
namespace {

std::string overflow_words(const FitFinding& finding, const FitOfType& type) {
  return "up to " + size_words(finding.number) + "; above " + size_words(finding.limit) +
         " they may overflow (" + std::string(info(type.dtype).name) + " ends at " +
         size_words(type.largest) + ")";
}

std::string off_words(const FitFinding& finding) {
  return " off by " + part_words(finding.number) + "; " + part_words(finding.limit) +
         " would be borne";
}

}  // namespace

std::string size_words(double size) { return fmt::format("{:.5g}", size); }

std::string part_words(double part) {
  if (std::isinf(part)) return "more than all of it";
  return part >= 1e-4 && part < 10 ? fmt::format("{:.2g}%", part * 100)
                                   : fmt::format("{:.2g}", part);
}

std::string magnitude_words(double error) {
  if (std::isinf(error)) return "Inf or NaN";
  if (error == 0) return "nothing";
  return "about 1e" + std::to_string(static_cast<int>(std::lround(std::log10(error))));
}

std::string verdict_words(const FitOfType& type) {
  const std::uint64_t all = type.layers.size();
  const std::uint64_t judged = all - type.unjudged;
  std::string text =
      std::to_string(type.wide) + " of " + counted(all, "layer") + " must stay float32";
  if (type.wide == 0)
    text = judged == 1 ? "the layer that can be judged fits"
                       : "all " + std::to_string(judged) + " layers that can be judged fit";
  if (type.unjudged > 0) text += "; " + std::to_string(type.unjudged) + " cannot be judged";
  return text;
}

std::string reason_words(const FitFinding& finding, const FitOfType& type) {
  const std::string tensor = quoted_name(finding.tensor);
  switch (finding.reason) {
    case FitReason::overflow_output:
      return "its result " + tensor + " has numbers " + overflow_words(finding, type);
    case FitReason::overflow_input:
      return "it reads " + tensor + ", which has numbers " + overflow_words(finding, type);
    case FitReason::overflow_inside:
      return "sums on the way to " + tensor + " are " + overflow_words(finding, type);
    case FitReason::variance:
      return "squares that are rounded take the variance inside" + off_words(finding);
    case FitReason::nonfinite:
      return counted(static_cast<std::uint64_t>(finding.number), "result") +
             (finding.number == 1 ? " becomes" : " become") + " Inf or NaN where " + tensor +
             " is rounded";
    case FitReason::lost:
      return "numbers of " + tensor + " are lost below " + size_words(type.smallest) +
             ", which takes the result" + off_words(finding);
    case FitReason::rounding:
      return "rounding " + tensor + " takes its result" + off_words(finding);
    case FitReason::feeds:
      break;
  }
  const std::string reader = quoted_name(finding.layer);
  if (finding.limit == 0)
    return "it rounds " + tensor + ", of which " + reader + " cannot bear a zero or an Inf";
  return "it rounds " + tensor + " by " + part_words(finding.number) + ", of which " + reader +
         " bears " + part_words(finding.limit);
}

std::string finding_words(const FitFinding& finding, const FitOfType& type, std::size_t dumps) {
  const std::string words = reason_words(finding, type);
  if (dumps < 2) return words;
  return words + " (in " + std::to_string(finding.dumps) + " of " + counted(dumps, "dump") + ")";
}

std::string output_words(const FitOutput& output, const FitOfType& type) {
  std::string words = "output " + quoted_name(output.name) + ": an error of " +
                      magnitude_words(type.wide > 0 ? output.kept : output.narrow) +
                      " (an estimate, to an order of magnitude)";
  if (type.wide > 0)
    words += "; with all layers in " + std::string(info(type.dtype).name) + " " +
             magnitude_words(output.narrow);
  return words;
}

bool is_poor(const FitTensor& tensor, const FitOfType& type) {
  return tensor.beyond > 0 || tensor.error > 8 * type.unit_roundoff;
}

}  // namespace btf::report
