/* SPDX-License-Identifier: BSD-3-Clause */
/* See job_where.h. */
#include "live/job_where.h"
#include "live/live.h"
#include "look/look.h"
#include "profile/findings/findings.h"
#include "profile/looks/looks_relations.h"

#include <string.h>

/* ---- by the relations ---- */

static const struct fv_column_def *column_of(const struct fv_relation *r, const char *key)
{
    for (size_t i = 0; i < r->column_count; i++)
        if (!strcmp(r->columns[i].key, key))
            return &r->columns[i];
    return NULL;
}

static void put_value(struct fv_jsonl *out, const char *key, const struct fv_value *v)
{
    fv_jsonl_text(out, "\"");
    fv_jsonl_text(out, key);
    fv_jsonl_text(out, "\":");
    if (v->null || (v->type == FV_TYPE_TEXT && !v->text))
        fv_jsonl_text(out, "null");
    else if (v->type == FV_TYPE_TEXT)
        fv_jsonl_string(out, v->text);
    else if (v->type == FV_TYPE_TRUTH)
        fv_jsonl_text(out, v->truth ? "true" : "false");
    else if (v->type == FV_TYPE_REAL)
        fv_jsonl_real(out, v->real);
    else
        fv_jsonl_whole(out, v->whole);
}

static void put_values(struct fv_jsonl *out, const struct fv_relation *r, const char *const *keys, void *subject,
                       const void *row)
{
    for (size_t i = 0; keys[i]; i++) {
        const struct fv_value v = fv_column_value(column_of(r, keys[i]), subject, row);

        fv_jsonl_text(out, i ? "," : "");
        put_value(out, keys[i], &v);
    }
}

/* "places":[{"rank_text":"rank 2",...},...],"places_all":7 */
static void put_rows(struct fv_jsonl *out, const struct fv_relation *r, const char *const *keys, size_t most,
                     void *subject, const void *parent)
{
    const size_t count = fv_relation_count(r, subject, parent);

    fv_jsonl_text(out, ",\"");
    fv_jsonl_text(out, r->key);
    fv_jsonl_text(out, "\":[");
    for (size_t i = 0; i < count && i < most; i++) {
        fv_jsonl_text(out, i ? ",{" : "{");
        put_values(out, r, keys, subject, fv_relation_row(r, subject, parent, i));
        fv_jsonl_text(out, "}");
    }
    fv_jsonl_text(out, "],\"");
    fv_jsonl_text(out, r->key);
    fv_jsonl_text(out, "_all\":");
    fv_jsonl_whole(out, count);
}

static void put_looks(struct fv_jsonl *out, const struct fv_profile *profile)
{
    static const char *const of_all[] = { "at_s", "look_count", NULL },
                             *const of_places[] = { "rank_text", "place", "text", "suspect", NULL },
                             *const of_tree[] = { "id",      "parent_id",    "rank_text", "label",
                                                  "suspect", "thread_count", NULL };
    struct fv_tables tables;

    fv_tables_init(&tables, profile);
    const void *looks = fv_relation_row(&fv_looks_relation, &tables, NULL, 0);
    fv_jsonl_text(out, "{");
    put_values(out, &fv_looks_relation, of_all, &tables, looks);
    put_rows(out, column_of(&fv_looks_relation, "places")->nested, of_places, FV_WHERE_PLACES, &tables, looks);
    put_rows(out, column_of(&fv_looks_relation, "tree")->nested, of_tree, FV_WHERE_NODES, &tables, looks);
    fv_jsonl_text(out, "}");
    fv_tables_release(&tables);
}

/* ---- whether to look ---- */

static bool hangs(const struct fv_profile *profile)
{
    bool any_runs = false;

    for (size_t i = 0; i < profile->model->rank_count; i++)
        any_runs = any_runs || profile->model->ranks[i].state == FV_RANK_RUNNING;
    for (size_t i = 0; i < profile->findings->count && any_runs; i++)
        if (!strcmp(profile->findings->items[i].def->name, "hang"))
            return true;
    return false;
}

/* The numbers of looks are wall clock times. */
static double seconds_since(uint64_t look)
{
    return 1e-3 * (double)((int64_t)(fv_look_number() >> FV_LOOK_SHIFT) - (int64_t)(look >> FV_LOOK_SHIFT));
}

void fv_job_where_put(struct fv_job_where *w, const struct fv_profile *profile, struct fv_jsonl *out)
{
    const struct fv_model *m = profile->model;
    const bool is_other = w->looking.seen.request && w->origin_ns != m->origin_ns;

    if (!hangs(profile))
        w->hangs_since_ns = 0;
    else if (!w->hangs_since_ns)
        w->hangs_since_ns = fv_live_now_ns();
    w->newest = is_other ? 0 : fv_model_looks(m)->request;
    w->origin_ns = m->origin_ns;
    if (is_other) /* another run has taken the place of the one that was looked at */
        fv_job_where_forget(w);
    fv_jsonl_text(out, ",\"where\":");
    if (w->newest && fv_model_looks(m)->count)
        put_looks(out, profile);
    else
        fv_jsonl_text(out, "null");
}

bool fv_job_where_look(struct fv_job_where *w, const char *directory)
{
    if (!w->hangs_since_ns || fv_live_now_ns() - w->hangs_since_ns < FV_WHERE_HANG_S * INT64_C(1000000000) ||
        (w->newest && seconds_since(w->newest) < FV_WHERE_AGAIN_S))
        return false;
    fv_looking_release(&w->looking);
    w->looking = (struct fv_looking){ .directory = directory, .looks = 3, .interval_s = 0.5 };
    w->looking.seen.or_newer = true;
    fv_looking_look(&w->looking);
    w->newest = w->looking.seen.request;
    return true;
}

void fv_job_where_forget(struct fv_job_where *w)
{
    fv_looking_release(&w->looking);
    w->looking = (struct fv_looking){ 0 };
}
