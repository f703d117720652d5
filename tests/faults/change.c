/* Stands between a program and the C library and changes a file at the n-th read of the program: as another process
 * would that writes the file meanwhile, but at a moment that can be repeated. As LD_PRELOAD, with
 *
 *   BTF_CHANGE=HOW:N:FILE   HOW: patch, append, cut, replace, none; FILE.new takes its place in `replace`
 *   BTF_READS=FILE          gets a byte for each read
 *
 * Reads that stdio makes inside the C library are not seen. The changed file has a time of its own, the same in each run: pages
 * state the time of the newest input. glibc only. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name)                      \
  static __typeof__(name)* real = NULL; \
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name)

/* In its last quarter, where elements are and no header. */
static void patch(int fd, off_t size) {
  char bytes[64];
  memset(bytes, 0x3c, sizeof(bytes));
  if (pwrite(fd, bytes, sizeof(bytes), size * 3 / 4) < 0) abort();
}

static void append(int fd, off_t size) {
  char bytes[512];
  memset(bytes, 0, sizeof(bytes));
  if (pwrite(fd, bytes, sizeof(bytes), size) < 0) abort();
}

static void cut(int fd, off_t size) {
  if (ftruncate(fd, size / 2) != 0) abort();
}

static void change(const char* how, const char* path) {
  if (strcmp(how, "replace") == 0) {
    char other[4096];
    snprintf(other, sizeof(other), "%s.new", path);
    if (rename(other, path) != 0) abort();
    return;
  }
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  struct stat state;
  if (fd < 0 || fstat(fd, &state) != 0) abort();
  if (strcmp(how, "patch") == 0) patch(fd, state.st_size);
  if (strcmp(how, "append") == 0) append(fd, state.st_size);
  if (strcmp(how, "cut") == 0) cut(fd, state.st_size);
  const struct timespec times[2] = {{1100000000, 0}, {1100000000, 0}};
  if (futimens(fd, times) != 0) abort();
  close(fd);
}

/* Before each read, once the program has begun. */
static void count(void) {
  static long calls = 0;
  const char* const reads = getenv("BTF_READS");
  const char* const orders = getenv("BTF_CHANGE");
  const long call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (reads != NULL) {
    const int fd = open(reads, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0 || write(fd, "r", 1) != 1) abort();
    close(fd);
  }
  if (orders == NULL) return;
  char how[16];
  long wanted = 0;
  int path = 0;
  if (sscanf(orders, "%15[a-z]:%ld:%n", how, &wanted, &path) != 2 || path == 0) abort();
  if (call == wanted) change(how, orders + path);
}

ssize_t read(int fd, void* to, size_t bytes) {
  REAL(read);
  count();
  return real(fd, to, bytes);
}
ssize_t pread(int fd, void* to, size_t bytes, off_t at) {
  REAL(pread);
  count();
  return real(fd, to, bytes, at);
}
ssize_t pread64(int fd, void* to, size_t bytes, off64_t at) { return pread(fd, to, bytes, at); }
ssize_t __read_chk(int fd, void* to, size_t bytes, size_t room) {
  return bytes > room ? (abort(), -1) : read(fd, to, bytes);
}
ssize_t __pread_chk(int fd, void* to, size_t bytes, off_t at, size_t room) {
  return bytes > room ? (abort(), -1) : pread(fd, to, bytes, at);
}
ssize_t __pread64_chk(int fd, void* to, size_t bytes, off64_t at, size_t room) {
  return bytes > room ? (abort(), -1) : pread(fd, to, bytes, at);
}
