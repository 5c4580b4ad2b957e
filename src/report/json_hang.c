/* "hang" of the JSON: who waits for whom, of a run that did not end well. */
#include "report/hang.h"
#include "report/json_stream.h"
#include "report/views.h"

static void put_rank_list(struct fv_json *j, const struct fv_model *m, const char *key, const uint32_t *ranks,
                          size_t count)
{
    fv_json_array(j, key);
    for (size_t i = 0; i < count; i++)
        fv_json_signed(j, NULL, m->ranks[ranks[i]].world_rank);
    fv_json_end(j);
}

static void put_hang_list(struct fv_json *j, const struct fv_model *m, const struct fv_hang_list *list)
{
    fv_json_object(j, NULL);
    fv_json_bool(j, "any", list->any);
    fv_json_bool(j, "others", list->open);
    put_rank_list(j, m, "ranks", list->count ? m->hang->targets + list->first : NULL, list->count);
    fv_json_end(j);
}

static void put_hang_rank(struct fv_json *j, const struct fv_model *m, uint32_t i)
{
    const struct fv_hang_rank *r = &m->hang->ranks[i];
    char text[700];

    fv_json_object(j, NULL);
    fv_json_signed(j, "rank", m->ranks[i].world_rank);
    fv_json_string(j, "state", fv_hang_state_name(r->state));
    if (r->state == FV_HANG_WAITS)
        fv_json_unsigned(j, "list", r->list);
    else
        fv_json_null(j, "list");
    fv_json_bool(j, "stuck", r->stuck);
    fv_json_unsigned(j, "awaited_by", r->direct);
    fv_json_string(j, "text", fv_hang_rank(m, i, text, sizeof(text)));
    fv_json_end(j);
}

static void put_hang_findings(struct fv_json *j, const struct fv_model *m)
{
    const struct fv_hang *h = m->hang;
    char text[700];

    fv_json_array(j, "cycles");
    for (size_t i = 0; i < h->cycle_count; i++) {
        fv_json_object(j, NULL);
        put_rank_list(j, m, "ranks", h->cycles[i].order, h->cycles[i].length);
        fv_json_unsigned(j, "count", h->cycles[i].count);
        fv_json_bool(j, "lasting", h->cycles[i].lasting);
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_json_array(j, "causes");
    for (size_t i = 0; i < h->cause_count; i++) {
        fv_json_object(j, NULL);
        fv_json_string(j, "state", fv_hang_state_name(h->causes[i].state));
        put_rank_list(j, m, "ranks", h->causes[i].ranks, h->causes[i].count);
        fv_json_unsigned(j, "waiting", h->causes[i].waiting);
        fv_json_string(j, "text", fv_hang_cause(m, &h->causes[i], text, sizeof(text)));
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_json_array(j, "mismatches");
    for (size_t i = 0; i < h->mismatch_count; i++)
        fv_json_string(j, NULL, fv_hang_mismatch(m, &h->mismatches[i], text, sizeof(text)));
    fv_json_end(j);
}

void fv_json_hang(struct fv_json *j, const struct fv_model *m)
{
    const struct fv_hang *h = m->hang;
    char text[700];

    if (!h) {
        fv_json_null(j, "hang");
        return;
    }
    fv_json_object(j, "hang");
    fv_json_string(j, "text", fv_hang_headline(m, text, sizeof(text)));
    fv_json_unsigned(j, "waiting", h->waiting);
    fv_json_unsigned(j, "stuck", h->stuck);
    fv_json_bool(j, "lasting", h->lasting);
    put_hang_findings(j, m);
    fv_json_array(j, "ranks");
    for (uint32_t i = 0; i < h->rank_count; i++)
        put_hang_rank(j, m, i);
    fv_json_end(j);
    fv_json_array(j, "lists");
    for (size_t i = 0; i < h->list_count; i++)
        put_hang_list(j, m, &h->lists[i]);
    fv_json_end(j);
    fv_json_end(j);
}
