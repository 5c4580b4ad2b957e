/* "waiting" of the schema: who made others wait. */
#include "report/views.h"
#include "report/json_stream.h"

#include <math.h>

static void put_callsite(struct fv_json *j, uint32_t site)
{
    if (site == FV_NONE)
        fv_json_null(j, "callsite");
    else
        fv_json_unsigned(j, "callsite", (uint64_t)site + 1);
}

static void put_culprits(struct fv_json *j, const struct fv_model *m)
{
    const struct fv_causes *c = &m->causes;
    bool traced = c->source == FV_CAUSES_TRACE;

    fv_json_array(j, "culprits");
    for (size_t i = 0; i < c->culprit_count; i++) {
        const struct fv_culprit *k = &c->culprits[i];

        fv_json_object(j, NULL);
        fv_json_signed(j, "rank", m->ranks[k->rank].world_rank);
        put_callsite(j, k->site);
        fv_json_string(j, "where", k->where == FV_PLACE_MPI ? "mpi" : "computing");
        fv_json_real(j, "cost_s", k->cost_s);
        fv_json_real(j, "direct_s", traced ? fmin(k->direct_s, k->cost_s) : NAN);
        fv_json_real(j, "propagated_s", traced ? fmax(k->cost_s - k->direct_s, 0) : NAN);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_ranks(struct fv_json *j, const struct fv_model *m)
{
    bool traced = m->causes.source == FV_CAUSES_TRACE;

    fv_json_array(j, "ranks");
    for (size_t i = 0; i < m->rank_count; i++) {
        fv_json_object(j, NULL);
        fv_json_signed(j, "rank", m->ranks[i].world_rank);
        fv_json_real(j, "caused_s", traced ? m->ranks[i].caused_s : m->ranks[i].delay_s);
        fv_json_real(j, "charged_s", m->ranks[i].charged_s);
        fv_json_real(j, "critical_s", m->ranks[i].critical_s);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_kinds(struct fv_json *j, const struct fv_causes *c)
{
    fv_json_array(j, "kinds");
    for (size_t i = 0; i < c->kind_count; i++) {
        fv_json_object(j, NULL);
        fv_json_string(j, "kind", c->kinds[i].kind);
        fv_json_unsigned(j, "count", c->kinds[i].count);
        fv_json_real(j, "wait_s", c->kinds[i].wait_s);
        fv_json_bool(j, "transfer", c->kinds[i].transfer);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_regions(struct fv_json *j, const struct fv_model *m)
{
    fv_json_array(j, "regions");
    for (size_t i = 0; i < m->causes.region_count; i++) {
        const struct fv_region *r = &m->causes.regions[i];

        fv_json_object(j, NULL);
        put_callsite(j, r->site);
        fv_json_unsigned(j, "ranks", r->ranks);
        fv_json_real(j, "mean_s", r->mean_s);
        fv_json_real(j, "max_s", r->max_s);
        fv_json_signed(j, "max_rank", m->ranks[r->max_rank].world_rank);
        fv_json_real(j, "balance", r->max_s > 0 ? r->mean_s / r->max_s : NAN);
        fv_json_object(j, "critical_s");
        fv_json_real(j, "computing", r->critical_s[FV_PLACE_COMPUTING]);
        fv_json_real(j, "mpi", r->critical_s[FV_PLACE_MPI]);
        fv_json_end(j);
        fv_json_end(j);
    }
    fv_json_end(j);
}

void fv_json_waiting(struct fv_json *j, const struct fv_view *v)
{
    const struct fv_causes *c = &v->model->causes;
    bool traced = c->source == FV_CAUSES_TRACE;
    char text[4800];

    if (!c->source) {
        fv_json_null(j, "waiting");
        return;
    }
    fv_json_object(j, "waiting");
    fv_json_string(j, "source", traced ? "trace" : "profile");
    fv_json_string(j, "wait_kind", fv_view_wait_kind(c->exact ? FV_WAIT_EXACT : FV_WAIT_ESTIMATE));
    fv_json_string(j, "text", fv_view_culprit(v, text, sizeof(text)));
    fv_json_real(j, "wait_s", c->wait_s);
    fv_json_real(j, "coverage", traced ? c->coverage : NAN);
    fv_json_real(j, "unexplained_s", traced ? c->unexplained_s : NAN);
    put_culprits(j, v->model);
    put_ranks(j, v->model);
    put_kinds(j, c);
    put_regions(j, v->model);
    if (traced) {
        fv_json_object(j, "critical_path");
        fv_json_real(j, "length_s", c->critical_path_s);
        fv_json_unsigned(j, "switches", c->switches);
        fv_json_end(j);
    } else {
        fv_json_null(j, "critical_path");
    }
    fv_json_end(j);
}
