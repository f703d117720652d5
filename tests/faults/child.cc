#include "faults/child.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace faults {
namespace {

constexpr int kCannotStart = 125;

void limit(__rlimit_resource resource, long value) {
  if (value < 0) return;
  const rlimit both{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  if (::setrlimit(resource, &both) != 0) ::_exit(kCannotStart);
}

void redirect(int fd, const char* path, int flags) {
  const int opened = ::open(path, flags, 0666);
  if (opened < 0 || ::dup2(opened, fd) < 0) ::_exit(kCannotStart);
  ::close(opened);
}

// All of the file, which must fit into the pipe.
void feed(const char* path) {
  int ends[2];
  const int file = ::open(path, O_RDONLY);
  if (file < 0 || ::pipe(ends) != 0) ::_exit(kCannotStart);
  ::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  char buffer[1 << 16];
  ssize_t got = 0;
  while ((got = ::read(file, buffer, sizeof(buffer))) > 0)
    if (::write(ends[1], buffer, static_cast<std::size_t>(got)) != got) ::_exit(kCannotStart);
  ::close(file);
  ::close(ends[1]);
  ::dup2(ends[0], STDIN_FILENO);
  ::close(ends[0]);
}

void become_nobody() {
  constexpr unsigned kNobody = 65534;
  if (::geteuid() != 0) return;  // the limit holds for an ordinary user anyway
  if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)
    ::_exit(kCannotStart);
}

[[noreturn]] void start(const Run& what, int err) {
  if (::chdir(what.directory.c_str()) != 0) ::_exit(kCannotStart);
  if (what.input.empty())
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  else
    feed(what.input.c_str());
  redirect(STDOUT_FILENO, what.out.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  ::dup2(err, STDERR_FILENO);
  if (!what.shim.empty()) {
    ::setenv("LD_PRELOAD", what.shim.c_str(), 1);
    ::setenv("BTF_FAULT_ORDERS", what.orders_file.c_str(), 1);
  }
  ::setenv("TMPDIR", what.temporary.c_str(), 1);
  if (what.limits.processes >= 0) become_nobody();
  limit(RLIMIT_AS, what.limits.address_space);
  limit(RLIMIT_NPROC, what.limits.processes);
  limit(RLIMIT_FSIZE, what.limits.file_size);
  limit(RLIMIT_CORE, 0);
  ::signal(SIGPIPE, SIG_DFL);
  ::alarm(what.seconds);  // what lives longer hangs
  std::vector<char*> arguments;
  for (const std::string& argument : what.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(kCannotStart);
}

}  // namespace

Outcome run(const Run& what) {
  // Messages go through a pipe: a limit on the size of files does not hold for it.
  int err[2];
  if (::pipe2(err, O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("pipe failed");
  ::fcntl(err[1], F_SETPIPE_SZ, 1 << 20);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) start(what, err[1]);
  ::close(err[1]);
  if (what.kill_after_us >= 0) {
    ::usleep(static_cast<useconds_t>(what.kill_after_us));
    ::kill(child, SIGKILL);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error("waitpid failed");
  Outcome outcome;
  char buffer[1 << 14];
  for (ssize_t got = 0; (got = ::read(err[0], buffer, sizeof(buffer))) > 0;)
    outcome.err.append(buffer, static_cast<std::size_t>(got));
  ::close(err[0]);
  if (WIFSIGNALED(status))
    outcome.signal = WTERMSIG(status);
  else
    outcome.code = WEXITSTATUS(status);
  return outcome;
}

SharedOrders::SharedOrders(std::string path) : path_(std::move(path)) {
  const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT, 0666);
  if (fd < 0 || ::ftruncate(fd, sizeof(fault_orders)) != 0)
    throw std::runtime_error("cannot create " + path_);
  void* const page =
      ::mmap(nullptr, sizeof(fault_orders), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (page == MAP_FAILED) throw std::runtime_error("cannot map " + path_);
  orders_ = static_cast<fault_orders*>(page);
}

SharedOrders::~SharedOrders() { ::munmap(orders_, sizeof(fault_orders)); }

}  // namespace faults
