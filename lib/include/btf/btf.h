/* libbtf for C and everything that can call C (docs/c_api.md).
 *
 * Functions that can fail return BTF_OK or another status, or NULL for a handle; btf_last_error()
 * then has the reason as text. Handles are opaque; a handle may be used by one thread at a time.
 * Structures begin with their size, which the caller sets to sizeof: so they can grow, and programs
 * that were built with an older version keep working. Members that are not set must be zero. Zero
 * and NULL mean the default everywhere, and NULL for a structure of options means all defaults.
 * Names of dtypes and layouts are those of the command line, in upper or lower case. */
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

/* Defined by DLPack's dlpack.h. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

typedef int32_t btf_status;
#define BTF_OK 0
#define BTF_INVALID_ARGUMENT 1 /* the caller asked for something impossible */
#define BTF_MALFORMED 2        /* the bytes of a file contradict its format */
#define BTF_UNSUPPORTED 3      /* well-formed, but not supported */
#define BTF_IO 4               /* a system call failed */
#define BTF_CLOSED_PIPE 5      /* the reader of the output is gone */
#define BTF_NO_SPACE 6         /* not enough memory or disk space */
#define BTF_REFUSED 7          /* forbidden by the options (lossless, overflow "error") */
#define BTF_CANCELLED 8
#define BTF_INTERNAL 9 /* a fault of this library */

/* "1.0.0" */
BTF_C_API const char* btf_version(void);

/* "malformed"; never NULL. */
BTF_C_API const char* btf_status_name(btf_status status);

/* The error of the last call of this thread that failed. Valid until the next call of this thread
 * that fails; never NULL. */
BTF_C_API const char* btf_last_error(void);

/* Stands for "no tensor" or "no dim". */
#define BTF_NONE UINT64_MAX

typedef struct btf_error {
  size_t size;
  btf_status status;
  int32_t system;      /* errno if a system call failed; else 0 */
  const char* message; /* the text of btf_last_error() */
  const char* file;    /* path of the file that the error is about; "" if it is about none */
  const char* finding; /* BTF_MALFORMED: the code that btf_validate() reports; else "" */
  uint64_t tensor;     /* number of the tensor in the file, or BTF_NONE */
  uint64_t offset;     /* BTF_MALFORMED: the byte of the file */
} btf_error;

/* The same error as a structure; its status is BTF_OK if no call has failed yet. Pointers are valid
 * as long as the text of btf_last_error(). */
BTF_C_API btf_status btf_last_error_info(btf_error* error);

/* ---- Reading ---- */

typedef struct btf_file btf_file;

/* Opens a file of any format that the library reads; "-" is stdin. NULL: see btf_last_error(). */
BTF_C_API btf_file* btf_open(const char* path);
BTF_C_API void btf_close(btf_file* file); /* NULL does nothing */

/* The error of the last call with this handle that failed, valid until the next one; "" if none. */
BTF_C_API const char* btf_file_error(const btf_file* file);

BTF_C_API const char* btf_format(const btf_file* file); /* "btf" */
BTF_C_API uint64_t btf_count(const btf_file* file);     /* tensors; 0 for NULL */

/* Pointers belong to the file and are valid until it is closed. */
typedef struct btf_tensor_info {
  size_t size;
  const char* name;   /* "" if the file has none */
  const char* dtype;  /* "float16"; NULL if the library does not know the type */
  const char* layout; /* "kHWC8"; NULL if the library does not know the layout */
  uint64_t rank;
  const uint64_t* dims; /* logical */
  uint64_t bytes;       /* of the elements as they are stored */
  uint64_t nnz;         /* of a sparse tensor, whose layout is "coo" */
} btf_tensor_info;

BTF_C_API btf_status btf_info(btf_file* file, uint64_t index, btf_tensor_info* info);

/* The tensor's name in the file or, if it has none, a name made from that of the file. NULL: see
 * btf_file_error(). */
BTF_C_API const char* btf_name(btf_file* file, uint64_t index);

/* Finds the tensor with this name; an error if there is none, or more than one. */
BTF_C_API btf_status btf_find(btf_file* file, const char* name, uint64_t* index);

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
  const char* layout;     /* NULL: the tensor's own, or kLINEAR if it is sparse */
  const char* overflow;   /* "saturate", "ieee", "wrap", "error" */
  const char* rounding;   /* "nearest", "zero", "up", "down" */
  const char* duplicates; /* sparse: "error", "sum", "first", "last" */
  int32_t lossless;       /* fail when any value would change */
  uint32_t jobs;          /* threads; 0: one for each CPU */
  /* A box: the indices begin, begin + step, ... below end in each logical dim. `region_rank` is the
   * tensor's rank, or 0 for the whole tensor. NULL: begin 0, end the dim's size, step 1. The result
   * has the dims ceil((end - begin) / step). Little more than its elements is read. */
  size_t region_rank;
  const uint64_t* begin;
  const uint64_t* end;
  const uint64_t* step;
} btf_read_options;

/* The size of the buffer that btf_read() needs with these options. Only the header is read. */
BTF_C_API btf_status btf_read_size(btf_file* file, uint64_t index, const btf_read_options* options,
                                   uint64_t* bytes);

/* Strides of the result of btf_read(), in elements, one for each dim. Layouts with blocks of
 * channels (kCHW2, kCHW4, kCHW16, kCHW32, kCDHW32) have none and are BTF_UNSUPPORTED. */
BTF_C_API btf_status btf_read_strides(btf_file* file, uint64_t index,
                                      const btf_read_options* options, uint64_t* strides,
                                      size_t capacity);

/* `bytes` is the size of the buffer, at least that of btf_read_size(). The buffer should have the
 * alignment of its elements. After an error it may hold anything. `loss` may be NULL. */
BTF_C_API btf_status btf_read(btf_file* file, uint64_t index, const btf_read_options* options,
                              void* buffer, uint64_t bytes, btf_loss* loss);

/* The same into memory of the library, which lives until the tensor's deleter is called, whether
 * or not the file is still open. The first function lacks the dtypes that DLPack 1.1 added. */
BTF_C_API btf_status btf_read_dlpack(btf_file* file, uint64_t index,
                                     const btf_read_options* options,
                                     struct DLManagedTensor** tensor);
BTF_C_API btf_status btf_read_dlpack_versioned(btf_file* file, uint64_t index,
                                               const btf_read_options* options,
                                               struct DLManagedTensorVersioned** tensor);

/* ---- Sets ---- */

/* A sequence of tensors in any storage: a file, a directory with everything below it, the files
 * that an index names, or several of these. The files are the members of the set. */
typedef struct btf_set btf_set;

/* `count` is at least 1. NULL: see btf_last_error(). */
BTF_C_API btf_set* btf_set_open(const char* const* paths, size_t count);
BTF_C_API void btf_set_close(btf_set* set); /* NULL does nothing */
BTF_C_API const char* btf_set_error(const btf_set* set);

BTF_C_API uint64_t btf_set_member_count(const btf_set* set); /* 0 for NULL */

/* Pointers are valid until the set is closed. */
typedef struct btf_member_info {
  size_t size;
  const char* path;  /* to open it with */
  const char* place; /* path below the directory of the set or of its index; else its path */
  uint64_t bytes;    /* current size of the file; 0 if it is not known */
} btf_member_info;

BTF_C_API btf_status btf_set_member(btf_set* set, uint64_t member, btf_member_info* info);

/* Opens a member with the options that the set has for it; close it with btf_close(). To be used by
 * the same thread as the set. NULL: see btf_set_error(). */
BTF_C_API btf_file* btf_set_file(btf_set* set, uint64_t member);

/* Tensors are numbered through all members. These functions open every member once, and fail if one
 * cannot be opened. */
BTF_C_API btf_status btf_set_tensor_count(btf_set* set, uint64_t* count);
BTF_C_API btf_status btf_set_tensor(btf_set* set, uint64_t number, uint64_t* member,
                                    uint64_t* index);

/* The numbers of the tensors in a selection, in its order: "conv1", "conv*,!fc", "0,2-5,-1", "@17"
 * for a name that looks like a number. `count` receives the number of tensors, of which at most
 * `capacity` are written to `numbers`. */
BTF_C_API btf_status btf_set_select(btf_set* set, const char* selection, uint64_t* numbers,
                                    size_t capacity, uint64_t* count);

/* ---- Converting ---- */

typedef struct btf_convert_options {
  size_t size;
  const char* dtype;       /* NULL: each tensor keeps its own */
  const char* layout;      /* NULL: each tensor keeps its own; "coo" makes tensors sparse */
  const uint64_t* tensors; /* numbers of the tensors to write, in this order; NULL: all */
  size_t tensor_count;
  const uint32_t* permute; /* dim d of the result is dim permute[d]; NULL: unchanged */
  size_t permute_count;
  const char* overflow;   /* as for reading */
  const char* rounding;   /* as for reading */
  const char* duplicates; /* as for reading */
  int32_t lossless;
  int32_t prune_zeros;    /* sparse to sparse: leave out explicit zeros */
  int32_t where_possible; /* a tensor that cannot have the layout keeps its own */
  int32_t sync; /* wait until the output is on the disk, so that it survives a power cut */
  uint32_t jobs;
  const char* format; /* "btf", "npy", ...; NULL: by the extension of the output */
  int32_t shuffle;    /* store the bytes of elements apart, as convert --shuffle does */
} btf_convert_options;

/* Writes a file: BTF, unless its name ends in .npy, .npz, ... The output holds its old content or
 * the whole new content, whatever happens, and may be the input. `bytes` receives its size and
 * `loss` the losses of all tensors; both may be NULL. Errors are recorded in the input's handle. */
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
  const int64_t* strides; /* in elements; 0 repeats an element; NULL: by `layout` */
  const char* layout;     /* of the memory; NULL: kLINEAR. Not together with strides */
} btf_array;

typedef struct btf_write_options {
  size_t size;
  const char* dtype;  /* in the file; NULL: as in memory */
  const char* layout; /* in the file; NULL: that of the memory, or kLINEAR if it has strides */
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

/* The elements are read by btf_writer_save() and must stay valid until it returns. */
BTF_C_API btf_status btf_writer_add(btf_writer* writer, const btf_array* array,
                                    const btf_write_options* options);

/* The same for a const DLTensor*. Lanes become an additional last dim. */
BTF_C_API btf_status btf_writer_add_dlpack(btf_writer* writer, const void* dl_tensor,
                                           const btf_write_options* options);

/* Writes all tensors that were added, in this order, in the format that the options or the
 * extension of the output give. The file holds its old content or the whole new content. .npy and
 * raw hold one tensor. */
BTF_C_API btf_status btf_writer_save(btf_writer* writer, const char* output,
                                     const btf_save_options* options, uint64_t* bytes);

/* ---- Comparing ---- */

/* A limit on a figure of a whole tensor. This structure does not grow. */
typedef struct btf_gate {
  const char* name; /* "cosine", "psnr", "snr": at least; "rmse", "mae", "bias", "max-abs": at most;
                       "max-mismatch", "max-mismatch-percent": refused pairs, at most; "quantile":
                       of the errors, at most; "top-k": the k largest of each row are the same */
  double limit;     /* k of "top-k" */
  double q;         /* of "quantile": 0 to 1 */
} btf_gate;

/* The numbers that codes stand for: (code - zero point) * scale. */
typedef struct btf_scale {
  size_t size;
  uint64_t axis; /* the dim with one scale for each index; ignored if there is one scale */
  size_t count;
  const double* scales;
  const int64_t* zero_points; /* one for each scale; NULL: all 0 */
} btf_scale;

#define BTF_SAME 0
#define BTF_DIFFERENT 1
#define BTF_SHAPE 2   /* different dims: a difference */
#define BTF_MISSING 3 /* on one side only: a difference */
#define BTF_TROUBLE 4 /* cannot be compared, see `go_on` */

typedef struct btf_figure { /* does not grow */
  const char* name;
  double value;
} btf_figure;

typedef struct btf_criterion { /* does not grow */
  const char* name;            /* "elements", or the name of a gate */
  const char* text;            /* "cosine 0.97 is below 0.99" */
  int32_t passed;
} btf_criterion;

typedef struct btf_hint { /* does not grow */
  const char* cause;      /* "layout", "scale", ... (docs/hints.md) */
  const char* evidence;
} btf_hint;

/* A pair of tensors. Pointers are valid during the call that receives it. */
typedef struct btf_tensor_diff {
  size_t size;
  uint64_t actual; /* numbers in their files; BTF_NONE if this side is missing */
  uint64_t golden;
  const char* actual_name; /* "" for a tensor in memory */
  const char* golden_name;
  int32_t result;      /* BTF_SAME to BTF_TROUBLE */
  const char* reason;  /* why they differ, if not by values, or the trouble; else "" */
  uint64_t compared;   /* elements */
  uint64_t mismatched; /* refused by the tolerance */
  double max_abs;      /* this and the next two: over pairs of finite numbers */
  double max_rel;
  uint64_t max_ulp; /* steps of the coarser dtype */
  uint64_t nan_both;
  uint64_t nan_actual; /* in actual only */
  uint64_t nan_golden;
  uint64_t inf_both;     /* of the same sign */
  uint64_t inf_opposite; /* of opposite signs */
  uint64_t inf_actual;
  uint64_t inf_golden;
  double required_atol; /* the least that alone would accept everything; NaN if none would */
  double required_rtol;
  const uint64_t* worst; /* index of the largest absolute error; NULL if nothing mismatched */
  uint64_t worst_rank;
  double worst_actual; /* the values there */
  double worst_golden;
  const btf_figure* figures; /* if requested by `figures` or a gate */
  size_t figure_count;
  const btf_criterion* criteria;
  size_t criterion_count;
  const btf_hint* hints; /* if requested; the best first */
  size_t hint_count;
  const char* actual_file; /* paths if sets are compared; else "" */
  const char* golden_file;
} btf_tensor_diff;

typedef void (*btf_diff_report)(void* user, const btf_tensor_diff* diff);

typedef struct btf_diff_options {
  size_t size;
  double rtol; /* |actual - golden| <= atol + rtol * |golden| */
  double atol;
  int32_t nan_differs;            /* NaN is not equal to NaN */
  int32_t strict;                 /* a different dtype or layout is a difference too */
  const uint64_t* actual_tensors; /* files: numbers, paired in this order; NULL: all */
  size_t actual_count;
  const uint64_t* golden_tensors;
  size_t golden_count;
  uint32_t jobs;
  const char* close_as;  /* with `close`: treats floats as numbers of this dtype */
  uint64_t ulp;          /* accept this many steps of the coarser dtype; 0: not used */
  const btf_gate* gates; /* without a tolerance, the gates alone decide */
  size_t gate_count;
  const char* pair_by;     /* files: "auto", "name", "number", "exact" */
  const char* map;         /* files: lines of ACTUAL<tab>GOLDEN or /REGEX/REPLACEMENT/ */
  const uint32_t* permute; /* compares dim permute[d] of actual as dim d */
  size_t permute_count;
  const btf_scale* actual_scale; /* files: for all codes of this side */
  const btf_scale* golden_scale;
  int32_t close;          /* rtol and atol, if not given, are half a step of the coarser dtype */
  int32_t squeeze;        /* drop the dims of 1 on both sides */
  int32_t reshape_actual; /* give actual golden's dims if both have the same number of elements */
  int32_t dequantize; /* files: compare codes as numbers, by the scales that are stored with them */
  int32_t figures;    /* figures of tensors that are the same, too */
  int32_t hints;      /* look for causes */
  int32_t go_on;      /* files: a pair that cannot be compared is BTF_TROUBLE, not an error */
  int32_t reserved;
  btf_diff_report report; /* called for every pair, in order, on this thread; may be NULL */
  void* user;             /* its first argument */
} btf_diff_options;

typedef struct btf_diff_result {
  size_t size;
  int32_t same;        /* 1 or 0 */
  uint64_t tensors;    /* pairs */
  uint64_t different;  /* pairs that differ */
  uint64_t first;      /* number of the first pair that differs */
  const char* reason;  /* why that one differs, if not by values; else "". Valid until the next call
                          with the handle */
  uint64_t compared;   /* elements */
  uint64_t mismatched; /* elements refused by the tolerance */
  double max_abs;      /* largest error of two finite numbers, over all pairs */
  double max_rel;
  uint64_t max_ulp;
} btf_diff_result;

/* A difference is no error: see `same`. Errors are recorded in the handle of `actual`. */
BTF_C_API btf_status btf_diff(btf_file* actual, btf_file* golden, const btf_diff_options* options,
                              btf_diff_result* result);

/* Compares two tensors in memory, of any dtypes and strides. `reason` is valid until this thread
 * calls this function again. */
BTF_C_API btf_status btf_diff_arrays(const btf_array* actual, const btf_array* golden,
                                     const btf_diff_options* options, btf_diff_result* result);

/* ---- Comparing sets ---- */

/* The tolerance for tensors whose name, on either side, a glob matches; if several match, the last
 * one applies. 0: as for all tensors. This structure does not grow. */
typedef struct btf_tensor_tolerance {
  const char* glob;
  double rtol;
  double atol;
  uint64_t ulp;
} btf_tensor_tolerance;

/* A pair of files. Pointers are valid during the call that receives it. */
typedef struct btf_file_diff {
  size_t size;
  const char* name;   /* actual's path, or the path below both directories */
  const char* actual; /* paths; "" if there is no such file (BTF_MISSING) */
  const char* golden;
  int32_t result;     /* BTF_SAME, BTF_DIFFERENT, BTF_MISSING, BTF_TROUBLE */
  const char* reason; /* the trouble, or how files without tensors differ; else "" */
} btf_file_diff;

typedef void (*btf_file_report)(void* user, const btf_file_diff* pair);
typedef void (*btf_warning)(void* user, const char* text);

typedef struct btf_set_diff_options {
  size_t size;
  const char* tensors; /* a selection, as for btf_set_select(); numbers count within each file */
  const char* const* pairs;   /* "0:3", "conv1:fc": a tensor of actual and its partner in golden */
  size_t pair_count;          /* 0: all pairs that are found */
  const char* const* include; /* globs for paths or names of files, in sets of several files */
  size_t include_count;
  const char* const* exclude;
  size_t exclude_count;
  const btf_tensor_tolerance* tolerances; /* for single tensors */
  size_t tolerance_count;
  const char* formats;  /* formats of the report: "text,json"; NULL: "text" */
  uint64_t show;        /* first and largest mismatches in reports; 0: 5 of each */
  btf_file_report file; /* called after the tensors of each pair of files; may be NULL */
  btf_warning warning;  /* called if a glob or a line of the map matches nothing; may be NULL */
  void* user;           /* first argument of both */
} btf_set_diff_options;

typedef struct btf_set_diff_result {
  size_t size;
  int32_t same;             /* 1 if all pairs are the same and there was no trouble */
  uint64_t files;           /* pairs */
  uint64_t different_files; /* including files on one side only */
  uint64_t troubled_files;  /* including files with a tensor that could not be compared */
  uint64_t tensors;         /* pairs that were compared */
  uint64_t different;       /* pairs of tensors that differ */
  uint64_t troubled;        /* pairs of tensors that could not be compared */
  uint64_t compared;        /* elements */
} btf_set_diff_result;

/* The result of comparing two sets. It is kept as a whole, so it takes memory for every tensor. */
typedef struct btf_report btf_report;

/* Pairs files by path and name, tensors by name, and compares them. Small pairs are compared in
 * parallel; `report` of `options` is called for every pair of tensors, in order, on this thread. A
 * pair that cannot be read or compared is BTF_TROUBLE, and the others are compared; if the sets are
 * two files, it is an error. Differences are no error. `report`, which may be NULL, receives the
 * handle for btf_report_text(). Errors are recorded in the handle of `actual`; there is no report
 * then. */
BTF_C_API btf_status btf_diff_sets(btf_set* actual, btf_set* golden,
                                   const btf_diff_options* options,
                                   const btf_set_diff_options* sets, btf_set_diff_result* result,
                                   btf_report** report);
BTF_C_API void btf_report_free(btf_report* report); /* NULL does nothing */
BTF_C_API const char* btf_report_error(const btf_report* report);

typedef struct btf_text_options {
  size_t size;
  int32_t all;      /* every tensor in full, every layer */
  int32_t color;    /* colours, by escape sequences of terminals */
  uint32_t columns; /* 0: 80 */
} btf_text_options;

/* The report as btftool prints it, in one of `formats`: "text", "summary" (a line for each pair of
 * files), "json", "junit", "html". Where btftool names one of its options, the text has the member
 * of the options in backticks. Valid until the next call with the report; NULL: see
 * btf_report_error(). */
BTF_C_API const char* btf_report_text(btf_report* report, const char* format,
                                      const btf_text_options* options);

/* ---- Looking into tensors and files ---- */

/* Over all elements, including those that a sparse tensor does not store. */
typedef struct btf_tensor_stats {
  size_t size;
  uint64_t elements;
  uint64_t finite;
  uint64_t nan;
  uint64_t positive_inf;
  uint64_t negative_inf;
  uint64_t zeros;      /* of either sign */
  uint64_t subnormals; /* of the tensor's dtype */
  double min;          /* this and the next three: over finite elements; NaN if there are none */
  double max;
  double mean;
  double std; /* of the population */
} btf_tensor_stats;

/* Reads the whole tensor. */
BTF_C_API btf_status btf_stats(btf_file* file, uint64_t index, uint32_t jobs,
                               btf_tensor_stats* stats);

/* Pointers are valid during the call that receives it. */
typedef struct btf_finding {
  size_t size;
  int32_t error;    /* 1: an error; 0: a warning, with which this library can read the file */
  const char* code; /* "data-past-end" (docs/format.md, docs/formats.md) */
  const char* message;
  uint64_t tensor; /* BTF_NONE if it concerns the file as a whole */
  uint64_t offset; /* bytes from the start of the file */
} btf_finding;

typedef void (*btf_finding_report)(void* user, const btf_finding* finding);

typedef struct btf_validate_options {
  size_t size;
  int32_t finite;        /* NaN and Inf among the elements are errors */
  const char* recipient; /* "tfrt": an error for everything that this program cannot read */
  uint32_t jobs;
} btf_validate_options;

/* Reads the whole file. Findings do not make the call fail: `errors`, which may be NULL, receives
 * the number of findings that are errors. `report` may be NULL. */
BTF_C_API btf_status btf_validate(const char* path, const btf_validate_options* options,
                                  btf_finding_report report, void* user, uint64_t* errors);

/* ---- Layers: which one broke first ---- */

typedef struct btf_layers btf_layers;

typedef struct btf_layers_options {
  size_t size;
  const char* order;   /* text: golden's names in the order of execution, one per line */
  const char* graph;   /* path of an ONNX model */
  const char* map;     /* as in btf_diff_options */
  const char* compute; /* dtype that actual was computed in */
  double growth;       /* by how much a healthy layer may amplify an error; 0: 2 */
  double limit;        /* a layer is at fault if error / noise exceeds this; 0: 2 */
  double max_error;    /* largest relative error of outputs; 0: 0.5 */
  int32_t isolated;    /* each layer of actual was run on golden's inputs */
  int32_t require_all; /* fail if a tensor has no partner */
  int32_t no_hints;    /* do not look for causes */
  int32_t dequantize;
  const btf_scale* actual_scale;
  const btf_scale* golden_scale;
  uint32_t jobs;
} btf_layers_options;

/* `baseline` is a correct run in the device's precision, and `expected` the outputs of a run
 * without dumps; both may be NULL. Returns NULL on errors: see btf_last_error(). */
BTF_C_API btf_layers* btf_layers_compare(btf_set* actual, btf_set* golden, btf_set* baseline,
                                         btf_set* expected, const btf_layers_options* options);
BTF_C_API void btf_layers_free(btf_layers* layers); /* NULL does nothing */
BTF_C_API const char* btf_layers_error(const btf_layers* layers);

/* Pointers, here and in btf_layer_info, are valid until btf_layers_free(). */
typedef struct btf_layers_verdict {
  size_t size;
  int32_t well;      /* 1 if `btftool layers` would exit with 0 */
  const char* kind;  /* "clean", "broke", "inputs", "dump-wrong", "drift", "amplified", "missing",
                        "cannot-tell" */
  const char* words; /* a sentence */
  uint64_t layer;    /* the layer to look at, for btf_layer(); BTF_NONE if there is none */
  const char* order; /* where the order comes from: "graph", "natural", ... */
  uint64_t layers;
  uint64_t paired;
} btf_layers_verdict;

BTF_C_API btf_status btf_layers_result(btf_layers* layers, btf_layers_verdict* verdict);

/* Errors are relative to golden's norm; NaN if nothing was measured. */
typedef struct btf_layer_info {
  size_t size;
  const char* actual_name; /* "" if this side lacks the layer */
  const char* golden_name;
  const char* op;      /* operator of the graph's node, or "" */
  const char* state;   /* "healthy", "root", "dump", "unjudged", "missing", "unmeasured" */
  const char* fault;   /* "none", "born", "shape", "error", "local", "gain", "offset" */
  const char* note;    /* why it is not judged or measured, and anomalies; else "" */
  uint64_t pairs;      /* of finite numbers */
  uint64_t equal;      /* equal pairs of finite numbers */
  uint64_t nonfinite;  /* NaN and Inf on one side only */
  double error;        /* norm(actual - golden) / norm(golden) */
  double slice_error;  /* the largest error of a slice: of a channel, or of a part of the tensor */
  double max_error;    /* largest |actual - golden|, absolute */
  double gain_share;   /* |cos(error, golden)|: 1 if the error is a wrong scale alone */
  double offset_share; /* |mean(error)| / rms(error): 1 if it is a wrong offset alone */
  double gain;         /* of the best fit actual = gain * golden */
  double input_error;  /* relative error of the layer's inputs */
  double noise;        /* relative error that inputs and dtype explain */
  double error_to_noise; /* error / noise */
  double slice_error_to_noise;
  const btf_hint* hints;
  size_t hint_count;
} btf_layer_info;

/* Layers are in the order of execution; those without a position come last. */
BTF_C_API btf_status btf_layer(btf_layers* layers, uint64_t index, btf_layer_info* info);

/* The report as `btftool layers` prints it: "text", "json", "junit", "html", as for
 * btf_report_text(). Valid until the next call of this function; NULL: see btf_layers_error(). */
BTF_C_API const char* btf_layers_text(btf_layers* layers, const char* format,
                                      const btf_text_options* options);

#ifdef __cplusplus
}
#endif

#endif
