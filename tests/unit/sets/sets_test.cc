// Sets of tensors: order, names, selections, pairs, and files that change or cannot be read.
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "btf/convert.h"
#include "btf/tensor_set.h"
#include "btf/tensor_spec.h"
#include "convert/convert_set.h"
#include "diff/layers/measure.h"
#include "formats/format_table.h"
#include "formats/io/byte_source.h"
#include "sets/directory.h"
#include "sets/pairs/pairs.h"
#include "support/btf_bytes.h"
#include "support/said.h"
#include "support/scratch_dir.h"

namespace {

using btf::DType;
using btf::TensorFile;
using btf::TensorSet;
using Numbers = std::vector<std::uint64_t>;
namespace fs = std::filesystem;

const fs::path& make_folders(const fs::path& path) {
  fs::create_directories(path.parent_path());
  return path;
}

// Values say which tensor it is.
void write_file(const fs::path& path, const std::vector<float>& tensors) {
  std::vector<bytes::Bytes> records;
  for (const float value : tensors)
    records.push_back(
        bytes::dense(DType::float32, btf::Layout::linear, {1}, bytes::values<float>({value})));
  const bytes::Bytes file = bytes::file(records);
  std::ofstream(make_folders(path), std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

btf::Result<Numbers> select(const std::string& text, const std::vector<std::string>& names) {
  return btf::select_tensors(text,
                             {names.size(), [&](std::uint64_t i) { return names[i]; }, "the set"});
}

std::vector<std::string> places(const TensorSet& set) {
  std::vector<std::string> found;
  for (std::uint64_t i = 0; i < set.member_count(); ++i) found.push_back(set.member(i).place);
  return found;
}

}  // namespace

TEST_CASE("sets: numbers in names count, and the order is total") {
  // As a person would write them down.
  const std::vector<std::string> order{"",     "0",     "00",  "01",    "1",    "2",     "10",
                                       "10a",  "a",     "a/b", "a1",    "a01b", "a1b",   "a2",
                                       "a2/9", "a2/10", "a10", "a10/1", "b",    "fc2.w", "fc10.w"};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t k = 0; k < order.size(); ++k) {
      const bool less = btf::natural_less(order[i], order[k]);
      const bool more = btf::natural_less(order[k], order[i]);
      INFO(order[i] << " and " << order[k]);
      CHECK((less || more) == (i != k));
      CHECK_FALSE((less && more));
    }
  CHECK(btf::natural_less("fc2", "fc10"));
  CHECK(btf::natural_less("a/layer9/w", "a/layer10/b"));
  CHECK(btf::natural_less("x99999999999999999999998", "x99999999999999999999999"));
  CHECK(btf::natural_less("x12y3", "x12y10"));
  CHECK_FALSE(btf::natural_less("x123", "x12y"));
}

TEST_CASE("sets: what tensors are called after") {
  const std::map<std::string, std::string> names{
      {"conv1.btf", "conv1"},
      {"conv1.npy.zst", "conv1"},
      {"sub.npy/conv1.weight.npy", "sub.npy/conv1.weight"},
      {"CONV.BTF", "CONV"},
      {"conv1", "conv1"},
      {"conv1.bin", "conv1.bin"},
      {".npy", ".npy"},
      {"d/.npy", "d/.npy"},
      {"in.0.input.1.3.fp16.raw", "in.0"},
      {"d/out.output.4.int8.raw", "d/out"},
      {"", ""}};
  for (const auto& [path, name] : names) CHECK(btf::name_in_path(path) == name);
}

TEST_CASE("sets: selections") {
  const std::vector<std::string> names{"conv1", "conv2", "fc[1]", "2", "conv1", "a/b"};
  CHECK(*select("0,2-3,-1", names) == Numbers{0, 2, 3, 5});
  CHECK(*select("-2--1,0,0", names) == Numbers{4, 5, 0, 0});
  CHECK(*select("conv2", names) == Numbers{1});
  CHECK(*select("fc[1]", names) == Numbers{2});
  CHECK(*select("fc*,conv[2-9]", names) == Numbers{2, 1});
  CHECK(*select("@2,2", names) == Numbers{3, 2});
  CHECK(*select("a*", names) == Numbers{5});
  CHECK(*select("!conv*", names) == Numbers{2, 3, 5});
  CHECK(*select("0-5,!1,!@2", names) == Numbers{0, 2, 4, 5});
  CHECK(select("!*", names)->empty());
  CHECK(said(select("conv1", names).error()) ==
        "tensors 0, 4 are all called 'conv1': select them by their numbers");
  CHECK(said(select("conv3", names).error()) ==
        "no tensor of the set is called 'conv3' (did you mean 'conv1'?); there are conv1, conv2, "
        "fc[1], 2, conv1, ...");
  CHECK(said(select("6", names).error()) == "there is no tensor 6, the set has 6");
  CHECK(said(select("3-1", names).error()) == "the range 3-1 ends before it begins");
  for (const char* wrong : {"", ",", "0,", "!", "@", "-7", "x*", "0-9", "!6"})
    CHECK_FALSE(select(wrong, names));
}

TEST_CASE("sets: a directory, its order, its numbers, and few open files") {
  const ScratchDir dir;
  for (int i = 0; i < 12; ++i)
    write_file(dir / ("set/fc" + std::to_string(i) + ".btf"), {static_cast<float>(i)});
  write_file(dir / "set/sub/many.btf", {100, 101, 102});
  const auto set = TensorSet::open(dir / "set");
  REQUIRE(set);
  CHECK(set->member_count() == 13);
  CHECK_FALSE(set->one_file());
  CHECK(places(*set)[10] == "fc10.btf");
  CHECK(*set->tensor_count() == 15);
  for (std::uint64_t number = 0; number < 15; ++number) {
    const auto at = set->tensor(number);
    REQUIRE(at);
    const auto file = set->file(at->member);
    REQUIRE(file);
    const auto tensor = (*file)->tensor(at->index);
    REQUIRE(tensor);
    CHECK(tensor->name == (number < 12 ? "fc" + std::to_string(number)
                                       : "sub/many#" + std::to_string(number - 12)));
    CHECK_FALSE(tensor->named);
  }
  CHECK_FALSE(set->tensor(15));
  CHECK(*set->select("sub/*") == Numbers{12, 13, 14});
  const auto descriptors =
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  CHECK(descriptors < 20);
  REQUIRE(set->check_unchanged());
  // Closed by now, and asked for again.
  write_file(dir / "set/fc0.btf", {7, 8});
  CHECK_FALSE(set->check_unchanged());
  CHECK(said(set->file(0).error()) == "the file was changed while it was read");
}

TEST_CASE("sets: a settled member may change, until it is asked for again") {
  const ScratchDir dir;
  for (int i = 0; i < 12; ++i)
    write_file(dir / ("set/" + std::to_string(i) + ".btf"), {static_cast<float>(i)});
  auto set = TensorSet::open(dir / "set");
  REQUIRE(set);
  for (std::uint64_t member = 0; member < 12; ++member) REQUIRE(set->file(member));
  set->settle(0);
  write_file(dir / "set/0.btf", {7, 8});
  CHECK(set->check_unchanged());
  CHECK_FALSE(set->file(0));
  CHECK_FALSE(set->check_unchanged());
}

TEST_CASE("sets: layers are settled where nothing changed their files up to their last read") {
  const ScratchDir dir;
  write_file(dir / "a.btf", {1});
  write_file(dir / "b.btf", {1});
  write_file(dir / "two.btf", {1, 1});
  std::map<std::uint64_t, bool> settled;
  btf::MeasureQueue queue({.jobs = 1}, [&](std::uint64_t number,
                                           const btf::Result<btf::LayerFigures>& found, bool yes) {
    CHECK(found);
    settled[number] = yes;
  });
  const auto add = [&](std::uint64_t number, const std::string& actual, const char* changed) {
    btf::LayerPair pair;
    pair.actual_file = std::make_shared<TensorFile>(TensorFile::open(dir / actual).value());
    pair.golden_file = std::make_shared<TensorFile>(TensorFile::open(dir / "b.btf").value());
    pair.actual = pair.actual_file->tensor(0).value();
    pair.golden = pair.golden_file->tensor(0).value();
    if (changed != nullptr) write_file(dir / changed, {1, 2, 3});
    CHECK(queue.add(number, std::move(pair)));
  };
  add(0, "a.btf", nullptr);
  add(1, "two.btf", nullptr);
  add(2, "a.btf", "a.btf");
  write_file(dir / "a.btf", {1});
  add(3, "a.btf", "b.btf");
  CHECK(queue.drain());
  CHECK(settled == std::map<std::uint64_t, bool>{{0, true}, {1, false}, {2, false}, {3, false}});
}

TEST_CASE("sets: a member that cannot be read is trouble of its own") {
  const ScratchDir dir;
  write_file(dir / "set/good.btf", {1});
  std::ofstream(dir / "set/bad.btf") << "x";
  fs::create_symlink("nowhere", fs::path(dir / "set") / "link.btf");
  fs::create_directory_symlink("..", fs::path(dir / "set") / "loop");
  const auto set = TensorSet::open(dir / "set");
  REQUIRE(set);
  CHECK(places(*set) == std::vector<std::string>{"bad.btf", "good.btf", "link.btf", "loop/set"});
  CHECK_FALSE(set->file(0));
  CHECK(set->file(1));
  CHECK(set->trouble(0) == nullptr);
  REQUIRE(set->trouble(2) != nullptr);
  CHECK(set->trouble(3)->message == "a directory that contains itself");
  CHECK_FALSE(set->tensor_count());
  CHECK_FALSE(set->select("good"));
  CHECK(*set->select_readable("good") == std::vector<btf::SetTensor>{{1, 0}});
  CHECK(TensorSet::open(dir / "set/good.btf")->one_file());
  CHECK_FALSE(TensorSet::open(dir / "nothing")->file(0));
}

TEST_CASE("sets: pairs by place, by name, and by the names of tensors") {
  const ScratchDir dir;
  for (const char* place :
       {"a/x.btf", "a/sub/2.btf", "a/only.btf", "a/two.btf", "a/two.raw", "b/x.btf", "b/sub/2",
        "b/two", "b/other.btf", "b/m#0.btf", "b/m#2.btf", "b/m#9.btf"})
    write_file(dir / place, {1});
  write_file(dir / "a/m.btf", {1, 2, 3});
  const auto a = TensorSet::open(dir / "a");
  const auto b = TensorSet::open(dir / "b");
  REQUIRE((a && b));
  std::vector<std::string> found;
  for (const btf::MemberPair& pair : btf::pair_members(*a, *b)) {
    const auto side = [](const TensorSet& set, const auto& member, const auto& tensor) {
      return member ? set.member(*member).place + (tensor ? ":" + std::to_string(*tensor) : "")
                    : "-";
    };
    found.push_back(pair.name + " " + side(*a, pair.actual, pair.actual_tensor) + " " +
                    side(*b, pair.golden, pair.golden_tensor) + (pair.error ? " unclear" : ""));
  }
  CHECK(found == std::vector<std::string>{
                     "m#0 m.btf:0 m#0.btf:0", "m#1 m.btf:1 -", "m#2 m.btf:2 m#2.btf:0",
                     "m#9.btf - m#9.btf", "only.btf only.btf -", "other.btf - other.btf",
                     "sub/2 sub/2.btf sub/2", "two two.btf two unclear", "x.btf x.btf x.btf"});
  const auto few = btf::pair_members(
      *a, *b, [](const btf::SetMember& member) { return member.place == "x.btf"; });
  CHECK(few.size() == 1);
}

TEST_CASE("sets: names of tensors as names of files stay in the directory and apart") {
  std::set<std::string> files;
  const std::vector<std::string> names{"conv1",
                                       "../../etc/passwd",
                                       "/etc/passwd",
                                       "..",
                                       ".",
                                       ".hidden",
                                       "a/b",
                                       "a%2fb",
                                       "a\nb",
                                       "a\x7f"
                                       "b",
                                       "",
                                       std::string(300, 'x'),
                                       std::string(299, 'x') + "y",
                                       "\xc3\xa9t\xc3\xa9",
                                       "a b",
                                       "-rf",
                                       std::string("nul\0l", 5)};
  for (const std::string& name : names) {
    const std::string file = btf::safe_file_name(name, ".npy");
    INFO(name);
    CHECK(file.size() <= 255);
    CHECK(file.ends_with(".npy"));
    CHECK(file.front() != '.');
    for (const char c : file) {
      CHECK(c != '/');
      CHECK((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    }
    CHECK(files.insert(file).second);
  }
  CHECK(btf::safe_file_name("\xc3\xa9t\xc3\xa9", ".npy") == "\xc3\xa9t\xc3\xa9.npy");
}

TEST_CASE("sets: many files into one, one into many, and back") {
  const ScratchDir dir;
  write_file(dir / "in/b.btf", {1, 2});
  write_file(dir / "in/a10.btf", {3});
  write_file(dir / "in/a9.btf", {4});
  btf::ConvertOptions options;
  options.format = "npy";
  const auto set = TensorSet::open(dir / "in");
  REQUIRE(set);
  std::vector<std::string> told;
  REQUIRE(btf::convert(*set, dir / "out/", options, [&](const btf::TensorReport& report) {
    told.push_back(std::to_string(report.source) + " " + report.name + " " +
                   fs::path(report.output).filename().string());
  }));
  CHECK(told ==
        std::vector<std::string>{"0 a9 a9.npy", "1 a10 a10.npy", "2 b#0 b#0.npy", "3 b#1 b#1.npy"});
  const std::vector<std::string> paths{dir / "out/b#1.npy", dir / "out/a9.npy",
                                       dir / "out/b#1.npy"};
  const auto list = TensorSet::open(paths);
  REQUIRE(list);
  REQUIRE(btf::convert(*list, dir / "one.btf", {}));
  const auto one = btf::TensorFile::open(dir / "one.btf");
  REQUIRE(one);
  CHECK(one->tensor_count() == 3);
  // What would be one file twice, and names that are not there, are refused before anything is
  // written.
  options.rename = {{"b#0", "same"}, {"b#1", "same"}};
  CHECK_FALSE(btf::convert(*set, dir / "twice/", options));
  options.rename = {{"b#7", "x"}};
  CHECK_FALSE(btf::convert(*set, dir / "twice/", options));
  CHECK_FALSE(fs::exists(fs::path(dir / "twice")));
  options.rename = {{"b#0", "x"}};
  CHECK_FALSE(btf::convert(*set, dir / "one.btf", options));
  CHECK_FALSE(btf::convert(*set, dir / "in", {}));
}

TEST_CASE("sets: files that are opened ahead are those that would be opened") {
  const ScratchDir scratch;
  const fs::path folder = scratch / "many";
  constexpr std::uint64_t kFiles = 150;
  for (std::uint64_t i = 0; i < kFiles; ++i)
    write_file(folder / ("t" + std::to_string(i) + ".btf"), {static_cast<float>(i)});
  std::ofstream(folder / "t77.btf") << "no BTF";
  const auto value_of = [](const btf::TensorFile& file) {
    std::array<std::byte, 4> bytes;
    REQUIRE((*file.elements(0))->read_at(file.tensor(0)->data_offset, bytes));
    return std::bit_cast<float>(bytes);
  };
  // In order, with gaps, from behind, one twice, some that were not announced.
  for (const std::uint64_t step : {1U, 3U, 40U}) {
    auto set = TensorSet::open(folder.string());
    REQUIRE(set);
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = 0; i < kFiles; ++i)
      if (i % 10 != 9) order.push_back(i);
    set->open_ahead(order);
    const auto check = [&](std::uint64_t i) {
      const auto file = set->file(i);
      REQUIRE(file.has_value() == (i != 77));
      if (file) CHECK(value_of(**file) == static_cast<float>(i));
      if (!file) CHECK(file.error().file.ends_with("t77.btf"));
    };
    for (std::uint64_t i = 0; i < kFiles; i += step) check(i);
    check(0);
    check(kFiles - 1);
    check(5);
    CHECK(set->check_unchanged());
  }
  // What was opened ahead with other options is not what is wanted then.
  auto respecified = TensorSet::open(folder.string());
  respecified->open_ahead({0, 1, 2, 3, 4, 5});
  REQUIRE(respecified->file(0));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto bytes = respecified->bytes(3);
  for (const std::uint64_t member : {1U, 3U, 5U, 7U}) {
    btf::OpenOptions options;
    options.spec = btf::parse_tensor_spec("uint8:" + std::to_string(bytes.value())).value();
    respecified->open_as(member, options);
  }
  for (const std::uint64_t member : {3U, 1U, 5U, 7U})
    CHECK((*respecified->file(member))->format() == "raw");
  CHECK((*respecified->file(4))->format() == "btf");
  // Nobody need ask for what was opened.
  auto unused = TensorSet::open(folder.string());
  unused->open_ahead({0, 1, 2});
}
