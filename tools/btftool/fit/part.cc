#include "fit/part.h"

#include <utility>
#include <vector>

#include "btf/try.h"

namespace btftool {

FitPart::FitPart(const Context& context, const FitCommand& command)
    : context_(context),
      part_(context, *command.part, {.command = "fit", .operands = command.dumps}) {}

btf::Status FitPart::plan(std::span<const btf::PlannedFit> items) {
  BTF_ASSIGN(const std::vector<std::uint64_t> own, part_.pick(btf::plan_of(items), "item"));
  for (const std::uint64_t number : own) own_[number] = items[number].name;
  last_ = std::chrono::steady_clock::now();
  return {};
}

void FitPart::take(std::uint64_t number, const btf::MeasuredFit& item) {
  const auto now = std::chrono::steady_clock::now();
  btf::PartLine line =
      part_line(btf::FitPartItem{.number = number, .name = own_.at(number), .measured = item});
  line.seconds = std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  if (!item.trouble.empty())
    context_.log.error("'" + own_.at(number) + "' could not be measured: " + item.trouble);
  std::vector<ReadFile> read;
  for (const auto& [path, state] : item.files) read.push_back({path, state});
  part_.add(std::move(line), read);
}

}  // namespace btftool
