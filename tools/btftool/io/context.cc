#include "io/context.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "btf/output.h"
#include "btf/try.h"
#include "io/text.h"
#include "report/text/json.h"

namespace btftool {

struct Log::State {
  spdlog::logger logger;
  OptionNames names;
  btf::report::Paint paint;
  std::size_t columns;  // of the terminal; SIZE_MAX if stderr is none

  std::string line(const std::string& message) const { return printable(names.translate(message)); }

  // Breaks a message into lines that fit the terminal after the program's name.
  std::string fitted(const std::string& line) const {
    if (columns == SIZE_MAX) return line;
    const std::string room(std::string_view("btftool: ").size(), '.');  // no blank to break at
    std::string text;
    for (const std::string& piece : wrapped(room + line, columns, 4))
      text += (text.empty() ? "" : "\n") + piece;
    return text.substr(room.size());
  }

  std::string warning(const std::string& message) const {
    return fitted(paint.yellow("warning") + ": " + line(message));
  }
};

Log::Log(const GlobalOptions& options, OptionNames names) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
  state_ = std::make_unique<State>(
      State{spdlog::logger("btftool", std::move(sink)),
            std::move(names),
            {use_color(options.color, STDERR_FILENO)},
            fits_columns(STDERR_FILENO) ? output_columns(STDERR_FILENO) : SIZE_MAX});
  state_->logger.set_pattern("%n: %v");
  state_->logger.set_level(options.quiet     ? spdlog::level::err
                           : options.verbose ? spdlog::level::debug
                                             : spdlog::level::info);
}

Log::~Log() = default;

void Log::error(const btf::Error& error) { this->error(error.text()); }
void Log::error(const std::string& message) {
  const std::string line = state_->line(message);
  if (first_error_.empty()) first_error_ = line;
  state_->logger.error("{}", state_->fitted(line));
}
void Log::warning(const std::string& message) {
  state_->logger.warn("{}", state_->warning(message));
}
void Log::alarm(const std::string& message) {
  state_->logger.error("{}", state_->warning(message));
}
void Log::note(const std::string& message) {
  state_->logger.info("{}", state_->fitted(state_->line(message)));
}
void Log::detail(const std::string& message) {
  state_->logger.debug("{}", state_->fitted(state_->line(message)));
}

std::uint64_t FindingCounts::hidden() const {
  std::uint64_t hidden = 0;
  for (const auto& [code, kind] : kinds) hidden += kind.hidden;
  return hidden;
}

std::string FindingCounts::hidden_text() const {
  std::string text;
  for (const auto& [code, kind] : kinds)
    if (kind.hidden > 0)
      text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", kind.hidden, code);
  return text;
}

Json FindingCounts::codes() const {
  Json codes = Json::object();
  for (const auto& [code, kind] : kinds) codes[code] = json_number(kind.count);
  return codes;
}

bool FindingTally::take(const btf::Finding& finding) {
  auto kind = counts_.kinds.find(finding.code);
  if (kind == counts_.kinds.end())
    kind = counts_.kinds.emplace(finding.code, FindingCounts::Kind()).first;
  const bool first = kind->second.count++ == 0;
  const bool error = finding.severity == btf::Severity::error;
  ++(error ? counts_.errors : counts_.warnings);
  const bool room = (error ? shown_errors_ : shown_warnings_).pass();
  if (first || room || all_) return true;
  ++kind->second.hidden;
  return false;
}

void JsonText::name(std::string_view name) {
  const std::size_t size = text_.size();
  text_.resize_and_overwrite(size + name.size() + 4, [&](char* text, std::size_t) {
    char* end = text + size;
    if (size > 1) *end++ = ',';
    *end++ = '"';
    end = std::ranges::copy(name, end).out;
    *end++ = '"';
    *end++ = ':';
    return end - text;
  });
}

void JsonText::number(std::uint64_t number) {
  const bool exact = json_exact(number);
  if (!exact) text_ += '"';
  append_number(text_, number);
  if (!exact) text_ += '"';
}

JsonText& JsonText::add(std::string_view name, std::uint64_t number) {
  this->name(name);
  this->number(number);
  return *this;
}

JsonText& JsonText::add(std::string_view name, std::string_view text) {
  this->name(name);
  text_.append("\"").append(text).append("\"");
  return *this;
}

JsonText& JsonText::add(std::string_view name, const btf::Dims& dims) {
  this->name(name);
  text_ += '[';
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (d > 0) text_ += ',';
    number(dims[d]);
  }
  text_ += ']';
  return *this;
}

JsonText& JsonText::add(std::string_view name, const Json& value) {
  this->name(name);
  text_ += dump(value);
  return *this;
}

JsonText& JsonText::add_bool(std::string_view name, bool value) {
  this->name(name);
  text_ += value ? "true" : "false";
  return *this;
}

JsonText& JsonText::add_null(std::string_view name) {
  this->name(name);
  text_ += "null";
  return *this;
}

std::string_view JsonText::end() {
  text_ += '}';
  return text_;
}

namespace {

template <typename T>
Json or_null(const std::optional<T>& value, auto&& convert) {
  return value ? Json(convert(*value)) : Json(nullptr);
}

}  // namespace

Json json_finding(const btf::Finding& finding, const std::string& name) {
  Json json{{"severity", finding.severity == btf::Severity::error ? "error" : "warning"},
            {"code", finding.code},
            {"tensor", or_null(finding.tensor, [](std::uint64_t i) { return json_number(i); })},
            {"offset", json_number(finding.offset)},
            {"message", finding.message}};
  if (!name.empty()) json["name"] = name;
  if (finding.count) json["count"] = json_number(*finding.count);
  if (finding.index) json["index"] = json_dims(*finding.index);
  return json;
}

Json json_finding(const btf::Error& error, std::optional<std::uint64_t> tensor) {
  return json_finding(btf::Finding{btf::Severity::error,
                                   error.finding.empty() ? "unreadable" : error.finding, tensor,
                                   error.offset, error.message});
}

Json json_loss(const btf::LossAccount& loss) {
  Json json{
      {"elements", json_number(loss.elements)},     {"changed", json_number(loss.changed())},
      {"overflowed", json_number(loss.overflowed)}, {"nan", json_number(loss.nan)},
      {"nan_lost", json_number(loss.nan_lost)},     {"to_zero", json_number(loss.to_zero)},
      {"inexact", json_number(loss.inexact)},       {"max_abs_error", json_number(loss.max_abs)},
      {"max_rel_error", json_number(loss.max_rel)}};
  if (loss.sign_lost > 0) json["sign_lost"] = json_number(loss.sign_lost);
  return json;
}

Json json_stats(const btf::TensorStats& stats, btf::DType dtype) {
  const auto value = [&](const btf::Extreme& extreme) { return json_value(dtype, extreme.code); };
  const auto place = [](const btf::Extreme& extreme) { return json_dims(extreme.index); };
  const auto number = [](double x) { return json_number(x); };
  return {{"count", json_number(stats.elements)},
          {"finite", json_number(stats.finite)},
          {"min", or_null(stats.min, value)},
          {"max", or_null(stats.max, value)},
          {"mean", or_null(stats.mean, number)},
          {"std", or_null(stats.std, number)},
          {"nan", json_number(stats.nan)},
          {"pos_inf", json_number(stats.positive_inf)},
          {"neg_inf", json_number(stats.negative_inf)},
          {"zeros", json_number(stats.zeros)},
          {"zero_share", stats.elements > 0 ? json_number(static_cast<double>(stats.zeros) /
                                                          static_cast<double>(stats.elements))
                                            : Json(nullptr)},
          {"subnormals", json_number(stats.subnormals)},
          {"min_index", or_null(stats.min, place)},
          {"max_index", or_null(stats.max, place)},
          {"first_nan_index", or_null(stats.first_nan, json_dims)}};
}

bool use_color(When when, int fd) {
  if (when != When::automatic) return when == When::always;
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && ::isatty(fd) != 0;
}

namespace {

// Longer documents are written as they come, as nobody reads them on a terminal.
constexpr std::size_t kMaxIndented = 16U << 20;

std::string indented(const std::string& document) {
  using btf::report::Json;
  const Json json = Json::parse(document, nullptr, false);
  return json.is_discarded() ? document : json.dump(2) + "\n";
}

}  // namespace

Output::Output(When color, bool json)
    : columns_(!json && fits_columns() ? output_columns() : SIZE_MAX),
      indented_(json && ::isatty(STDOUT_FILENO) != 0),
      paint_{use_color(color, STDOUT_FILENO)} {}

void Output::text(std::string_view text) {
  pending_ += text;
  indented_ = indented_ && pending_.size() <= kMaxIndented;
  if (!indented_ && pending_.size() >= (64U << 10)) flush();
}

void Output::replace(std::string_view document) {
  if (begun_ || pending_.ends_with('\n')) return;
  pending_ = document;
  pending_ += '\n';
}

void Output::line(std::string_view text, std::size_t indent) {
  if (columns_ == SIZE_MAX) {
    pending_ += text;
    return this->text("\n");
  }
  for (const std::string& piece : wrapped(text, columns_, indent)) this->text(piece + "\n");
}

void Output::flush() {
  if (abandoned_) pending_.clear();
  begun_ = begun_ || !pending_.empty();
  std::string_view rest = pending_;
  while (!rest.empty() && failure_ == 0) {
    const ssize_t put = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0)
      failure_ = errno;
    else
      rest.remove_prefix(static_cast<std::size_t>(put));
  }
  pending_.clear();
}

btf::Status Output::finish() {
  if (indented_) pending_ = indented(pending_);
  flush();
  if (failure_ == 0 || failure_ == EPIPE) return {};
  return btf::fail(btf::ErrorCode::io, std::string("cannot write: ") + std::strerror(failure_));
}

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

btf::PictureForm form_of_terminal() {
  return btf::terminal_form(variable("TERM"), variable("TERM_PROGRAM"),
                            !variable("KITTY_WINDOW_ID").empty(),
                            !variable("TMUX").empty() || !variable("STY").empty());
}

}  // namespace

std::string specials_text(const btf::PictureFacts& facts) {
  std::string text;
  if (facts.nan > 0) text += fmt::format("; {} NaN magenta", facts.nan);
  if (facts.positive_inf > 0) text += fmt::format("; {} Inf red", facts.positive_inf);
  if (facts.negative_inf > 0) text += fmt::format("; {} -Inf cyan", facts.negative_inf);
  return text;
}

PictureTarget::PictureTarget(const PictureCommand& command)
    : command_(command),
      to_stdout_(btf::is_standard_output(*command.path)),
      shown_(to_stdout_ && (command.form || ::isatty(STDOUT_FILENO) != 0)),
      form_(command.form.value_or(form_of_terminal())) {}

btf::Status PictureTarget::check() const {
  return to_stdout_ ? btf::Status() : btf::check_output(*command_.path);
}

btf::PictureOptions PictureTarget::draw_options() const {
  btf::PictureOptions draw = command_.draw;
  // A half block is already large for one element.
  if (shown_ && form_ == btf::PictureForm::blocks && draw.zoom == 0) draw.zoom = 1;
  return draw;
}

btf::Status PictureTarget::write(const btf::Picture& picture, Output& out) const {
  if (shown_) {
    BTF_ASSIGN(const std::string text,
               btf::terminal_picture(picture, form_, static_cast<std::uint32_t>(output_columns())));
    out.text(text);
    return {};
  }
  BTF_ASSIGN(const std::string bytes, btf::png(picture));
  if (!to_stdout_) return btf::write_text(*command_.path, bytes);
  out.text(bytes);
  return {};
}

}  // namespace btftool
