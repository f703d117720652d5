// Ctrl-C and its like ask the work to stop, so that it can clean up behind itself.
#pragma once

#include <atomic>

namespace btftool {

// Set once SIGINT, SIGTERM or SIGHUP has come. A second signal ends the program at once.
const std::atomic<bool>& watch_interrupts();

// Ends the program by the signal that came, as its parent expects; returns if none did.
void die_of_interrupt();

}  // namespace btftool
