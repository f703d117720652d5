// Names that are not equal: which become pairs, by which tier, and which are left alone.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/tensor_set.h"
#include "btf/write.h"
#include "sets/names/name_keys.h"
#include "sets/pairs/pairs.h"
#include "support/said.h"
#include "support/scratch_dir.h"

namespace {

using btf::PairTier;
using btf::TensorFile;
using btf::TensorSet;
using Names = std::vector<std::string>;

std::string tier_name(PairTier tier) {
  return std::string(
      std::ranges::find(btf::pair_tier_names(), tier, &btf::Named<PairTier>::value)->name);
}

// "a=b prefix", "a=-", "-=b"
std::set<std::string> pairs_of(const Names& left, const Names& right,
                               const btf::MayMatch& may = {}) {
  std::set<std::string> found;
  for (const btf::NamePair& pair : btf::pair_lists(left, right, {}, may).pairs)
    found.insert((pair.left ? left[*pair.left] : "-") + "=" +
                 (pair.right ? right[*pair.right] : "-") +
                 (pair.tier ? " " + tier_name(*pair.tier) : ""));
  return found;
}

std::string note_of(const Names& left, const Names& right) {
  return btf::pair_lists(left, right, {}, {}).pairs.front().note;
}

struct Given {
  std::string name;
  std::vector<float> values;
};

void write_file(const std::string& path, const std::vector<Given>& tensors) {
  std::vector<btf::TensorToWrite> list;
  for (const Given& given : tensors) {
    btf::TensorToWrite tensor;
    tensor.tensor.dtype = btf::DType::float32;
    tensor.tensor.storage =
        *btf::resolve(btf::Layout::linear, btf::Dims{given.values.size()}, btf::DType::float32);
    tensor.tensor.bytes = std::as_bytes(std::span(given.values));
    tensor.name = given.name;
    list.push_back(tensor);
  }
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  REQUIRE(btf::write_tensors(path, list));
}

// What diff() says: "0:1 prefix same"
Names compared(const std::string& actual, const std::string& golden,
               const btf::DiffOptions& how = {}) {
  const auto left = TensorFile::open(actual);
  const auto right = TensorFile::open(golden);
  REQUIRE((left && right));
  Names found;
  const auto side = [](const auto& tensor) { return tensor ? std::to_string(tensor->index) : "-"; };
  const auto same = btf::diff(*left, *right, how, [&](const btf::TensorDiff& diff) {
    found.push_back(side(diff.actual) + ":" + side(diff.golden) +
                    (diff.tier ? " " + tier_name(*diff.tier) : "") +
                    (diff.result == btf::DiffResult::same ? " same" : ""));
  });
  if (!same) found.push_back(said(same.error()));
  return found;
}

}  // namespace

TEST_CASE("pair names: a prefix that all names of one side have") {
  CHECK(pairs_of({"0/xs", "0/ys"}, {"ys", "xs"}) ==
        std::set<std::string>{"0/xs=xs prefix", "0/ys=ys prefix"});
  CHECK(pairs_of({"module.w", "module.b"}, {"w", "b"}) ==
        std::set<std::string>{"module.w=w prefix", "module.b=b prefix"});
  CHECK(pairs_of({"w", "b"}, {"model.w", "model.b"}) ==
        std::set<std::string>{"w=model.w prefix", "b=model.b prefix"});
  // Not all of what they have in common, but so much as leaves most pairs.
  CHECK(pairs_of({"model.layers.0.w", "model.layers.1.w"}, {"layers.0.w", "layers.1.w", "head"}) ==
        std::set<std::string>{"model.layers.0.w=layers.0.w prefix",
                              "model.layers.1.w=layers.1.w prefix", "-=head"});
  // One name of the side has it not.
  CHECK(pairs_of({"module.w", "b"}, {"w", "c"}) ==
        std::set<std::string>{"module.w=-", "b=-", "-=w", "-=c"});
  // A name is on both sides.
  CHECK(pairs_of({"m.w", "m.b"}, {"w", "m.b"}) == std::set<std::string>{"m.w=-", "m.b=m.b", "-=w"});
  // A part of a word is no prefix.
  CHECK(pairs_of({"conv1", "conv2"}, {"1", "2"}) ==
        std::set<std::string>{"conv1=-", "conv2=-", "-=1", "-=2"});
  // Two prefixes that pair one each: which is meant is not known.
  CHECK(pairs_of({"m.m.a", "m.m.b"}, {"m.a", "b"}) ==
        std::set<std::string>{"m.m.a=m.a tail", "m.m.b=-", "-=b"});
  CHECK(pairs_of({"0/0012_xs", "0/0013_ys"}, {"xs", "ys"}) ==
        std::set<std::string>{"0/0012_xs=xs prefix", "0/0013_ys=ys prefix"});
  // Whatever the sizes are: names are equal then.
  const auto never = [](std::uint64_t, std::uint64_t) { return false; };
  CHECK(pairs_of({"0/xs"}, {"xs"}, never) == std::set<std::string>{"0/xs=xs prefix"});
  CHECK(pairs_of({"xs_quantized"}, {"xs"}, never) ==
        std::set<std::string>{"xs_quantized=-", "-=xs"});
  CHECK(pairs_of({""}, {"x"}) == std::set<std::string>{"=-", "-=x"});
}

TEST_CASE("pair names: the other tiers, each name once and never where two could be meant") {
  CHECK(pairs_of({"W_quantized", "V"}, {"W", "U"}) ==
        std::set<std::string>{"W_quantized=W qdq", "V=-", "-=U"});
  CHECK(pairs_of({"xs:0", "ys:0"}, {"xs", "ys"}) ==
        std::set<std::string>{"xs:0=xs module", "ys:0=ys module"});
  CHECK(pairs_of({"net.a.conv.w", "x"}, {"module.a.conv.w"}) ==
        std::set<std::string>{"net.a.conv.w=module.a.conv.w tail", "x=-"});
  CHECK(pairs_of({"0001_xs", "0002_xs", "0003_ys"}, {"xs", "ys"}) ==
        std::set<std::string>{"0001_xs=-", "0002_xs=-", "0003_ys=ys stem", "-=xs"});
  CHECK(note_of({"0001_xs", "0002_xs", "0003_ys"}, {"xs", "ys"}) ==
        "'xs' could be '0001_xs', '0002_xs' (stem)");
  CHECK(note_of({"weight1"}, {"weihgt1", "bias"}) == "'weihgt1' is close");
  CHECK(note_of({"conv1"}, {"conv2"}).empty());
  CHECK(note_of({"a"}, {"b"}).empty());
}

TEST_CASE("pair names: of a quantised side the form that is computed with is compared") {
  // Whichever side it is, and beside equal names too.
  const Names quantised{
      "x", "x_QuantizeLinear_Output", "x_DequantizeLinear_Output", "y_QuantizeLinear_Input", "y",
      "z"};
  CHECK(pairs_of(quantised, {"x", "y", "z"}) ==
        std::set<std::string>{"x_DequantizeLinear_Output=x qdq", "y=y", "z=z", "x=-",
                              "x_QuantizeLinear_Output=-", "y_QuantizeLinear_Input=-"});
  CHECK(pairs_of({"x", "y"}, {"x", "x_DequantizeLinear_Output", "y"}) ==
        std::set<std::string>{"x=x_DequantizeLinear_Output qdq", "y=y", "-=x"});
  CHECK(note_of({"x", "x_DequantizeLinear_Output"}, {"x"}) ==
        "'x_DequantizeLinear_Output' is compared in its place");
  // Two quantised sides: each form with itself.
  CHECK(pairs_of({"x", "x_DequantizeLinear_Output"}, {"x", "x_DequantizeLinear_Output"}) ==
        std::set<std::string>{"x=x", "x_DequantizeLinear_Output=x_DequantizeLinear_Output"});
  // The first of several consumers; what else there is, if that is all.
  CHECK(pairs_of({"x_DequantizeLinear_Output_2", "x_DequantizeLinear_Output_1", "x"}, {"x"}) ==
        std::set<std::string>{"x_DequantizeLinear_Output_1=x qdq", "x_DequantizeLinear_Output_2=-",
                              "x=-"});
  CHECK(pairs_of({"x_QuantizeLinear_Input"}, {"x"}) ==
        std::set<std::string>{"x_QuantizeLinear_Input=x qdq"});
  CHECK(pairs_of({"w_quantized", "w_DequantizeLinear_Output"}, {"w"}) ==
        std::set<std::string>{"w_DequantizeLinear_Output=w qdq", "w_quantized=-"});
  CHECK(
      pairs_of({"x_DequantizeLinear_Output_ReshapedSavedOutput", "x_ReshapedSavedOutput"}, {"x"}) ==
      std::set<std::string>{"x_DequantizeLinear_Output_ReshapedSavedOutput=x qdq",
                            "x_ReshapedSavedOutput=-"});
  // Names that are not equal otherwise belong to the other tiers, where two may be meant.
  CHECK(note_of({"0007_x_DequantizeLinear_Output", "0005_x"}, {"x"}) ==
        "'x' could be '0007_x_DequantizeLinear_Output', '0005_x' (stem)");
  // Of another size it is no form of it.
  const auto other = [](std::uint64_t l, std::uint64_t) { return l != 1; };
  CHECK(pairs_of({"x", "x_DequantizeLinear_Output"}, {"x"}, other) ==
        std::set<std::string>{"x=x", "x_DequantizeLinear_Output=-"});
}

TEST_CASE("pair names: whatever the names are, none is paired twice, and sides may change places") {
  std::mt19937 random(35);
  const Names parts{"a",      "b", "conv1",  "conv2",         "w",
                    "module", "0", "0012_x", "Conv_output_0", "x_quantized"};
  const Names marks{".", "/", "_", ":", ""};
  const auto pick = [&](const Names& from) { return from[random() % from.size()]; };
  const auto names = [&] {
    Names list(random() % 8);
    const std::string prefix = random() % 2 == 0 ? pick(parts) + pick(marks) : "";
    for (std::string& name : list) {
      name = prefix + pick(parts);
      for (auto more = random() % 3; more > 0; --more) name += pick(marks) + pick(parts);
    }
    return list;
  };
  std::map<std::string, int> tiers;
  for (int round = 0; round < 3000; ++round) {
    const Names left = names();
    const Names right = names();
    const btf::NamePairing found = btf::pair_lists(left, right, {}, {});
    std::vector<int> lefts(left.size());
    std::vector<int> rights(right.size());
    std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
    for (const btf::NamePair& pair : found.pairs) {
      if (pair.left) ++lefts[*pair.left];
      if (pair.right) ++rights[*pair.right];
      if (!pair.left || !pair.right) continue;
      pairs.emplace(*pair.left, *pair.right);
      ++tiers[pair.tier ? tier_name(*pair.tier) : "name"];
      CHECK((left[*pair.left] == right[*pair.right]) == !pair.tier);
      // Two of one name are never told apart.
      CHECK(std::ranges::count(left, left[*pair.left]) == 1);
      CHECK(std::ranges::count(right, right[*pair.right]) == 1);
    }
    CHECK(std::ranges::all_of(lefts, [](int count) { return count == 1; }));
    CHECK(std::ranges::all_of(rights, [](int count) { return count == 1; }));
    std::set<std::pair<std::uint64_t, std::uint64_t>> mirrored;
    for (const btf::NamePair& pair : btf::pair_lists(right, left, {}, {}).pairs)
      if (pair.left && pair.right) mirrored.emplace(*pair.right, *pair.left);
    CHECK(mirrored == pairs);
  }
  for (const char* tier : {"name", "prefix", "stem", "sanitised", "module", "tail"}) {
    CAPTURE(tier);
    CHECK(tiers[tier] > 0);
  }
}

TEST_CASE("pair names: what equal names leave goes on to the tiers") {
  CHECK(pairs_of({"logits", "_conv1_Conv_output_0"}, {"logits", "/conv1/Conv_output_0"}) ==
        std::set<std::string>{"logits=logits",
                              "_conv1_Conv_output_0=/conv1/Conv_output_0 sanitised"});
  CHECK(pairs_of({"logits", "module.w", "module.b"}, {"logits", "w", "b"}) ==
        std::set<std::string>{"logits=logits", "module.w=w prefix", "module.b=b prefix"});
  // What both sides have names of is a part of the name, and numbers say which one is meant.
  CHECK(pairs_of({"enc.a.w", "enc.b.w"}, {"enc.b.w", "dec.a.w"}) ==
        std::set<std::string>{"enc.a.w=-", "enc.b.w=enc.b.w", "-=dec.a.w"});
  CHECK(pairs_of({"x", "net.3.conv.w"}, {"x", "net.4.conv.w"}) ==
        std::set<std::string>{"x=x", "net.3.conv.w=-", "-=net.4.conv.w"});
  CHECK(pairs_of({"x", "net.3.conv.w"}, {"x", "model.3.conv.w"}) ==
        std::set<std::string>{"x=x", "net.3.conv.w=model.3.conv.w tail"});
}

TEST_CASE("pair names: what a run adds to names is no part of them") {
  CHECK(pairs_of({"relu__debugID_17"}, {"relu"}) ==
        std::set<std::string>{"relu__debugID_17=relu stem"});
  CHECK(
      pairs_of({"Add.Add-op3.0.0.1630512345.output.0"}, {"Add.Add-op3.1.2.1630599999.output.0"}) ==
      std::set<std::string>{
          "Add.Add-op3.0.0.1630512345.output.0=Add.Add-op3.1.2.1630599999.output.0 stem"});
  CHECK(pairs_of({"Add.Add-op3.0.0.1630512345678901.output.0.DefaultFormat"}, {"Add-op3"}) ==
        std::set<std::string>{
            "Add.Add-op3.0.0.1630512345678901.output.0.DefaultFormat=Add-op3 module"});
  CHECK(pairs_of({"Add.Add-op3.0.0.1630512345.output.0", "Add.Add-op3.0.0.1630512399.output.0"},
                 {"Add-op3"}) == std::set<std::string>{"Add.Add-op3.0.0.1630512345.output.0=-",
                                                       "Add.Add-op3.0.0.1630512399.output.0=-",
                                                       "-=Add-op3"});
  CHECK(pairs_of({"conv1_1630512345123"}, {"conv1"}) ==
        std::set<std::string>{"conv1_1630512345123=conv1 stem"});
  // Fewer digits are a number of something.
  CHECK(pairs_of({"conv_163051234"}, {"conv"}) ==
        std::set<std::string>{"conv_163051234=-", "-=conv"});
}

// A name as programs that dump write it, and what it is the name of. Two that are not the same may
// never be a pair.
TEST_CASE("pair names: of names that programs changed only those of one tensor are pairs") {
  std::mt19937 random(56);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  const Names modules{"conv1",        "layer1.0.conv2", "layer1.1.conv2",
                      "layer2.0.bn1", "head.fc",        "block3.attn.q"};
  const auto changed = [&](const std::string& name, int style) {
    std::string slashed = name;
    std::ranges::replace(slashed, '.', '/');
    switch (style) {
      case 0:
        return name;
      case 1:
        return "/" + slashed + "/Conv_output_0";
      case 2: {
        std::string plain = "_" + slashed + "_Conv_output_0";
        std::ranges::replace(plain, '/', '_');
        return plain;
      }
      case 3:
        return name + "__debugID_" + std::to_string(below(100));
      case 4:
        return "Conv." + name + ".3.1.16305" + std::to_string(10000 + below(80000)) + ".output.0";
      default:
        return std::to_string(1000 + below(9000)) + "_" + name;
    }
  };
  int paired = 0;
  for (int round = 0; round < 2000; ++round) {
    std::map<std::string, std::string> meant;
    const auto side = [&] {
      Names names;
      const int style = below(6);
      for (const std::string& module : modules) {
        if (below(4) == 0) continue;
        names.push_back(changed(module, below(3) == 0 ? 0 : style));
        meant[names.back()] = module;
      }
      if (below(2) == 0) names.push_back("logits");
      meant["logits"] = "logits";
      return names;
    };
    const Names left = side();
    const Names right = side();
    for (const btf::NamePair& pair : btf::pair_lists(left, right, {}, {}).pairs) {
      if (!pair.left || !pair.right) continue;
      CAPTURE(left[*pair.left], right[*pair.right]);
      CHECK(meant[left[*pair.left]] == meant[right[*pair.right]]);
      paired += pair.tier ? 1 : 0;
    }
  }
  CHECK(paired > 1000);
}

TEST_CASE("pair names: diff goes on to the tiers where names of two files are not equal") {
  const ScratchDir dir;
  write_file(dir / "golden.npz", {{"xs", {1}}, {"ys", {2, 3}}, {"zs", {4}}});
  write_file(dir / "poly.npz", {{"0/zs", {4}}, {"0/xs", {1}}});
  CHECK(compared(dir / "poly.npz", dir / "golden.npz") ==
        Names{"0:2 prefix same", "1:0 prefix same", "-:1"});
  CHECK(compared(dir / "poly.npz", dir / "golden.npz", {.pair_by = btf::PairBy::exact}) ==
        Names{"0:-", "1:-", "-:0", "-:1", "-:2"});
  CHECK(compared(dir / "poly.npz", dir / "golden.npz", {.pair_by = btf::PairBy::number}) ==
        Names{"0:0", "1:1", "-:2"});
  // A name of either side selects; what is not selected is a name all the same.
  CHECK(compared(dir / "poly.npz", dir / "golden.npz", {.actual_tensors = {{1}}}) ==
        Names{"1:0 prefix same"});
  CHECK(compared(dir / "poly.npz", dir / "golden.npz", {.golden_tensors = {{1, 2}}}) ==
        Names{"0:2 prefix same", "-:1"});
  write_file(dir / "twice.npz", {{"0001_xs", {1}}, {"0002_xs", {1}}});
  CHECK(compared(dir / "twice.npz", dir / "golden.npz", {.actual_tensors = {{0}}}) == Names{"0:-"});
  // What one equal name leaves goes on to the tiers.
  write_file(dir / "some.npz", {{"xs", {1}}, {"0001_zs", {4}}});
  CHECK(compared(dir / "some.npz", dir / "golden.npz") ==
        Names{"0:0 same", "1:2 stem same", "-:1"});
  CHECK(compared(dir / "some.npz", dir / "golden.npz", {.pair_by = btf::PairBy::exact}) ==
        Names{"0:0 same", "1:-", "-:1", "-:2"});
  CHECK(compared(dir / "some.npz", dir / "golden.npz", {.actual_tensors = {{1}}}) ==
        Names{"1:2 stem same"});
  const btf::DiffOptions map{.map = {.names = {{"0001_zs", "ys", 1}}, .patterns = {}}};
  CHECK(compared(dir / "some.npz", dir / "golden.npz", map) == Names{"0:0 same", "1:1 map", "-:2"});
  const btf::DiffOptions pairs{.pairs = {{{.actual = 1, .golden = 2, .note = {}}}}};
  CHECK(compared(dir / "some.npz", dir / "golden.npz", pairs) == Names{"1:2 same"});
}

TEST_CASE("pair names: the only tensors, and NumPy's arr_0, by their order") {
  const ScratchDir dir;
  write_file(dir / "a.npz", {{"alpha", {1}}});
  write_file(dir / "b.npz", {{"omega", {1}}});
  write_file(dir / "c.npz", {{"omega", {1, 2}}});
  CHECK(compared(dir / "a.npz", dir / "b.npz") == Names{"0:0 only same"});
  CHECK(compared(dir / "a.npz", dir / "b.npz", {.pair_by = btf::PairBy::exact}) ==
        Names{"0:-", "-:0"});
  CHECK(compared(dir / "a.npz", dir / "c.npz") == Names{"0:-", "-:0"});
  write_file(dir / "arr.npz", {{"arr_0", {1}}, {"arr_1", {2, 3}}});
  write_file(dir / "xy.npz", {{"alpha", {1}}, {"omega", {2, 3}}});
  write_file(dir / "yx.npz", {{"omega", {2, 3}}, {"alpha", {1}}});
  write_file(dir / "sorted.safetensors", {{"alpha", {1}}, {"omega", {2, 3}}});
  CHECK(compared(dir / "arr.npz", dir / "xy.npz") == Names{"0:0 order same", "1:1 order same"});
  CHECK(compared(dir / "xy.npz", dir / "arr.npz") == Names{"0:0 order same", "1:1 order same"});
  // Sizes do not fit; the other is sorted by names; neither is counted.
  CHECK(compared(dir / "arr.npz", dir / "yx.npz") == Names{"0:-", "1:-", "-:0", "-:1"});
  CHECK(compared(dir / "arr.npz", dir / "sorted.safetensors") == Names{"0:-", "1:-", "-:0", "-:1"});
  write_file(dir / "other.npz", {{"first", {1}}, {"second", {2, 3}}});
  CHECK(compared(dir / "other.npz", dir / "xy.npz") == Names{"0:-", "1:-", "-:0", "-:1"});
}

TEST_CASE("pair names: sets of files by tiers, by number, by a map") {
  const ScratchDir dir;
  write_file(dir / "golden.npz", {{"xs", {1}}, {"ys", {2}}, {"zs", {3}}});
  write_file(dir / "dumps/0001_xs.npy", {{"", {1}}});
  write_file(dir / "dumps/0002_zs.npy", {{"", {3}}});
  write_file(dir / "dumps/0010_ys.npy", {{"", {2}}});
  const auto dumps = TensorSet::open(dir / "dumps");
  const auto golden = TensorSet::open(dir / "golden.npz");
  REQUIRE((dumps && golden));
  const auto pairs = [&](const btf::PairSets& how) {
    Names found;
    const auto paired = btf::pair_sets(*dumps, *golden, how);
    if (!paired) return Names{said(paired.error())};
    for (const btf::MemberPair& pair : paired->pairs)
      found.push_back((pair.actual ? dumps->member(*pair.actual).place : "-") + " " +
                      (pair.golden_tensor ? std::to_string(*pair.golden_tensor) : "-") +
                      (pair.tier ? " " + tier_name(*pair.tier) : ""));
    std::ranges::sort(found);
    return found;
  };
  CHECK(pairs({}) == Names{"0001_xs.npy 0 stem", "0002_zs.npy 2 stem", "0010_ys.npy 1 stem"});
  CHECK(pairs({.by = btf::PairBy::number}) ==
        Names{"0001_xs.npy 0", "0002_zs.npy 1", "0010_ys.npy 2"});
  CHECK(pairs({.by = btf::PairBy::exact}) ==
        Names{"- -", "0001_xs.npy -", "0002_zs.npy -", "0010_ys.npy -"});
  const auto map = btf::parse_name_map("0002_zs\txs\nnothing\tys\n");
  REQUIRE(map);
  CHECK(pairs({.map = *map}) ==
        Names{"- 2", "0001_xs.npy -", "0002_zs.npy 0 map", "0010_ys.npy 1 stem"});
  const auto used = btf::pair_sets(*dumps, *golden, {.map = *map});
  CHECK(used->map.used);
  CHECK(used->map.unused == Names{"line 2: ACTUAL has no 'nothing'"});
  // What cannot be read might have any number of tensors.
  std::ofstream(dir / "dumps/0003_cut.npy") << "\x93NUMPY";
  const auto broken = TensorSet::open(dir / "dumps");
  REQUIRE(broken);
  const auto numbers = btf::pair_sets(*broken, *golden, {.by = btf::PairBy::number});
  REQUIRE_FALSE(numbers);
  CHECK(numbers.error().file == dir / "dumps/0003_cut.npy");
}

TEST_CASE("pair names: several files with tensors of one name, and a map") {
  const ScratchDir dir;
  write_file(dir / "a/one.npz", {{"w", {1}}, {"x", {3}}});
  write_file(dir / "a/two.npz", {{"w", {2}}});
  write_file(dir / "b/one.npz", {{"w", {1}}, {"y", {3}}});
  write_file(dir / "b/two.npz", {{"w", {2}}});
  const auto a = TensorSet::open(dir / "a");
  const auto b = TensorSet::open(dir / "b");
  REQUIRE((a && b));
  const auto map = btf::parse_name_map("x\ty\n");
  REQUIRE(map);
  const auto found = btf::pair_sets(*a, *b, {.map = *map});
  REQUIRE(found);
  REQUIRE(found->pairs.size() == 3);
  for (const btf::MemberPair& pair : found->pairs) {
    CHECK(pair.actual == pair.golden);
    CHECK(pair.actual_tensor == pair.golden_tensor);
    CHECK(pair.tier.has_value() == (pair.name == "y"));
  }
}

TEST_CASE("pair names: groups of a map are written $1") {
  const auto wrong = btf::parse_name_map("a\tb\n/^m\\.(.*)$/\\1/\n");
  REQUIRE_FALSE(wrong);
  CHECK(said(wrong.error()) ==
        "line 2: '\\1' in the replacement '\\1' is not a group here: write $1");
  CHECK(btf::parse_name_map("/^m\\.(\\w+)\\1$/$1/\n"));
}
