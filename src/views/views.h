/* SPDX-License-Identifier: BSD-3-Clause */
/* The views of a profile. They compute nothing that another view might want, too: that is the model's. */
#ifndef FV_VIEWS_H
#define FV_VIEWS_H

#include "profile/profile.h"
#include "profile/threads/lock_words.h"
#include "views/relations.h"
#include "tool/source_file.h"

#include <stdio.h>

/* Schema fvmpi-profile-2, see share/fvmpi-profile-2.md. -FV_EIO: errno tells. */
int fv_view_json(const struct fv_profile *view, enum fv_json_ranks ranks, FILE *out);
#define FV_JSON_RANKS_MOST 512 /* above, values of single ranks are summed up unless they are asked for */
enum fv_json_ranks fv_json_ranks_default(const struct fv_profile *view);

/* Clock samples for other viewers: folded stacks, one a line, root first, as flame graphs are made of; and
 * speedscope's JSON (https://www.speedscope.app/file-format-schema.json). -FV_EIO: errno tells. */
int fv_view_folded(const struct fv_profile *view, FILE *out);
int fv_view_speedscope(const struct fv_profile *view, FILE *out);
/* A profile for pprof, compressed; a profile as callgrind's for KCachegrind. -FV_EIO: errno tells. */
int fv_view_pprof(const struct fv_profile *view, FILE *out);
int fv_view_callgrind(const struct fv_profile *view, FILE *out);

#define FV_PAGE_BYTES ((size_t)20 << 20)
/* That a call waited, from its begin on, for that rank of MPI_COMM_WORLD and that thread of it. 0: it did not;
 * FV_NONE: it is not known for which. */
struct fv_call_wait {
    double wait_s;
    uint32_t waits_for, waits_for_thread;
};
struct fv_page_options {
    size_t max_bytes;                 /* tables lose rows at their ends above that; 0: FV_PAGE_BYTES */
    const char *function;             /* the page has its rows alone, as fv_view_function(); NULL: all */
    bool no_source;                   /* no lines of the program's source files */
    struct fv_source_place place;     /* of these */
    const struct fv_call_wait *waits; /* of each call of the trace excerpt, by the analysis; NULL: as the excerpt has
                                       * it */
};
/* One HTML file that needs nothing else (share/page/). -FV_EIO: errno tells. */
int fv_view_page(const struct fv_profile *view, const struct fv_page_options *options, FILE *out);

/* A small picture (SVG) of parallel efficiency. -FV_EIO: errno tells. */
int fv_view_badge(const struct fv_profile *view, FILE *out);

/* One file for each table into a directory, which is made. Has logged when it fails. */
int fv_view_csv(const struct fv_profile *view, const char *directory);

struct fv_text_options {
    size_t width; /* columns */
    size_t top;   /* rows of a table, SIZE_MAX: all */
    bool brief;   /* that is the default: sections that are to stay short show less */
    bool color;
    bool utf8;        /* may bars and strips be drawn? */
    double threshold; /* rows with a smaller share of the time are left out; 0: none */
};
int fv_view_text(const struct fv_profile *view, const struct fv_text_options *options, FILE *out);
/* Its first lines alone: how the run ended, the verdict, the findings. */
int fv_view_first(const struct fv_profile *view, const struct fv_text_options *options, FILE *out);

/* Where all threads are now (looks.h), and who waits for whom: as text, and as JSON, schema fvmpi-where-1. -FV_EIO:
 * errno tells. */
#define FV_WHERE_SCHEMA "fvmpi-where-1"
int fv_view_where(const struct fv_profile *view, const struct fv_text_options *options, FILE *out);
int fv_view_where_json(const struct fv_profile *view, FILE *out);
int fv_view_where_schema(FILE *out);

/* Of every table the rows of a function, of what it called, and of what is below it in a tree; as text, or as JSON: a
 * list of tables, each as fv_query_print() writes it. Is there such a row? -FV_EIO: errno tells. */
bool fv_view_has_function(const struct fv_profile *view, const char *function);
int fv_view_function(const struct fv_profile *view, const char *function, const struct fv_text_options *options,
                     bool json, FILE *out);

/* What the words of the report mean. -FV_EIO: errno tells. */
int fv_view_glossary(const struct fv_text_options *options, FILE *out);

struct fv_stacks_options {
    struct fv_text_options text;
    size_t phase; /* its number, from 1; 0: all of several threads */
    double t1_s;  /* time of the phase with one thread; 0: not known */
};
/* Speedup stacks of phases of threads: what one run tells of them. -FV_EFORMAT: with T1, a speedup that cannot be,
 * which is said; -FV_EIO: errno tells. */
int fv_view_stacks(const struct fv_profile *view, const struct fv_stacks_options *options, FILE *out);

struct fv_source_options {
    const char *file; /* as debug information has it, or the end of that */
    struct fv_source_place place;
    long rank; /* in MPI_COMM_WORLD; -1: all */
};
/* A source file with the samples of its lines beside it. Has logged when it fails. */
int fv_view_source(const struct fv_profile *view, const struct fv_source_options *source,
                   const struct fv_text_options *text, FILE *out);

/* Two experiments side by side (diff/diff.h). */
struct fv_diff;
int fv_diff_text(const struct fv_diff *diff, const struct fv_text_options *options, FILE *out);
/* Schema fvmpi-diff-2, see share/fvmpi-diff-2.md. -FV_EIO: errno tells. */
int fv_diff_json(const struct fv_diff *diff, FILE *out);
/* As fv_view_csv(). */
int fv_diff_csv(const struct fv_diff *diff, const char *directory);
/* As fv_view_page(). */
int fv_diff_page(const struct fv_diff *diff, FILE *out);

/* Runs of several sizes (scaling/scaling.h), likewise; schema fvmpi-scaling-1, see share/fvmpi-scaling-1.md. */
struct fv_scaling;
int fv_scaling_text(const struct fv_scaling *scaling, const struct fv_text_options *options, FILE *out);
int fv_scaling_json(const struct fv_scaling *scaling, FILE *out);
int fv_scaling_csv(const struct fv_scaling *scaling, const char *directory);
int fv_scaling_page(const struct fv_scaling *scaling, FILE *out);

/* Runs on several numbers of threads (scaling/speedup.h), likewise; schema fvmpi-stacks-1, see
 * share/fvmpi-stacks-1.md. */
struct fv_speedup;
int fv_speedup_text(const struct fv_speedup *speedup, const struct fv_text_options *options, FILE *out);
int fv_speedup_json(const struct fv_speedup *speedup, FILE *out);
int fv_speedup_csv(const struct fv_speedup *speedup, const char *directory);
int fv_speedup_page(const struct fv_speedup *speedup, FILE *out);

#endif
