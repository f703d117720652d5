#include <array>

#include "explain/explanations.h"

namespace btftool {
namespace {

// clang-format off
constexpr auto kVerdictRows = std::to_array<Explanation>({
    {"clean", "no layer has more error than its inputs and its dtype explain",
     "a float16 run with 0.05 % of error in every layer", "nothing; an error below the limit that is said would not be seen"},
    {"broke", "a layer has much more error than its inputs and its dtype explain",
     "inputs agree to 0.05 %, the output of one MatMul is off by 18 %",
     "look at that layer: 'why' names a cause, 'next' the command that shows more; '--graph MODEL' tells more surely"},
    {"inputs", "the inputs of the network differ already", "another picture, or another normalisation of it",
     "give both runs the same inputs: 'btftool diff' of them names the cause"},
    {"dump-wrong", "a tensor is dumped wrongly, and what is computed from it is right",
     "a buffer that was used again before it was written to the file",
     "copy the tensor right behind its layer, or mark it as an output; the computation needs no change"},
    {"drift", "no single layer broke, but the outputs are too far off",
     "int8 in 50 layers, each a little off", "keep the layers with the largest growth in a wider type; '--max-error' is the limit"},
    {"amplified", "an error grew where numbers cancel, by no more than that explains",
     "the difference of two numbers that are nearly equal", "compute that layer in a wider type, if the outputs matter"},
    {"missing", "what both sides have is right, but an output is on one side only, or with '--require-all' any tensor",
     "golden's 'output' is called 'out' by the device", "'--map FILE' says which names belong together, or dump what is missing"},
    {"cannot-tell", "no layer could be judged, or the order or the dtype is a guess that decides",
     "names without an order, or int8 products in float16 files",
     "say what is missing: '--graph MODEL' or '--order FILE', '--compute int8', '--map FILE'"},
});
// clang-format on

}  // namespace

std::span<const Explanation> verdicts() { return kVerdictRows; }

}  // namespace btftool
