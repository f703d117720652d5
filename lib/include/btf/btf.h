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

/* "1.0.0" */
BTF_C_API const char* btf_version(void);

/* "malformed"; never NULL. */
BTF_C_API const char* btf_status_name(btf_status status);

/* Of the last call of this thread that failed. Valid until this thread's next one; never NULL. */
BTF_C_API const char* btf_last_error(void);

/* A number that is not there: no tensor, no dim. */
#define BTF_NONE UINT64_MAX

typedef struct btf_error {
  size_t size;
  btf_status status;
  int32_t system;      /* errno, where the system refused; else 0 */
  const char* message; /* that of btf_last_error() */
  const char* file;    /* ""; where one is to blame */
  const char* finding; /* ""; BTF_MALFORMED: the code that btf_validate() has for it */
  uint64_t tensor;     /* its number in the file; or BTF_NONE */
  uint64_t offset;     /* BTF_MALFORMED: byte of the file */
} btf_error;

/* The same error as a structure; before any BTF_OK. Pointers are valid as long as the text is. */
BTF_C_API btf_status btf_last_error_info(btf_error* error);

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

/* The tensor's own name, else the one made of its file's. NULL: see btf_file_error(). */
BTF_C_API const char* btf_name(btf_file* file, uint64_t index);

/* The tensor of that name; an error if there is none, or more than one. */
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
  const char* layout;     /* NULL: the tensor's own; of a sparse tensor kLINEAR */
  const char* overflow;   /* "saturate", "ieee", "wrap", "error" */
  const char* rounding;   /* "nearest", "zero", "up", "down" */
  const char* duplicates; /* sparse: "error", "sum", "first", "last" */
  int32_t lossless;       /* fail when any value would change */
  uint32_t jobs;          /* threads; 0: as many as there are CPUs */
  /* A box: of each logical dim the indices begin, begin + step, ... below end. `region_rank` is the
   * tensor's rank, or 0 for the whole tensor. NULL: begin 0, end the dim's size, step 1. The result
   * has the dims ceil((end - begin) / step), and little more than its elements is read. */
  size_t region_rank;
  const uint64_t* begin;
  const uint64_t* end;
  const uint64_t* step;
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

/* ---- Sets ---- */

/* Tensors in order, whatever they are stored in: a file, a directory with all that is below it, the
 * files that an index names, several of these. Members are its files. */
typedef struct btf_set btf_set;

/* At least one path. NULL: see btf_last_error(). */
BTF_C_API btf_set* btf_set_open(const char* const* paths, size_t count);
BTF_C_API void btf_set_close(btf_set* set); /* NULL does nothing */
BTF_C_API const char* btf_set_error(const btf_set* set);

BTF_C_API uint64_t btf_set_member_count(const btf_set* set); /* 0 for NULL */

/* Pointers are valid until the set is closed. */
typedef struct btf_member_info {
  size_t size;
  const char* path;  /* to open it by */
  const char* place; /* below the directory that it was found in, or the index's; else its path */
  uint64_t bytes;    /* of the file as it is now; 0: not known */
} btf_member_info;

BTF_C_API btf_status btf_set_member(btf_set* set, uint64_t member, btf_member_info* info);

/* The member, opened as the set has it; for btf_close(). It is for the set's thread. NULL: see
 * btf_set_error(). */
BTF_C_API btf_file* btf_set_file(btf_set* set, uint64_t member);

/* Numbers of tensors go through all members. These open every member once, and fail if one cannot
 * be opened. */
BTF_C_API btf_status btf_set_tensor_count(btf_set* set, uint64_t* count);
BTF_C_API btf_status btf_set_tensor(btf_set* set, uint64_t number, uint64_t* member,
                                    uint64_t* index);

/* Numbers of the tensors that a selection names, in its order: "conv1", "conv*,!fc", "0,2-5,-1",
 * "@17" for a name that looks like a number. `count` is how many there are, of which `capacity` at
 * most are written to `numbers`. */
BTF_C_API btf_status btf_set_select(btf_set* set, const char* selection, uint64_t* numbers,
                                    size_t capacity, uint64_t* count);

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

/* A limit on a figure of a whole tensor; structures of this kind do not grow. */
typedef struct btf_gate {
  const char* name; /* "cosine", "psnr", "snr": at least; "rmse", "mae", "bias", "max-abs": at most;
                       "max-mismatch", "max-mismatch-percent": refused pairs at most; "quantile": of
                       the errors, at most; "top-k": the k largest of each row are the same */
  double limit;     /* k of "top-k" */
  double q;         /* of "quantile": 0 to 1 */
} btf_gate;

/* What codes stand for: (code - zero point) * scale. */
typedef struct btf_scale {
  size_t size;
  uint64_t axis; /* the dim whose indices have a scale each; of no interest for one scale */
  size_t count;
  const double* scales;
  const int64_t* zero_points; /* as many; NULL: 0 */
} btf_scale;

#define BTF_SAME 0
#define BTF_DIFFERENT 1
#define BTF_SHAPE 2   /* other dims: a difference */
#define BTF_MISSING 3 /* on one side only: a difference */
#define BTF_TROUBLE 4 /* it cannot be compared, see `go_on` */

typedef struct btf_figure { /* does not grow */
  const char* name;
  double value;
} btf_figure;

typedef struct btf_criterion { /* does not grow */
  const char* name;            /* "elements", or that of a gate */
  const char* text;            /* "cosine 0.97 is below 0.99" */
  int32_t passed;
} btf_criterion;

typedef struct btf_hint { /* does not grow */
  const char* cause;      /* "layout", "scale", ... (docs/hints.md) */
  const char* evidence;
} btf_hint;

/* One pair of tensors. Pointers are valid during the call that hands it out. */
typedef struct btf_tensor_diff {
  size_t size;
  uint64_t actual; /* numbers in their files; BTF_NONE: BTF_MISSING there */
  uint64_t golden;
  const char* actual_name; /* "": in memory */
  const char* golden_name;
  int32_t result;      /* BTF_SAME to BTF_TROUBLE */
  const char* reason;  /* of a difference that is not one of values, or of trouble; else "" */
  uint64_t compared;   /* elements */
  uint64_t mismatched; /* refused by the tolerance */
  double max_abs;      /* over pairs of finite numbers, as the next two */
  double max_rel;
  uint64_t max_ulp; /* steps of the coarser dtype */
  uint64_t nan_both;
  uint64_t nan_actual; /* in actual only */
  uint64_t nan_golden;
  uint64_t inf_both;     /* of one sign */
  uint64_t inf_opposite; /* of opposite signs */
  uint64_t inf_actual;
  uint64_t inf_golden;
  double required_atol; /* the least alone that would accept everything; NaN: none would */
  double required_rtol;
  const uint64_t* worst; /* index of the largest absolute error; NULL: nothing mismatched */
  uint64_t worst_rank;
  double worst_actual; /* the values there */
  double worst_golden;
  const btf_figure* figures; /* if asked for, by `figures` or a gate */
  size_t figure_count;
  const btf_criterion* criteria;
  size_t criterion_count;
  const btf_hint* hints; /* if asked for; the best first */
  size_t hint_count;
  const char* actual_file; /* paths, where sets are compared; else "" */
  const char* golden_file;
} btf_tensor_diff;

typedef void (*btf_diff_report)(void* user, const btf_tensor_diff* diff);

typedef struct btf_diff_options {
  size_t size;
  double rtol; /* |actual - golden| <= atol + rtol * |golden| */
  double atol;
  int32_t nan_differs;            /* NaN is not equal to NaN */
  int32_t strict;                 /* another dtype or layout is a difference too */
  const uint64_t* actual_tensors; /* paired in order; NULL: all. For files */
  size_t actual_count;
  const uint64_t* golden_tensors;
  size_t golden_count;
  uint32_t jobs;
  const char* close_as;  /* with `close`: floats are numbers of this dtype */
  uint64_t ulp;          /* so many steps of the coarser dtype; 0: not asked for */
  const btf_gate* gates; /* without a tolerance they stand for it */
  size_t gate_count;
  const char* pair_by;     /* files: "automatic", "name", "number", "exact" */
  const char* map;         /* files: lines of ACTUAL<tab>GOLDEN or /REGEX/REPLACEMENT/ */
  const uint32_t* permute; /* dim d of what is compared is dim permute[d] of actual */
  size_t permute_count;
  const btf_scale* actual_scale; /* files: of all that are codes */
  const btf_scale* golden_scale;
  int32_t close;          /* rtol and atol, if not given, are half a step of the coarser dtype */
  int32_t squeeze;        /* both sides without their dims of 1 */
  int32_t reshape_actual; /* actual with golden's dims, if its elements are as many */
  int32_t dequantize;     /* files: codes by the scales that stand with them */
  int32_t figures;        /* of tensors that are the same, too */
  int32_t hints;          /* look for causes */
  int32_t go_on;          /* files: a pair that cannot be compared is BTF_TROUBLE, no error */
  int32_t reserved;
  btf_diff_report report; /* called for every pair, in order, by this thread; may be NULL */
  void* user;             /* its first argument */
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
  uint64_t max_ulp;
} btf_diff_result;

/* Finding differences is no error: see `same`. An error is on the handle of `actual`. */
BTF_C_API btf_status btf_diff(btf_file* actual, btf_file* golden, const btf_diff_options* options,
                              btf_diff_result* result);

/* Two tensors in memory, of any dtypes and strides. `reason` is valid until this thread's next
 * call of it. */
BTF_C_API btf_status btf_diff_arrays(const btf_array* actual, const btf_array* golden,
                                     const btf_diff_options* options, btf_diff_result* result);

/* ---- Comparing sets ---- */

/* Of the tensors whose name a glob matches, on either side; of several that match, the last counts.
 * 0: as for all. Does not grow. */
typedef struct btf_tensor_tolerance {
  const char* glob;
  double rtol;
  double atol;
  uint64_t ulp;
} btf_tensor_tolerance;

/* A pair of files. Pointers are valid during the call that hands it out. */
typedef struct btf_file_diff {
  size_t size;
  const char* name;   /* actual's path, or the path below both directories */
  const char* actual; /* paths; "": there is no such file, which is BTF_MISSING */
  const char* golden;
  int32_t result;     /* BTF_SAME, BTF_DIFFERENT, BTF_MISSING, BTF_TROUBLE */
  const char* reason; /* of trouble, and of files beside the tensors that differ; else "" */
} btf_file_diff;

typedef void (*btf_file_report)(void* user, const btf_file_diff* pair);
typedef void (*btf_warning)(void* user, const char* text);

typedef struct btf_set_diff_options {
  size_t size;
  const char* tensors;        /* a selection, as btf_set_select()'s; numbers are of each file */
  const char* const* pairs;   /* "0:3", "conv1:fc": a tensor of actual with one of golden */
  size_t pair_count;          /* 0: all that are pairs */
  const char* const* include; /* globs of files by path or name, of sets of several */
  size_t include_count;
  const char* const* exclude;
  size_t exclude_count;
  const btf_tensor_tolerance* tolerances; /* of single tensors */
  size_t tolerance_count;
  const char* formats;  /* those that the report is wanted in, "text,json"; NULL: "text" */
  uint64_t show;        /* first and largest mismatches in reports; 0: 5 of each */
  btf_file_report file; /* called behind the tensors of each pair of files; may be NULL */
  btf_warning warning;  /* a glob or a line of the map that has no use; may be NULL */
  void* user;           /* the first argument of both */
} btf_set_diff_options;

typedef struct btf_set_diff_result {
  size_t size;
  int32_t same;             /* 1: everything, and nothing was trouble */
  uint64_t files;           /* pairs */
  uint64_t different_files; /* of them, with those on one side only */
  uint64_t troubled_files;  /* likewise, with those of which a tensor could not be compared */
  uint64_t tensors;         /* pairs that were compared */
  uint64_t different;       /* of them */
  uint64_t troubled;        /* pairs that could not be compared */
  uint64_t compared;        /* elements */
} btf_set_diff_result;

/* A comparison of two sets, kept whole: it takes memory for every tensor. */
typedef struct btf_report btf_report;

/* Files by path and name, tensors by name. Small pairs are compared at the same time; `report` of
 * `options` is called for every pair of tensors, in order, by this thread. A pair that cannot be
 * read or compared is BTF_TROUBLE, and the others are compared; of two files it is an error.
 * Differences are no error. `report`, which may be NULL: for btf_report_text(). An error is on the
 * handle of `actual`, and there is no report then. */
BTF_C_API btf_status btf_diff_sets(btf_set* actual, btf_set* golden,
                                   const btf_diff_options* options,
                                   const btf_set_diff_options* sets, btf_set_diff_result* result,
                                   btf_report** report);
BTF_C_API void btf_report_free(btf_report* report); /* NULL does nothing */
BTF_C_API const char* btf_report_error(const btf_report* report);

typedef struct btf_text_options {
  size_t size;
  int32_t all;      /* every tensor in full, every layer */
  int32_t color;    /* escape sequences of a terminal */
  uint32_t columns; /* 0: 80 */
} btf_text_options;

/* The words of btftool, in a format of `formats`: "text", "summary" (a line for each pair of
 * files), "json", "junit", "html". Where btftool names one of its options, members of options stand
 * in backticks. Valid until the report's next call; NULL: see btf_report_error(). */
BTF_C_API const char* btf_report_text(btf_report* report, const char* format,
                                      const btf_text_options* options);

/* ---- Looking into tensors and files ---- */

/* Over all elements; those that a sparse tensor does not store count too. */
typedef struct btf_tensor_stats {
  size_t size;
  uint64_t elements;
  uint64_t finite;
  uint64_t nan;
  uint64_t positive_inf;
  uint64_t negative_inf;
  uint64_t zeros;      /* of either sign */
  uint64_t subnormals; /* of the tensor's dtype */
  double min;          /* over finite elements, as the next three; NaN if there are none */
  double max;
  double mean;
  double std; /* of the population */
} btf_tensor_stats;

/* Reads the whole tensor. */
BTF_C_API btf_status btf_stats(btf_file* file, uint64_t index, uint32_t jobs,
                               btf_tensor_stats* stats);

/* Pointers are valid during the call that hands it out. */
typedef struct btf_finding {
  size_t size;
  int32_t error;    /* 1: an error; 0: a warning, which every reader of this library copes with */
  const char* code; /* "data-past-end" (docs/format.md, docs/formats.md) */
  const char* message;
  uint64_t tensor; /* BTF_NONE: the file as a whole */
  uint64_t offset; /* bytes from the start of the file */
} btf_finding;

typedef void (*btf_finding_report)(void* user, const btf_finding* finding);

typedef struct btf_validate_options {
  size_t size;
  int32_t finite;        /* NaN and Inf among the elements are errors */
  const char* recipient; /* "tfrt": what it does not take is an error */
  uint32_t jobs;
} btf_validate_options;

/* Reads the whole file. Findings are no error of the call: `errors`, which may be NULL, counts
 * those that are errors of the file. `report` may be NULL. */
BTF_C_API btf_status btf_validate(const char* path, const btf_validate_options* options,
                                  btf_finding_report report, void* user, uint64_t* errors);

/* ---- Layers: which one broke first ---- */

typedef struct btf_layers btf_layers;

typedef struct btf_layers_options {
  size_t size;
  const char* order;   /* text: golden's names in the order of execution, one a line */
  const char* graph;   /* path of an ONNX model */
  const char* map;     /* as btf_diff_options' */
  const char* compute; /* dtype that actual was computed in */
  double growth;       /* an error may grow so much in one layer; 0: 2 */
  double limit;        /* error / noise of a fault; 0: 2 */
  double max_error;    /* of outputs, relative; 0: 0.5 */
  int32_t isolated;    /* each layer of actual was given golden's inputs */
  int32_t require_all; /* a tensor that one side lacks is a failure */
  int32_t no_hints;    /* do not look for causes */
  int32_t dequantize;
  const btf_scale* actual_scale;
  const btf_scale* golden_scale;
  uint32_t jobs;
} btf_layers_options;

/* `baseline`, a correct run in the device's precision, and `expected`, outputs of a run without
 * dumps, may be NULL. NULL: see btf_last_error(). */
BTF_C_API btf_layers* btf_layers_compare(btf_set* actual, btf_set* golden, btf_set* baseline,
                                         btf_set* expected, const btf_layers_options* options);
BTF_C_API void btf_layers_free(btf_layers* layers); /* NULL does nothing */
BTF_C_API const char* btf_layers_error(const btf_layers* layers);

/* Pointers belong to the layers, here and in btf_layer_info. */
typedef struct btf_layers_verdict {
  size_t size;
  int32_t well;      /* 1: all is well, what `btftool layers` exits with 0 for */
  const char* kind;  /* "clean", "broke", "inputs", "dump-wrong", "drift", "amplified", "missing",
                        "cannot-tell" */
  const char* words; /* a sentence */
  uint64_t layer;    /* the one to look at, for btf_layer(); BTF_NONE: none */
  const char* order; /* where the order comes from: "graph", "natural", ... */
  uint64_t layers;
  uint64_t paired;
} btf_layers_verdict;

BTF_C_API btf_status btf_layers_result(btf_layers* layers, btf_layers_verdict* verdict);

/* Errors are relative to golden's norm; NaN where nothing was measured. */
typedef struct btf_layer_info {
  size_t size;
  const char* actual_name; /* "": that side has none */
  const char* golden_name;
  const char* op;        /* of the graph's node; "" */
  const char* state;     /* "healthy", "root", "dump", "unjudged", "missing", "unmeasured" */
  const char* fault;     /* "none", "born", "shape", "error", "local", "gain", "offset" */
  const char* note;      /* why it is not judged or measured, what is odd; "" */
  uint64_t pairs;        /* of finite numbers */
  uint64_t equal;        /* of these */
  uint64_t nonfinite;    /* NaN and Inf of one side only */
  double error;          /* norm(actual - golden) / norm(golden) */
  double slice_error;    /* the largest of a slice of channels or a part of the tensor */
  double max_error;      /* largest |actual - golden|, absolute */
  double gain_share;     /* 1 where only a scale is off: |cos(error, golden)| */
  double offset_share;   /* 1 where only an offset is: |mean(error)| / rms(error) */
  double gain;           /* of the line that fits best: actual = gain * golden */
  double input_error;    /* of the layer's inputs */
  double noise;          /* what inputs and dtype explain */
  double error_to_noise; /* error / noise */
  double slice_error_to_noise;
  const btf_hint* hints;
  size_t hint_count;
} btf_layer_info;

/* In the order of execution; those without a place behind the others. */
BTF_C_API btf_status btf_layer(btf_layers* layers, uint64_t index, btf_layer_info* info);

/* The words of `btftool layers`, as btf_report_text() has those of a comparison: "text", "json",
 * "junit", "html". Valid until the next call of this function; NULL: see btf_layers_error(). */
BTF_C_API const char* btf_layers_text(btf_layers* layers, const char* format,
                                      const btf_text_options* options);

#ifdef __cplusplus
}
#endif

#endif
