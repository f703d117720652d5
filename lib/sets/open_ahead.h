// Files opened on a thread of their own before they are asked for, where the order is known.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "core/workers.h"

namespace btf {

class OpenAhead {
 public:
  // Called by either thread, for different members.
  using Open = std::function<Result<TensorFile>(std::uint64_t member)>;

  // `order`: some or all of the members, none twice.
  OpenAhead(std::vector<std::uint64_t> order, std::uint64_t members, Open open);
  ~OpenAhead();
  OpenAhead(const OpenAhead&) = delete;
  OpenAhead& operator=(const OpenAhead&) = delete;

  // The member, opened; nothing: it is not to come any more, or the thread has not got to it, and
  // will not. Members in front of it that nobody took are closed.
  std::optional<TensorFile> take(std::uint64_t member);

 private:
  enum class State : std::uint8_t { empty, busy, done };
  struct Slot {
    State state = State::empty;
    std::optional<TensorFile> file;  // nothing: it could not be opened
  };

  void run();
  std::optional<TensorFile> open_quietly(std::uint64_t member) noexcept;
  Slot& slot(std::uint64_t place) { return slots_[place % slots_.size()]; }

  Open open_;
  std::vector<std::uint64_t> order_;
  std::vector<std::uint64_t> place_;  // of each member in the order; as many as there are: none

  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable opened_;
  std::vector<Slot> slots_;
  std::uint64_t next_ = 0;   // position that the thread opens next
  std::uint64_t taken_ = 0;  // positions before it are not asked for any more
  bool stop_ = false;
  Workers thread_;
};

}  // namespace btf
