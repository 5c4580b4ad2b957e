/* The views of a profile. They compute nothing that another view might want, too: that is the model's. */
#ifndef FV_VIEWS_H
#define FV_VIEWS_H

#include "report/model.h"
#include "report/symbols.h"

#include <stdio.h>

struct fv_view {
    const struct fv_model *model;
    const struct fv_symbols *symbols;
};

/* Schema fvmpi-profile-1, see share/fvmpi-profile-1.md. -FV_EIO: errno tells. */
int fv_view_json(const struct fv_view *view, FILE *out);

/* "path": the frames of a call path, as the schema has them. `path` is scratch. */
struct fv_json;
void fv_json_path(struct fv_json *json, const struct fv_view *view, struct fv_path *path, uint32_t node);
/* The same of a path's frames from `first` on. */
void fv_json_frames(struct fv_json *json, const struct fv_view *view, const struct fv_path *path,
                    size_t first);

/* The path of a sampled function's context. Returns the index of the function's own frame: what is inlined at
 * its entry is not what is sampled. */
size_t fv_view_sampled_path(const struct fv_view *view, struct fv_path *path,
                            const struct fv_sampled *sampled);

/* json_ranks.c: "run", "programs", "ranks"; and runs of ranks, as [first, stride, count] each. */
void fv_json_run(struct fv_json *json, const struct fv_view *view);
void fv_json_runs(struct fv_json *json, const char *key, const struct fv_rank_run *runs, size_t count);
/* "hang". */
void fv_json_hang(struct fv_json *json, const struct fv_model *model);

/* "waiting". */
void fv_json_waiting(struct fv_json *json, const struct fv_view *view);

/* "sections" and "sections_lost". */
void fv_json_sections(struct fv_json *json, const struct fv_view *view);

/* json_locks.c: "locks" and "thread_waiting"; "phases". */
void fv_json_locks(struct fv_json *json, const struct fv_view *view);
void fv_json_phases(struct fv_json *json, const struct fv_view *view);

/* locks_words.c. What to call a lock: "queue_lock", "0x7f00 first used in main() at a.c:1", "3 mutexes first used in
 * ...", "threads of worker()". Returns out. */
char *fv_view_lock_name(const struct fv_view *view, const struct fv_lock *lock, char *out, size_t bytes);
/* A call path in short: its innermost frame, without those of the C++ library, and some of its callers. Returns out. */
char *fv_view_path_words(const struct fv_view *view, uint32_t node, unsigned callers, char *out, size_t bytes);
/* "worker()", "a function that is not known". Returns out. */
char *fv_view_routine(const struct fv_view *view, uint32_t routine, char *out, size_t bytes);

/* "functions"; "sampling"; "costs". */
void fv_json_samples(struct fv_json *json, const struct fv_view *view);
void fv_json_sampling(struct fv_json *json, const struct fv_view *view);
void fv_json_costs(struct fv_json *json, const struct fv_view *view);

/* Clock samples for other viewers: folded stacks, one a line, root first, as flame graphs are made of; and
 * speedscope's JSON (https://www.speedscope.app/file-format-schema.json). -FV_EIO: errno tells. */
int fv_view_folded(const struct fv_view *view, FILE *out);
int fv_view_speedscope(const struct fv_view *view, FILE *out);

/* One file for each table into a directory, which is made. Has logged when it fails. */
int fv_view_csv(const struct fv_view *view, const char *directory);

struct fv_text_options {
    size_t width; /* columns */
    size_t top;   /* rows of a table, SIZE_MAX: all */
    bool brief;   /* that is the default: sections that are to stay short show less */
    bool color;
    bool utf8; /* may bars and strips be drawn? */
};
int fv_view_text(const struct fv_view *view, const struct fv_text_options *options, FILE *out);

struct fv_stacks_options {
    struct fv_text_options text;
    size_t phase; /* its number, from 1; 0: all of several threads */
    double t1_s;  /* time of the phase with one thread; 0: not known */
};
/* Speedup stacks of phases of threads: what one run tells of them. -FV_EFORMAT: with T1, a speedup that cannot be, which
 * is said; -FV_EIO: errno tells. */
int fv_view_stacks(const struct fv_view *view, const struct fv_stacks_options *options, FILE *out);

struct fv_source_options {
    const char *file;                     /* as debug information has it, or the end of that */
    const char *old_prefix, *new_prefix;  /* where files are now; NULL: where they were */
    long rank;                            /* in MPI_COMM_WORLD; -1: all */
};
/* A source file with the samples of its lines beside it. Has logged when it fails. */
int fv_view_source(const struct fv_view *view, const struct fv_source_options *source,
                   const struct fv_text_options *text, FILE *out);

/* Who is to blame for waiting; without a trace, who came last to collectives and computes longest: in one
 * sentence.
 * "": nobody. Returns out. */
char *fv_view_culprit(const struct fv_view *view, char *out, size_t bytes);

/* Names for numbers that several views show. */
const char *fv_view_wait_kind(enum fv_wait_kind kind); /* NULL: not known */
uint64_t fv_view_bucket_low(unsigned bucket);
uint64_t fv_view_bucket_high(unsigned bucket); /* inclusive */

#endif
