// The sentences of a report on layers, in the order of a reader's questions, shared by all formats;
// and the command that shows more.
#pragma once

#include <string>
#include <vector>

#include "btf/layers.h"
#include "btf/report.h"

namespace btf::report {

// "btftool diff --heatmap conv1.npy golden/conv1.npy"; empty: there is no layer, or no file of it.
std::string next_command(const LayerRun& run);

// LayerRun::scales without the list of files, which does not change what is said of their tensors.
std::vector<std::string> words_of_numbers(const LayerRun& run);

// The options that say what codes stand for, as LayerRun::scales has them.
std::vector<std::string> scale_words(const LayerOptions& options);

// The sentences of a report, in the order of a reader's questions; all formats share them.

// The sentences of a report, in the order of a reader's questions; all formats share them.

struct Story {
  std::string headline;  // "BROKE AT", "NOTHING BROKE"
  std::string subject;   // the layer, or nothing
  std::string where;     // "layer 23 of 61, float16 against float32"
  std::string words;     // the verdict
  struct Line {
    std::string title;  // "why", "after", "trust", "next"
    std::string text;
  };
  std::vector<Line> lines;
};

Story story_of(const LayerRun& run);

// The state of one layer: "healthy", "broke x178", "broke: gain".
std::string state_text(const Layer& layer);

}  // namespace btf::report
