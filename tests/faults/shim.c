/* Stands between a program and the C library and lets calls fail as it is told (orders.h).
 *
 * As LD_PRELOAD, with BTF_FAULT_ORDERS=FILE, it counts from the beginning of main() on. Linked into a
 * program, which gives its orders itself, it counts while they are `armed`. Writes that stdio makes
 * inside the C library are not seen. glibc only. */
/* The checked forms of read() and open() are taken too, by their own names. */
#undef _FORTIFY_SOURCE
#include "orders.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

static struct fault_orders own = {.step = 1};
static struct fault_orders* orders = &own;

struct fault_orders* orders_of_faults(void) { return orders; }

static long count(int kind) {
  if (!__atomic_load_n(&orders->armed, __ATOMIC_RELAXED)) return 0;
  return __atomic_add_fetch(&orders->calls[kind], 1, __ATOMIC_RELAXED);
}

static int meant(int kind, long call) {
  if (call == 0 || orders->kind != kind || call < orders->first || call > orders->last) return 0;
  if ((call - orders->first) % orders->step != 0) return 0;
  __atomic_add_fetch(&orders->fired, 1, __ATOMIC_RELAXED);
  return 1;
}

/* Does this call fail? Then errno is set. */
static int fails(int kind) {
  if (!meant(kind, count(kind)) || orders->most_bytes != 0) return 0;
  errno = orders->error;
  return 1;
}

/* The same for calls that move bytes, which may be told to move fewer. */
static int fails_or_shortens(int kind, size_t* bytes) {
  if (!meant(kind, count(kind))) return 0;
  if (orders->most_bytes != 0) {
    if (*bytes > orders->most_bytes) *bytes = orders->most_bytes;
    return 0;
  }
  errno = orders->error;
  return 1;
}

#define REAL(name)                       \
  static __typeof__(name)* real = NULL;  \
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name)

/* ---- Memory. dlsym() may want memory itself, so glibc's own names are called. ---- */
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) { return fails(FAULT_ALLOCATE) ? NULL : __libc_malloc(bytes); }
void* calloc(size_t n, size_t bytes) {
  return fails(FAULT_ALLOCATE) ? NULL : __libc_calloc(n, bytes);
}
void* realloc(void* old, size_t bytes) {
  return fails(FAULT_ALLOCATE) ? NULL : __libc_realloc(old, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails(FAULT_ALLOCATE) ? NULL : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (fails(FAULT_ALLOCATE)) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == NULL ? ENOMEM : 0;
}

/* ---- Files ---- */
static void note_open(void) {
  if (orders->armed && orders->calls[FAULT_OPEN] == 0)
    orders->allocations_before_open = orders->calls[FAULT_ALLOCATE];
}

#define MODE_OF(flags)                                                        \
  mode_t mode = 0;                                                            \
  if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) {           \
    va_list arguments;                                                        \
    va_start(arguments, flags);                                               \
    mode = va_arg(arguments, mode_t);                                         \
    va_end(arguments);                                                        \
  }

int open(const char* path, int flags, ...) {
  REAL(open);
  MODE_OF(flags)
  note_open();
  return fails(FAULT_OPEN) ? -1 : real(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  REAL(open64);
  MODE_OF(flags)
  note_open();
  return fails(FAULT_OPEN) ? -1 : real(path, flags, mode);
}
int openat(int at, const char* path, int flags, ...) {
  REAL(openat);
  MODE_OF(flags)
  note_open();
  return fails(FAULT_OPEN) ? -1 : real(at, path, flags, mode);
}
int __open_2(const char* path, int flags) { return open(path, flags); }
int __open64_2(const char* path, int flags) { return open64(path, flags); }
int __openat_2(int at, const char* path, int flags) { return openat(at, path, flags); }
int mkostemp(char* name, int flags) {
  REAL(mkostemp);
  return fails(FAULT_OPEN) ? -1 : real(name, flags);
}
FILE* fopen(const char* path, const char* mode) {
  REAL(fopen);
  return fails(FAULT_OPEN) ? NULL : real(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  REAL(fopen64);
  return fails(FAULT_OPEN) ? NULL : real(path, mode);
}

ssize_t read(int fd, void* to, size_t bytes) {
  REAL(read);
  return fails_or_shortens(FAULT_READ, &bytes) ? -1 : real(fd, to, bytes);
}
ssize_t pread(int fd, void* to, size_t bytes, off_t at) {
  REAL(pread);
  return fails_or_shortens(FAULT_READ, &bytes) ? -1 : real(fd, to, bytes, at);
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

ssize_t write(int fd, const void* from, size_t bytes) {
  REAL(write);
  return fails_or_shortens(FAULT_WRITE, &bytes) ? -1 : real(fd, from, bytes);
}
ssize_t pwrite(int fd, const void* from, size_t bytes, off_t at) {
  REAL(pwrite);
  return fails_or_shortens(FAULT_WRITE, &bytes) ? -1 : real(fd, from, bytes, at);
}
ssize_t pwrite64(int fd, const void* from, size_t bytes, off64_t at) {
  return pwrite(fd, from, bytes, at);
}
ssize_t writev(int fd, const struct iovec* parts, int n) {
  REAL(writev);
  if (orders->most_bytes != 0 && n > 0) return write(fd, parts[0].iov_base, parts[0].iov_len);
  return fails(FAULT_WRITE) ? -1 : real(fd, parts, n);
}

#define FAILING(kind, type, name, parameters, arguments)  \
  type name parameters {                                  \
    REAL(name);                                           \
    return fails(kind) ? (type)-1 : real arguments;       \
  }

FAILING(FAULT_STAT, int, stat, (const char* path, struct stat* to), (path, to))
FAILING(FAULT_STAT, int, lstat, (const char* path, struct stat* to), (path, to))
FAILING(FAULT_STAT, int, fstat, (int fd, struct stat* to), (fd, to))
FAILING(FAULT_STAT, int, fstatat, (int at, const char* path, struct stat* to, int flags),
        (at, path, to, flags))
FAILING(FAULT_STAT, int, stat64, (const char* path, struct stat64* to), (path, to))
FAILING(FAULT_STAT, int, lstat64, (const char* path, struct stat64* to), (path, to))
FAILING(FAULT_STAT, int, fstat64, (int fd, struct stat64* to), (fd, to))
FAILING(FAULT_SPACE, int, statvfs, (const char* path, struct statvfs* to), (path, to))
FAILING(FAULT_SPACE, int, fstatvfs, (int fd, struct statvfs* to), (fd, to))
FAILING(FAULT_RESERVE, int, fallocate, (int fd, int mode, off_t at, off_t bytes),
        (fd, mode, at, bytes))
FAILING(FAULT_RESERVE, int, ftruncate, (int fd, off_t size), (fd, size))
FAILING(FAULT_SYNC, int, fsync, (int fd), (fd))
FAILING(FAULT_SYNC, int, fdatasync, (int fd), (fd))
FAILING(FAULT_RENAME, int, rename, (const char* from, const char* to), (from, to))
FAILING(FAULT_RENAME, int, renameat, (int a, const char* from, int b, const char* to),
        (a, from, b, to))
FAILING(FAULT_LINK, int, link, (const char* from, const char* to), (from, to))
FAILING(FAULT_LINK, int, linkat, (int a, const char* from, int b, const char* to, int flags),
        (a, from, b, to, flags))
FAILING(FAULT_UNLINK, int, unlink, (const char* path), (path))
FAILING(FAULT_UNLINK, int, unlinkat, (int at, const char* path, int flags), (at, path, flags))
FAILING(FAULT_UNLINK, int, remove, (const char* path), (path))
FAILING(FAULT_MODE, int, fchmod, (int fd, mode_t mode), (fd, mode))
FAILING(FAULT_MODE, int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
FAILING(FAULT_SEEK, off_t, lseek, (int fd, off_t to, int whence), (fd, to, whence))
FAILING(FAULT_ACCESS, int, access, (const char* path, int mode), (path, mode))
FAILING(FAULT_ACCESS, int, faccessat, (int at, const char* path, int mode, int flags),
        (at, path, mode, flags))

int posix_fallocate(int fd, off_t at, off_t bytes) {
  REAL(posix_fallocate);
  return fails(FAULT_RESERVE) ? errno : real(fd, at, bytes);
}
int close(int fd) {
  REAL(close);
  if (!fails(FAULT_CLOSE)) return real(fd);
  const int error = errno;
  real(fd);
  errno = error;
  return -1;
}
int fcntl(int fd, int command, ...) {
  REAL(fcntl);
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return fails(FAULT_FCNTL) ? -1 : real(fd, command, argument);
}
int fcntl64(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return fcntl(fd, command, argument);
}
DIR* opendir(const char* path) {
  REAL(opendir);
  return fails(FAULT_LIST) ? NULL : real(path);
}
struct dirent* readdir(DIR* directory) {
  REAL(readdir);
  return fails(FAULT_LIST) ? NULL : real(directory);
}

/* ---- Threads ---- */
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  REAL(pthread_create);
  return fails(FAULT_THREAD) ? errno : real(thread, attributes, body, argument);
}

/* ---- main() ---- */
static int (*program)(int, char**, char**);

static int armed_program(int argc, char** argv, char** environment) {
  const char* const path = getenv("BTF_FAULT_ORDERS");
  const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (fd >= 0) {
    void* const page = mmap(NULL, sizeof(*orders), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED) abort();
    orders = page;
    orders->armed = 1;
  }
  return program(argc, argv, environment);
}

int __libc_start_main(int (*start)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*linker_fini)(void), void* stack_end) {
  int (*real)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void),
              void (*)(void), void*) = NULL;
  *(void**)&real = dlsym(RTLD_NEXT, "__libc_start_main");
  program = start;
  return real(armed_program, argc, argv, init, fini, linker_fini, stack_end);
}
