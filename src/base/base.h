/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that every part of fvmpi shares: branch hints, error codes, the log, small arithmetic.
 * No MPI, no state but the log's own; safe inside the application process. */
#ifndef FV_BASE_H
#define FV_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FV_LIKELY(x)   __builtin_expect(!!(x), 1)
#define FV_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define FV_COLD        __attribute__((cold, noinline))
/* ThreadSanitizer sets its handlers, and their stack, before it is ready for code that it has instrumented: what stands
 * in front of that is none. */
#define FV_NO_TSAN               __attribute__((no_sanitize("thread")))
#define FV_PRINTF(format, first) __attribute__((__format__(__printf__, format, first)))
#define FV_PUBLIC                __attribute__((visibility("default")))
/* Of a variable that the record path reads, at its declaration: it is in the same library, so that its address need not
 * be looked up. */
#define FV_INSIDE __attribute__((visibility("hidden")))
#define FV_TLS    __thread __attribute__((tls_model("initial-exec")))

/* Functions return 0 or one of these, negated. */
enum fv_error {
    FV_EIO = 1,  /* the system said no; errno tells */
    FV_EFORMAT,  /* not a file of ours, or damaged beyond use */
    FV_EVERSION, /* written by another version of fvmpi */
    FV_ENOMEM,   /* memory, or a budget, is used up */
    FV_ENOENT,   /* no such thing */
    FV_EINVAL,   /* the caller's words are off */
};

/* One line on stderr, `fvmpi: ` before it and a newline after; errno is kept. No malloc, no stdio: it
 * may be called from any thread of the application. Errors follow `<what>: <why>; <what to do>`. */
void fv_log(const char *format, ...) FV_PRINTF(1, 2);
/* Of tools: takes the lines, without `fvmpi: `; NULL: stderr does. And a word for the error that the last line says, if
 * there is more to say than that something failed. */
extern void (*fv_log_taker)(const char *line);
extern const char *fv_log_code;

/* Should this process say something that all ranks of a node have to say? True for the first that asks, for as long as
 * it lives, which says at its end how many others asked; and where that cannot be found out. `where`: a path that tells
 * one job's from another's. */
bool fv_first_on_node(const char *what, const char *where);
/* Of all processes of the node that ask at the same time one gets a descriptor, and has the word until it closes it.
 * -1: another one has it; -2: that cannot be found out. */
int fv_elect_on_node(const char *what, const char *where);
#define FV_FOR_NODE " (one line for all ranks of this node)"

/* Does this process have rights that its caller has not (setuid, setgid, capabilities of a file)? Then the caller's
 * environment is nobody's wish. */
bool fv_has_more_rights(void);
/* A variable of the environment; NULL: it is not set, or the process has more rights than its caller. Shells have a
 * getenv() of their own, which stands before the C library's and answers from variables that it has not read yet. */
const char *fv_env(const char *name);

/* What an error code means, for the <why> of a message. */
const char *fv_strerror(int error);

/* Of what is measured or calibrated apart: more may be subtracted than there is. */
static inline uint64_t fv_minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline uint64_t fv_round_up(uint64_t value, uint64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* The finalizer of SplitMix64: a bijection that spreads every input bit. */
static inline uint64_t fv_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t fv_mix2(uint64_t a, uint64_t b)
{
    return fv_mix(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

/* What stands behind the last slash. */
static inline const char *fv_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Bucket of a size or a duration: 0 holds only 0; bucket b > 0 holds [2^(b-1), 2^b). */
static inline unsigned fv_log2_bucket(uint64_t value)
{
    return value ? 64u - (unsigned)__builtin_clzll(value) : 0;
}

#endif
