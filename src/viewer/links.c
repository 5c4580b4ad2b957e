/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of fvmpi view for what lies over, between and below the rows (viewer.h). */
#include "timeline/timeline_links.h"
#include "base/list.h"
#include "viewer/answer.h"

#if FV_MICROHTTPD

#define BLOCKED   1000
#define CHAIN     32
#define LABELS    2000
#define STRETCHES 5000
#define SERIES    64 /* whose values are asked for at once */

static void tell_link(struct fv_json *json, const struct fv_timeline_link *l)
{
    const struct fv_timeline_seen *s = &l->seen;

    TELL_NUMBERS(json, l->row, s->begin_ns, s->ns, s->wait_ns, s->region, s->depth, known(s->context), known(s->cause),
                 s->is_sampled, s->comm != FV_TIMELINE_NONE);
}

static enum MHD_Result tell_links(const struct shown *v, struct MHD_Connection *connection, struct answer *a,
                                  const struct fv_timeline_link *links, size_t count)
{
    fv_json_array(&a->json, "calls");
    for (size_t i = 0; i < count; i++)
        tell_link(&a->json, &links[i]);
    fv_json_end(&a->json);
    return end_answer(v, connection, a);
}

/* ---- waits ---- */

enum MHD_Result fv_viewer_blocked(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    const size_t most = (size_t)number(connection, "count", 1, BLOCKED, 200);
    struct fv_timeline_link *found = fv_xcalloc(most, sizeof(*found));
    struct answer *a = begin_answer();
    uint64_t all;

    const size_t count =
        fv_timeline_blocked(v->timeline, &w, (uint64_t)number(connection, "least", 0, 1e18, 0), found, most, &all);
    fv_json_unsigned(&a->json, "left_out", all - count);
    const enum MHD_Result result = tell_links(v, connection, a, found, count);
    free(found);
    return result;
}

/* The call that row, begin and depth name. */
static bool asked_for(const struct shown *v, struct MHD_Connection *connection, struct fv_timeline_link *out)
{
    const double rows = (double)v->timeline->header->rows.count, row = number(connection, "row", 0, rows, rows);

    return row < rows &&
           fv_timeline_slice_at(v->timeline, (uint32_t)row, (uint64_t)number(connection, "begin", 0, 1e18, 0),
                                (uint32_t)number(connection, "depth", 0, 65535, 0), out);
}

enum MHD_Result fv_viewer_chain(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    struct fv_timeline_link from, found[CHAIN];
    const size_t count = asked_for(v, connection, &from) ? fv_timeline_chain(v->timeline, &from, found, CHAIN) : 0;

    (void)r;
    return tell_links(v, connection, begin_answer(), found, count);
}

/* What a slice is of, beside its times. */
enum MHD_Result fv_viewer_call(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    struct fv_timeline_link of;
    struct answer *a = begin_answer();

    (void)r;
    if (asked_for(v, connection, &of)) {
        const char *file = fv_timeline_file_name(v->timeline, of.seen.file);

        if (of.seen.root != FV_TIMELINE_NONE)
            fv_json_unsigned(&a->json, "root", of.seen.root);
        if (*file)
            fv_json_string(&a->json, "file", file);
    }
    return end_answer(v, connection, a);
}

enum MHD_Result fv_viewer_together(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const size_t rows = v->timeline->header->rows.count;
    struct fv_timeline_link *found = fv_xcalloc(rows + 1, sizeof(*found)), of;
    struct answer *a = begin_answer();
    uint32_t members = 0;

    (void)r;
    const size_t count =
        asked_for(v, connection, &of) ? fv_timeline_members(v->timeline, &of, found, rows, &members) : 0;
    fv_json_unsigned(&a->json, "members", members);
    if (members)
        fv_json_unsigned(&a->json, "comm", of.seen.comm);
    const enum MHD_Result result = tell_links(v, connection, a, found, count);
    free(found);
    return result;
}

/* ---- what is of no call ---- */

enum MHD_Result fv_viewer_critical(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_file *t = v->timeline;
    const struct window w = window_of(v, connection);
    const double least = number(connection, "least", 0, 1e18, 0);
    struct answer *a = begin_answer();
    uint64_t left_out = 0, told = 0;

    (void)r;
    fv_json_array(&a->json, "stretches");
    for (uint64_t i = 0; i < t->header->critical.count; i++) {
        const struct fv_timeline_stretch *s = &t->critical[i];

        if ((double)s->begin_ns >= w.to || (double)s->end_ns <= w.from)
            continue;
        if (told == STRETCHES || (double)(s->end_ns - s->begin_ns) < least) {
            left_out++;
            continue;
        }
        TELL_NUMBERS(&a->json, s->row, s->begin_ns, s->end_ns);
        told++;
    }
    fv_json_end(&a->json);
    fv_json_unsigned(&a->json, "left_out", left_out);
    return end_answer(v, connection, a);
}

enum MHD_Result fv_viewer_labels(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_file *t = v->timeline;
    const struct window w = window_of(v, connection);
    struct answer *a = begin_answer();
    uint64_t all = 0;

    (void)r;
    fv_json_array(&a->json, "labels");
    for (uint64_t i = 0; i < t->header->labels.count; i++) {
        const struct fv_timeline_label *l = &t->labels[i];

        if ((double)l->ns < w.from || (double)l->ns >= w.to || all++ >= LABELS)
            continue;
        fv_json_array(&a->json, NULL);
        fv_json_unsigned(&a->json, NULL, l->ns);
        fv_json_unsigned(&a->json, NULL, l->row);
        fv_json_string(&a->json, NULL, fv_timeline_text(t, l->text));
        fv_json_end(&a->json);
    }
    fv_json_end(&a->json);
    fv_json_unsigned(&a->json, "left_out", all > LABELS ? all - LABELS : 0);
    return end_answer(v, connection, a);
}

enum MHD_Result fv_viewer_series(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    static const char *const scopes[] = { FV_TIMELINE_SCOPES(FV_LIST_WORD) };
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_file *t = v->timeline;
    struct answer *a = begin_answer();

    (void)connection, (void)r;
    fv_json_array(&a->json, "series");
    for (uint64_t i = 0; i < t->header->series.count; i++) {
        const struct fv_timeline_series *s = &t->series[i];

        fv_json_object(&a->json, NULL);
        fv_json_string(&a->json, "name", fv_timeline_text(t, s->name));
        fv_json_string(&a->json, "unit", fv_timeline_text(t, s->unit));
        fv_json_string(&a->json, "of", scopes[s->scope <= FV_TIMELINE_OF_NODE ? s->scope : 0]);
        fv_json_unsigned(&a->json, "row", s->row);
        fv_json_bool(&a->json, "is_rate", s->is_rate && !s->is_ratio);
        fv_json_unsigned(&a->json, "count", s->count);
        fv_json_end(&a->json);
    }
    fv_json_end(&a->json);
    return end_answer(v, connection, a);
}

/* "3,17" */
static size_t take_series(const struct shown *v, struct MHD_Connection *connection, uint32_t out[SERIES])
{
    const char *at = fv_web_query(connection, "series");
    size_t count = 0;

    while (at && count < SERIES && *at >= '0' && *at <= '9') {
        char *end;
        const unsigned long long value = strtoull(at, &end, 10);

        if (value < v->timeline->header->series.count)
            out[count++] = (uint32_t)value;
        at = *end == ',' ? end + 1 : end;
    }
    return count;
}

enum MHD_Result fv_viewer_values(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct window w = window_of(v, connection);
    const size_t count = (size_t)number(connection, "count", 1, 4096, 1024);
    uint32_t series[SERIES];
    const size_t series_count = take_series(v, connection, series);
    struct fv_timeline_value *out = fv_xcalloc(series_count * count + 1, sizeof(*out));

    (void)r;
    for (size_t i = 0; i < series_count; i++)
        fv_timeline_values(v->timeline, series[i], w.from, w.to, out + i * count, count);
    return fv_web_queue(
        v->site, connection, MHD_HTTP_OK,
        fv_http.MHD_create_response_from_buffer(series_count * count * sizeof(*out), out, MHD_RESPMEM_MUST_FREE),
        "application/octet-stream");
}
#endif
