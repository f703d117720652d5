#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "btf/layout.h"
#include "btf/output.h"
#include "btf/quantize.h"
#include "btf/tensor_set.h"
#include "btf/tensor_spec.h"
#include "btf/tensorrt.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/rows.h"

namespace btftool {
namespace {

constexpr const char* kSpecType = "[GLOB=]SPEC";
constexpr const char* kGroup = "Files that do not describe their contents";

// The row of the specs themselves, and those of --shape, --layout-in and --nvmedia.
std::vector<Option> spec_rows(RawSpecs& words, Option specs) {
  words.option = specs.name();
  return {
      std::move(specs),
      {"--shape", texts("NAME:DIMS", words.shapes),
       "dims of a tensor whose dims are dynamic in the engine's layer\nlist",
       kOfPair | sets("shapes")},
      {"--layout-in", text("L", words.layout_in),
       "layout of files that trtexec dumped, recognised by their names\n(kLINEAR)",
       kOfPair | kOfInput},
      {"--nvmedia", text("NHWC|NCHW|NCxHWx", words.nvmedia),
       "sizes and strides of " + words.option + " are in the order of NvMedia", kOfPair | kOfInput},
  };
}

bool is_engine(const std::string& text) { return text.starts_with('@'); }

// "x:1x3x224x224"
btf::EngineShape parse_shape(const std::string& text) {
  const std::size_t mark = text.rfind(':');
  const auto spec = btf::parse_tensor_spec("int8" + text.substr(std::min(mark, text.size())));
  if (mark == 0 || mark == text.npos || !spec || !spec->storage)
    throw OptionError("--shape takes NAME:DIMS, such as x:1x3x224x224, not '" + text + "'");
  return {.glob = text.substr(0, mark), .dims = spec->storage->dims};
}

std::shared_ptr<const btf::EngineSpecs> read_engine(const std::string& option,
                                                    const std::string& path,
                                                    const std::vector<std::string>& shapes) {
  auto list = btf::read_engine_list(path);
  if (!list) {
    const btf::Error error = list.error();
    throw OptionError(option + " @" + (error.file.empty() ? "" : error.file + ": ") +
                      error.message);
  }
  btf::EngineSpecs specs{.list = *std::move(list), .path = path};
  for (const std::string& shape : shapes) specs.shapes.push_back(parse_shape(shape));
  return std::make_shared<const btf::EngineSpecs>(std::move(specs));
}

}  // namespace

btf::OpenOptions RawSpecs::finish() const {
  btf::OpenOptions options;
  const auto parse = [&](const std::string& text) {
    auto parsed = btf::parse_tensor_spec(text);
    if (!parsed) throw OptionError(option + " " + parsed.error().message);
    return *std::move(parsed);
  };
  std::optional<std::string> of_all;
  for (const std::string& text : specs) {
    if (is_engine(text)) {
      if (options.engine) throw OptionError(option + " takes only one layer list of an engine");
      options.engine = read_engine(option, text.substr(1), shapes);
      continue;
    }
    auto [glob, spec] = value_or_throw(split_spec_rule(option, text));
    if (!glob.empty()) {
      options.named_specs.push_back({std::move(glob), parse(spec)});
    } else if (std::exchange(of_all, std::move(spec))) {
      throw OptionError(option + " is given more than once for all files");
    }
  }
  if (!shapes.empty() && !options.engine)
    throw OptionError("--shape needs " + option + " @ENGINE with the layer list of an engine");
  if (nvmedia && !of_all) throw OptionError("--nvmedia needs " + option);
  if (of_all) options.spec = parse(nvmedia ? *of_all + ":nvmedia=" + *nvmedia : *of_all);
  if (layout_in) {
    options.layout_in = value_or_throw(btf::parse_layout(*layout_in));
    if (!btf::spec(*options.layout_in).dense())
      throw OptionError("--layout-in takes a dense layout, as trtexec dumps no COO tensors");
  }
  return options;
}

OptionGroup input_spec(RawSpecs& words) {
  return {kGroup,
          spec_rows(words, {"--input-spec", texts(kSpecType, words.specs),
                            "what raw files hold: fp16:hwc8:1x3x224x224, or with\n"
                            "strides fp16:1x3x4x5:strides=96,32,8,1. For text files:\n"
                            "text:fp32:1x3x224x224; for a .npy without a dtype: bf16; for\n"
                            "JSON of trtexec: int64. fc*=bf16 applies to files, arrays and\n"
                            "outputs with such names. @engine.json is the layer list of a\n"
                            "TensorRT engine, for raw files named after its tensors",
                            sets("spec named_specs")})};
}

OptionGroup specs_of_both(RawSpecs& actual, RawSpecs& golden, const char* help) {
  std::vector<Option> rows =
      spec_rows(actual, {"--actual-spec", texts(kSpecType, actual.specs), help,
                         kOfPair | kOfInput | sets("actual.specs spec named_specs")});
  Option of_golden{"--golden-spec", texts(kSpecType, golden.specs), "the same for GOLDEN",
                   kOfPair | kOfInput | sets("golden.specs spec named_specs")};
  golden.option = of_golden.name();
  rows.insert(rows.begin() + 1, std::move(of_golden));
  return {kCompared, std::move(rows)};
}

namespace {

// A single complete spec goes into `open`. Specs with a glob or without dims become `rules`, which
// are applied once the files are known.
void finish_side(RawSpecs words, btf::OpenOptions& open, std::vector<SpecRule>& rules) {
  // With --nvmedia the text is only a spec once finish() has added the order.
  if (words.nvmedia && words.specs.size() == 1) {
    open = words.finish();
    return;
  }
  std::size_t of_all = 0;
  for (const std::string& text : std::exchange(words.specs, {})) {
    if (is_engine(text)) {
      words.specs.push_back(text);
      continue;
    }
    SpecRule rule = value_or_throw(parse_spec_rule(words.option, text));
    if (rule.glob.empty() && ++of_all == 2)
      throw OptionError(words.option + " is given more than once for all files");
    rules.push_back(std::move(rule));
  }
  if (rules.size() == 1 && of_all == 1 && !btf::spec_without_dims(rules.front().spec)) {
    words.specs.push_back(rules.front().spec);
    rules.clear();
  }
  open = words.finish();
  for (SpecRule& rule : rules)
    if (rule.glob.empty()) rule.glob = "*";
}

// --shape is for the side that has an engine.
void give_shapes(RawSpecs& actual, RawSpecs& golden) {
  if (std::ranges::none_of(golden.specs, is_engine)) return;
  golden.shapes = actual.shapes;
  if (std::ranges::none_of(actual.specs, is_engine)) actual.shapes.clear();
}

// Specs without dims need those of the other side. As the last spec that matches a file applies,
// all specs of the side become rules then.
void finish_layers_side(const RawSpecs& words, btf::SetDiffSide& side) {
  const auto without_dims = [&](const std::string& text) {
    return !is_engine(text) &&
           btf::spec_without_dims(value_or_throw(split_spec_rule(words.option, text)).spec);
  };
  if (std::ranges::none_of(words.specs, without_dims))
    side.open = words.finish();
  else
    finish_side(words, side.open, side.specs);
}

}  // namespace

void finish_specs(RawSpecs actual, RawSpecs golden, LayersCommand& command) {
  give_shapes(actual, golden);
  finish_layers_side(actual, command.layers.actual);
  finish_layers_side(golden, command.layers.golden);
}

void finish_specs(RawSpecs actual, RawSpecs golden, DiffCommand& command) {
  give_shapes(actual, golden);
  golden.layout_in = actual.layout_in;
  finish_side(std::move(actual), command.open_actual, command.actual_specs);
  finish_side(std::move(golden), command.open_golden, command.golden_specs);
}

namespace {

std::vector<std::uint64_t> parse_blocks(const std::string& option, std::string_view text) {
  std::vector<std::uint64_t> sizes;
  for (const std::string_view word : split(text, 'x')) {
    const auto size = parse_unsigned(word);
    if (!size || *size == 0 || sizes.size() == btf::kMaxRank)
      throw OptionError(option +
                        " takes a size such as 64, or one for each of the last dims such as "
                        "64x128, not '" +
                        std::string(text) + "'");
    sizes.push_back(*size);
  }
  return sizes;
}

// The number of indices of each of the last dims that share a scale, "64" or "64x128"
Option block_option(std::vector<std::uint64_t>& blocks) {
  return {"--block", parsed("N|NxM", blocks, parse_blocks),
          "with --dequantize: N indices of each dim share a scale; or N of\nthe last but one and M "
          "of the last dim; for files that do not say\nit",
          kOfPair | kOfInput | sets("scale_blocks")};
}

std::string given_scale_help(const std::string& side) {
  return "codes of " + side +
         " mean (code - Z) * S; 1:S,Z/S,Z gives\na scale for each index of dim 1";
}

}  // namespace

std::vector<Option> scale_options(const ScaleTargets& targets) {
  Option block = block_option(targets.blocks);
  block.traits =
      block.traits | needs("--dequantize: it gives the number of codes that share a scale");
  return {{"--dequantize", flag(targets.dequantize),
           "compare integer codes as the numbers that they represent,\nby the scales in their file",
           kOfPair | kOfInput | sets("dequantize")},
          std::move(block),
          {"--actual-scale", parsed("S[,Z]", targets.actual, parse_given_scale),
           given_scale_help("ACTUAL"),
           kOfPair | kOfInput | sets("actual_scale actual_scale.axis=DIM:S,Z/S,Z/...")},
          {"--golden-scale", parsed("S[,Z]", targets.golden, parse_given_scale),
           given_scale_help("GOLDEN"), kOfPair | kOfInput | sets("golden_scale")}};
}

namespace {

// Returns the position of the colon in "fp16:hwc8", or npos. Skips that of "TensorFormat::kHWC8".
std::size_t find_colon(const std::string& word) {
  std::size_t at = word.find(':');
  while (at != std::string::npos && word.substr(at, 2) == "::") at = word.find(':', at + 2);
  return at;
}

// Values that can only be interpreted once the whole command line is parsed.
struct ConvertOptionTexts {
  std::optional<std::string> dtype;
  std::optional<std::string> layout;
  std::string dla;
  RawSpecs input;
};

// Sets dtype and layout. Both options also take trtexec's notation for both at once, "fp16:hwc8".
void set_target(const ConvertOptionTexts& words, btf::ConvertOptions& options) {
  const auto set = [&](auto& target, auto value) {
    if (target && *target != value)
      throw OptionError("'" + *words.dtype + "' and '" + *words.layout + "' contradict each other");
    target = value;
  };
  for (const std::optional<std::string>& word : {words.dtype, words.layout}) {
    const std::size_t colon = word ? find_colon(*word) : std::string::npos;
    if (colon == std::string::npos) continue;
    set(options.dtype, value_or_throw(btf::parse_dtype(word->substr(0, colon))));
    set(options.layout, value_or_throw(btf::parse_layout(word->substr(colon + 1))));
  }
  const auto single = [](const std::optional<std::string>& word) {
    return word && find_colon(*word) == std::string::npos;
  };
  if (single(words.dtype)) set(options.dtype, value_or_throw(btf::parse_dtype(*words.dtype)));
  if (single(words.layout)) set(options.layout, value_or_throw(btf::parse_layout(*words.layout)));
}

void take_zero_point(const std::string& option, const std::string& text,
                     btf::Quantization& scales) {
  constexpr std::int64_t kMax = std::int64_t{1} << 53;
  scales.find_zero_point = text == "auto";
  if (scales.find_zero_point) return;
  scales.zero_point = parse_integer(text);
  if (!scales.zero_point || *scales.zero_point < -kMax || *scales.zero_point > kMax)
    throw OptionError(option + " takes auto or an integer, not '" + text + "'");
}

void take_scale(const std::string& option, const std::string& text, btf::Quantization& scales) {
  scales.automatic = text == "auto";
  if (scales.automatic) return;
  scales.scale = parse_real(text);
  if (!scales.scale || *scales.scale <= 0)
    throw OptionError(option + " takes auto or a number above 0, not '" + text + "'");
}

// "12" elements of a tensor, or "1%" of them.
btf::LossLimit parse_loss_limit(const std::string& option, const std::string& text) {
  btf::LossLimit limit;
  limit.percent = text.ends_with('%');
  const std::string number = limit.percent ? text.substr(0, text.size() - 1) : text;
  const auto whole = parse_integer(number);
  const auto max = limit.percent ? parse_real(number)
                   : whole       ? std::optional<double>(static_cast<double>(*whole))
                                 : std::nullopt;
  if (!max || *max < 0 || (limit.percent && *max > 100))
    throw OptionError(option + " takes a number of elements or a percentage such as 1%, not '" +
                      text + "'");
  limit.most = *max;
  return limit;
}

double parse_snr(const std::string& option, const std::string& text) {
  const auto snr = parse_decibels(text);
  if (!snr)
    throw OptionError(option + " takes a number of decibels such as 30dB, not '" + text + "'");
  return *snr;
}

btf::TensorSpec parse_output_spec(const std::string& option, const std::string& text) {
  auto spec = btf::parse_tensor_spec(text);
  if (!spec) throw OptionError(option + " " + spec.error().message);
  return *std::move(spec);
}

// Returns the format that is written, according to the options and the name of OUT.
std::string_view format_of(const std::string& output, const btf::ConvertOptions& options) {
  const auto format = btf::output_format(output, options);
  if (format) return *format;
  btf::ConvertOptions uncompressed = options;
  uncompressed.compression.reset();
  auto meant = btf::output_format(output, uncompressed);
  if (!meant) meant = btf::output_format("-", options);
  if (!meant) throw OptionError(format.error().message);  // the error is not about the name of OUT
  throw OptionError(format.error().text() + "; --format " + std::string(*meant) +
                    " writes it anyway");
}

// Returns true if each file of the input becomes a file in the directory OUT.
bool many_outputs(const ConvertCommand& command) {
  const btf::ConvertOptions& options = command.convert;
  const auto directory = [](const std::string& path) {
    const auto found = btf::is_directory(path);
    if (!found) throw OptionError(found.error().text());
    return *found;
  };
  const auto index = [](const std::string& path) {
    const auto found = btf::is_index(path);
    if (!found) throw OptionError(found.error().text());
    return *found;
  };
  const bool one = command.inputs.size() == 1 && options.format.empty() && options.rename.empty() &&
                   !directory(command.inputs.front()) && !index(command.inputs.front());
  return !one && (command.output.ends_with('/') || directory(command.output));
}

// Returns the format of the output, or an empty string if each of several outputs keeps that of its
// input.
std::string_view finish_formats(const ConvertOptionTexts& words, ConvertCommand& command) {
  btf::ConvertOptions& options = command.convert;
  command.open = words.input.finish();
  command.open.listed = command.listed;
  command.many_outputs = many_outputs(command);
  if (!command.many_outputs) {
    std::error_code unknown;
    if (command.output.ends_with('/') && !std::filesystem::exists(command.output, unknown))
      command.new_folder = command.output;
    resolve_output(command.output, command.inputs.front(), options.compression);
  }
  const std::string_view format = format_of(command.many_outputs ? "-" : command.output, options);
  return command.many_outputs && options.format.empty() ? "" : format;
}

// "old=new"
void take_rename(const std::string& option, const std::string& text,
                 std::map<std::string, std::string>& rename) {
  const std::size_t at = text.find('=');
  if (at == text.npos || at == 0 || at + 1 == text.size())
    throw OptionError(option + " takes OLD=NEW, not '" + text + "'");
  if (!rename.emplace(text.substr(0, at), text.substr(at + 1)).second)
    throw OptionError(option + " gives two new names to '" + text.substr(0, at) + "'");
}

// "keep", "drop", or the path of a file with one name a line.
void take_names(const std::string& option, const std::string& text, btf::ConvertOptions& options) {
  options.drop_names = text == "drop";
  if (text != "keep" && text != "drop") options.names = read_lines(option, text);
}

// Reads a file with lines OLD=NEW.
void take_rename_file(const std::string& option, const std::string& path,
                      std::map<std::string, std::string>& rename) {
  for (const std::string& line : read_lines(option, path))
    if (!line.empty()) take_rename("--rename", line, rename);
}

template <auto parse>
btf::Edit edit_of(const std::string& text) {
  return value_or_throw(parse(text));
}

struct EditOption {
  const char* name;
  const char* type;
  btf::Edit (*parse)(const std::string& text);
  const char* help;
  Traits traits{};
};

constexpr EditOption kEditOptions[] = {
    {"--permute", "DIMS", edit_of<parse_permute>,
     "reorder the dims, like numpy.transpose: 0,3,1,2"},
    {"--slice", "SLICE", edit_of<parse_slice>, "take a slice, like a[...] in NumPy: 0,:,1:3,::2",
     sets("convert:Slice")},
    {"--squeeze", "[DIMS]", edit_of<parse_squeeze>, "remove dims of size 1: all, or only DIMS"},
    {"--unsqueeze", "D", edit_of<parse_unsqueeze>,
     "insert a dim of size 1 as dim D, like numpy.expand_dims"},
    {"--reshape", "SIZES", edit_of<parse_reshape>,
     "change the dims and keep the elements, like numpy.reshape: 1,-1,7"},
};

// Edits are collected at the end, in the order of the command line. They are parsed here too so
// that a wrong value is reported before wrong operands are.
OptionGroup edit_options() {
  OptionGroup group{kInOrderOfLine, {}};
  for (const EditOption& row : kEditOptions) {
    Value value = repeated(
        row.type, row,
        [](const auto&, const std::string& text, const EditOption& of) { of.parse(text); });
    if (value.type == "[DIMS]") value = or_else(std::string(kAllDims), value, "0123456789,-");
    group.options.push_back({row.name, std::move(value), row.help, row.traits});
  }
  return group;
}

void finish_edits(const GivenOptions& given, std::vector<btf::Edit>& edits) {
  for (const auto& [name, value] : given.in_order(kInOrderOfLine))
    edits.push_back(std::ranges::find(kEditOptions, name, &EditOption::name)->parse(value));
}

std::vector<std::pair<std::string, std::optional<btf::BlockFormat>>> block_formats() {
  std::vector<std::pair<std::string, std::optional<btf::BlockFormat>>> formats;
  for (const btf::BlockFormatInfo& row : btf::block_formats())
    formats.emplace_back(row.name, row.format);
  return formats;
}

// The options about the tensors that are written.
std::vector<Option> tensor_options(ConvertCommand& command, ConvertOptionTexts& words) {
  btf::ConvertOptions& options = command.convert;
  return {
      {"--dtype", text("T", words.dtype), "dtype of the result: fp16, int8, fp8, ...",
       sets("dtype")},
      {"--layout", text("L", words.layout),
       "layout of the result: kHWC8, linear, coo, fp16:hwc8, ...", sets("layout")},
      files_from(command.listed),
      {"--tensor", text("SEL", command.tensors), "convert only these tensors: 0,2-5,-1,conv*,!fc1",
       sets("tensors")},
      {"--exclude", texts("SEL", command.exclude), "leave out these tensors"},
      {"--rename", repeated("OLD=NEW", options.rename, take_rename), "rename a tensor"},
      {"--rename-file", once("FILE", options.rename, take_rename_file),
       "rename tensors: FILE has lines OLD=NEW", kReads},
      {"--names", once("keep|drop|FILE", options, take_names),
       "keep the names of tensors, drop them, or take names from\nFILE, one a line",
       kReads | sets("names drop_names=drop")},
  };
}

// Options for values that do not fit the dtype, for the loss that is accepted, and for scales.
std::vector<Option> value_options(btf::ConvertOptions& options) {
  btf::CastPolicy& policy = options.policy;
  btf::Quantization& scales = options.quantization;
  return {
      {"--overflow", choice(policy.overflow, btf::overflow_names()),
       "what to do with values outside the range of the dtype"},
      {"--round", choice(policy.rounding, btf::rounding_names()),
       "rounding from float to integer and to float8_e8m0fnu"},
      {"--lossless", flag(policy.lossless), "fail if any value would change"},
      {"--max-zero", parsed("N|P%", options.limits.zero, parse_loss_limit),
       "fail if more elements of a tensor than this become zero"},
      {"--max-overflow", parsed("N|P%", options.limits.overflow, parse_loss_limit),
       "fail if more elements of a tensor than this are outside the range of the dtype"},
      {"--min-snr", parsed("D", options.limits.snr, parse_snr),
       "fail if the signal-to-noise ratio of a tensor is below D decibels: 30dB"},
      {"--scale", once("S|auto", scales, take_scale),
       "quantise, or dequantise: q = round(x / S) + Z",
       sets("quantization.scale quantization.automatic=auto")},
      {"--scale-axis", count(0, btf::kMaxRank - 1, scales.axis, "A"),
       "with --scale auto: a scale for each index of dim A", sets("quantization.axis")},
      {"--zero-point", once("Z|auto", scales, take_zero_point),
       "zero point of integers (0); auto finds it with --scale auto",
       sets("quantization.zero_point quantization.find_zero_point=auto")},
      {"--block-scale", choice(scales.block, block_formats()),
       "quantise in blocks of the last dim; the scales become records of their own",
       sets("quantization.block")},
      {"--dequantize", flag(scales.dequantize),
       "dequantise integer codes by the scales in their file, and blocks of GGUF",
       sets("quantization.dequantize")},
      block_option(scales.scale_blocks),
  };
}

// Options for the way in which tensors are stored.
std::vector<Option> record_options(btf::ConvertOptions& options) {
  return {
      {"--duplicates", choice(options.duplicates, btf::duplicates_names()),
       "value of a COO index that occurs more than once"},
      {"--prune-zeros", flag(options.prune_zeros), "from COO to COO: leave out explicit zeros"},
      {"--where-possible", flag(options.where_possible),
       "keep the layout of tensors that cannot have the one of --layout", sets("where_possible")},
      {"--plain", flag(options.plain),
       "write the stored array as an ordinary dense tensor, for readers that do not know the "
       "layout",
       sets("plain")},
      {"--as-uint", flag(options.as_uint),
       ".npy, .npz, Polygraphy: write dtypes that NumPy lacks as\nunsigned integers",
       sets("as_uint")},
  };
}

std::vector<Option> output_options(ConvertCommand& command, ConvertOptionTexts& words) {
  btf::ConvertOptions& options = command.convert;
  return {
      {"--coo-code",
       choice<std::optional<std::uint8_t>>(
           options.coo_code, {{"spec", btf::kCooCodeSpec}, {"tfrt", btf::kCooCodeTfrt}}),
       "layout code of COO tensors: 2 as in the specification, 1 as TFRT reads it"},
      {"-f,--force", flag(command.force),
       "with several inputs: replace OUT even if it holds tensors and could be one of them"},
      {"--for", choice(options.recipient, btf::recipient_names()),
       "fail if this program could not read the output", sets("recipient")},
      {"--dla", choice<std::string>(words.dla, {{"orin", "orin"}, {"xavier", "xavier"}}),
       "pitch of kDLA_HWC4: 64 or 32 bytes"},
      compress_option(options.compression),
      {"--shuffle", flag(options.shuffle),
       "store the lowest bytes of all elements first, then the next ones: this compresses better",
       sets("shuffle")},
      fsync_option(options.sync),
      {"--json", flag(command.json), "print a report as one JSON document", kReport},
  };
}

void finish_convert(const GivenOptions& given, const ConvertOptionTexts& words,
                    ConvertCommand& command) {
  btf::ConvertOptions& options = command.convert;
  finish_edits(given, options.edits);
  set_target(words, options);
  const std::string_view format = finish_formats(words, command);
  if (!words.dla.empty()) {
    const auto layout = options.spec ? options.spec->layout : options.layout;
    if (layout != btf::Layout::dla_hwc4 && layout != btf::Layout::dla_linear)
      throw OptionError(
          "--dla needs --layout kDLA_HWC4 (or kDLA_LINEAR, where it changes nothing)");
    if (words.dla == "xavier" && options.layout == btf::Layout::dla_hwc4)
      options.layout = btf::Layout::dla_hwc4_xavier;
  }
  if (const btf::Status status = btf::check_options(options, format); !status)
    throw OptionError(status.error().message);
  if (command.json && btf::is_standard_output(command.output))
    throw OptionError("--json and the output " + command.output + " would both go to stdout");
}

class ConvertArguments final : public Subcommand {
 public:
  ConvertArguments() {
    btf::ConvertOptions& options = command_.convert;
    options.snr_sample = btf::kSnrSample;
    table_ = {
        .name = "convert",
        .help = "change layout, dtype or sparsity; select, rename and reshape tensors",
        .operands = "IN... OUT",
        .operands_help =
            "input files or directories, and the output; - is stdin or\n"
            "stdout; OUT may be one of the inputs",
        .most_used = "--dtype --layout --tensor --format --json",
        .groups = {{kOptions, {output_option(output_)}},
                   {kOptions, tensor_options(command_, words_)},
                   edit_options(),
                   {kOptions, value_options(options)},
                   {kOptions, record_options(options)},
                   {kGroup,
                    {{"--format", text("F", options.format),
                      "format of OUT, if it is not that of its extension: btf, npy,\n"
                      "npz, safetensors, tvm, onnx, polygraphy,\n"
                      "polygraphy-inputs, raw"},
                     {"--output-spec", parsed("SPEC", options.spec, parse_output_spec),
                      "write raw bytes: fp16:hwc8:1x3x224x224, or with\nstrides; see "
                      "--input-spec",
                      sets("ConvertOptions::spec")}}},
                   input_spec(words_.input),
                   {kOptions, output_options(command_, words_)},
                   part_options(command_.part)},
        .footer =
            "Examples:\n"
            "  btftool convert --layout kHWC8 --dtype fp16 in.btf out.btf\n"
            "  btftool convert --permute 0,3,1,2 nhwc.btf nchw.btf\n"
            "  btftool convert --slice 0,:,10:20 --unsqueeze 0 in.btf out.btf\n"
            "  btftool convert --layout coo dense.btf sparse.btf\n"
            "  btftool convert a.npy b.npy dumps/ all.btf\n"
            "  btftool convert --format npy all.btf arrays/",
    };
  }

 private:
  Command finish(const GivenOptions& given, const GlobalOptions& global) override {
    if (output_) operands_.push_back(*output_);
    if (operands_.size() < 2) expect({"IN", "OUT"});
    command_.output = operands_.back();
    command_.output_by_option = output_.has_value();
    operands_.pop_back();
    command_.inputs = operands_;
    finish_convert(given, words_, command_);
    finish_part(given, operands_, command_.part);
    if (command_.part && !command_.many_outputs)
      throw OptionError("--part needs a directory as OUT, such as 'dir/', not '" + command_.output +
                        "': each input file becomes a file there");
    command_.convert.execution = global.execution();
    return command_;
  }

  ConvertCommand command_;
  ConvertOptionTexts words_;
  std::optional<std::string> output_;
};

}  // namespace

std::unique_ptr<Subcommand> convert_command() { return std::make_unique<ConvertArguments>(); }

}  // namespace btftool
