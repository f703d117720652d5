#include "reports/convert_part.h"

#include <memory>
#include <utility>

#include "btf/try.h"
#include "io/text.h"
#include "report/text/json.h"
#include "reports/convert.h"

namespace btftool {
namespace {

std::vector<std::string> operands_of(const ConvertCommand& command) {
  std::vector<std::string> operands = command.inputs;
  operands.push_back(command.output);
  return operands;
}

}  // namespace

ConvertPart::ConvertPart(const Context& context, const ConvertCommand& command,
                         std::vector<std::string> others, std::vector<std::string> warnings)
    : part_(context, *command.part,
            {.command = "convert",
             .operands = operands_of(command),
             .others = std::move(others),
             .warnings = std::move(warnings)}) {}

btf::Result<std::vector<std::uint64_t>> ConvertPart::pick(std::span<const btf::PlannedFile> files) {
  std::vector<btf::PlannedPair> items;
  for (const btf::PlannedFile& file : files) {
    items.push_back({.name = file.name, .actual_bytes = file.bytes, .bytes = file.bytes});
    files_.push_back(ReadFile::now(file.path));
  }
  return part_.pick(items, "file");
}

void ConvertPart::begin(std::uint64_t) {
  tensors_ = Json::array();
  began_ = std::chrono::steady_clock::now();
}

void ConvertPart::end(std::uint64_t number, std::span<const std::string> outputs,
                      std::uint64_t bytes) {
  Json paths = Json::array();
  for (const std::string& output : outputs) paths.push_back(output);
  const ReadFile& file = files_[number];
  Json found{{"number", json_number(number)}, {"path", file.path},
             {"result", "converted"},         {"outputs", std::move(paths)},
             {"bytes", json_number(bytes)},   {"tensors", std::move(tensors_)}};
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
  part_.add({.number = number,
             .result = "converted",
             .found = btf::report::dump_exact(std::move(found)),
             .seconds = taken.count()},
            std::span(&file, 1), outputs);
}

btf::Result<int> merge_converted(const Context& context, const btf::Parts& parts,
                                 const ConvertCommand& command) {
  const btf::PartHead& head = parts.head();
  for (const std::string& input : command.inputs) note_others(context, input, head.others);
  for (const std::string& warning : head.warnings) context.log.warning(warning);
  ConvertReport report(context, command);
  std::uint64_t bytes = 0;
  const bool scaled = command.convert.quantization.active();
  const auto parse = [&](std::string_view line) -> btf::Result<btf::TakeItem> {
    BTF_ASSIGN(const Json json, btf::report::parse_exact(line, "an item of a part"));
    std::string error;
    const JsonNode node(json, error);
    const std::uint64_t size = node["bytes"].count();
    const auto tensors = std::make_shared<std::vector<ConversionMessage>>();
    std::size_t at = 0;
    node["tensors"].each([&](const JsonNode& tensor) {
      tensors->push_back(read_message(json["tensors"][at++], tensor, scaled));
    });
    if (!error.empty()) return btf::fail(btf::ErrorCode::malformed, error);
    return [&, tensors, size]() -> btf::Status {
      for (const ConversionMessage& tensor : *tensors) report.take(tensor);
      bytes += size;
      return {};
    };
  };
  BTF_TRY(parts.each(parse, context.global.execution()));
  report.finish(bytes, head.others);
  return kSame;
}

}  // namespace btftool
