/* The comparison as JSON, schema fvmpi-diff-1. */
#include "report/diff.h"
#include "report/json_stream.h"

#include <math.h>

static void put_change(struct fv_json *j, const char *key, const struct fv_change *c)
{
    static const char *const sides[] = { "a", "b" }, *const spreads[] = { "a_stddev", "b_stddev" };

    fv_json_object(j, key);
    for (unsigned s = 0; s < 2; s++) {
        fv_json_real(j, sides[s], c->mean[s]);
        fv_json_real(j, spreads[s], c->stddev[s]);
    }
    fv_json_real(j, "change", c->change);
    fv_json_real(j, "ratio", c->mean[0] > 0 ? c->mean[1] / c->mean[0] : NAN);
    fv_json_real(j, "interval", c->half);
    fv_json_real(j, "p", c->p);
    if (isnan(c->p))
        fv_json_null(j, "significant");
    else
        fv_json_bool(j, "significant", c->significant);
    fv_json_end(j);
}

static void put_side(struct fv_json *j, const char *key, const struct fv_diff_side *side)
{
    fv_json_array(j, key);
    for (size_t i = 0; i < side->count; i++) {
        const struct fv_diff_run *r = &side->runs[i];

        fv_json_object(j, NULL);
        fv_json_string(j, "directory", r->directory);
        fv_json_string(j, "command", r->command);
        fv_json_string(j, "mpi", r->mpi);
        fv_json_unsigned(j, "ranks", r->ranks);
        fv_json_bool(j, "complete", r->complete);
        fv_json_bool(j, "analysis", r->analysis);
        for (unsigned k = 0; k < FV_DIFF_RUN_METRICS; k++)
            fv_json_real(j, fv_diff_run_metrics[k].key, r->value[k]);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_changes(struct fv_json *j, const struct fv_diff_row *row)
{
    for (unsigned k = 0; k < FV_DIFF_METRICS; k++)
        put_change(j, fv_diff_metrics[k].key, &row->change[k]);
    fv_json_string(j, "wait_kind", fv_view_wait_kind(row->wait_kind));
}

static void put_path(struct fv_json *j, const char *key, const struct fv_diff_path *p)
{
    if (!p) {
        fv_json_null(j, key);
        return;
    }
    fv_json_array(j, key);
    for (size_t i = 0; i < p->count; i++) {
        const struct fv_diff_frame *f = &p->frames[i];

        fv_json_object(j, NULL);
        fv_json_string(j, "function", f->function);
        fv_json_string(j, "file", f->file);
        if (f->line)
            fv_json_unsigned(j, "line", f->line);
        else
            fv_json_null(j, "line");
        fv_json_string(j, "module", *f->module ? f->module : NULL);
        fv_json_unsigned(j, "offset", f->offset);
        fv_json_bool(j, "inlined", f->inlined);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_notes(struct fv_json *j, const struct fv_diff *d)
{
    fv_json_array(j, "notes");
    for (size_t i = 0; i < d->notes.count; i++) {
        fv_json_object(j, NULL);
        fv_json_string(j, "kind", fv_problem_kind_name(d->notes.items[i].kind));
        fv_json_string(j, "text", d->notes.items[i].text);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_head(struct fv_json *j, const struct fv_diff *d)
{
    fv_json_string(j, "schema", "fvmpi-diff-1");
    put_side(j, "a", &d->side[0]);
    put_side(j, "b", &d->side[1]);
    fv_json_bool(j, "noise_known", d->noise);
    fv_json_string(j, "waits", d->waits == FV_WAITS_ANALYSIS ? "analysis" : "profile");
    fv_json_object(j, "joined");
    for (unsigned k = 0; k < FV_DIFF_JOINS; k++)
        fv_json_unsigned(j, fv_diff_join_names[k], d->joined[k]);
    fv_json_end(j);
    put_notes(j, d);
    fv_json_object(j, "run");
    for (unsigned k = 0; k < FV_DIFF_RUN_METRICS; k++)
        put_change(j, fv_diff_run_metrics[k].key, &d->run[k]);
    fv_json_end(j);
}

int fv_diff_json(const struct fv_diff *d, FILE *out)
{
    struct fv_json j = { .out = out };

    fv_json_object(&j, NULL);
    put_head(&j, d);
    fv_json_array(&j, "functions");
    for (size_t i = 0; i < d->function_count; i++) {
        fv_json_object(&j, NULL);
        fv_json_string(&j, "function", d->functions[i].function);
        put_changes(&j, &d->functions[i]);
        fv_json_end(&j);
    }
    fv_json_end(&j);
    fv_json_array(&j, "callsites");
    for (size_t i = 0; i < d->path_count; i++) {
        const struct fv_diff_row *row = &d->paths[i];

        fv_json_object(&j, NULL);
        fv_json_string(&j, "function", row->function);
        fv_json_string(&j, "joined", fv_diff_join_names[row->join]);
        fv_json_bool(&j, "uneven", row->uneven);
        put_changes(&j, row);
        put_path(&j, "path_a", row->path[0]);
        put_path(&j, "path_b", row->path[1]);
        fv_json_end(&j);
    }
    fv_json_end(&j);
    fv_json_end(&j);
    return j.failed || fflush(out) || ferror(out) ? -FV_EIO : 0;
}
