// What the words in reports mean (findings, causes, verdicts, reasons, states), each with an
// example and what to do about it.
#pragma once

#include <span>
#include <string_view>

namespace btftool {

struct Explanation {
  std::string_view word;
  std::string_view means;
  std::string_view example;
  std::string_view remedy;
};

struct Topic {
  std::string_view name;      // "finding"
  std::string_view commands;  // commands that print such words
  std::string_view title;     // title of the list
  std::string_view document;  // where to read more
  std::span<const Explanation> rows;
};

std::span<const Topic> topics();

// The explanations of each topic. A word may be in several topics.
std::span<const Explanation> btf_findings();
std::span<const Explanation> format_findings();
std::span<const Explanation> work_findings();
std::span<const Explanation> causes();
std::span<const Explanation> verdicts();
std::span<const Explanation> fit_reasons();
std::span<const Explanation> fit_layer_states();
std::span<const Explanation> fit_tensor_states();

}  // namespace btftool
