/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/exports.h"
#include "base/base.h"
#include "cmd/archives.h"
#include "cmd/database.h"
#include "cmd/timelines.h"
#include "profile/samples/costs.h"
#include "timeline/perfetto.h"

#include <math.h>
#include <stdlib.h>

static const struct row {
    const char *option;
    bool samples;
    int (*write)(const struct fv_profile *, FILE *); /* NULL: of a trace */
} rows[FV_EXPORT_COUNT] = {
#define FV_EXPORT_ROW(id, option, samples, write, about) [FV_EXPORT_##id] = { "--" option, samples, write },
    FV_EXPORTS(FV_EXPORT_ROW)
#undef FV_EXPORT_ROW
        [FV_EXPORT_PERFETTO] = { "--perfetto", false, NULL },
    [FV_EXPORT_SQLITE] = { "--sqlite", false, NULL },
};

int fv_export_option(int option, const char *value, struct fv_exports *e, fv_arguments_wrong_fn *wrong)
{
    if (option == FV_OPT_EXPORT + FV_EXPORT_FROM)
        return fv_arguments_time(&e->part.from_s, value, wrong);
    if (option == FV_OPT_EXPORT + FV_EXPORT_TO)
        return fv_arguments_time(&e->part.to_s, value, wrong);
    if (option < FV_OPT_EXPORT || option >= FV_OPT_EXPORT + FV_EXPORT_COUNT)
        return FV_UNKNOWN_OPTION;
    e->paths[option - FV_OPT_EXPORT] = value;
    return FV_GO_ON;
}

int fv_exports_check(const struct fv_exports *e, fv_arguments_wrong_fn *wrong)
{
    return fv_arguments_part(&e->part, wrong);
}

const char *fv_exports_any(const struct fv_exports *e)
{
    for (size_t i = 0; i < FV_EXPORT_COUNT; i++)
        if (e->paths[i])
            return rows[i].option;
    return NULL;
}

bool fv_exports_of_trace_alone(const struct fv_exports *e)
{
    size_t asked = 0;

    for (size_t i = 0; i < FV_EXPORT_COUNT; i++)
        asked += e->paths[i] != NULL;
    return asked == 1 && e->paths[FV_EXPORT_PERFETTO];
}

size_t fv_exports_files(const struct fv_exports *e, struct fv_output_file out[FV_EXPORT_COUNT])
{
    for (size_t i = 0; i < FV_EXPORT_COUNT; i++)
        out[i] = (struct fv_output_file){ rows[i].option, e->paths[i] };
    return FV_EXPORT_COUNT;
}

int fv_exports_write(const struct fv_exports *e, const struct fv_profile *v)
{
    int err = 0;

    for (size_t i = 0; i < FV_EXPORT_COUNT && !err; i++) {
        if (!e->paths[i] || !rows[i].write)
            continue;
        if (rows[i].samples && !fv_model_costs(v->model)->ticks) {
            fv_log("report: there are no samples for %s; record with fvmpi run --sample", rows[i].option);
            return -FV_ENOENT;
        }
        err = FV_OUTPUT_WRITE(e->paths[i], rows[i].option, rows[i].write, v);
    }
    return err;
}

struct traced {
    const struct fv_timeline_file *timeline;
    struct fv_timeline_choice part;
};

static int put_timeline(const struct traced *t, FILE *out)
{
    return fv_timeline_perfetto(t->timeline, &t->part, out);
}

static struct fv_timeline_choice part_of(const struct fv_exports *e, const struct fv_choice *choice)
{
    return (struct fv_timeline_choice){ (uint64_t)llrint(e->part.from_s * 1e9),
                                        e->part.to_s > 0 ? (uint64_t)llrint(e->part.to_s * 1e9) : UINT64_MAX,
                                        &choice->ranks, &choice->threads };
}

int fv_exports_write_trace(const struct fv_exports *e, const struct fv_exported *of)
{
    const char *path = e->paths[FV_EXPORT_PERFETTO];
    struct fv_trace_timeline *t = path ? fv_xcalloc(1, sizeof(*t)) : NULL;
    int err = 0;

    if (!path)
        return 0;
    if (!fv_trace_timeline_open(t, of->trace, 0))
        err = -FV_ENOENT;
    if (!err) {
        const struct traced traced = { &t->timeline, part_of(e, of->choice) };

        err = FV_OUTPUT_WRITE(path, rows[FV_EXPORT_PERFETTO].option, put_timeline, &traced);
        fv_trace_timeline_close(t);
    }
    free(t);
    return err;
}

int fv_exports_write_database(const struct fv_exports *e, const struct fv_exported *of)
{
    const char *path = e->paths[FV_EXPORT_SQLITE];
    const bool traced = fv_is_traced(of->profile->model);
    const struct fv_timeline_choice part = part_of(e, of->choice);

    if (!path)
        return 0;
    if (traced && !of->is_alone)
        fv_log("report: --sqlite: the rank files are in several directories, of which the trace is left out");
    return fv_database_write(of->profile, of->trace, traced && of->is_alone ? of->trace : NULL, &part, path);
}
