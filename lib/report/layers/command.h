// The command of btftool that shows the layer to look at.
#pragma once

#include <string>
#include <vector>

#include "btf/report/report.h"

namespace btf::report {

// "btftool diff --heatmap conv1.npy golden/conv1.npy"; empty: there is no layer, or no file of it.
std::string next_command(const LayerRun& run);

// LayerRun::scales without the list of files, which does not change what is said of their tensors.
std::vector<std::string> words_of_numbers(const LayerRun& run);

// The options that say what codes stand for, as LayerRun::scales has them.
std::vector<std::string> scale_words(const LayerOptions& options);

}  // namespace btf::report
