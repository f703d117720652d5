#include "fit/part.h"

#include <vector>

#include "btf/try.h"

namespace btftool {

FitPart::FitPart(const Context& context, const FitCommand& command)
    : part_(context, *command.part, {.command = "fit", .operands = command.dumps}) {}

btf::Status FitPart::plan(std::span<const btf::PlannedFit> items) {
  BTF_ASSIGN(const std::vector<std::uint64_t> own, part_.pick(btf::plan_of(items), "item"));
  for (const std::uint64_t number : own) own_[number] = items[number].name;
  return {};
}

void FitPart::take(std::uint64_t number, const btf::MeasuredFit& item) {
  const std::string& name = own_.at(number);
  std::vector<ReadFile> read;
  for (const auto& [path, state] : item.files) read.push_back({path, state});
  part_.add_measured(part_line(btf::FitPartItem{.number = number, .name = name, .measured = item}),
                     name, item.trouble, read);
}

}  // namespace btftool
