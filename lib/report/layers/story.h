// The sentences of a report on layers, which all formats share, and the command that shows more.
#pragma once

#include <string>
#include <vector>

#include "btf/layers.h"
#include "btf/report.h"

namespace btf::report {

// Returns "btftool diff --heatmap conv1.npy golden/conv1.npy" for the layer of the verdict, or an
// empty string if there is no layer or no file of it.
std::string next_command(const LayerRun& run);

// Returns LayerRun::scales without --files-from, which does not change the values of tensors.
std::vector<std::string> value_options(const LayerRun& run);

// Returns the options for scales in the form of LayerRun::scales.
std::vector<std::string> scale_words(const LayerOptions& options);

// The sentences of a report, in the order in which a reader needs them.
struct Story {
  std::string headline;  // "BROKE AT", "NOTHING BROKE"
  std::string subject;   // the name of the layer, or empty
  std::string where;     // "layer 23 of 61, float16 against float32"
  std::string words;     // the verdict
  struct Line {
    std::string title;  // "why", "after", "trust", "next"
    std::string text;
  };
  std::vector<Line> lines;
};

Story story_of(const LayerRun& run);

// Returns the state of one layer: "healthy", "broke x178", "broke: gain".
std::string state_text(const Layer& layer);

}  // namespace btf::report
