/* SPDX-License-Identifier: BSD-3-Clause */
/* An experiment directory: which rank files belong to the run that is reported, and what is wrong with
 * the others. Every file that is not used is named; the newest run wins. */
#ifndef FV_EXPERIMENT_DIR_H
#define FV_EXPERIMENT_DIR_H

#include "base/list.h"
#include "tool/spans.h"
#include "tool/vec.h"
#include "trace/reader.h"

/* What a reader of the report must know about its input, in words. */
/* X(kind, word) */
#define FV_PROBLEM_KINDS(X)                                                          \
    X(UNREADABLE, "unreadable") /* a file that could not be opened as a rank file */ \
    X(LEFT_OUT, "left_out")     /* a file of another run */                          \
    X(MISSING, "missing")       /* a rank without a file */                          \
    X(DAMAGED, "damaged")       /* part of a file is lost */                         \
    X(DROPPED, "dropped")       /* not recorded: a budget or the disk was full */    \
    X(NOTE, "note")             /* nothing is lost, but it should be known */
#define FV_PROBLEM_KIND(name, word) FV_PROBLEM_##name,
enum fv_problem_kind { FV_PROBLEM_KINDS(FV_PROBLEM_KIND) };
struct fv_problem {
    enum fv_problem_kind kind;
    const char *file; /* base name; NULL: the whole run */
    const char *text;
};
const char *fv_problem_kind_name(enum fv_problem_kind kind);
/* Is the report incomplete because of it? */
bool fv_problem_is_loss(enum fv_problem_kind kind);

struct fv_problems {
    struct fv_arena arena;
    struct fv_problem *items;
    size_t count, room;
};
void fv_problem_add(struct fv_problems *problems, enum fv_problem_kind kind, const char *file, const char *format, ...)
    FV_PRINTF(4, 5);
/* Puts the others behind, which are none then. */
void fv_problems_take(struct fv_problems *problems, struct fv_problems *others);
void fv_problems_release(struct fv_problems *problems);

/* What of the run a report is of. */
struct fv_choice {
    struct fv_spans read;    /* ranks whose files are read */
    struct fv_spans ranks;   /* of these the ranks that are shown. What they waited for is known by the others, too */
    struct fv_spans threads; /* ... and their threads, by fv_thread_record.id */
};

struct fv_analysis_result;
struct fv_model;
struct fv_seen_looks;
struct fv_experiment_file {
    char *path;
    const char *name;         /* its base name */
    size_t directory;         /* which of those that were named it is in */
    struct fv_reader *reader; /* of a file: resting, until fv_reader_wake() */
};
struct fv_experiment {
    char *path;     /* as the user gave it; of several with spaces between */
    char *operands; /* the same as a shell takes it */
    char *first;    /* directory that was named: what is made of the experiment goes there */
    size_t directories;
    struct fv_experiment_file *files; /* of the reported run, by world rank */
    size_t count, room;
    size_t backups;                 /* files *.fvr.N: what their process was before exec(), rt/predecessor.h */
    char *elsewhere;                /* fv_experiment_elsewhere() */
    const struct fv_spans *wanted;  /* ranks whose files are opened; NULL: all. The caller's */
    size_t passed_by;               /* files of others, which were not opened */
    const struct fv_choice *choice; /* of ranks and threads that are reported; NULL: all. The caller's */
    struct fv_problems problems;
    const struct fv_analysis_result *analysed; /* of its traces; NULL: none. The caller's */
    bool is_part, is_later_part;               /* of a run; it begins later than that; the caller's */
    size_t traced_calls;                       /* of its traces, that are wanted one by one at most; the caller's */
    const struct fv_seen_looks *seen;          /* what `fvmpi where` saw from outside; NULL: nothing. The caller's */
    const struct fv_model *passes;             /* other runs of the program, whose counters are joined; the caller's */
    size_t pass_count;
};

/* Opens all rank files of one or several directories, or single rank files. Has logged when it fails:
 *   -FV_EIO      a directory cannot be read
 *   -FV_ENOENT   no rank files in them
 *   -FV_EINVAL   a rank is in two of them
 *   -FV_EFORMAT, -FV_EVERSION  not one of the rank files can be used */
int fv_experiment_open(struct fv_experiment *out, char *const *paths, size_t count);
/* The same of some ranks' files alone, as their names say whose they are; the others are not opened, nor missing. */
int fv_experiment_open_ranks(struct fv_experiment *out, char *const *paths, size_t count, const struct fv_spans *ranks);
/* The same without choosing a run: all readable files, by name. For `fvmpi dump`. */
int fv_experiment_open_all(struct fv_experiment *out, char *const *paths, size_t count);
/* Rank files in memory, for tests and fuzzers; the readers become the experiment's. */
void fv_experiment_add(struct fv_experiment *experiment, const char *name, struct fv_reader *reader);
/* Chooses the run among the files that were added, and says what is missing. */
void fv_experiment_choose(struct fv_experiment *experiment);
void fv_experiment_release(struct fv_experiment *experiment);

/* The rank files in a directory, and in its folders of ranks, by path. Release it, whatever happens. -FV_EIO: errno
 * tells. */
struct fv_rank_files {
    struct fv_arena arena;
    char **paths;
    size_t count, room;
    size_t backups; /* files *.fvr.N: what their process was before exec(), rt/predecessor.h */
};
int fv_rank_files_list(struct fv_rank_files *out, const char *directory);
/* By their names: */
bool fv_experiment_is_rank_file(const char *name);
bool fv_experiment_is_container(const char *name);
/* Adds those of another directory. */
int fv_rank_files_add(struct fv_rank_files *out, const char *directory);

/* From here on what this process makes can be read by nobody who may not read the rank files in that directory. */
void fv_experiment_keep_private(const char *directory);
/* Likewise by nobody who may not read the file. */
void fv_experiment_as_private_as(const char *file);
void fv_rank_files_release(struct fv_rank_files *files);
/* Says why the directory cannot be read, by errno. */
void fv_experiment_say_unreadable(const char *directory);

/* Where the rank files of an experiment are while its job runs, as far as this host sees them: in its directory, or,
 * with --local, on this host's own disk. At least one place. Release it. */
struct fv_experiment_places {
    struct fv_arena arena;
    char **items;
    size_t count, room;
    char elsewhere[400]; /* hosts whose own disks have others: "n1,n2"; "": none */
};
void fv_experiment_places(struct fv_experiment_places *out, const char *directory);
void fv_experiment_places_release(struct fv_experiment_places *places);
/* fv_rank_files_list() of all these places; of files that have one name, one. */
int fv_rank_files_list_here(struct fv_rank_files *out, const char *directory);

/* Calls a function for each note of a node-local directory (base/local.h) in an experiment's. */
void fv_experiment_notes(const char *path, void (*visit)(const char *host, const char *directory, void *arg),
                         void *arg);
/* What these notes say, as in "rank files on 2 hosts are not gathered: n1:/tmp/a, n2:/tmp/b; ...", the caller's; NULL:
 * there are none. of_others: but for those that this host can read. */
char *fv_experiment_elsewhere(const char *path, bool of_others);

/* Is a file's boot_id of this host, since it booted? */
bool fv_clock_this_boot(const uint8_t boot_id[16]);
/* Does the process run, on this host, that writes a file? */
bool fv_experiment_is_alive(const struct fv_file_header *header);
/* Ticks of a clock (enum fv_clock_kind), and monotonic_ns, now; false: this machine has no such clock. */
bool fv_clock_now(uint32_t kind, struct fv_clock_point *out);
/* Ticks a second between two points; 0: they are less than base_ns (> 0) apart, or damaged. */
double fv_clock_rate(const struct fv_clock_point *first, const struct fv_clock_point *last, int64_t base_ns);
/* Of the TSC, from the file's first point until now, if it is of this host and boot; else 0. */
double fv_clock_hz_since(const struct fv_file_header *header);
/* What a rank says of its clock; `first`: its first point. */
struct fv_clock_id {
    uint32_t kind; /* enum fv_clock_kind */
    const uint8_t *boot_id;
    const char *host;
    const struct fv_clock_point *first;
};
/* Do two ranks read the same clock, so that their ticks compare as they are? By kind and boot; where the boot
 * is not known (all 0), by the host's name and the time it booted at. CLOCK_MONOTONIC is one per boot and
 * time namespace. */
bool fv_clock_same(const struct fv_clock_id *a, const struct fv_clock_id *b);

#endif
