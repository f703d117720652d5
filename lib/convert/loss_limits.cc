#include "convert/loss_limits.h"

#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "btf/try.h"
#include "btf/value.h"

namespace btf {
namespace {

// A few digits are enough to see by how much a limit is missed.
std::string short_text(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, 4);
  return {text.data(), end.ptr};
}

Status check(const std::optional<LossLimit>& limit, std::uint64_t count, std::uint64_t elements,
             const char* what) {
  if (!limit) return {};
  const double share = 100 * static_cast<double>(count) / static_cast<double>(elements);
  if ((limit->percent ? share : static_cast<double>(count)) <= limit->most || count == 0) return {};
  return fail(ErrorCode::refused, std::to_string(count) + " of " + std::to_string(elements) +
                                      " elements (" + short_text(share) + " %) " + what +
                                      ", the limit is " +
                                      number_text(limit->most) + (limit->percent ? " %" : ""));
}

}  // namespace

Status check_limits(const LossLimits& limits, const Losses& losses) {
  BTF_TRY(check(limits.zero, losses.to_zero, losses.elements, "became zero"));
  BTF_TRY(check(limits.overflow, losses.overflowed, losses.elements, "overflowed"));
  if (!limits.snr || !losses.noise) return {};
  const double snr = losses.noise->decibels();
  if (snr >= *limits.snr) return {};
  return fail(ErrorCode::refused, "the signal-to-noise ratio is " + short_text(snr) +
                                      " dB, the limit is " + number_text(*limits.snr) + " dB");
}

}  // namespace btf
