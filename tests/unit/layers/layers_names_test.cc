// What different programs call one tensor; which names are brought together, and which are not.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "sets/names/match.h"
#include "sets/names/name_keys.h"

using btf::PairTier;

namespace {

using Names = std::vector<std::string>;

// The tier, or nothing if they are no pair.
std::optional<PairTier> tier(const std::string& actual, const std::string& golden) {
  const auto matches = btf::match_names(Names{actual}, Names{golden});
  if (matches.pairs.empty()) return std::nullopt;
  return matches.pairs.front().tier;
}

}  // namespace

TEST_CASE("layers: each form of a name is brought to what it stands for") {
  struct Row {
    const char* actual;
    const char* golden;
    std::optional<PairTier> tier;
  };
  const std::vector<Row> rows{
      {"conv1", "conv1", PairTier::exact},
      {"0012_conv1", "conv1", PairTier::stem},
      {"conv1____topo-index:7____output-num:0", "conv1", PairTier::stem},
      {"relu__debugID_1", "relu", PairTier::stem},
      {"conv1_QuantizeLinear_Input", "conv1", PairTier::qdq},
      {"conv1_DequantizeLinear_Output_1", "conv1", PairTier::qdq},
      {"conv1_ReshapedSavedOutput", "conv1", PairTier::stem},
      {"CUDA0#l_out-7#0", "l_out-7", PairTier::stem},
      {"name=l.1___step=0___rank=0", "l.1", PairTier::stem},
      {"%2flayer1%2fAdd_output_0", "/layer1/Add_output_0", PairTier::stem},
      {"_layer1_conv1_Conv_output_0", "/layer1/conv1/Conv_output_0", PairTier::sanitised},
      {"0003__layer1_conv1_Conv_output_0", "/layer1/conv1/Conv_output_0", PairTier::sanitised},
      {"layer1_0_conv1", "layer1.0.conv1", PairTier::sanitised},
      {"layer1.0.conv1", "/layer1/layer1.0/conv1/Conv_output_0", PairTier::module},
      {"layer1.0.conv1.output.0", "layer1.0.conv1", PairTier::module},
      {"Module.layer1.0.conv1.Conv2d.forward.0.output.0", "layer1.0.conv1", PairTier::module},
      {"model/conv1/Relu;model/conv1/BiasAdd", "model.conv1", PairTier::module},
      {"StatefulPartitionedCall:0", "StatefulPartitionedCall", PairTier::module},
      {"encoder.layer1.conv1", "net.layer1.conv1", PairTier::tail},
      {"conv1", "conv10", std::nullopt},
      {"conv1", "conv2", std::nullopt},
      {"a.conv1", "b.conv1", std::nullopt},
      {"conv", "my_conv_2", std::nullopt},
  };
  for (const Row& row : rows) {
    CAPTURE(row.actual, row.golden);
    CHECK(tier(row.actual, row.golden) == row.tier);
    CHECK(tier(row.golden, row.actual) == row.tier);
  }
}

TEST_CASE("layers: a key that two have on one side makes no pair, and both are told of") {
  const Names actual{"/layer1/conv1/Conv_output_0", "/layer1/conv1/Relu_output_0"};
  const Names golden{"layer1.conv1"};
  const auto matches = btf::match_names(actual, golden);
  CHECK(matches.pairs.empty());
  REQUIRE(matches.unclear.size() == 1);
  CHECK(matches.unclear[0].actual == actual);
  CHECK(matches.unclear[0].golden == golden);
  CHECK(matches.unclear[0].tier == PairTier::module);
  // Of a graph, the last of them is the module's output.
  const auto values = btf::match_values(golden, actual);
  REQUIRE(values.size() == 1);
  CHECK(values[0].right == 1);
}

TEST_CASE("layers: surer tiers go first, and what they took is gone") {
  const Names actual{"0001_conv1", "conv1"};
  const Names golden{"conv1", "_conv1"};
  std::map<std::string, std::string> pairs;
  for (const auto& match : btf::match_names(actual, golden).pairs)
    pairs[actual[match.left]] = golden[match.right];
  CHECK(pairs["conv1"] == "conv1");
  CHECK(pairs["0001_conv1"] == "_conv1");
}

TEST_CASE("layers: what may not match does not, unless the names are equal") {
  const auto never = [](std::uint64_t, std::uint64_t) { return false; };
  CHECK(btf::match_names(Names{"0001_a"}, Names{"a"}, {}, {.may = never}).pairs.empty());
  CHECK(btf::match_names(Names{"a"}, Names{"a"}, {}, {.may = never}).pairs.size() == 1);
}

TEST_CASE("layers: names that trtexec cut in the middle") {
  const std::string begin(73, 'a');
  const std::string end(73, 'b');
  const auto is_cut_of = [](const std::string& shortened, const std::string& name) {
    const auto cut = btf::cut_of(shortened);
    return cut && btf::cut_key(shortened, *cut) == btf::cut_key(name, *cut);
  };
  CHECK(is_cut_of(begin + "..." + end, begin + "/x/" + end));
  CHECK(is_cut_of("_a_b...c_d", "/a/b/x/c.d"));
  CHECK_FALSE(is_cut_of("ab", "ab"));
  CHECK_FALSE(is_cut_of("ab...cd", "abx"));
  CHECK_FALSE(is_cut_of("ab...cd", "axxcd"));
  CHECK(tier("0007_" + begin + "..." + end, begin + "/x/" + end) == PairTier::sanitised);
  CHECK(tier(begin + "/x/" + end, "0007_" + begin + "..." + end) == PairTier::sanitised);
  // Which of two it is, a name that is cut does not say; nor which of two such names one is.
  const Names both{begin + "/x/" + end, begin + "/y/" + end};
  CHECK(btf::match_names(Names{begin + "..." + end}, both).pairs.empty());
  const Names cut{"1_" + begin + "..." + end, "2_" + begin + "..." + end};
  CHECK(btf::match_names(cut, Names{begin + "/x/" + end}).pairs.empty());
}

TEST_CASE("layers: numbers in front of names are an order; within paths they are none") {
  CHECK(btf::leading_number("0012_conv") == 12U);
  CHECK(btf::leading_number("7-x") == 7U);
  CHECK_FALSE(btf::leading_number("12"));
  CHECK_FALSE(btf::leading_number("12_"));
  CHECK_FALSE(btf::leading_number("conv_12"));
  CHECK_FALSE(btf::leading_number("12/conv"));
  CHECK_FALSE(btf::leading_number("99999999999999999999_x"));
}

TEST_CASE("layers: a map says it all: names, patterns, and what is no map") {
  const auto map = btf::parse_name_map("# comment\n\na\tb\r\n/^x(\\d+)$/y\\/$1/\n");
  REQUIRE(map);
  CHECK(map->names == std::vector<btf::NameRule>{{"a", "b", 3}});
  CHECK(map->patterns == std::vector<btf::NameRule>{{"^x(\\d+)$", "y/$1", 4}});
  const auto matches = btf::match_names(Names{"a", "x12", "c"}, Names{"b", "y/12", "a"}, *map);
  REQUIRE(matches.pairs.size() == 2);
  CHECK(matches.pairs[0].right == 0);
  CHECK(matches.pairs[0].tier == PairTier::map);
  CHECK(matches.pairs[1].right == 1);
  for (const char* wrong : {"a", "a\t", "\tb", "a\tb\tc", "/x/", "/x", "//y/", "/[/y/", "/x/y/z",
                            "a\tb\na\tc", "a\tb\nc\tb"}) {
    CAPTURE(wrong);
    CHECK_FALSE(btf::parse_name_map(wrong));
  }
}
