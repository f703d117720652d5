#include <cctype>

#include "btf/cpu_level.h"
#include "kernels/cpu/cpu_level.h"

namespace btf {
namespace {

// The name as users write it: "avx512" for "AVX-512".
std::string word_of(CpuLevel level) {
  std::string word;
  for (const char* c = cpu_level_name(level); *c != '\0'; ++c)
    if (*c != '-') word += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  return word;
}

bool was_left_out(std::string_view name) {
  for (std::size_t i = kPlain; i < kCpuLevels; ++i)
    if (const auto level = static_cast<CpuLevel>(i); !is_compiled(level) && word_of(level) == name)
      return true;
  return false;
}

}  // namespace

std::string cpu_levels() {
  std::string words;
  for (std::size_t level = kPlain; level <= best_cpu_level(); ++level)
    if (is_compiled(static_cast<CpuLevel>(level)))
      words += (words.empty() ? "" : ", ") + word_of(static_cast<CpuLevel>(level));
  return words;
}

Status use_cpu_level(std::string_view name) {
  for (std::size_t i = kPlain; i <= best_cpu_level(); ++i)
    if (const auto level = static_cast<CpuLevel>(i); is_compiled(level) && word_of(level) == name) {
      force_cpu_level(level);
      return {};
    }
  return fail(ErrorCode::invalid_argument, (was_left_out(name) ? "this build" : "this CPU") +
                                               std::string(" has no instruction set '") +
                                               std::string(name) + "', but " + cpu_levels());
}

}  // namespace btf
