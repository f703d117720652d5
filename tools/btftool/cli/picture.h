// Options that pictures of a tensor and of a difference share. Only this folder includes it.
#pragma once

#include <string>

#include "cli/arguments.h"
#include "cli/options.h"
#include "cli/support.h"

namespace btftool {

inline btf::PictureRange parse_image_range(const std::string& text) {
  const auto words = split(text, ',');
  btf::PictureRange range;
  if (words.size() == 2) {
    range.least = parse_real(words[0]);
    range.greatest = parse_real(words[1]);
  }
  if (!range.least || !range.greatest || *range.least > *range.greatest)
    throw Wrong("--image-range takes the numbers at both ends of the colours such as -1,1, not '" +
                text + "'");
  return range;
}

inline void declare_picture(CLI::App& app, PictureCommand& command, const std::string& group) {
  add_words(
      app, "--image-range", "A,B",
      [&command](const std::string& text) { command.draw.range = parse_image_range(text); },
      "numbers at the ends of the colours (least, greatest)")
      ->group(group);
  add_count(
      app, "--image-zoom", 1, 256,
      [&command](std::uint64_t n) { command.draw.zoom = static_cast<std::uint32_t>(n); },
      "side of an element's square in pixels")
      ->group(group);
}

}  // namespace btftool
