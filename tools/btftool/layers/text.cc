#include "layers/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "io/text.h"
#include "layers/sparkline.h"
#include "layers/story.h"

namespace btftool {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kIndent = 10;

// Words over lines of kColumns, those behind the first with `indent` blanks in front.
std::string wrapped(const std::string& text, std::size_t begin, std::size_t indent) {
  std::string lines;
  std::size_t column = begin;
  std::size_t at = 0;
  bool first = true;
  while (at < text.size()) {
    std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t length = end - at;
    if (!first && column + 1 + length > kColumns) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
      first = true;
    }
    if (!first) {
      lines += ' ';
      ++column;
    }
    // A word longer than a line is cut, as nothing else can be done with it.
    while (column + (end - at) > kColumns) {
      const std::size_t piece = kColumns - column;
      lines += text.substr(at, piece) + "\n" + std::string(indent, ' ');
      at += piece;
      column = indent;
    }
    lines += text.substr(at, end - at);
    column += end - at;
    first = false;
    at = end + 1;
  }
  return lines;
}

// A command over lines that a shell takes for one; what is in quotes stays whole.
std::string continued(const std::string& command, std::size_t indent) {
  std::string lines;
  std::size_t column = indent;
  bool quoted = false;
  for (std::size_t at = 0; at < command.size();) {
    std::size_t end = at;
    while (end < command.size() && (quoted || command[end] != ' '))
      quoted = quoted != (command[end++] == '\'');
    constexpr std::size_t kMark = 2;  // a blank and the backslash
    if (at > 0 && column + 1 + (end - at) + kMark > kColumns) {
      lines += " \\\n" + std::string(indent + 2, ' ');
      column = indent + 2;
    } else if (at > 0) {
      lines += ' ';
      ++column;
    }
    lines += command.substr(at, end - at);
    column += end - at;
    at = end + 1;
  }
  return lines;
}

// The middle of a long name says least.
std::string shortened(const std::string& name, std::size_t width) {
  if (name.size() <= width) return name;
  const std::size_t end = (width - 3) * 2 / 3;
  return name.substr(0, width - 3 - end) + "..." + name.substr(name.size() - end);
}

std::string figure(double value) {
  if (value == 0) return "0";
  return value >= 1000 ? fmt::format("{:.2g}", value) : fmt::format("{:.3g}", value);
}

std::string percent_figure(double part) {
  return part * 100 >= 1000 ? fmt::format("{:.2g}%", part * 100)
                            : fmt::format("{:.3g}%", part * 100);
}

class Screen {
 public:
  Screen(const Context& context, const LayersCommand& command, const LayersRun& run)
      : out_(context.out), command_(command), report_(run.report), story_(story_of(run)) {}

  void print() {
    print_story();
    const Sparkline line = sparkline(report_, kColumns - 2);
    if (!line.blocks.empty()) out_.line("  " + line.blocks);
    if (!line.marks.empty()) out_.line("  " + line.marks);
    print_table();
  }

 private:
  std::string painted(const std::string& text) const {
    switch (report_.verdict.kind) {
      case btf::VerdictKind::clean:
        return out_.green(text);
      case btf::VerdictKind::broke:
      case btf::VerdictKind::inputs:
        return out_.red(text);
      default:
        return out_.yellow(text);
    }
  }

  void print_story() {
    out_.line(painted(story_.headline) +
              (story_.subject.empty()
                   ? ""
                   : "  " + wrapped(story_.subject, story_.headline.size() + 2, kIndent)));
    if (!story_.where.empty()) out_.line("  " + story_.where);
    out_.line("  " + wrapped(story_.words, 2, 2));
    for (const Story::Line& line : story_.lines) {
      const std::string text = line.title == "next" ? continued(line.text, kIndent)
                                                    : wrapped(line.text, kIndent, kIndent);
      out_.line("  " + pad_right(line.title, kIndent - 2) + text);
    }
  }

  // What broke, what it is computed from and what comes after it; or all.
  std::set<std::uint64_t> shown() const {
    std::set<std::uint64_t> layers;
    constexpr std::size_t kMost = 5;
    const auto around = [&](std::uint64_t i) {
      if (i > 0 && report_.layers[i].inputs.empty()) layers.insert(i - 1);
      for (const std::uint64_t input : report_.layers[i].inputs) layers.insert(input);
      layers.insert(i);
      if (i + 1 < report_.layers.size()) layers.insert(i + 1);
    };
    if (command_.all)
      for (std::uint64_t i = 0; i < report_.layers.size(); ++i) layers.insert(i);
    for (std::size_t i = 0; i < std::min(kMost, report_.roots.size()); ++i)
      around(report_.roots[i]);
    std::size_t dumps = 0;
    for (std::uint64_t i = 0; i < report_.layers.size() && dumps < kMost; ++i) {
      if (report_.layers[i].state != btf::LayerState::dump) continue;
      around(i);
      ++dumps;
    }
    return layers;
  }

  void print_table() {
    const std::set<std::uint64_t> layers = shown();
    if (layers.empty()) return;
    constexpr std::size_t kNumber = 4;
    constexpr std::size_t kFigures = 9 + 9 + 9;
    constexpr std::size_t kState = 13;
    constexpr std::size_t kName = kColumns - kNumber - 2 - kFigures - 2 - kState;
    out_.line("");
    out_.line(pad_left("#", kNumber) + "  " + pad_right("layer", kName) + pad_left("error", 9) +
              pad_left("inputs", 9) + pad_left("x noise", 9) + "  state");
    for (const std::uint64_t i : layers) {
      const btf::Layer& layer = report_.layers[i];
      std::string line = pad_left(std::to_string(i + 1), kNumber) + "  " +
                         pad_right(shortened(printable(layer.name()), kName - 1), kName);
      if (layer.figures) {
        line += pad_left(percent_figure(layer.figures->e), 9) +
                pad_left(percent_figure(layer.e_in), 9) + pad_left(figure(layer.b), 9);
      } else {
        line += std::string(kFigures, ' ');
      }
      out_.line(line + "  " + state_text(layer));
    }
  }

  Output& out_;
  const LayersCommand& command_;
  const btf::LayerReport& report_;
  Story story_;
};

}  // namespace

void print_layers(const Context& context, const LayersCommand& command, const LayersRun& run) {
  Screen(context, command, run).print();
}

}  // namespace btftool
