/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of clock samples, which costs and sections have. */
#ifndef FV_COSTS_RELATIONS_H
#define FV_COSTS_RELATIONS_H

#include "profile/relations.h"

/* Seconds that ticks stand for, and how far off that may be: of the uint64_t at `offset` of the row. */
enum { FV_COST_SECONDS, FV_COST_ERROR, FV_COST_TICKS };
void fv_get_cost_s(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
#define FV_TICKS_COLUMN(k, t, d, S, m) \
    {                                  \
        k, t, "", d, FV_FIELD(S, m)    \
    }
#define FV_TICKS_S_COLUMN(k, t, d, S, m, which, more)                                                               \
    {                                                                                                               \
        k, t, "s", d, FV_GET(FV_TYPE_REAL, fv_get_cost_s), .flags = FV_ESTIMATE | (more), .offset = offsetof(S, m), \
                                                           .argument = (which)                                      \
    }
/* struct fv_cost_sum at `m` as a group. */
#define FV_COST_COLUMNS(g, t, d, S, m)                                                                             \
    FV_TICKS_COLUMN(g ".ticks", t " ticks", d, S, m.ticks),                                                        \
        FV_TICKS_S_COLUMN(g ".time_s", "seconds", "The CPU time that these ticks stand for.", S, m.ticks,          \
                          FV_COST_SECONDS, FV_BLANK),                                                              \
        FV_TICKS_S_COLUMN(g ".error_s", "+-", "Error of time_s with 95 % probability: 2 sqrt(ticks), as time.", S, \
                          m.ticks, FV_COST_ERROR, FV_BLANK),                                                       \
        FV_TICKS_COLUMN(g ".mpi_ticks", t " MPI", "The samples among these in MPI calls.", S, m.in_mpi),           \
        FV_TICKS_COLUMN(g ".sync_ticks", t " sync",                                                                \
                        "The samples outside of MPI that waited for threads: locks, barriers, OpenMP's run-time "  \
                        "library (fvmpi-report(1)).",                                                              \
                        S, m.in_sync)
#define FV_COST_BOTH_COLUMNS(S, m)                                                                                   \
    FV_COST_COLUMNS("exclusive", "self", "Clock samples in it, without what it calls.", S, m.self),                  \
        FV_COST_COLUMNS("inclusive", "total", "Clock samples in it and in what it calls. Recursion counts once.", S, \
                        m.total)
/* Parts of all clock samples; and of the inclusive ones. */
#define FV_COST_SHARE_COLUMNS(S, m)                                                                                  \
    FV_SHARE_COLUMN("exclusive_share", "self", S, m.self.ticks, FV_OF_TICKS, FV_FLAT | FV_ESTIMATE | FV_BLANK,       \
                    "exclusive_ticks as a share of all clock samples."),                                             \
        FV_SHARE_COLUMN("inclusive_share", "total", S, m.total.ticks, FV_OF_TICKS, FV_FLAT | FV_ESTIMATE | FV_BLANK, \
                        "inclusive_ticks as a share of all clock samples."),                                         \
        FV_COST_PART_COLUMNS(S, m)
#define FV_COST_PART_COLUMNS(S, m)                                                                     \
    FV_QUOTIENT_COLUMN("inclusive_mpi_share", "in MPI", "share", S, m.total.in_mpi, m.total.ticks,     \
                       FV_FLAT | FV_ESTIMATE | FV_BLANK, "Share of inclusive_ticks in MPI calls."),    \
        FV_QUOTIENT_COLUMN("inclusive_sync_share", "sync", "share", S, m.total.in_sync, m.total.ticks, \
                           FV_FLAT | FV_ESTIMATE | FV_BLANK, "Share of inclusive_ticks that waited for threads.")
/* What tables of them show in text. */
#define FV_COST_SHOWN                                                                              \
    " exclusive_share exclusive_time_s exclusive_error_s/2 inclusive_share inclusive_mpi_share/4 " \
    "inclusive_sync_share/3"
/* The same in short, for tables with many rows: seconds in flat forms only. */
#define FV_COST_SHORT_COLUMNS(S, m)                                                                                    \
    FV_TICKS_COLUMN("exclusive_ticks", "self ticks", "Clock samples in it, without what it calls.", S, m.self.ticks),  \
        FV_TICKS_S_COLUMN("exclusive_time_s", "self", "The CPU time that exclusive_ticks stand for.", S, m.self.ticks, \
                          FV_COST_SECONDS, FV_FLAT),                                                                   \
        FV_TICKS_COLUMN("inclusive_ticks", "total ticks", "Clock samples in it and in what it calls.", S,              \
                        m.total.ticks),                                                                                \
        FV_TICKS_S_COLUMN("inclusive_time_s", "total", "The CPU time that inclusive_ticks stand for.", S,              \
                          m.total.ticks, FV_COST_SECONDS, FV_FLAT),                                                    \
        FV_TICKS_COLUMN("inclusive_mpi_ticks", "MPI", "inclusive_ticks in MPI calls.", S, m.total.in_mpi),             \
        FV_TICKS_COLUMN("inclusive_sync_ticks", "sync", "inclusive_ticks outside of MPI that waited for threads.", S,  \
                        m.total.in_sync)

#endif
