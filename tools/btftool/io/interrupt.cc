#include "io/interrupt.h"

#include <csignal>

namespace btftool {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> signal_number{0};

extern "C" void on_signal(int number) {
  signal_number = number;
  interrupted = true;
}

}  // namespace

const std::atomic<bool>& watch_interrupts() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
  return interrupted;
}

void die_of_interrupt() {
  if (!interrupted) return;
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

}  // namespace btftool
