// Lines of parts of `layers`: what is written is read, and no line is trusted.
#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <string>

#include "btf/part.h"
#include "diff/layers/spot_check.h"

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

btf::LayerItem item_with_check() {
  btf::SideCheck check;
  check.model_bytes = 1234;
  check.least_level = 2;
  check.first_level = 3;
  check.checked = 256;
  check.overflowed = 1;
  check.product = true;
  check.read = {7, 4'294'967'295};
  check.off_numbers[3] = {5, 18'446'744'073'709'551'615U};
  check.off[3] = 2;
  check.worst[3] = {5, std::numeric_limits<double>::quiet_NaN(), -1.0 / 3,
                    std::numeric_limits<double>::infinity()};
  btf::LayerFigures figures;
  figures.elements = 9;
  figures.pairs = 8;
  return {.number = 3,
          .name = "conv",
          .actual_path = "a.npy",
          .golden_path = "b.npy",
          .measured = {.figures = figures,
                       .check = std::make_shared<btf::SideCheck>(check),
                       .inputs = {{"input.npy", std::nullopt}}}};
}

}  // namespace

TEST_CASE("a line of a layer has what its elements say", "[shards]") {
  const btf::PartLine line = part_line(item_with_check());
  const auto read = btf::read_layer_item(line.found);
  REQUIRE(read);
  REQUIRE(read->measured.check != nullptr);
  const btf::SideCheck& check = *read->measured.check;
  CHECK(check.model_bytes == 1234);
  CHECK(check.least_level == 2);
  CHECK(check.first_level == 3);
  CHECK(check.checked == 256);
  CHECK(check.overflowed == 1);
  CHECK(check.product);
  CHECK(check.read == std::vector<std::uint32_t>{7, 4'294'967'295});
  CHECK(check.off[3] == 2);
  CHECK(check.off_numbers[3] == std::vector<std::uint64_t>{5, 18'446'744'073'709'551'615U});
  REQUIRE(check.worst[3]);
  CHECK(check.worst[3]->number == 5);
  CHECK(std::isnan(check.worst[3]->dumped));
  CHECK(check.worst[3]->recomputed == -1.0 / 3);
  CHECK(std::isinf(check.worst[3]->explained));
  CHECK(!check.worst[2]);
}

TEST_CASE("a line of a layer that contradicts itself is refused", "[shards]") {
  const std::string line = part_line(item_with_check()).found;
  const auto refused = [&](const std::string& from, const std::string& to) {
    const auto read = btf::read_layer_item(replaced(line, from, to));
    REQUIRE(!read);
    return read.error().message;
  };
  CHECK(refused("\"first_level\":3", "\"first_level\":5").contains("is not one of the precisions"));
  CHECK(refused("\"levels\":[{\"off\":[]},", "\"levels\":[").contains("an entry for each precision"));
  CHECK(refused("{\"off\":[]}", "{\"off\":[4]}").contains("no 'worst'"));
  CHECK(refused("4294967295", "4294967296").contains("check.read[1]"));
  CHECK(refused("\"worst\":[5,", "\"worst\":[5,0,").contains("an element and three numbers"));
  CHECK(refused("\"checked\":256", "\"checked\":-1").contains("check.checked"));
}
