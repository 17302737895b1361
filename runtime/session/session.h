/* The device of a program that runs on the emulator: opened at the first call, reported when the
 * program ends. One call at a time: every entry of the libraries takes session_lock().
 *
 *   image    what one fat binary, or one module file, holds     kernel   a function of it
 *   launch   one row of the report                               sums     what instructions did */
#pragma once

#include "fatbin.h"
#include "l2.h"
#include "repeat.h"
#include "settings.h"
#include "stale.h"

#include "emulator/emulator.h"
#include "profiler/occupancy.h"

#include <pthread.h>

struct image {
    struct fatbin_ptx ptx;
    struct emu_module *module; /* NULL: not loaded yet */
    char *why;                 /* not NULL: it cannot be, and this is why */
    struct image *next;
};

struct session_sums { /* over the instructions of a kernel */
    double executed, threads;
    double sectors, sectors_ideal;       /* of global memory, 32 bytes */
    double wavefronts, wavefronts_ideal; /* of shared memory */
    double tensor;                       /* tensor instructions, in SASS terms */
};

struct launch {
    unsigned grid[3], block[3], cluster[3], shared_bytes; /* dynamic */
    struct session_sums sums;                             /* of machine code */
    struct session_sums ptx;                              /* on the emulator: of PTX */
    bool of_ptx;    /* machine code was not counted (compiled.h): `sums` are those of PTX */
    double seconds; /* that the emulator took; 0: it was not run, but is like an earlier one.
                       On a GPU: that it took; 0: it was not counted */
    uint64_t key;   /* for --repeats: equal launches have equal ones */
    int predicted;  /* predictions.h: the number of its prediction */
    int number;     /* among all launches of the program, from 0 */
    double cycles;  /* that a GPU took (CUPTI), in `seconds` */
};

struct kernel {
    struct kernel *next; /* in the order of first use */
    struct image *image;
    char *name, *shown;            /* symbol; as C++ calls it */
    const struct emu_kernel *code; /* NULL: it runs on a GPU */
    struct gpu_kernel *gpu;        /* then what is known of it: gpu.c */
    int static_shared;
    int n_registers;             /* -1: not known */
    int max_dynamic_shared;      /* what the program asked for, else -1 */
    bool refused;                /* it was said */
    bool non_portable_cluster;   /* more than 8 blocks in a cluster were allowed */
    struct emu_result *result;   /* NULL: it runs on a GPU */
    struct emu_result *unchosen; /* of launches that session_chooses() leaves out; NULL: none yet */
    struct session_sums total;
    int n_launches, capacity;
    struct launch *launch;
    struct kernel_predictions *predictions; /* predictions.c's own; NULL: never launched */
    struct compiled *compiled;              /* compiled.h's own; NULL: never launched */
};

/* Groups of a record, if none are named. */
#define SESSION_GROUPS "TENSOR,SHARED,OCCUPANCY,MEMORY,MIX,CYCLES,STALL"

/* Why a launch with a bad address has neither counts of SASS nor a prediction: its report has said more. */
#define SESSION_FAILED "the launch failed a check of the emulator"

/* What became of a launch, as CUDA's codes see it. */
enum fault {
    FAULT_NONE,
    FAULT_CONFIG,    /* grid or block that no device takes */
    FAULT_VALUE,     /* shared memory, cluster, launch bounds */
    FAULT_ADDRESS,   /* global memory out of bounds */
    FAULT_ALIGNMENT, /* misaligned */
    FAULT_LAUNCH,    /* shared or local out of bounds, trap, ... */
    FAULT_ASSERT,
    FAULT_TIMEOUT, /* deadlock, or the end that --timeout makes */
    FAULT_MEMORY,
    FAULT_REFUSED /* a kernel that the emulator cannot run */
};

struct session {
    struct settings settings;
    struct device_info info;
    struct emu_memory *memory; /* NULL: the program runs on a GPU */
    struct image *images;
    struct kernel *kernels;
    int n_reports;             /* failed checks */
    int n_refused;             /* kernels that were launched and cannot run here */
    int n_failed;              /* launches that could not begin */
    bool timed;                /* the program asked for the time between events */
    int n_launches, n_skipped; /* by --repeats */
    int n_numbered,
        n_unchosen;            /* launches that session_chooses() was asked for; that it left out */
    double seconds, predict_s; /* in launches; work of predictions */
    uint64_t sass_work;        /* of counting machine code */
    bool has_printed;          /* a launch that was predicted calls vprintf */
    uint64_t set_bytes;        /* that memsets wrote since the last launch */
    struct l2 l2;              /* of predicted launches */
    struct stale stale;        /* memory that launches too long to run would have written */
    bool watched;              /* the page of --watch-page is written */
    char *unwatched; /* why it is not: the last launch's reason; NULL: none was asked for it */
    bool is_alone;   /* one kernel, or Python's: no program that launches many */
    struct repeat repeat;
    enum fault late_fault; /* of a launch that was put off */
    char unlaunched
        [192]; /* why the last launch could not begin; "": it was not asked for too much */
    const char *uncounted; /* what on a GPU cannot be, and was there; NULL: nothing */
};

/* Locks, and opens the device at the first call. NULL, after a line on stderr: there is none. */
struct session *session_lock(void);
/* Before the first session_lock(): the program runs on the GPU. NULL, or why this is not to be counted. */
const char *session_on_gpu(void);
/* Launches are not counted any more there, and why. */
void session_no_counts(const char *why);
/* That, if counts were asked for; else NULL. */
const char *session_lacks_counts(void);
void session_unlock(void);
/* Between the two a library computes, and does not end when a signal comes. */
void session_busy(bool begins);
/* Reports what ran: the process ends without exit(), or becomes another program. What it shall exit with. */
int session_end_early(int status);

/* The report and the record, once, of a program that would exit with `status`: what it shall exit with. The session stays
 * locked. */
int session_finish(int status);

struct image *session_add_image(struct session *s, const struct fatbin_ptx *ptx);
/* NULL, or why (image->why): the module is parsed at its first use. */
const char *session_load(struct session *s, struct image *i);
/* NULL: the image has no such kernel, or cannot be loaded (image->why). */
struct kernel *session_kernel(struct session *s, struct image *i, const char *name);
/* What C++ calls a symbol, without its parameters: free() it. */
char *session_shown_name(const char *symbol);
/* A row for its next launch, all zero; NULL: no memory. */
struct launch *session_add_launch(struct kernel *k);
/* Runs it; args as cudaLaunchKernel takes them. What goes wrong is printed. */
enum fault session_launch(struct session *s, struct kernel *k, const struct emu_grid *config,
                          void *const *args);
/* Says and counts that it could not begin, and why, unless that is "". */
void session_launch_failed(struct session *s, const struct kernel *k, const struct emu_grid *config,
                           const char *why);
/* The next launch of k: is it to be counted, by --launch-skip and --launch-count? */
bool session_chooses(struct session *s, const struct kernel *k);
/* --repeats: is an operation with this key to be put off (repeat.h)? */
bool session_puts_off(const struct session *s, uint64_t key);
/* Where the host finds what the program calls p: device memory, or memory of its own. */
void *session_place(const struct session *s, const void *p);
/* The host is about to read, or to write, [p, p + bytes): does first what was put off and matters to it. */
void session_before_read(struct session *s, const void *p, size_t bytes);
void session_before_write(struct session *s, const void *p, size_t bytes);
/* Bytes of dynamic shared memory that a launch may ask for: what the program has set, or what static shared memory leaves of
 * 48 KiB. It may take more than that itself (CUDA 13). */
int session_dynamic_shared(const struct kernel *k);
/* Of this kernel on this chip; unknown registers limit nothing. */
const char *session_occupancy(const struct session *s, const struct kernel *k, int threads,
                              int dynamic_shared, struct occupancy *out);
/* The same; where registers are unknown, that is the reason. */
const char *session_kernel_occupancy(const struct session *s, const struct kernel *k, int threads,
                                     int dynamic_shared, struct occupancy *out);

/* The program called what is not there: exit status 3, if it would be 0. */
void session_lacks_call(void);
/* How many such calls there were. */
int session_lacking_calls(void);

/* "run: ..." on stderr, once for each text. */
void session_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* report.c: prints what was counted and appends the record. Returns what the program shall exit
 * with if it would exit with `status`. */
int session_report(struct session *s, int status);
