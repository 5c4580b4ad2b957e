/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the report compared, row by row: findings, functions, procedures, computing between calls, sections, locks.
 * A table says by which columns of its relation (profile/relations.h) a row is the same on the other side, and which of
 * them are compared; all tables are read, joined and compared by the same code. Call sites have their paths
 * (diff_join.h).
 *
 * Rows are joined by all of their identity, and of tables whose names hold source lines, what is left by the same
 * without these, in order: lines move when a program is changed. Rows of one side that have the same identity are added
 * up.
 *
 * Seconds are the mean of a rank, as everywhere in a comparison, and rows are ranked by their change, also those that
 * only one side has. A table that a run did not record is not compared: what it does not know is not new. */
#ifndef FV_DIFF_TABLES_H
#define FV_DIFF_TABLES_H

#include "diff/diff_join.h"
#include "diff/diff_stats.h"
#include "profile/profile.h"

/* Columns are given by their flat keys; NULL: the table has none. */
struct fv_diff_table {
    const char *relation;                         /* its name, as fvmpi report --table has it */
    const char *noun;                             /* of a row, in text */
    const char *about;                            /* what the seconds are, in text */
    const char *names[2];                         /* what a row is called; a second one, a number, unless it is 0 */
    const char *file;                             /* part of the identity without its folders ... */
    const char *line;                             /* ... of which this is the line, for the reader alone */
    const char *place;                            /* part of the identity as it is */
    const char *by_chance;                        /* the name of rows whose place and rank are chance: they are one */
    const char *rank;                             /* likewise, where there is a place: the rank that a row is about */
    const char *text;                             /* a sentence about the row */
    const char *left_out;                         /* rows where this is true are */
    const char *seconds, *less;                   /* what is compared; less: is taken off */
    const char *count, *mean;                     /* how many, and how long one of them is */
    const char *parts, *part_seconds, *part_less; /* the same seconds by rank: a nested relation with a rank */
    bool ticks;                                   /* seconds are counts of clock samples */
    bool is_mean;                                 /* seconds are the mean of the ranks; else their sum */
    bool lines;                                   /* names or places hold source lines */
};
#define FV_DIFF_TABLES 6
extern const struct fv_diff_table fv_diff_tables[FV_DIFF_TABLES];

/* X(metric, key, name, unit): diff.h */
#define FV_ENTRY_METRIC_LIST(X) \
    X(TIME, "time_s", "time", SECONDS) X(COUNT, "count", "count", COUNT) X(MEAN, "mean_s", "mean", SECONDS)
#define FV_ENTRY_METRIC(name, ...) FV_ENTRY_##name,
enum fv_diff_entry_metric { FV_ENTRY_METRIC_LIST(FV_ENTRY_METRIC) FV_ENTRY_METRICS };

/* A row of one side, over its runs. */
struct fv_diff_entry {
    const char *key, *loose;         /* identity, and the same without lines */
    const char *name, *place, *text; /* place, text: NULL: none */
    long rank;                       /* that it is about; -1: no single one */
    double *values;                  /* FV_ENTRY_METRICS of each run; NAN: not known */
    bool *there;                     /* in that run */
    size_t runs, value_room, there_room;
    double *rank_s; /* by rank, summed over the runs */
    size_t ranks, rank_room;
};
struct fv_diff_entries {
    struct fv_diff_entry *items;
    size_t count, room, recorded; /* recorded: by so many runs */
    struct fv_index index;
};

/* A row of either side, or of both. */
struct fv_diff_entry_row {
    uint32_t table;
    const char *name, *place, *text;
    enum fv_diff_join join;
    long rank;            /* that it is about, else whose seconds changed most; -1: not known */
    double rank_change_s; /* of the latter */
    size_t runs[2];       /* of A and B that have it */
    struct fv_change change[FV_ENTRY_METRICS];
};

struct fv_diff;
/* Adds the tables of a run; its side has counted it already. */
void fv_diff_tables_take(struct fv_diff *diff, unsigned side, const struct fv_profile *profile);
/* Makes the rows of diff->entries: changes that count first, then by size of the change of seconds. */
void fv_diff_tables_compare(struct fv_diff *diff);
void fv_diff_entries_release(struct fv_diff_entries *entries);

#endif
