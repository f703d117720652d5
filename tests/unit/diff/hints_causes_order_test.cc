// Elements in other places, by every dtype: how many causes are found.
#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "support/broken_pairs.h"

using namespace broken_pairs;

TEST_CASE("dims that run the other way are found") {
  Score score;
  const std::vector<Words> shapes{{2, 3, 12, 14}, {3, 20, 24}, {16, 20, 3}, {4, 6, 10, 4}};
  for_data(kAll, shapes, [&](const Types& types, const Tensor& golden, Random&, std::string what) {
    const Words& dims = golden.dims;
    const Tensor same = tensor(types.actual, dims, golden.values());
    const std::size_t rank = dims.size();
    const bool last = rank == 3 ? dims[2] == 3 : dims[3] == 4;
    const std::size_t channel = last ? rank - 1 : rank - 3;
    const std::size_t row = last ? rank - 3 : rank - 2;
    const auto flip = [&](std::vector<std::size_t> which) {
      return moved(same, [&](Words index) {
        for (const std::size_t d : which) index[d] = dims[d] - 1 - index[d];
        return index;
      });
    };
    score.add(what, hint_of(flip({channel}), golden), "channels-reversed: ");
    // Of [16, 20, 3] the first dim can be C as well.
    if (rank == 4 || !last)
      score.add(what, hint_of(flip({row}), golden), last ? "" : "mirrored: actual is golden");
    score.add(what, hint_of(flip({row + 1}), golden),
              "mirrored: actual is golden mirrored along dim");
    if (!last)
      score.add(what, hint_of(flip({row, row + 1}), golden),
                "rotated: actual is golden rotated by 180 degrees");
  });
  score.check();
}

TEST_CASE("quarter turns are found") {
  Score score;
  for_data(kAll, {{2, 3, 12, 14}, {16, 16}},
           [&](const Types& types, const Tensor& golden, Random&, std::string what) {
             const Words& dims = golden.dims;
             const Tensor same = tensor(types.actual, dims, golden.values());
             const std::uint64_t rows = dims[dims.size() - 2];
             const std::uint64_t columns = dims.back();
             for (const bool right : {true, false}) {
               const Tensor turned = gathered(same, [&](std::uint64_t i) {
                 const std::uint64_t plane = i / (rows * columns) * rows * columns;
                 const std::uint64_t down = i % (rows * columns) / rows;  // in 0..columns
                 const std::uint64_t across = i % rows;
                 return right ? plane + (rows - 1 - across) * columns + down
                              : plane + across * columns + columns - 1 - down;
               });
               score.add(what, hint_of(turned, golden),
                         right ? "rotated: actual is golden rotated by 90 degrees to the right"
                               : "rotated: actual is golden rotated by 90 degrees to the left");
             }
           });
  score.check();
}

TEST_CASE("a pitch that was forgotten, or read where there is none, is found") {
  Score score;
  for_data(
      kAll, {{2, 3, 12, 14}, {40, 30}},
      [&](const Types& types, const Tensor& golden, Random&, std::string what) {
        const Tensor same = tensor(types.actual, golden.dims, golden.values());
        const std::uint64_t width = golden.dims.back();
        for (const std::uint64_t pitch : {width + 1, width + 2, 2 * width, width - 2}) {
          Tensor held = same;
          Tensor read = same;
          for (std::uint64_t i = 0; i < same.codes.size(); ++i) {
            const std::uint64_t in_row = i % pitch;
            const std::uint64_t source = i / pitch * width + in_row;
            held.codes[i] = in_row < width && source < same.codes.size() ? same.codes[source]
                                                                         : code_of(types.actual, 0);
            const std::uint64_t from = i / width * pitch + i % width;
            read.codes[i] = from < same.codes.size() ? same.codes[from] : code_of(types.actual, 0);
          }
          score.add(what, hint_of(held, golden), "pitch: actual holds golden's rows of ");
          score.add(what, hint_of(read, golden), "pitch: actual is golden's rows of ");
        }
      });
  score.check();
}

TEST_CASE("shuffled groups and interleaved halves are found") {
  Score score;
  for_data(
      kAll, {{2, 24, 5, 6}, {30, 36}, {2, 6, 7, 32}},
      [&](const Types& types, const Tensor& golden, Random& random, std::string what) {
        const Tensor same = tensor(types.actual, golden.dims, golden.values());
        const std::size_t dim = golden.dims.size() == 2 ? random.below(2)
                                : golden.dims[1] == 24  ? 1U
                                                        : 3U;
        const std::uint64_t size = golden.dims[dim];
        const auto along = [&](const std::function<std::uint64_t(std::uint64_t)>& from) {
          return moved(same, [&](Words index) {
            index[dim] = from(index[dim]);
            return index;
          });
        };
        const std::uint64_t half = size / 2;
        const auto deal = [&](std::uint64_t groups) {
          const std::uint64_t each = size / groups;
          return along([=](std::uint64_t i) { return i % groups * each + i / groups; });
        };
        // i / 2 of the first half where i is even: what is interleaved comes from halves.
        score.add(what,
                  hint_of(along([&](std::uint64_t i) { return i % 2 * half + i / 2; }), golden),
                  "interleaved: actual holds ");
        score.add(what,
                  hint_of(along([&](std::uint64_t i) { return i % half * 2 + i / half; }), golden),
                  "interleaved: actual holds ");
        if (size % 3 == 0) score.add(what, hint_of(deal(3), golden), "shuffled: actual holds ");
        if (size % 4 == 0) score.add(what, hint_of(deal(4), golden), "shuffled: actual holds ");
        // [3, heads, 2] against [heads, 3, 2].
        if (size % 6 == 0 && size > 12)
          score.add(what,
                    hint_of(along([&](std::uint64_t i) {
                              const std::uint64_t heads = size / 6;
                              return i / 2 % heads * 6 + i / 2 / heads * 2 + i % 2;
                            }),
                            golden),
                    "shuffled: actual holds ");
      });
  score.check();
}

TEST_CASE("heads in any order, and heads that were not moved, are found on either side") {
  Score score;
  for_data(kAll, {{12, 64}, {2, 10, 48}},
           [&](const Types& types, const Tensor& golden, Random&, std::string what) {
             const Tensor same = tensor(types.actual, golden.dims, golden.values());
             const std::size_t last = golden.dims.size() - 1;
             const std::uint64_t size = golden.dims[last] / 4;
             const std::array<std::uint64_t, 4> order{3, 0, 2, 1};
             const Tensor heads = moved(same, [&](Words index) {
               index[last] = order[index[last] / size] * size + index[last] % size;
               return index;
             });
             score.add(what, hint_of(heads, golden),
                       "shuffled: actual has the parts of " + std::to_string(size));
             // [T, H, D] in the places of [H, T, D].
             const std::uint64_t rows = golden.dims[last - 1];
             const Tensor stayed = gathered(same, [&](std::uint64_t i) {
               const std::uint64_t all = rows * golden.dims[last];
               const std::uint64_t at = i % all;
               const std::uint64_t head = at / (rows * size);
               const std::uint64_t row = at / size % rows;
               return i / all * all + (row * 4 + head) * size + at % size;
             });
             const std::string side = "shuffled: actual holds dim " + std::to_string(last - 1);
             score.add(what, hint_of(stayed, golden), side);
             score.add(what, hint_of(same, tensor(types.golden, golden.dims, stayed.values())),
                       side);
           });
  score.check();
}

TEST_CASE("golden that is transposed is found") {
  Score score;
  for_data(kAll, {{24, 20}, {6, 8, 10}},
           [&](const Types& types, const Tensor& golden, Random&, std::string what) {
             const Tensor same = tensor(types.actual, golden.dims, golden.values());
             const std::uint64_t columns = golden.dims.back();
             const std::uint64_t rows = golden.codes.size() / columns;
             const Tensor turned =
                 gathered(same, [&](std::uint64_t i) { return i % rows * columns + i / rows; });
             const std::string hint =
                 hint_of(same, tensor(types.golden, golden.dims, turned.values()));
             score.add(what, hint,
                       golden.dims.size() == 2 ? "permutation: golden holds actual " : "layout: ");
           });
  score.check();
}

TEST_CASE("one index at all places of a dim is found") {
  Score score;
  for_data(kAll, {{4, 3, 12, 14}, {8, 200}},
           [&](const Types& types, const Tensor& golden, Random& random, std::string what) {
             const Tensor same = tensor(types.actual, golden.dims, golden.values());
             const std::uint64_t one = random.below(golden.dims[0]);
             const Tensor actual = moved(same, [&](Words index) {
               index[0] = one;
               return index;
             });
             score.add(what, hint_of(actual, golden), "repeated: actual holds golden's dim 0");
           });
  score.check();
}
