#include "cli/shards.h"

#include <algorithm>

#include "cli/arguments.h"

namespace btftool {
namespace {

constexpr const char* kMachines = "Many machines";

btf::Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto number = parse_unsigned(text.substr(0, slash));
  const auto of = slash < text.size() ? parse_unsigned(text.substr(slash + 1)) : std::nullopt;
  if (!number || !of || *of < 1 || *of > btf::kMostShards)
    throw Wrong("--shard takes K/N, such as 3/64, not '" + text + "'");
  if (*number < 1) throw Wrong("--shard " + text + ": shards count from 1");
  if (*number > *of) throw Wrong("--shard " + text + ": there are " + std::to_string(*of));
  return {*number, *of};
}

// Do they say how it is run, and not what comes out?
bool decides(const std::string& name) {
  return name != "--shard" && name != "--part" && name != "--resume" && name != "--help" &&
         name != "--output";
}

}  // namespace

void declare_part(CLI::App& app, std::optional<PartOptions>& part) {
  const auto made = [&part]() -> PartOptions& { return part ? *part : part.emplace(); };
  add_words(
      app, "--shard", "K/N", [made](const std::string& text) { made().shard = parse_shard(text); },
      "the K-th of N shards of the work, which are the same\nwherever this is run: 3/64")
      ->group(kMachines);
  add_words(
      app, "--part", "FILE", [made](const std::string& text) { made().path = text; },
      "write what is found there, for btftool merge; the exit\nstatus is then 0 once FILE is "
      "complete")
      ->group(kMachines);
  app.add_flag_callback(
         "--resume", [made] { made().resume = true; },
         "keep what FILE, or FILE.partial, has of an earlier run")
      ->group(kMachines);
}

void declare_shard_by(CLI::App& app, std::optional<PartOptions>& part) {
  add_words(
      app, "--shard-by", "file|tensor",
      [&part](const std::string& word) {
        if (word != "file" && word != "tensor")
          throw Wrong("--shard-by takes file|tensor, not '" + word + "'");
        if (!part) part.emplace();
        part->by_tensor = word == "tensor";
      },
      "what goes to a shard as a whole: pairs of files, or of\ntensors, where files are few and "
      "large (file)")
      ->group(kMachines);
}

void finish_part(const CLI::App& app, const std::vector<std::string>& operands,
                 std::initializer_list<const char*> reports, std::optional<PartOptions>& part) {
  if (!part) return;
  if (!given(app, "--part"))
    throw Wrong(std::string(given(app, "--shard")    ? "--shard"
                            : given(app, "--resume") ? "--resume"
                                                     : "--shard-by") +
                " needs --part FILE");
  if (part->path.empty() || part->path == "-")
    throw Wrong("--part takes the name of a file, not '" + part->path + "'");
  for (const char* report : reports)
    if (given(app, report))
      throw Wrong("--part and " + std::string(report) +
                  " exclude each other: btftool merge makes the reports");
  if (std::ranges::find(operands, "-") != operands.end())
    throw Wrong("--part needs files: - cannot be read again");
  const CLI::Option* const listed = app.get_option_no_throw("--files-from");
  if (listed != nullptr && listed->results() == std::vector<std::string>{"-"})
    throw Wrong("--part needs a file for --files-from: - cannot be read again");
  part->options = words_given(app, decides);
}

}  // namespace btftool
