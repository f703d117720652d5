// Pickles of every protocol, by hand: what each operation makes, what is refused, and what would
// grow without end. What torch itself writes is the matter of tests/interop/check_torch.py.
#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <string_view>

#include "formats/io/byte_source.h"
#include "formats/pickle.h"
#include "formats/torch_tensors.h"
#include "formats/torch_walk.h"

using btf::Pickle;

namespace {

using std::string_literals::operator""s;

btf::Result<Pickle> read(const std::string& bytes) {
  const btf::MemorySource source(std::as_bytes(std::span(bytes)));
  return Pickle::read(source);
}

std::string printed(const std::string& bytes) {
  const auto pickle = read(bytes);
  if (!pickle) return pickle.error().message;
  return btf::key_name(*pickle, pickle->root());
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string text(const std::string& content) {
  const auto size = static_cast<std::uint32_t>(content.size());
  std::string length;
  for (int i = 0; i < 4; ++i) length += static_cast<char>(size >> 8 * i & 0xff);
  return "X" + length + content;
}

// Two float32 elements of storage "0".
std::string tensor() {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" +
         text("0") + text("cpu") + "K\2tQK\0K\2\x85K\1\x85\x89}tR"s;
}

std::string first_name(const std::string& bytes) {
  const auto pickle = read(bytes);
  if (!pickle) return pickle.error().message;
  const auto tensors = btf::find_torch_tensors(*pickle);
  if (!tensors) return tensors.error().message;
  return tensors->empty() ? "none" : tensors->front().name.value_or("itself");
}

}  // namespace

TEST_CASE("pickles: what each operation makes") {
  CHECK(printed("N.") == "None");
  CHECK(printed("I01\n.") == "True");
  CHECK(printed("I-42\n.") == "-42");
  CHECK(printed("L+7L\n.") == "7");
  CHECK(printed("L123456789012345678901L\n.") == "123456789012345678901");
  CHECK(printed("F0.5\n.") == "0.5");
  CHECK(printed("Fnan\n.") == "nan");
  CHECK(printed("S'a'\n.") == "a");
  CHECK(printed("S\"it's\"\n.") == "it's");
  CHECK(printed("Vw\n.") == "w");
  CHECK(printed("\x80\2\x88.") == "True");
  CHECK(printed("K\xff.") == "255");
  CHECK(printed("M\xff\xff.") == "65535");
  CHECK(printed("J\xff\xff\xff\xff.") == "-1");
  CHECK(printed("G\x3f\xf0\0\0\0\0\0\0."s) == "1.0");
  CHECK(printed("G\x7f\xf0\0\0\0\0\0\0."s) == "inf");
  CHECK(printed("U\1k.") == "k");
  CHECK(printed("T\1\0\0\0k."s) == "k");
  CHECK(printed("\x8c\1k.") == "k");
  CHECK(printed("\x8d\1\0\0\0\0\0\0\0k."s) == "k");
  CHECK(printed("C\2k\xff.") == "b'k\\xff'");
  CHECK(printed("B\1\0\0\0k."s) == "b'k'");
  CHECK(printed("\x8e\1\0\0\0\0\0\0\0k."s) == "b'k'");
  CHECK(printed("\x96\1\0\0\0\0\0\0\0k."s) == "b'k'");
  CHECK(printed("(K\1K\2t.") == "(1, 2)");
  CHECK(printed("K\1\x85.") == "(1,)");
  CHECK(printed("(K\1K\2l.") == "[1, 2]");
  CHECK(printed("(K\1K\2d.") == "{1, 2}");
  CHECK(printed("(K\1\x91.") == "{1}");
  CHECK(printed("\x8f(K\1\x90.") == "{1}");
  CHECK(printed("](K\1K\2eK\3a.") == "[1, 2, 3]");
  CHECK(printed("K\1K\2"s + "0.") == "1");
  CHECK(printed("K\1(0.") == "1");
  CHECK(printed("K\1(K\2"s + "1.") == "1");
  CHECK(printed("K\1"
                "2\x86.") == "(1, 1)");
  CHECK(printed("K\1q\0h\0\x86."s) == "(1, 1)");
  CHECK(printed("K\1p7\n0g7\n.") == "1");
  CHECK(printed("\x80\4K\1\x94K\2\x94h\1\x87."s) == "(1, 2, 2)");
  CHECK(printed("ca.b\nC\n.") == "a.b.C");
  CHECK(printed("\x8c\1a\x8c\1C\x93.") == "a.C");
  CHECK(printed("(ia\nC\n.") == "a.C()");
  CHECK(printed("(ca\nC\nK\1o.") == "a.C(1)");
  CHECK(printed("ca\nC\n)}\x92.") == "a.C()");
  CHECK(printed("cbuiltins\ngetattr\nca\nC\n" + text("red") + "\x86R.") == "a.C.red");
  CHECK(printed("c_codecs\nencode\n" + text("k\u00ff") + text("latin1") + "\x86R.") == "b'k\\xff'");
  CHECK(printed("\x80\4\x95\2\0\0\0\0\0\0\0N."s) == "None");
}

TEST_CASE("pickles: integers of any length") {
  CHECK(printed("\x8a\0."s) == "0");
  CHECK(printed("\x8a\1\xff.") == "-1");
  CHECK(printed("\x8a\10\0\0\0\0\0\0\0\x80."s) == "-9223372036854775808");
  CHECK(printed("\x8a\11\0\0\0\0\0\0\0\x80\0."s) == "9223372036854775808");
  CHECK(printed("\x8a\11\xff\xff\xff\xff\xff\xff\xff\xff\xff.") == "-1");
  CHECK(printed("\x8a\21" + std::string(16, '\xff') + "\0."s) ==
        "340282366920938463463374607431768211455");
  CHECK(printed("\x8b\22\0\0\0"s + std::string(17, '\0') + "\1.") == "0x01" + std::string(34, '0'));
  CHECK(printed("\x8a\22"s + std::string(17, '\0') + "\xff.") == "-0x01" + std::string(34, '0'));
  CHECK(printed("\x8b\0\0\1\0"s + std::string(65536, '\7') + ".") == "65536 bytes");
}

TEST_CASE("pickles: what cannot be") {
  const auto refused = [](const std::string& bytes, std::string_view why) {
    const auto pickle = read(bytes);
    INFO(why);
    REQUIRE(!pickle);
    CHECK(pickle.error().finding == "torch-pickle");
    CHECK_THAT(pickle.error().message, Catch::Contains(std::string(why)));
  };
  refused("\x80\6N.", "protocol 6 is unknown");
  refused("P1\n.", "opcode 0x50");
  refused("\x82\1.", "opcode 0x82");
  refused("Ione\n.", "an integer is malformed");
  refused("F\n.", "a number is malformed");
  refused("Sa\n.", "not in quotes");
  refused("ca\n1C\n.", "name of a function or class");
  refused("ca.\nC\n.", "name of a function or class");
  refused("ca\n\xff\n.", "name of a function or class");
  refused("K\1K\2\x93.", "is not a string");
  refused("}]K\1s.", "a key is a list or a dict");
  refused("(]K\1d.", "a key is a list or a dict");
  refused("}(K\1u.", "a key without a value");
  refused("}K\1b.", "a state for a value that takes none");
  refused("ca\nC\n)R}b}b.", "a second state");
  refused("K\1)R.", "not a function or class");
  refused(tensor() + ")R.", "not a function or class");
  refused("ca\nC\nK\1R.", "no tuple of arguments");
  refused("ca\nC\n)]\x92.", "keywords of a call are not a dict");
  refused("K\1q\0q\0."s, "it stores value 0 of the memo twice");
  refused("gx\n.", "not the number of a value");
  refused("(.", "its stack is empty");
  refused("\x95\3\0\0\0\0\0\0\0N."s, "a frame has 3 bytes, and 2 are left");
  refused("X\1\0\0\0\xff."s, "not UTF-8");
  const std::string long_text = "X\0\0\2\0"s + std::string(131070, 'x');
  CHECK(printed(long_text + "\xc3\xa9.") == "131072 bytes");
  refused(long_text + "\xc3x.", "not UTF-8");
}

TEST_CASE("pickles: names of tensors") {
  CHECK(first_name(tensor() + ".") == "itself");
  CHECK(first_name("}K\7" + tensor() + "s.") == "7");
  CHECK(first_name("ca\nC\n)R}" + text("w") + tensor() + "sb.") == "w");
  CHECK(first_name("ca\nC\n)R(N}" + text("w") + tensor() + "stb.") == "w");
  CHECK(first_name("ca\nC\n)R" + text("k") + tensor() + "s.") == "k");
  CHECK(first_name("ca\nC\n" + tensor() + "\x85R.") == "0");
  CHECK(first_name("ccollections\nCounter\n}" + text("k") + tensor() + "s\x85R.") == "k");
  CHECK(first_name("ca\nC\n)}" + text("k") + tensor() + "s\x92.") == "k");
}

TEST_CASE("pickles: what would grow without end is refused or cut") {
  // Tuples of the tuple before, as a key.
  std::string levels = "q\0"s;
  for (char i = 0; i < 60; ++i)
    levels += "0h"s + i + "h" + i + "h" + i + "\x87q" + static_cast<char>(i + 1);
  const std::string name = first_name("})" + levels + tensor() + "s.");
  CHECK(name.size() < 2000);
  CHECK_THAT(name, Catch::Contains("..."));

  // The same as values: without a tensor they are passed by, with one it gets its first name.
  CHECK(first_name(")" + levels + ".") == "none");
  const auto bomb = read(tensor() + levels + ".");
  REQUIRE(bomb);
  const auto found = btf::find_torch_tensors(*bomb);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  CHECK(found->front().name == "0" + repeated(".0", 59));

  CHECK_THAT(first_name(repeated("](", 700) + tensor() + repeated("e", 700) + "."),
             Catch::Contains("nested more than 600 deep"));
  CHECK_THAT(first_name(repeated("}" + text(std::string(60000, 'k')), 2) + tensor() + "ss."),
             Catch::Contains("the name of a tensor is too long"));

  // A parameter of a parameter, and so on.
  for (const std::string& of : {"ctorch._utils\n_rebuild_parameter\n"s,
                                "ctorch._tensor\n_rebuild_from_type_v2\n("
                                "ctorch._utils\n_rebuild_parameter\nN"s}) {
    const bool typed = of.ends_with("N");
    const auto pickle =
        read(repeated(of, 20000) + tensor() + repeated(typed ? "\x85}tR" : "\x85R", 20000) + ".");
    REQUIRE(pickle);
    CHECK(!btf::read_torch_tensor(*pickle, pickle->root()));
  }
}
