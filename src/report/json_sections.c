/* "sections" of the schema. */
#include "report/cost_profile.h"
#include "report/views.h"
#include "report/json_stream.h"

#include <math.h>

/* Counts are whole. */
static void put_value(struct fv_json *j, const char *key, unsigned value, double number)
{
    if (value >= FV_SECTION_CALLS && number >= 0 && number < 1e18)
        fv_json_unsigned(j, key, (uint64_t)number);
    else
        fv_json_real(j, key, number);
}

static void put_spread(struct fv_json *j, const struct fv_view *v, unsigned value,
                       const struct fv_section_spread *s)
{
    fv_json_object(j, fv_section_value_name(value));
    put_value(j, "sum", value, s->sum);
    fv_json_real(j, "avg", s->mean);
    put_value(j, "min", value, s->min);
    put_value(j, "max", value, s->max);
    if (isfinite(s->max))
        fv_json_signed(j, "max_rank", v->model->ranks[s->max_rank].world_rank);
    else
        fv_json_null(j, "max_rank");
    fv_json_end(j);
}

static void put_faults(struct fv_json *j, const struct fv_section_faults *f)
{
    fv_json_object(j, "unbalanced");
    fv_json_unsigned(j, "open_at_end", f->open);
    fv_json_unsigned(j, "ended_by_thread_end", f->unended);
    fv_json_unsigned(j, "ends_without_begin", f->unbegun);
    fv_json_unsigned(j, "ends_on_another_thread", f->elsewhere);
    fv_json_unsigned(j, "nested_in_itself", f->nested);
    fv_json_unsigned(j, "overlapped", f->overlapped);
    fv_json_end(j);
}

static void put_counts(struct fv_json *j, const char *key, const uint64_t *counts)
{
    fv_json_array(j, key);
    for (unsigned i = 0; i < FV_SECTION_CLASSES; i++)
        fv_json_unsigned(j, NULL, counts[i]);
    fv_json_end(j);
}

static void put_calls(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                      const struct fv_section_calls *c, bool with_path)
{
    fv_json_object(j, NULL);
    fv_json_string(j, "function", c->function);
    if (with_path)
        fv_json_path(j, v, path, c->node);
    fv_json_unsigned(j, "calls", c->calls);
    fv_json_real(j, "time_s", c->time_s);
    fv_json_real(j, "wait_s", c->wait_kind ? c->wait_s : NAN);
    fv_json_string(j, "wait_kind", fv_view_wait_kind(c->wait_kind));
    fv_json_unsigned(j, "bytes_sent", c->bytes_sent);
    fv_json_unsigned(j, "bytes_received", c->bytes_received);
    put_counts(j, "sent", c->sent);
    put_counts(j, "received", c->received);
    fv_json_unsigned(j, "unclassified", c->sent[FV_SECTION_CLASSES] + c->received[FV_SECTION_CLASSES]);
    fv_json_end(j);
}

static void put_ranks(struct fv_json *j, const struct fv_view *v, const struct fv_section_view *s)
{
    fv_json_array(j, "per_rank");
    for (uint32_t i = 0; i < s->ranks; i++) {
        const struct fv_section_rank *r = &v->model->sections.ranks[s->first + i];

        fv_json_object(j, NULL);
        fv_json_signed(j, "rank", v->model->ranks[r->rank].world_rank);
        fv_json_unsigned(j, "count", r->count);
        fv_json_unsigned(j, "threads", r->threads);
        for (unsigned k = 0; k < FV_SECTION_VALUES; k++)
            put_value(j, fv_section_value_name(k), k, r->value[k]);
        fv_json_string(j, "wait_kind", fv_view_wait_kind(r->wait_kind));
        put_faults(j, &r->faults);
        fv_json_end(j);
    }
    fv_json_end(j);
}

/* ---- clock samples ---- */

/* Of all sections; procedures of the present one begin at `next`. */
struct costs {
    struct fv_cost_profile profile;
    size_t next;
};

static void put_ticks(struct fv_json *j, const struct costs *k, const char *key, const struct fv_cost_sum *s)
{
    fv_json_object(j, key);
    fv_json_unsigned(j, "ticks", s->ticks);
    fv_json_real(j, "seconds", (double)s->ticks * k->profile.tick_s);
    fv_json_real(j, "error_s", fv_cost_error(s->ticks) * k->profile.tick_s);
    fv_json_unsigned(j, "in_mpi", s->in_mpi);
    fv_json_unsigned(j, "in_sync", s->in_sync);
    fv_json_end(j);
}

static void put_procedures(struct fv_json *j, const struct fv_view *v, struct costs *k, uint32_t section)
{
    const struct fv_cost_profile *c = &k->profile;

    fv_json_array(j, "procedures");
    for (; k->next < c->section_part_count && c->section_parts[k->next].owner == section; k->next++) {
        const struct fv_cost_part *part = &c->section_parts[k->next];
        const struct fv_cost_procedure *p = &c->procedures[part->procedure];

        fv_json_object(j, NULL);
        fv_json_string(j, "procedure", p->name);
        fv_json_string(j, "module",
                       p->module >= FV_MODEL_FIRST_MODULE ? v->model->modules[p->module].path : NULL);
        put_ticks(j, k, "exclusive", &part->sum.self);
        put_ticks(j, k, "inclusive", &part->sum.total);
        fv_json_end(j);
    }
    fv_json_end(j);
}

/* Threads stand together, as leaves are by node. */
static void put_cost_paths(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                           const struct fv_section_view *s)
{
    fv_json_array(j, "costpaths");
    for (size_t i = 0, next; i < s->cost_count; i = next) {
        uint64_t ticks = 0, in_mpi = 0;

        for (next = i; next < s->cost_count && s->costs[next].node == s->costs[i].node; next++) {
            ticks += s->costs[next].ticks;
            in_mpi += s->costs[next].in_mpi;
        }
        fv_json_object(j, NULL);
        fv_json_path(j, v, path, s->costs[i].node);
        fv_json_unsigned(j, "ticks", ticks);
        fv_json_unsigned(j, "in_mpi", in_mpi);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_section(struct fv_json *j, const struct fv_view *v, struct fv_path *path, struct costs *k,
                        const struct fv_section_view *s)
{
    fv_json_object(j, NULL);
    fv_json_string(j, "name", s->name);
    fv_json_signed(j, "number", s->number);
    fv_json_signed(j, "level", s->level);
    fv_json_bool(j, "whole", s->whole);
    fv_json_bool(j, "others", s->others);
    fv_json_unsigned(j, "ranks", s->ranks);
    fv_json_unsigned(j, "threads", s->threads);
    fv_json_unsigned(j, "count", s->count);
    fv_json_object(j, "instance_s");
    fv_json_real(j, "min", s->shortest_s);
    fv_json_real(j, "max", s->longest_s);
    fv_json_end(j);
    for (unsigned k = 0; k < FV_SECTION_VALUES; k++)
        put_spread(j, v, k, &s->value[k]);
    fv_json_string(j, "wait_kind", fv_view_wait_kind(s->wait_kind));
    fv_json_real(j, "imbalance",
                 s->value[FV_SECTION_ELAPSED].max > 0
                     ? 1 - s->value[FV_SECTION_ELAPSED].mean / s->value[FV_SECTION_ELAPSED].max
                     : NAN);
    put_faults(j, &s->faults);
    fv_json_array(j, "mpi_functions");
    for (size_t i = 0; i < s->function_count; i++)
        put_calls(j, v, path, &s->functions[i], false);
    fv_json_end(j);
    fv_json_array(j, "callpaths");
    for (size_t i = 0; i < s->path_count; i++)
        put_calls(j, v, path, &s->paths[i], true);
    fv_json_end(j);
    put_procedures(j, v, k, (uint32_t)(s - v->model->sections.items));
    put_cost_paths(j, v, path, s);
    put_ranks(j, v, s);
    fv_json_end(j);
}

void fv_json_sections(struct fv_json *j, const struct fv_view *v)
{
    const struct fv_sections_view *s = &v->model->sections;
    struct fv_path path = { 0 };
    struct costs costs = { .next = 0 };

    if (fv_sections_are_sampled(s))
        fv_cost_profile_init_sections(&costs.profile, v->model, v->symbols);
    fv_json_array(j, "sections");
    for (size_t i = 0; i < s->count; i++)
        put_section(j, v, &path, &costs, &s->items[i]);
    fv_json_end(j);
    fv_json_object(j, "sections_lost");
    fv_json_unsigned(j, "above_level", s->losses.above_level);
    fv_json_unsigned(j, "too_deep", s->losses.too_deep);
    fv_json_unsigned(j, "too_many", s->losses.others);
    fv_json_unsigned(j, "calls_not_told_apart", s->losses.sets);
    fv_json_unsigned(j, "interrupted", s->losses.interrupted);
    fv_json_unsigned(j, "unmeasured", s->losses.unmeasured);
    fv_json_unsigned(j, "untraced", s->losses.untraced);
    fv_json_end(j);
    fv_cost_profile_release(&costs.profile);
    fv_path_release(&path);
}
