/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/exports.h"
#include "base/base.h"
#include "cmd/archives.h"
#include "cmd/database.h"
#include "cmd/timelines.h"
#include "profile/samples/costs.h"
#include "timeline/perfetto.h"

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

bool fv_export_option(int option, const char *path, struct fv_exports *e)
{
    if (option < FV_OPT_EXPORT || option >= FV_OPT_EXPORT + FV_EXPORT_COUNT)
        return false;
    e->paths[option - FV_OPT_EXPORT] = path;
    return true;
}

const char *fv_exports_any(const struct fv_exports *e)
{
    for (size_t i = 0; i < FV_EXPORT_COUNT; i++)
        if (e->paths[i])
            return rows[i].option;
    return NULL;
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

static int put_timeline(const struct fv_timeline_file *t, FILE *out)
{
    return fv_timeline_perfetto(t, 0, UINT64_MAX, out);
}

int fv_exports_write_trace(const struct fv_exports *e, const char *trace)
{
    const char *path = e->paths[FV_EXPORT_PERFETTO];
    struct fv_trace_timeline *t = path ? fv_xcalloc(1, sizeof(*t)) : NULL;
    int err = 0;

    if (!path)
        return 0;
    if (!fv_trace_timeline_open(t, trace, 0))
        err = -FV_ENOENT;
    if (!err) {
        err = FV_OUTPUT_WRITE(path, rows[FV_EXPORT_PERFETTO].option, put_timeline, &t->timeline);
        fv_trace_timeline_close(t);
    }
    free(t);
    return err;
}

int fv_exports_write_database(const struct fv_exports *e, const struct fv_profile *v, const char *trace, bool alone)
{
    const char *path = e->paths[FV_EXPORT_SQLITE];
    const bool traced = fv_is_traced(v->model);

    if (!path)
        return 0;
    if (traced && !alone)
        fv_log("report: --sqlite: the rank files are in several directories, of which the trace is left out");
    return fv_database_write(v, trace, traced && alone ? trace : NULL, path);
}
