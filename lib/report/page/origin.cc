#include "report/page/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "report/page/html_text.h"

namespace btf {

void PageOrigin::add(const FileState& input) {
  newest_input =
      std::max(newest_input.value_or(0), input.modified_ns / std::int64_t{1'000'000'000});
}

void PageOrigin::add_inputs(const TensorSet& set) {
  for (std::uint64_t i = 0; i < set.member_count(); ++i) {
    const std::string path = set.path(i);
    if (path == "-") continue;
    if (const auto file = FileState::of(path)) add(*file);
  }
}

void PageOrigin::take_date(std::string_view seconds) {
  constexpr std::int64_t kMost = 253402300799;  // the end of the year 9999
  std::int64_t date = 0;
  const char* const end = seconds.data() + seconds.size();
  const auto [stop, error] = std::from_chars(seconds.data(), end, date);
  if (!seconds.empty() && error == std::errc() && stop == end && date >= 0 && date <= kMost)
    newest_input = date;
}

}  // namespace btf

namespace btf::report {
namespace {

// "2026-11-27 21:00 UTC"
std::string date_text(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count());
}

}  // namespace

std::string html_origin(const PageOrigin& origin, std::string_view name) {
  std::string line = html_text(origin.program.empty() ? name : origin.program);
  if (!origin.command.empty()) line += " · <code>" + html_text(origin.command) + "</code>";
  if (origin.newest_input) line += " · inputs of " + date_text(*origin.newest_input);
  return "<p class=tool>" + line + "</p>\n";
}

}  // namespace btf::report
