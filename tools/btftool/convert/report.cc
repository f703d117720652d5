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

void ConvertReport::take(const ToldTensor& tensor) {
  if (tensor.raw && raw_.pass()) notes_.push_back(*tensor.raw);
  if (tensor.ending && *tensor.ending != last_ending_) {
    last_ending_ = *tensor.ending;
    if (endings_.pass())
      context_.log.warning(last_ending_ +
                           ": unknown extension, BTF is written; --format btf confirms it, "
                           "--format raw writes raw bytes");
  }
  for (const std::string& warning : tensor.warnings)
    if (warnings_.pass()) context_.log.warning(warning);
  if (tensor.alarm && alarms_.pass()) context_.log.alarm(*tensor.alarm);
  if (tensor.scale && scales_.pass()) notes_.push_back(*tensor.scale);
  const std::optional<std::string>& loss = context_.global.verbose ? tensor.losses : tensor.loss;
  if (loss && losses_.pass()) notes_.push_back(*loss);
  if (command_.json) json_.item(tensor.json);
}

void ConvertReport::finish(std::uint64_t bytes, const std::vector<std::string>& others) {
  for (const std::string& note : notes_) context_.log.note(note);
  if (endings_.held_back() > 0)
    context_.log.warning(fmt::format("and {} more files", endings_.held_back()));
  if (warnings_.held_back() > 0)
    context_.log.warning(fmt::format("and {} more", warnings_.held_back()));
  if (alarms_.held_back() > 0)
    context_.log.alarm(fmt::format("{} more tensors lost a large part", alarms_.held_back()));
  if (raw_.held_back() > 0)
    context_.log.note(fmt::format("and {} more files of raw bytes", raw_.held_back()));
  if (losses_.held_back() > 0)
    context_.log.note(fmt::format("and {} more tensors lost something", losses_.held_back()));
  context_.log.detail(fmt::format("{}: {} written", command_.output, counted(bytes, "byte")));
  if (command_.json)
    context_.out.line(json_.end()
                          .members({{"output_bytes", json_number(bytes)}})
                          .members(json_others(others))
                          .end()
                          .take());
}

}  // namespace btftool
