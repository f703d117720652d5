/* What the shim is told, and what it says: a page of memory that it shares with who gives the
 * orders.
 *
 * Calls are counted by kind. Of one kind those from number `first` to number `last`, each `step`th,
 * fail with `error`; or, where `most_bytes` is set, they move no more than so many bytes. */
#ifndef BTF_TESTS_FAULTS_ORDERS_H_
#define BTF_TESTS_FAULTS_ORDERS_H_

#include <stddef.h>

enum fault_kind {
  FAULT_NONE,
  FAULT_ALLOCATE, /* malloc, calloc, realloc, aligned_alloc, posix_memalign; so new too */
  FAULT_OPEN,     /* open, openat, mkostemp, fopen */
  FAULT_READ,     /* read, pread */
  FAULT_WRITE,    /* write, writev, pwrite */
  FAULT_STAT,     /* stat, lstat, fstat, fstatat */
  FAULT_SPACE,    /* statvfs, fstatvfs */
  FAULT_RESERVE,  /* fallocate, posix_fallocate, ftruncate */
  FAULT_SYNC,     /* fsync, fdatasync */
  FAULT_CLOSE,    /* the descriptor is closed nevertheless, as Linux does it */
  FAULT_RENAME,   /* rename, renameat */
  FAULT_LINK,     /* link, linkat */
  FAULT_UNLINK,   /* unlink, unlinkat, remove */
  FAULT_MODE,     /* fchmod, fchown */
  FAULT_SEEK,     /* lseek */
  FAULT_FCNTL,    /* fcntl */
  FAULT_ACCESS,   /* access, faccessat */
  FAULT_LIST,     /* opendir, readdir */
  FAULT_THREAD,   /* pthread_create */
  FAULT_KINDS
};

struct fault_orders {
  int armed; /* nothing is counted before */
  int kind;
  int error;
  long first; /* from 1 */
  long last;
  long step; /* at least 1 */
  size_t most_bytes;
  /* What the shim says. */
  long calls[FAULT_KINDS];
  long fired;
  long allocations_before_open; /* those that every command makes while it reads its arguments */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The orders of this process: the file that BTF_FAULT_ORDERS names, else memory of the shim's own.
 */
struct fault_orders* orders_of_faults(void);

#ifdef __cplusplus
}
#endif

#endif
