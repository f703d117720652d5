#include "cli/convert.h"

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
#include "cli/diff.h"
#include "cli/inspect.h"

namespace btftool {
namespace {

constexpr const char* kSpecType = "[GLOB=]SPEC";
constexpr const char* kGroup = "Files that do not describe their contents";

auto append_to(std::vector<std::string>& texts) {
  return [&texts](const std::string& text) { texts.push_back(text); };
}

void add_reading(CLI::App& app, RawSpecs& words, const std::string& option,
                 const std::string& group) {
  add_repeated(app, "--shape", "NAME:DIMS", append_to(words.shapes),
               "dims of a tensor whose dims are dynamic in the engine's layer\nlist")
      ->group(group);
  add_text(app, "--layout-in", words.layout_in, "L",
           "layout of files that trtexec dumped, recognised by their names\n(kLINEAR)")
      ->group(group);
  add_text(app, "--nvmedia", words.nvmedia, "NHWC|NCHW|NCxHWx",
           "sizes and strides of " + option + " are in the order of NvMedia")
      ->group(group);
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

bool names_engine(const RawSpecs& words) { return std::ranges::any_of(words.specs, is_engine); }

btf::OpenOptions RawSpecs::finish(const std::string& option) const {
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

void add_input_spec(CLI::App& app, RawSpecs& words) {
  add_repeated(app, "--input-spec", kSpecType, append_to(words.specs),
               "what raw files hold: fp16:hwc8:1x3x224x224, or with\n"
               "strides fp16:1x3x4x5:strides=96,32,8,1. For text files:\n"
               "text:fp32:1x3x224x224; for a .npy without a dtype: bf16; for\n"
               "JSON of trtexec: int64. fc*=bf16 applies to files, arrays and\n"
               "outputs with such names. @engine.json is the layer list of a\n"
               "TensorRT engine, for raw files named after its tensors")
      ->group(kGroup);
  add_reading(app, words, "--input-spec", kGroup);
}

void add_layers_specs(CLI::App& app, RawSpecs& actual, RawSpecs& golden, const char* group) {
  add_repeated(app, "--actual-spec", kSpecType, append_to(actual.specs),
               "what raw files of ACTUAL hold: fp16:hwc8:1x3x224x224, or\n"
               "fp16:hwc8 with the dims of GOLDEN. For JSON of trtexec: int64,\n"
               "or ids*=int64 for outputs with such names. @engine.json is the\n"
               "layer list of a TensorRT engine, for files named after its\n"
               "tensors")
      ->group(group);
  add_repeated(app, "--golden-spec", kSpecType, append_to(golden.specs), "the same for GOLDEN")
      ->group(group);
  add_reading(app, actual, "--actual-spec", group);
}

namespace {

// A single complete spec goes into `open`. Specs with a glob or without dims become `rules`, which
// are applied once the files are known.
void finish_side(const char* option, const std::vector<std::string>& texts, const RawSpecs& reading,
                 btf::OpenOptions& open, std::vector<SpecRule>& rules) {
  RawSpecs words = reading;
  // With --nvmedia the text is only a spec once finish() has added the order.
  if (words.nvmedia && texts.size() == 1) {
    words.specs = texts;
    open = words.finish(option);
    return;
  }
  std::size_t of_all = 0;
  for (const std::string& text : texts) {
    if (is_engine(text)) {
      words.specs.push_back(text);
      continue;
    }
    SpecRule rule = value_or_throw(parse_spec_rule(option, text));
    if (rule.glob.empty() && ++of_all == 2)
      throw OptionError(std::string(option) + " is given more than once for all files");
    rules.push_back(std::move(rule));
  }
  if (rules.size() == 1 && of_all == 1 && !btf::spec_without_dims(rules.front().spec)) {
    words.specs.push_back(rules.front().spec);
    rules.clear();
  }
  open = words.finish(option);
  for (SpecRule& rule : rules)
    if (rule.glob.empty()) rule.glob = "*";
}

}  // namespace

// Specs without dims need those of the other side. As the last spec that matches a file applies,
// all specs of the side become rules then.
void RawSpecs::finish_layers(const std::string& option, btf::OpenOptions& open,
                             std::vector<SpecRule>& rules) const {
  const auto without_dims = [&](const std::string& text) {
    return !is_engine(text) &&
           btf::spec_without_dims(value_or_throw(split_spec_rule(option, text)).spec).has_value();
  };
  if (std::ranges::none_of(specs, without_dims)) {
    open = finish(option);
    return;
  }
  RawSpecs reading = *this;
  reading.specs.clear();
  finish_side(option.c_str(), specs, reading, open, rules);
}

void RawDiffSpecs::finish(DiffCommand& command) const {
  RawSpecs own = reading;
  if (std::ranges::none_of(actual, is_engine) && std::ranges::any_of(golden, is_engine))
    own.shapes.clear();
  finish_side("--actual-spec", actual, own, command.open_actual, command.actual_specs);
  RawSpecs layout;
  layout.layout_in = reading.layout_in;
  // --shape is for the side that has an engine.
  if (std::ranges::any_of(golden, is_engine)) layout.shapes = reading.shapes;
  finish_side("--golden-spec", golden, layout, command.open_golden, command.golden_specs);
}

void add_diff_specs(CLI::App& app, RawDiffSpecs& words, const char* group) {
  add_repeated(app, "--actual-spec", kSpecType, append_to(words.actual),
               "what raw files of ACTUAL hold: fp16:hwc8:1x3x224x224, or\n"
               "fp16:hwc8 with the dims of GOLDEN. fc*=fp16 applies to files\n"
               "that match the glob, ids*=int64 to tensors in JSON of trtexec;\n"
               "if several match, the last one applies. @engine.json is the\n"
               "layer list of a TensorRT engine, for files named after its\n"
               "tensors")
      ->group(group);
  add_repeated(app, "--golden-spec", kSpecType, append_to(words.golden), "the same for GOLDEN")
      ->group(group);
  add_reading(app, words.reading, "--actual-spec", group);
}

namespace {

constexpr const char* kDequantize = "--dequantize";
constexpr const char* kBlock = "--block";
constexpr const char* kActualScale = "--actual-scale";
constexpr const char* kGoldenScale = "--golden-scale";

std::vector<std::uint64_t> parse_blocks(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  for (const std::string_view word : split(text, 'x')) {
    const auto size = parse_unsigned(word);
    if (!size || *size == 0 || sizes.size() == btf::kMaxRank)
      throw OptionError(
          "--block takes a size such as 64, or one for each of the last dims such as 64x128, "
          "not '" +
          std::string(text) + "'");
    sizes.push_back(*size);
  }
  return sizes;
}

}  // namespace

void add_blocks(CLI::App& app, std::vector<std::uint64_t>& blocks, const char* group) {
  auto* const option = add_words(
      app, kBlock, "N|NxM", [&blocks](const std::string& text) { blocks = parse_blocks(text); },
      "with --dequantize: N indices of each dim share a scale; or N of\nthe last but one and M of "
      "the last dim; for files that do not say\nit");
  if (group != nullptr) option->group(group);
}

void check_blocks(const CLI::App& app) {
  if (given(app, kBlock) && !given(app, kDequantize))
    throw OptionError(
        "--block needs --dequantize: it gives the number of codes that share a scale");
}

void add_scales(CLI::App& app, const ScaleOptions& options, const char* group) {
  app.add_flag(kDequantize, options.dequantize,
               "compare integer codes as the numbers that they represent,\nby the scales in their "
               "file")
      ->group(group);
  add_blocks(app, options.blocks, group);
  for (const auto& [option, side, target] : {std::tuple(kActualScale, "ACTUAL", &options.actual),
                                             std::tuple(kGoldenScale, "GOLDEN", &options.golden)})
    add_words(
        app, option, "S[,Z]",
        [option, target](const std::string& text) {
          *target = value_or_throw(parse_given_scale(option, text));
        },
        std::string("codes of ") + side +
            " mean (code - Z) * S; 1:S,Z/S,Z gives\na scale for each index of dim 1")
        ->group(group);
}

namespace {

// Returns the position of the colon in "fp16:hwc8", or npos. Skips that of "TensorFormat::kHWC8".
std::size_t find_colon(const std::string& word) {
  std::size_t at = word.find(':');
  while (at != std::string::npos && word.substr(at, 2) == "::") at = word.find(':', at + 2);
  return at;
}

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

std::int64_t parse_zero_point(const std::string& text) {
  constexpr std::int64_t kMax = std::int64_t{1} << 53;
  const auto value = parse_integer(text);
  if (!value || *value < -kMax || *value > kMax)
    throw OptionError("--zero-point takes auto or an integer, not '" + text + "'");
  return *value;
}

void finish_scales(const ConvertOptionTexts& words, btf::Quantization& scales) {
  scales.automatic = words.scale == "auto";
  if (words.scale && !scales.automatic) {
    scales.scale = parse_real(*words.scale);
    if (!scales.scale || *scales.scale <= 0)
      throw OptionError("--scale takes auto or a number above 0, not '" + *words.scale + "'");
  }
  if (words.scale_axis)
    scales.axis = static_cast<std::uint32_t>(
        parse_count("--scale-axis", *words.scale_axis, 0, btf::kMaxRank - 1));
  scales.find_zero_point = words.zero_point == "auto";
  if (words.zero_point && !scales.find_zero_point)
    scales.zero_point = parse_zero_point(*words.zero_point);
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

void finish_limits(const ConvertOptionTexts& words, btf::LossLimits& limits) {
  if (words.max_zero) limits.zero = parse_loss_limit("--max-zero", *words.max_zero);
  if (words.max_overflow) limits.overflow = parse_loss_limit("--max-overflow", *words.max_overflow);
  if (!words.min_snr) return;
  limits.snr = parse_decibels(*words.min_snr);
  if (!limits.snr)
    throw OptionError("--min-snr takes a number of decibels such as 30dB, not '" + *words.min_snr +
                      "'");
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
  const bool one = command.inputs.size() == 1 && options.format.empty() && options.rename.empty() &&
                   !directory(command.inputs.front()) && !btf::is_index(command.inputs.front());
  return !one && (command.output.ends_with('/') || directory(command.output));
}

// Returns the format of the output, or an empty string if each of several outputs keeps that of its
// input.
std::string_view finish_formats(const ConvertOptionTexts& words, ConvertCommand& command) {
  btf::ConvertOptions& options = command.convert;
  command.open = words.input.finish("--input-spec");
  command.open.listed = command.listed;
  options.format = words.format.value_or("");
  if (words.output_spec) {
    auto spec = btf::parse_tensor_spec(*words.output_spec);
    if (!spec) throw OptionError("--output-spec " + spec.error().message);
    options.spec = *std::move(spec);
  }
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
void parse_rename(const std::string& text, std::map<std::string, std::string>& rename) {
  const std::size_t at = text.find('=');
  if (at == text.npos || at == 0 || at + 1 == text.size())
    throw OptionError("--rename takes OLD=NEW, not '" + text + "'");
  if (!rename.emplace(text.substr(0, at), text.substr(at + 1)).second)
    throw OptionError("--rename gives two new names to '" + text.substr(0, at) + "'");
}

// Reads a file with lines OLD=NEW.
void read_renames(const std::string& path, std::map<std::string, std::string>& rename) {
  for (const std::string& line : read_lines("--rename-file", path))
    if (!line.empty()) parse_rename(line, rename);
}

// "keep", "drop", or the path of a file with one name a line.
void parse_names(const std::string& text, ConvertCommand& command) {
  command.convert.drop_names = text == "drop";
  if (text == "keep" || text == "drop") return;
  command.names_file = text;
  command.convert.names = read_lines("--names", text);
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
};

constexpr EditOption kEditOptions[] = {
    {"--permute", "DIMS", edit_of<parse_permute>,
     "reorder the dims, like numpy.transpose: 0,3,1,2"},
    {"--slice", "SLICE", edit_of<parse_slice>, "take a slice, like a[...] in NumPy: 0,:,1:3,::2"},
    {"--squeeze", "[DIMS]", edit_of<parse_squeeze>, "remove dims of size 1: all, or only DIMS"},
    {"--unsqueeze", "D", edit_of<parse_unsqueeze>,
     "insert a dim of size 1 as dim D, like numpy.expand_dims"},
    {"--reshape", "SIZES", edit_of<parse_reshape>,
     "change the dims and keep the elements, like numpy.reshape: 1,-1,7"},
};

void declare_edits(CLI::App& app) {
  for (const EditOption& row : kEditOptions)
    // Parsed here only so that a wrong value is reported before wrong operands are.
    add_repeated(
        app, row.name, row.type, [&row](const std::string& text) { row.parse(text); }, row.help)
        ->group(kInOrderOfLine);
}

void finish_edits(const CLI::App& app, std::vector<btf::Edit>& edits) {
  for (const auto& [option, value] : options_given(app)) {
    const auto* const row = std::ranges::find(kEditOptions, option->get_name(), &EditOption::name);
    if (row != std::end(kEditOptions)) edits.push_back(row->parse(value));
  }
}

void declare_target(CLI::App& app, ConvertOptionTexts& words) {
  add_text(app, "--dtype", words.dtype, "T", "dtype of the result: fp16, int8, fp8, ...");
  add_text(app, "--layout", words.layout, "L",
           "layout of the result: kHWC8, linear, coo, fp16:hwc8, ...");
}

// The options for the choice of tensors, and for their names.
void declare_tensors(CLI::App& app, ConvertCommand& command) {
  btf::ConvertOptions& options = command.convert;
  add_files_from(app, command.listed, kFilesFromHelp);
  add_text(app, "--tensor", command.tensors, "SEL",
           "convert only these tensors: 0,2-5,-1,conv*,!fc1");
  app.add_option("--exclude", command.exclude, "leave out these tensors")
      ->type_name("SEL")
      ->allow_extra_args(false);
  app.add_option_function<std::vector<std::string>>(
         "--rename",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) parse_rename(text, options.rename);
         },
         "rename a tensor")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
  add_words(
      app, "--rename-file", "FILE",
      [&command](const std::string& path) {
        command.rename_file = path;
        read_renames(path, command.convert.rename);
      },
      "rename tensors: FILE has lines OLD=NEW");
  add_words(
      app, "--names", "keep|drop|FILE",
      [&command](const std::string& text) { parse_names(text, command); },
      "keep the names of tensors, drop them, or take names from\nFILE, one a line");
}

// Options for values that do not fit the dtype, and for the loss that is accepted.
void declare_losses(CLI::App& app, btf::CastPolicy& policy, ConvertOptionTexts& words) {
  add_choice(app, "--overflow", policy.overflow, btf::overflow_names(),
             "what to do with values outside the range of the dtype");
  add_choice(app, "--round", policy.rounding, btf::rounding_names(),
             "rounding from float to integer and to float8_e8m0fnu");
  app.add_flag("--lossless", policy.lossless, "fail if any value would change");
  add_text(app, "--max-zero", words.max_zero, "N|P%",
           "fail if more elements of a tensor than this become zero");
  add_text(app, "--max-overflow", words.max_overflow, "N|P%",
           "fail if more elements of a tensor than this are outside the range of the dtype");
  add_text(app, "--min-snr", words.min_snr, "D",
           "fail if the signal-to-noise ratio of a tensor is below D decibels: 30dB");
}

void declare_scales(CLI::App& app, btf::Quantization& scales, ConvertOptionTexts& words) {
  add_text(app, "--scale", words.scale, "S|auto", "quantise, or dequantise: q = round(x / S) + Z");
  add_text(app, "--scale-axis", words.scale_axis, "A",
           "with --scale auto: a scale for each index of dim A");
  add_text(app, "--zero-point", words.zero_point, "Z|auto",
           "zero point of integers (0); auto finds it with --scale auto");
  std::vector<std::pair<std::string, std::optional<btf::BlockFormat>>> formats;
  for (const btf::BlockFormatInfo& row : btf::block_formats())
    formats.emplace_back(row.name, row.format);
  add_choice(app, "--block-scale", scales.block, formats,
             "quantise in blocks of the last dim; the scales become records of their own");
  app.add_flag("--dequantize", scales.dequantize,
               "dequantise integer codes by the scales in their file, and blocks of GGUF");
  add_blocks(app, scales.scale_blocks);
}

// Options for the way in which tensors are stored.
void declare_records(CLI::App& app, btf::ConvertOptions& options) {
  add_choice(app, "--duplicates", options.duplicates, btf::duplicates_names(),
             "value of a COO index that occurs more than once");
  app.add_flag("--prune-zeros", options.prune_zeros, "from COO to COO: leave out explicit zeros");
  app.add_flag("--where-possible", options.where_possible,
               "keep the layout of tensors that cannot have the one of --layout");
  app.add_flag("--plain", options.plain,
               "write the stored array as an ordinary dense tensor, for readers that do not know "
               "the layout");
  app.add_flag("--as-uint", options.as_uint,
               ".npy, .npz, Polygraphy: write dtypes that NumPy lacks as\nunsigned integers");
}

void declare_formats(CLI::App& app, ConvertOptionTexts& words) {
  add_text(
      app, "--format", words.format, "F",
      "format of OUT, if it is not that of its extension: btf, npy,\nnpz, safetensors, tvm, onnx, "
      "polygraphy,\npolygraphy-inputs, raw")
      ->group(kGroup);
  add_text(app, "--output-spec", words.output_spec, "SPEC",
           "write raw bytes: fp16:hwc8:1x3x224x224, or with\nstrides; see --input-spec")
      ->group(kGroup);
  add_input_spec(app, words.input);
}

void declare_output(CLI::App& app, ConvertCommand& command, ConvertOptionTexts& words) {
  btf::ConvertOptions& options = command.convert;
  add_choice<std::optional<std::uint8_t>>(
      app, "--coo-code", options.coo_code,
      {{"spec", btf::kCooCodeSpec}, {"tfrt", btf::kCooCodeTfrt}},
      "layout code of COO tensors: 2 as in the specification, 1 as TFRT reads it");
  app.add_flag(
      "-f,--force", command.force,
      "with several inputs: replace OUT even if it holds tensors and could be one of them");
  add_recipient(app, options.recipient, "fail if this program could not read the output");
  add_choice<std::string>(app, "--dla", words.dla, {{"orin", "orin"}, {"xavier", "xavier"}},
                          "pitch of kDLA_HWC4: 64 or 32 bytes");
  add_count(
      app, "--compress", btf::kMinCompression, btf::kGreatestCompression,
      [&options](std::uint64_t level) { options.compression = static_cast<int>(level); },
      kCompressHelp)
      ->type_name("[N]");
  app.add_flag(
      "--shuffle", [&options](std::int64_t) { options.shuffle = true; },
      "store the lowest bytes of all elements first, then the next ones: this compresses better");
  app.add_flag("--fsync", options.sync, kFsyncHelp);
  app.add_flag("--json", command.json, "print a report as one JSON document");
}

}  // namespace

void declare_convert(CLI::App& app, ConvertCommand& command, ConvertOptionTexts& words) {
  btf::ConvertOptions& options = command.convert;
  options.snr_sample = btf::kSnrSample;
  declare_target(app, words);
  declare_tensors(app, command);
  declare_edits(app);
  declare_losses(app, options.policy, words);
  declare_scales(app, options.quantization, words);
  declare_records(app, options);
  declare_formats(app, words);
  declare_output(app, command, words);
  declare_part(app, command.part);
  app.footer(
      "Examples:\n"
      "  btftool convert --layout kHWC8 --dtype fp16 in.btf out.btf\n"
      "  btftool convert --permute 0,3,1,2 nhwc.btf nchw.btf\n"
      "  btftool convert --slice 0,:,10:20 --unsqueeze 0 in.btf out.btf\n"
      "  btftool convert --layout coo dense.btf sparse.btf\n"
      "  btftool convert a.npy b.npy dumps/ all.btf\n"
      "  btftool convert --format npy all.btf arrays/");
}

void finish_convert(const CLI::App& app, const ConvertOptionTexts& words, ConvertCommand& command) {
  btf::ConvertOptions& options = command.convert;
  finish_edits(app, options.edits);
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
  finish_scales(words, options.quantization);
  finish_limits(words, options.limits);
  if (const btf::Status status = btf::check_options(options, format); !status)
    throw OptionError(status.error().message);
  if (command.json && btf::is_standard_output(command.output))
    throw OptionError("--json and the output " + command.output + " would both go to stdout");
}

}  // namespace btftool
