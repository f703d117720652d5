// Numbers in text: what separates them, what they are rounded to, and what is said of what is none.
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/dtype.h"
#include "btf/read.h"
#include "btf/tensor_set.h"
#include "btf/validate.h"
#include "formats/io/byte_source.h"
#include "support/btf_bytes.h"
#include "support/said.h"
#include "support/scratch_dir.h"

using btf::DType;
using btf::TensorFile;
using bytes::Bytes;

namespace {

btf::OpenOptions told(const std::string& spec) {
  return {.spec = btf::parse_tensor_spec(spec).value()};
}

// A text in a file of its own.
class Text {
 public:
  explicit Text(const std::string& text) { write_file(path_, std::as_bytes(std::span(text))); }

  const std::string& path() const { return path_; }
  btf::Result<TensorFile> open(const std::string& spec) const {
    return TensorFile::open(path_, told(spec));
  }

  btf::Result<Bytes> bytes(const std::string& spec) const {
    auto file = open(spec);
    if (!file) return std::unexpected(file.error());
    Bytes found(file->tensor(0)->data_bytes);
    const auto source = file->elements(0);
    if (!source) return std::unexpected(source.error());
    if (const auto read = (*source)->read_at(0, found); !read) return std::unexpected(read.error());
    return found;
  }

  template <typename T>
  std::vector<T> values(const std::string& spec) const {
    const auto found = bytes(spec);
    if (!found) FAIL(found.error().text());
    std::vector<T> values(found->size() / sizeof(T));
    std::memcpy(values.data(), found->data(), found->size());
    return values;
  }

  // The error of opening it, or of reading its numbers.
  std::string refusal(const std::string& spec) const {
    const auto found = bytes(spec);
    return found ? "" : said(found.error());
  }

 private:
  ScratchDir scratch_;
  std::string path_ = scratch_ / "x.txt";
};

btf::Dims dims_of(const std::string& text, const std::string& spec = "text:fp32") {
  const Text file(text);
  const auto opened = file.open(spec);
  if (!opened) FAIL(opened.error().text());
  return opened->tensor(0)->dims;
}

std::uint64_t code_in(const Bytes& found) {
  std::uint64_t code = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    code |= std::to_integer<std::uint64_t>(found[i]) << (8 * i);
  return code;
}

// Of a finite double all digits, of which none is rounded away.
std::string exact_text(double value) {
  std::array<char, 1200> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 200);
  return {text.data(), end.ptr};
}

}  // namespace

TEST_CASE("text: white space, commas and comments stand between numbers") {
  const std::vector<float> expected{1, -2.5F, 3e-7F, 4};
  for (const std::string text :
       {"1 -2.5 3e-7 4", "1,-2.5,3e-7,4", "1, -2.5 ,3E-07,\n4,\n", "\t1\r\n-2.5\r\n+3e-7\v4\f",
        "# a header\n1 -2.5 # and more\n#\n3e-7 4 #",
        "\xef\xbb\xbf"
        "1 -2.5 3e-7 4\n",
        "1.000000000000000000e+00 -2.5\n---------\n.3e-6 4.\n--\n"}) {
    CAPTURE(text);
    CHECK(Text(text).values<float>("text:fp32") == expected);
    CHECK(Text(text).values<float>("TEXT:fp32:2x2") == expected);
    CHECK(dims_of(text) == btf::Dims{4});
    CHECK(dims_of(text, "text:float32:1x4x1") == btf::Dims{1, 4, 1});
  }
  CHECK(Text("7").values<double>("text:fp64:scalar") == std::vector<double>{7});
  CHECK(Text("# nothing\n").values<float>("text:fp32:0x3").empty());
  const auto special = Text("nan -nan inf -Infinity -0").values<float>("text:fp32");
  CHECK(std::isnan(special[0]));
  CHECK(std::signbit(special[1]));
  CHECK(special[2] == HUGE_VALF);
  CHECK(special[3] == -HUGE_VALF);
  CHECK(std::signbit(special[4]));
}

TEST_CASE("text: what programs print of Inf and NaN is read, in any case and with any sign") {
  const auto same = [](float found, float wanted) {
    return std::isnan(wanted) ? std::isnan(found) : found == wanted;
  };
  for (const auto& [words, wanted] :
       {std::pair(std::vector<std::string>{"inf", "Infinity", "1.#INF", "1.#INF00", "1.#INF000000",
                                           "1.#INF00e+000", "\xe2\x88\x9e"},
                  HUGE_VALF),
        {{"nan", "NaN", "nan(ind)", "nan(snan)", "NAN(0x8000000000000)", "nan()", "NaNQ", "sNaN",
          "1.#IND", "1.#IND00", "1.#QNAN", "1.#QNAN0", "1.#SNAN", "1.#QNAN0e+000", "1.#R", "1.#QO",
          "1.#QNB"},
         NAN}})
    for (const std::string& word : words)
      for (const std::string sign : {"", "-", "+"}) {
        std::string upper = word;
        std::string lower = word;
        for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        for (const std::string& written : {word, upper, lower}) {
          CAPTURE(sign + written);
          const Text text("0.5 " + sign + written + "\n" + sign + written + ",2");
          const auto found = text.values<float>("text:fp32");
          REQUIRE(found.size() == 4);
          CHECK(found[0] == 0.5F);
          CHECK(same(found[1], sign == "-" ? -wanted : wanted));
          CHECK(same(found[2], sign == "-" ? -wanted : wanted));
          CHECK(found[3] == 2);
          CHECK(text.values<std::uint16_t>("text:fp16").size() == 4);
          CHECK(Text(sign + written).refusal("text:int8:1").contains("int8 has neither"));
        }
      }
}

TEST_CASE("text: a comment begins in front of a word, and never inside one") {
  CHECK(Text("1 #INFLATED\n2,#3\n4\t#\n#5\n").values<float>("text:fp32") ==
        std::vector<float>{1, 2, 4});
  CHECK(Text("1 # 1.#INF\n2").values<float>("text:fp32") == std::vector<float>{1, 2});
  for (const std::string word :
       {"2#", "2# two", "2.5#3", "1.#INF1", "1.#IN", "1.#", "nan#1", "x#"}) {
    CAPTURE(word);
    CHECK(Text("1 " + word + "\n").refusal("text:fp32").contains("not inside one"));
    CHECK(Text("1 " + word + "\n").refusal("text:int32").contains("not inside one"));
  }
  // Few decimals make the same word of both.
  for (const std::string word : {"-1.#J", "1.#J", "-1.#IO", "1.#Je+000", "-1.$"})
    CHECK(Text("1 " + word).refusal("text:fp32").contains("it cannot be told which it was"));
  // The decimal comma of a locale, and spreadsheets.
  for (const std::string text :
       {"1,#INF", "0,5 -1,#IND00\n", "0.5,#N/A,3\n", "#NUM! 1\n", "1 #DIV/0!"})
    CHECK(Text(text).refusal("text:fp32").contains("hardly a comment"));
  // At any border of a block.
  for (std::size_t at = (256U << 10) - 12; at < (256U << 10) + 2; ++at)
    CHECK(
        Text(std::string(at, ' ') + "1 #N/A 2").refusal("text:fp32").contains("hardly a comment"));
}

TEST_CASE("text: a number across any border of a block is one number") {
  // Words of 1 to 9 characters in more text than is held at once.
  std::string text;
  std::vector<std::int32_t> expected;
  for (std::int32_t i = 0; text.size() < 900'000; ++i) {
    expected.push_back(i * i % 100'000'000 - i);
    text += std::to_string(expected.back()) + (i % 7 == 0 ? "\n" : i % 5 == 0 ? ", " : " ");
  }
  CHECK(Text(text).values<std::int32_t>("text:int32") == expected);
  for (std::size_t shift = 1; shift < 9; ++shift)
    CHECK(Text(std::string(shift, ' ') + text).values<std::int32_t>("text:int32") == expected);
}

TEST_CASE("text: the shape that Tengine writes is taken, and its labels are passed over") {
  const std::string text =
      "Shape is {1 2 2 3}, data type is fp32\nBatch 0:\n\tChannel 0:\n\t\t 0.5000 -1.2500  3.0000 "
      "\n"
      "\t\t 1.0000  2.0000  4.0000 \n\n\tChannel 1:\n\t\t 5.0000  6.0000  7.0000 \n\t\t 8.0000  "
      "9.0000 "
      "-0.0000 \n\n\n";
  CHECK(dims_of(text) == btf::Dims{1, 2, 2, 3});
  CHECK(Text(text).values<float>("text:fp32:1x2x2x3") ==
        std::vector<float>{0.5F, -1.25F, 3, 1, 2, 4, 5, 6, 7, 8, 9, -0.0F});
  CHECK(Text(text).refusal("text:fp32:1x2x6") ==
        "the first line says the shape [1, 2, 2, 3], the spec [1, 2, 6]");
  CHECK(Text("Shape is {2 2}, data type is int8\n1 2 3\n").refusal("text:int8") ==
        "[2, 2] has 4 numbers, the text has 3");
  CHECK(Text("Shape is {2 x}, \n1 2")
            .refusal("text:int8")
            .starts_with("line 1, column 1: the first line begins as a shape and has none"));
  // Without that line a label is no number.
  CHECK(Text("Batch 0:\n1")
            .refusal("text:int8")
            .starts_with("line 1, column 1: 'Batch' is not a number"));
}

TEST_CASE("text: integers are exact, in whatever form") {
  const Text wide("9223372036854775807 -9223372036854775808 9007199254740993");
  CHECK(wide.values<std::int64_t>("text:int64") ==
        std::vector<std::int64_t>{INT64_MAX, INT64_MIN, 9007199254740993});
  CHECK(Text("18446744073709551615").values<std::uint64_t>("text:uint64") ==
        std::vector<std::uint64_t>{UINT64_MAX});
  CHECK(Text("1.000000000000000000e+00 -1.28e2 0.0 -0 1270e-1 1.0")
            .values<std::int8_t>("text:int8") == std::vector<std::int8_t>{1, -128, 0, 0, 127, 1});
  CHECK(Text("1.8446744073709551615e19").values<std::uint64_t>("text:uint64") ==
        std::vector<std::uint64_t>{UINT64_MAX});
  CHECK(Text("True 0 1.0 false").values<std::uint8_t>("text:bool") ==
        std::vector<std::uint8_t>{1, 0, 1, 0});
  // Two codes in a byte, the last alone.
  CHECK(Text("-8 7 -1").bytes("text:int4").value() == Bytes{std::byte{0x78}, std::byte{0x0f}});
  CHECK(Text("6 -0.5").bytes("text:fp4").value() == Bytes{std::byte{0x97}});
}

TEST_CASE("text: decimals are rounded once, to the nearest and to even in the midst") {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float8_e4m3fn,
                            DType::float8_e5m2, DType::float4_e2m1fn}) {
    const btf::DTypeInfo& row = btf::info(dtype);
    CAPTURE(row.name);
    const std::string spec = "text:" + std::string(row.name);
    const std::uint64_t largest = btf::largest_code(dtype);
    const std::uint64_t step = std::max<std::uint64_t>(1, largest / 60);
    for (std::uint64_t code = 0; code < largest; code += code < 8 ? 1 : step) {
      // Exact in a double, and so is its text.
      const double low = btf::value_double(dtype, code);
      const double middle = (low + btf::value_double(dtype, code + 1)) / 2;
      const std::string tie = exact_text(middle);
      std::string above = tie;
      above.back() = '1';
      // Less by one in the last digit: the digits behind the last that is not 0 become 9.
      std::string below = tie;
      for (std::size_t i = below.size(); i-- > 0;) {
        if (below[i] == '.') continue;
        if (below[i] != '0') {
          --below[i];
          break;
        }
        below[i] = '9';
      }
      CAPTURE(tie);
      CHECK(code_in(Text(tie).bytes(spec).value()) == code + (code & 1));
      CHECK(code_in(Text(above).bytes(spec).value()) == code + 1);
      CHECK(code_in(Text(below).bytes(spec).value()) == code);
      CHECK(code_in(Text(exact_text(low)).bytes(spec).value()) == code);
    }
  }
  // A double is a tie of float16 here, and the decimal lies above it by less than doubles tell.
  CHECK(code_in(Text("1.00048828125000000000000000001").bytes("text:fp16").value()) == 0x3c01);
  CHECK(code_in(Text("1.00048828125").bytes("text:fp16").value()) == 0x3c00);
  CHECK(code_in(Text("1.00048828124999999999999999999").bytes("text:fp16").value()) == 0x3c00);
  CHECK(code_in(Text("1.00146484374999999999999999999").bytes("text:fp16").value()) == 0x3c01);
  CHECK(code_in(Text("1.00146484375").bytes("text:fp16").value()) == 0x3c02);
  // Below everything there is.
  for (const std::string tiny :
       {"1e-50", "1e-400", "1e-99999999999999999999", "0e99999999999999999999"}) {
    CAPTURE(tiny);
    CHECK(code_in(Text(tiny).bytes("text:fp16").value()) == 0);
    CHECK(code_in(Text(tiny).bytes("text:fp32").value()) == 0);
    CHECK(code_in(Text("-" + tiny).bytes("text:fp32").value()) == 0x80000000);
  }
  CHECK(code_in(Text("65519.999").bytes("text:fp16").value()) == 0x7bff);
  CHECK(code_in(Text("1").bytes("text:e8m0").value()) == 127);
}

TEST_CASE("text: what is no number of the type is said with its place") {
  const std::string no = "' is not a number; white space or commas separate numbers";
  CHECK(Text("1 2\n3 x4\n").refusal("text:fp32") == "line 2, column 3: 'x4" + no);
  CHECK(Text("1;2").refusal("text:fp32") == "line 1, column 1: '1;2" + no);
  CHECK(Text("0x1p3").refusal("text:fp32") == "line 1, column 1: '0x1p3" + no);
  CHECK(Text("1 +-2").refusal("text:int8") == "line 1, column 3: '+-2" + no);
  CHECK(Text("1 -").refusal("text:fp16") == "line 1, column 3: '-" + no);
  CHECK(Text(std::string(50, 'y')).refusal("text:fp16") ==
        "line 1, column 1: '" + std::string(40, 'y') + "..." + no);
  CHECK(Text("#\n\n 1,,2").refusal("text:fp32") ==
        "line 3, column 4: expected a number before this comma");
  CHECK(Text(",1").refusal("text:fp32") == "line 1, column 1: expected a number before this comma");
  CHECK(Text(std::string(5000, '1')).refusal("text:fp32") ==
        "line 1, column 1: a word of more than 4096 characters is not a number");
  CHECK(Text("1\n 128").refusal("text:int8") ==
        "line 2, column 2: '128' is out of the range of int8");
  CHECK(Text("-1").refusal("text:uint8") == "line 1, column 1: '-1' is out of the range of uint8");
  CHECK(Text("1.5").refusal("text:int32") ==
        "line 1, column 1: '1.5' is not an integer, as int32 needs");
  for (const auto& [text, type] :
       std::vector<std::pair<std::string, std::string>>{{"1e300", "int64"},
                                                        {"1e39", "float32"},
                                                        {"-3.5e38", "float32"},
                                                        {"1e309", "float64"},
                                                        {"65520", "float16"},
                                                        {"inf", "float8_e4m3fn"},
                                                        {"465", "float8_e4m3fn"},
                                                        {"nan", "float4_e2m1fn"},
                                                        {"0", "float8_e8m0fnu"},
                                                        {"2", "bool"}}) {
    CAPTURE(text, type);
    CHECK(Text(text).refusal("text:" + type) ==
          "line 1, column 1: '" + text + "' is out of the range of " + type);
  }
  for (const char* const text : {"nan", "-inf", "1.#QNAN", "-1.#INF"}) {
    CAPTURE(text);
    CHECK(Text(text).refusal("text:int32") == "line 1, column 1: '" + std::string(text) +
                                                  "' is NaN or infinite, and int32 has neither");
  }
  CHECK(Text("1 2 3").refusal("text:fp32:2x2") == "[2, 2] has 4 numbers, the text has 3");
  CHECK(Text("").refusal("text:fp32") == "is empty: 0 bytes");
  CHECK(Text(" \n").refusal("text:fp32") == "the text has no numbers");
  CHECK(Text("1 x").open("text:fp32")->tensor(0)->dims == btf::Dims{2});
  std::vector<std::string> codes;
  const Text wrong("1 x");
  REQUIRE(btf::validate(
      wrong.path(), [&](const btf::Finding& finding) { codes.emplace_back(finding.code); },
      told("text:fp32")));
  CHECK(codes == std::vector<std::string>{"text-value"});
}

TEST_CASE("text: a spec says that it is text, of which type, and its dims at most") {
  CHECK(btf::parse_tensor_spec("text:fp16:1x2")->as_text);
  CHECK(btf::parse_tensor_spec("text:fp16")->storage == std::nullopt);
  CHECK_FALSE(btf::parse_tensor_spec("fp16:1x2")->as_text);
  for (const std::string spec : {"text", "text:", "text:2x2", "text:fp16:hwc8:1x3x4x4",
                                 "text:fp16:2x2:strides=2,1", "fp16:text:2x2", "text:text:fp16"})
    CHECK_FALSE(btf::parse_tensor_spec(spec));
  CHECK(said(btf::parse_tensor_spec("text:fp16:hwc8:1x3x4x4").error())
            .ends_with("numbers in text are in row-major order; use text:TYPE:DIMS"));
  const ScratchDir scratch;
  const Text text("1 2");
  const auto written = btf::convert(*text.open("text:fp32"), scratch / "x.bin",
                                    {.spec = btf::parse_tensor_spec("text:fp32:2").value()});
  CHECK(said(written.error()) ==
        "`ConvertOptions::spec` describes raw bytes; numbers in text are read, not written");
  // What is of another kind is none, whatever the spec says.
  const auto npy = TensorFile::open(std::string(BTF_TESTDATA_DIR) + "/npy/float32.c.little.v1.npy",
                                    told("text:fp32"));
  CHECK(said(npy.error()) == "is NumPy .npy, its spec 'text:fp32' describes text");
}

TEST_CASE("text: in a set of files the spec of a glob counts") {
  const ScratchDir scratch;
  const auto put = [&](const std::string& name, const std::string& text) {
    write_file(scratch / name, std::as_bytes(std::span(text)));
  };
  put("a.txt", "1 2 3 4");
  put("b.txt", "5 6");
  btf::OpenOptions options;
  options.named_specs = {{"*.txt", btf::parse_tensor_spec("text:int8").value()},
                         {"a*", btf::parse_tensor_spec("text:fp16:2x2").value()}};
  const btf::TensorSet set = btf::TensorSet::open(scratch / "", options).value();
  REQUIRE(set.check_named_specs());
  CHECK(set.file(0).value()->tensor(0)->dims == btf::Dims{2, 2});
  CHECK(set.file(0).value()->tensor(0)->dtype == DType::float16);
  CHECK(set.file(1).value()->tensor(0)->dtype == DType::int8);
  options.named_specs.push_back({"c*", btf::parse_tensor_spec("text:int8").value()});
  const btf::TensorSet wrong = btf::TensorSet::open(scratch / "", options).value();
  CHECK(said(wrong.check_named_specs().error())
            .ends_with("is called 'c*', for which a spec was given"));
}

TEST_CASE("text: how many digits numbers were printed with") {
  struct Row {
    const char* text;
    const char* type;
    unsigned digits;
    bool fixed;
  };
  for (const auto& [text, type, digits, fixed] : std::initializer_list<Row>{
           {"0.123457 1.23457e-05 123.457 -2 nan", "fp32", 6, false},
           {"0.1235 -1.2500 3.0000 -0.0001", "fp32", 4, true},
           {"0.5 1.5 2.5 3.5 4.5", "fp32", 0, false},  // round numbers
           {"1 2 3 4 5", "fp32", 0, false},
           {"0.1 0.25 1.234567891 2", "fp32", 0, false},  // as many as it takes
           {"0.1 0.25 1.234567891 2", "fp64", 10, false},
           {"00012345e2", "fp32", 5, false},
           {"12345", "fp16", 0, false},
       }) {
    CAPTURE(text, type);
    const auto tensor = Text(text).open(std::string("text:") + type)->tensor(0);
    CHECK(tensor->text_digits == digits);
    CHECK(tensor->text_fixed == fixed);
  }
}
