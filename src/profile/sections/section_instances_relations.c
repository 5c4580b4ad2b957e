/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances of sections one by one: relations section_instances, section_warm_up, section_iterations. */
#include "profile/build.h"
#include "profile/iterations/iteration_columns.h"
#include "profile/relations.h"
#include "profile/sections/sections.h"

FV_DATA_BASE(sections)

#define INSTANCE(k, t, u, m, d)                                  \
    {                                                            \
        k, t, u, d, FV_FIELD(struct fv_section_instance_view, m) \
    }
static const struct fv_column_def single_columns[] = {
    INSTANCE("section", "section", "", name, "Name of the section."),
    INSTANCE("number", "no.", "", section_number, "Number of the section."),
    FV_RANK_COLUMN(struct fv_section_instance_view, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread, as in table threads.", FV_FIELD(struct fv_section_instance_view, thread),
      .flags = FV_IS_THREAD },
    INSTANCE("instance_number", "instance", "", number, "Number of the instance on its thread, from 1."),
    INSTANCE("begin_s", "begin", "s", begin_s, "When it began."),
    INSTANCE("elapsed_s", "elapsed", "s", time_s, "Its time, without pauses of recording."),
    INSTANCE("mpi_time_s", "MPI", "s", mpi_s, "Time of the thread's MPI calls that ended in it."),
    INSTANCE("calls", "calls", "", calls, "MPI calls that ended in it."),
    INSTANCE("mpi_bytes", "bytes", "bytes", bytes, "Bytes that these calls sent and received."),
};
const struct fv_relation fv_section_instances_relation = {
    .recorded_by = "fvmpi run --section-instances N",
    .name = "section_instances",
    .key = "section_instances",
    .title = "Instances of sections",
    .doc = "The first instances of each section on each thread, one by one, by section, rank, thread and time. Their "
           "waiting is in a trace.",
    .shown = "section number rank thread/1 instance_number begin_s/2 elapsed_s mpi_time_s calls mpi_bytes",
    FV_COLUMNS(single_columns),
    .base = sections_base,
    FV_ITEMS(struct fv_sections_view, instances, instance_count),
};

static void get_excess(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_section_warm_up *w = row;

    v->real = w->instances ? (w->first_s - w->steady_s) * (double)w->instances : 0;
}

#define WARM(k, t, u, m, f, d)                                           \
    {                                                                    \
        k, t, u, d, FV_FIELD(struct fv_section_warm_up, m), .flags = (f) \
    }
static const struct fv_column_def warm_columns[] = {
    WARM("section", "section", "", name, 0, "Name of the section."),
    WARM("number", "no.", "", section_number, 0, "Number of the section."),
    WARM("thread_count", "threads", "", of_threads, 0,
         "Threads of which at least 10 instances were recorded one by one."),
    WARM("warm_up_count", "warm up", "", threads, FV_BLANK,
         "Threads with warm-up: their first instances took longer than any of the second half."),
    WARM("instance_count", "first ones", "", instances, FV_BLANK, "These first instances, of all these threads."),
    WARM("warm_up_s", "first", "s", first_s, FV_NULLABLE, "Mean time of these first instances. Null: none."),
    WARM("steady_s", "later", "s", steady_s, FV_NULLABLE,
         "Mean time of the others that were recorded of these threads. Null: no warm-up."),
    { "excess_s", "cost", "s", "What the first instances took longer than as many later ones, over all threads.",
      FV_GET(FV_TYPE_REAL, get_excess), .flags = FV_BLANK },
};
const struct fv_relation fv_section_warm_up_relation = {
    .recorded_by = "fvmpi run --section-instances N",
    .name = "section_warm_up",
    .key = "section_warm_up",
    .title = "Warm-up of sections",
    .doc =
        "Whether the first instances of sections took longer than later ones: caches, pages and branch predictors are "
        "cold at first. By section.",
    .shown = "section number thread_count/1 warm_up_count instance_count warm_up_s steady_s excess_s",
    FV_COLUMNS(warm_columns),
    .base = sections_base,
    FV_ITEMS(struct fv_sections_view, warm_ups, warm_up_count),
};

#define S struct fv_section_series
static const struct fv_column_def series_columns[] = {
    { "section", "section", "", "Name of the section, of all its numbers.", FV_FIELD(S, name) },
    { "count", "instances", "", "Instances of a rank that were recorded one by one.", FV_ITERATION_FIELD(count) },
    { "is_part", "part", "", "Others were not: see --section-instances.", FV_FIELD(S, is_part), .flags = FV_BLANK },
    { "rank_count", "ranks", "", "Ranks that have as many. Others are left out.", FV_ITERATION_FIELD(ranks) },
    { "begin_s", "begin", "s", "When the first one began, on the first rank.", FV_ITERATION_FIELD(begin_s) },
    { "end_s", "end", "s", "When the last one ended.", FV_ITERATION_FIELD(end_s) },
    FV_ITERATION_TIMES,
    { "longest_at_s", "at", "s", "When it began, on the first rank.", FV_ITERATION_FIELD(longest_at_s) },
    { "computing_s", "computing", "s", "Mean time outside of MPI, of an instance and rank.",
      FV_ITERATION_FIELD(computing_s) },
    { "mpi_s", "MPI", "s", "Mean time in MPI.", FV_ITERATION_FIELD(mpi_s) },
    FV_ITERATION_TRENDS,
};
const struct fv_relation fv_section_iterations_relation = {
    .recorded_by = "fvmpi run --section-instances N",
    .name = "section_iterations",
    .key = "section_iterations",
    .title = "Sections as iterations",
    .doc = "Sections of one name whose instances follow each other on the first thread of each rank, as iterations "
           "that the user named: at least 8 of them. By section.",
    .shown = "section count rank_count/2 mean_s p50_s p95_s longest_s longest_number/3 computing_s/2 mpi_s/2 "
             "growth/1 period/1 period_factor/1",
    FV_COLUMNS(series_columns),
    .base = sections_base,
    FV_ITEMS(struct fv_sections_view, series, series_count),
};
