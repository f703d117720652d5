/* libbtf for C and everything that can call C (docs/c_api.md).
 *
 * Functions that can fail return BTF_OK or another status, or NULL for a handle; btf_last_error()
 * then says why in words. Handles are opaque; one handle is for one thread at a time. Structures
 * begin with their size, which the caller sets to sizeof: so they can grow, and a program that was
 * built before goes on. What is not set must be zero; zero and NULL mean "as usual" everywhere, and
 * NULL for a structure of options means all as usual. Names of dtypes and layouts are those of the
 * command line, in any case. */
#ifndef BTF_BTF_H_
#define BTF_BTF_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BTF_C_API __attribute__((visibility("default")))
#else
#define BTF_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* DLPack's; dlpack.h defines them. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

typedef int32_t btf_status;
#define BTF_OK 0
#define BTF_INVALID_ARGUMENT 1 /* the caller asked for something that cannot be */
#define BTF_MALFORMED 2        /* the bytes of a file contradict its format */
#define BTF_UNSUPPORTED 3      /* well-formed, but not supported */
#define BTF_IO 4               /* the system refused */
#define BTF_CLOSED_PIPE 5      /* nobody reads the output any more */
#define BTF_NO_SPACE 6         /* no room for the result, in memory or on the disk */
#define BTF_REFUSED 7          /* forbidden by the options (lossless, overflow "error") */
#define BTF_CANCELLED 8
#define BTF_INTERNAL 9 /* a fault of this library */

/* "0.1.0" */
BTF_C_API const char* btf_version(void);

/* "malformed"; never NULL. */
BTF_C_API const char* btf_status_name(btf_status status);

/* Of the last call of this thread that failed. Valid until this thread's next one; never NULL. */
BTF_C_API const char* btf_last_error(void);

/* ---- Reading ---- */

typedef struct btf_file btf_file;

/* Any format that the library reads; "-" is stdin. NULL: see btf_last_error(). */
BTF_C_API btf_file* btf_open(const char* path);
BTF_C_API void btf_close(btf_file* file); /* NULL does nothing */

/* The error of the last call with this handle that failed, valid until the next one; "" if none. */
BTF_C_API const char* btf_file_error(const btf_file* file);

BTF_C_API const char* btf_format(const btf_file* file); /* "btf" */
BTF_C_API uint64_t btf_count(const btf_file* file);     /* tensors; 0 for NULL */

/* Pointers belong to the file and are valid until it is closed. */
typedef struct btf_tensor_info {
  size_t size;
  const char* name;   /* "" where the format has none */
  const char* dtype;  /* "float16"; NULL: a code that the library does not know */
  const char* layout; /* "kHWC8"; likewise */
  uint64_t rank;
  const uint64_t* dims; /* logical */
  uint64_t bytes;       /* of the elements as they are stored */
  uint64_t nnz;         /* of a sparse tensor, whose layout is "coo" */
} btf_tensor_info;

BTF_C_API btf_status btf_info(btf_file* file, uint64_t index, btf_tensor_info* info);

/* What a change of dtype does to values (docs/dtypes.md). */
typedef struct btf_loss {
  size_t size;
  uint64_t elements;
  uint64_t overflowed;
  uint64_t nan_lost;
  uint64_t to_zero;
  uint64_t inexact;
  double max_abs;
  double max_rel;
} btf_loss;

typedef struct btf_read_options {
  size_t size;
  const char* dtype;      /* NULL: the tensor's own */
  const char* layout;     /* NULL: the tensor's own; of a sparse tensor kLINEAR */
  const char* overflow;   /* "saturate", "ieee", "wrap", "error" */
  const char* rounding;   /* "nearest", "zero", "up", "down" */
  const char* duplicates; /* sparse: "error", "sum", "first", "last" */
  int32_t lossless;       /* fail when any value would change */
  uint32_t jobs;          /* threads; 0: as many as there are CPUs */
} btf_read_options;

/* Bytes that btf_read() with these options needs. Only the header is read. */
BTF_C_API btf_status btf_read_size(btf_file* file, uint64_t index, const btf_read_options* options,
                                   uint64_t* bytes);

/* Strides in elements, one for each dim, of what btf_read() gives. Layouts with blocks of channels
 * (kCHW2, kCHW4, kCHW16, kCHW32, kCDHW32) have none and are BTF_UNSUPPORTED. */
BTF_C_API btf_status btf_read_strides(btf_file* file, uint64_t index,
                                      const btf_read_options* options, uint64_t* strides,
                                      size_t capacity);

/* `bytes` is the size of the buffer, at least that of btf_read_size(). The buffer should be aligned
 * as its elements are. After an error it may hold anything. `loss` may be NULL. */
BTF_C_API btf_status btf_read(btf_file* file, uint64_t index, const btf_read_options* options,
                              void* buffer, uint64_t bytes, btf_loss* loss);

/* The same into memory of the library, which lives until the tensor's deleter is called, whether
 * or not the file is still open. The first form has no dtypes that came with DLPack 1.1. */
BTF_C_API btf_status btf_read_dlpack(btf_file* file, uint64_t index,
                                     const btf_read_options* options,
                                     struct DLManagedTensor** tensor);
BTF_C_API btf_status btf_read_dlpack_versioned(btf_file* file, uint64_t index,
                                               const btf_read_options* options,
                                               struct DLManagedTensorVersioned** tensor);

/* ---- Converting ---- */

typedef struct btf_convert_options {
  size_t size;
  const char* dtype;       /* NULL: each tensor keeps its own */
  const char* layout;      /* likewise; "coo" makes tensors sparse */
  const uint64_t* tensors; /* which, in this order; NULL: all */
  size_t tensor_count;
  const uint32_t* permute; /* dim d of the result is dim permute[d]; NULL: as it is */
  size_t permute_count;
  const char* overflow;   /* as for reading */
  const char* rounding;   /* as for reading */
  const char* duplicates; /* as for reading */
  int32_t lossless;
  int32_t prune_zeros;    /* sparse to sparse: leave out explicit zeros */
  int32_t where_possible; /* a tensor that cannot take the layout keeps its own */
  int32_t sync;           /* survive a power cut */
  uint32_t jobs;
  const char* format; /* "btf", "npy", ...; NULL: as the end of the output's name says */
  int32_t shuffle;    /* bytes of elements apart, as convert --shuffle */
} btf_convert_options;

/* Writes a file, a BTF file but for names that end in .npy, .npz, ... The output holds its old
 * content or all of the new, whatever happens; it may be the input. `bytes`, which may be NULL: its
 * size. `loss`, which may be NULL: over all tensors. An error is on the input's handle. */
BTF_C_API btf_status btf_convert(btf_file* input, const char* output,
                                 const btf_convert_options* options, uint64_t* bytes,
                                 btf_loss* loss);

/* ---- Writing ---- */

typedef struct btf_writer btf_writer;

/* A tensor in memory. Its dims and strides are copied, its elements are not. */
typedef struct btf_array {
  size_t size;
  const void* data;
  uint64_t bytes;    /* readable at `data` */
  const char* dtype; /* 4-bit types: two in a byte, the first one in the low half */
  uint64_t rank;
  const uint64_t* dims;
  const int64_t* strides; /* in elements; 0 repeats; NULL: by `layout` */
  const char* layout;     /* of the memory; NULL: kLINEAR; not together with strides */
} btf_array;

typedef struct btf_write_options {
  size_t size;
  const char* dtype;  /* in the file; NULL: as in memory */
  const char* layout; /* in the file; NULL: that of the memory, of strides kLINEAR */
} btf_write_options;

typedef struct btf_save_options {
  size_t size;
  const char* overflow; /* as for reading */
  const char* rounding;
  int32_t lossless;
  int32_t sync;
  uint32_t jobs;
  const char* format; /* as for converting */
} btf_save_options;

BTF_C_API btf_writer* btf_writer_new(void);
BTF_C_API void btf_writer_free(btf_writer* writer); /* NULL does nothing */
BTF_C_API const char* btf_writer_error(const btf_writer* writer);

/* The elements are read in btf_writer_save() and must be there until it returns. */
BTF_C_API btf_status btf_writer_add(btf_writer* writer, const btf_array* array,
                                    const btf_write_options* options);

/* The same for a const DLTensor*. Lanes become one more dim, the last. */
BTF_C_API btf_status btf_writer_add_dlpack(btf_writer* writer, const void* dl_tensor,
                                           const btf_write_options* options);

/* All tensors that were added, in their order, as a file of the format that the options or the end
 * of the name say: the old content or all of the new. .npy and raw hold one tensor. */
BTF_C_API btf_status btf_writer_save(btf_writer* writer, const char* output,
                                     const btf_save_options* options, uint64_t* bytes);

/* ---- Comparing ---- */

typedef struct btf_diff_options {
  size_t size;
  double rtol; /* |actual - golden| <= atol + rtol * |golden| */
  double atol;
  int32_t nan_differs;            /* NaN is not equal to NaN */
  int32_t strict;                 /* another dtype or layout is a difference too */
  const uint64_t* actual_tensors; /* paired in order; NULL: all */
  size_t actual_count;
  const uint64_t* golden_tensors;
  size_t golden_count;
  uint32_t jobs;
} btf_diff_options;

typedef struct btf_diff_result {
  size_t size;
  int32_t same;        /* 1 or 0 */
  uint64_t tensors;    /* pairs */
  uint64_t different;  /* of them */
  uint64_t first;      /* the first of these */
  const char* reason;  /* why that one, if not by values; else "". Until the handle's next call */
  uint64_t compared;   /* elements */
  uint64_t mismatched; /* of them */
  double max_abs;      /* largest error of two finite numbers, over all pairs */
  double max_rel;
} btf_diff_result;

/* Finding differences is no error: see `same`. An error is on the handle of `actual`. */
BTF_C_API btf_status btf_diff(btf_file* actual, btf_file* golden, const btf_diff_options* options,
                              btf_diff_result* result);

#ifdef __cplusplus
}
#endif

#endif
