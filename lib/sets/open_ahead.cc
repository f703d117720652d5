#include "sets/open_ahead.h"

#include <algorithm>
#include <utility>

#include "core/open_files.h"

namespace btf {
namespace {

constexpr std::size_t kMostAhead = 32;

}  // namespace

OpenAhead::OpenAhead(std::vector<std::uint64_t> order, std::uint64_t members, Open open)
    : open_(std::move(open)),
      order_(std::move(order)),
      place_(members, order_.size()),
      slots_(open_files(kMostAhead)) {
  for (std::uint64_t place = 0; place < order_.size(); ++place) place_[order_[place]] = place;
  thread_.start(1, [this](unsigned) { run(); });
}

OpenAhead::~OpenAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_one();
}

// An error shows again when the member is opened by its reader.
std::optional<TensorFile> OpenAhead::open_quietly(std::uint64_t member) noexcept try {
  auto file = open_(member);
  if (!file) return std::nullopt;
  return *std::move(file);
} catch (...) {
  return std::nullopt;
}

void OpenAhead::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    // Full: half of it must be wanted before it is worth to go on.
    if (next_ >= taken_ + slots_.size())
      room_.wait(lock, [&] { return stop_ || next_ <= taken_ + slots_.size() / 2; });
    if (stop_ || next_ >= order_.size()) return;
    const std::uint64_t place = next_++;
    slot(place).state = State::busy;
    lock.unlock();
    std::optional<TensorFile> file = open_quietly(order_[place]);
    lock.lock();
    Slot& filled = slot(place);
    filled.file = std::move(file);
    filled.state = State::done;
    opened_.notify_one();
  }
}

std::optional<TensorFile> OpenAhead::take(std::uint64_t member) {
  const std::uint64_t place = place_[member];
  std::optional<TensorFile> file;
  std::vector<std::optional<TensorFile>> unwanted;  // closed without the lock
  std::unique_lock lock(mutex_);
  if (place >= order_.size() || place < taken_) return file;
  // The thread need not begin with what is done here, nor with what is left out.
  const std::uint64_t begun = std::exchange(next_, std::max(next_, place + 1));
  for (std::uint64_t at = taken_; at < std::min(begun, place + 1); ++at) {
    Slot& held = slot(at);
    opened_.wait(lock, [&] { return held.state == State::done; });
    held.state = State::empty;
    if (at == place)
      file = std::exchange(held.file, std::nullopt);
    else
      unwanted.push_back(std::exchange(held.file, std::nullopt));
  }
  taken_ = place + 1;
  const bool worth = next_ <= taken_ + slots_.size() / 2;
  lock.unlock();
  if (worth) room_.notify_one();
  return file;
}

}  // namespace btf
