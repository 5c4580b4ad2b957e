/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of sections: relation section_threads. */
#include "profile/build.h"
#include "profile/counters/counters.h"
#include "profile/relations.h"
#include "profile/sections/sections.h"

#include <math.h>

FV_DATA_BASE(sections)

#define M struct fv_section_member

static void get_seconds(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = *(const double *)(const void *)((const char *)row + c->offset);
    v->estimate = ((const M *)row)->is_scaled;
}
#define SECONDS(k, t, m, d)                                                                             \
    {                                                                                                   \
        k, t, "s", d, FV_GET(FV_TYPE_REAL, get_seconds), .flags = FV_NULLABLE, .offset = offsetof(M, m) \
    }

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_wait_kind_words[((const M *)row)->is_scaled ? 1 : 0];
}

static void get_faults(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_model *model = fv_tables_model(subject);
    const struct fv_counts *counts = fv_model_counts(model);
    const M *m = row;
    uint32_t scope = fv_counts_scope_of(counts, &fv_model_sections(model)->items[m->section]);

    v->real = isnan(m->faults) ? fv_counts_of_thread(counts, scope, m->rank, m->thread, "page_faults") : m->faults;
    v->estimate = m->is_scaled;
}

static const struct fv_column_def outer[] = {
    FV_DATA_ID_COLUMN(sections, struct fv_sections_view, "section_id", items, "Index in sections, from 0."),
    FV_SECTION_COLUMNS,
};

static const struct fv_column_def columns[] = {
    FV_RANK_COLUMN(M, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread, as in table threads.", FV_FIELD(M, thread), .flags = FV_IS_THREAD },
    { "opener", "opener", "",
      "True: the thread opened the section itself, and is measured from its begins to its ends. "
      "False: it is measured while any thread of its rank had the section open.",
      FV_FIELD(M, is_opener), .flags = FV_BLANK },
    { "count", "count", "", "Instances; of other threads how often the section was open on the rank.",
      FV_FIELD(M, count) },
    SECONDS("time_s", "time", time_s,
            "Time in the section, without pauses; of other threads how long it was open. "
            "Null: only clock samples are known."),
    SECONDS("cpu_s", "CPU", cpu_s, "CPU time of the thread in this time. Null: not known, as user_time."),
    SECONDS("user_s", "user", user_s, "The part in user mode, by the kernel's clock ticks."),
    SECONDS("system_s", "system", system_s, "The part in the kernel."),
    SECONDS("mpi_s", "MPI", mpi_s, "Time of its MPI calls in the section. Null: it did not open it."),
    { "sampled_s", "sampled", "s", "CPU time by clock samples. Null: none.", FV_FIELD(M, sampled_s),
      .flags = FV_NULLABLE | FV_ESTIMATE },
    { "page_faults", "page faults", "",
      "Page faults of the thread in this time, minor and major. Null: it did not open the section, and --counters "
      "software did not count those of all threads.",
      FV_GET(FV_TYPE_REAL, get_faults), .flags = FV_NULLABLE },
    { "kind", "kind", "",
      "exact: CPU time was read at each begin and end. estimate: only part of the time, because "
      "reading would have cost over 1 %; that part stands for all.",
      FV_GET(FV_TYPE_TEXT, get_kind), .words = fv_wait_kind_words },
};

const struct fv_relation fv_section_threads_relation = {
    .name = "section_threads",
    .key = "per_thread",
    .title = "Sections by thread",
    .doc = "Threads that were in the section, or were recorded while other threads of their rank had it open, such as "
           "OpenMP workers; by rank and thread. A thread that waits for work is among them.",
    .shown = "section number rank thread opener/2 count/1 time_s cpu_s user_s/5 system_s/4 mpi_s/3 sampled_s/2",
    .shape = FV_ROWS,
    .of_ranks = true,
    FV_COLUMNS(columns),
    FV_OUTER(outer),
    .base = sections_base,
    FV_SLICE(struct fv_sections_view, members, struct fv_section_view, first_member, members),
};
