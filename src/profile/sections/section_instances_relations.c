/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances of sections one by one: relation section_instances. */
#include "profile/build.h"
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
