/* SPDX-License-Identifier: BSD-3-Clause */
/* See viewer.h. */
#include "viewer/viewer.h"
#include "timeline/perfetto.h"
#include "viewer/answer.h"
#include "viewer/bookmarks.h"

#if FV_MICROHTTPD
#include "viewer/view_html.h"

#define SLICES 20000 /* in an answer */

static enum MHD_Result answer_page(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);

    (void)r;
    return fv_web_queue(v->site, connection, MHD_HTTP_OK,
                        fv_http.MHD_create_response_from_buffer(fv_view_page_bytes, (void *)(uintptr_t)fv_view_page,
                                                                MHD_RESPMEM_PERSISTENT),
                        "text/html; charset=utf-8");
}

static void tell_classes(struct fv_json *json)
{
    static const struct {
        const char *word, *about;
    } classes[] = {
#define CLASS(name, word, about) { word, about },
        FV_TIMELINE_CLASSES(CLASS)
#undef CLASS
    };

    fv_json_array(json, "classes");
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        fv_json_object(json, NULL);
        fv_json_string(json, "name", classes[i].word);
        fv_json_string(json, "about", classes[i].about);
        fv_json_end(json);
    }
    fv_json_end(json);
}

static void tell_left_out(struct fv_json *json, const struct fv_timeline_left_out *left)
{
    fv_json_object(json, "left_out");
    fv_json_unsigned(json, "calls", left->slices);
    fv_json_unsigned(json, "least_ns", left->least_ns);
    fv_json_unsigned(json, "messages", left->messages);
    fv_json_unsigned(json, "series", left->series);
    fv_json_unsigned(json, "critical", left->critical);
    fv_json_unsigned(json, "collectives", left->members);
    fv_json_unsigned(json, "io", left->io);
    fv_json_end(json);
}

static void tell_doubts(struct fv_json *json, const struct fv_timeline_doubts *doubts)
{
    fv_json_object(json, "doubts");
    fv_json_unsigned(json, "missing", doubts->missing);
    fv_json_unsigned(json, "early", doubts->early);
    fv_json_unsigned(json, "estimated_ns", doubts->estimated_ns);
    fv_json_unsigned(json, "clocks", doubts->clocks);
    fv_json_bool(json, "is_damaged", doubts->is_damaged);
    fv_json_end(json);
}

static enum MHD_Result answer_about(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_file *t = v->timeline;
    struct answer *a = begin_answer();

    (void)r;
    fv_json_unsigned(&a->json, "number", v->number);
    fv_json_string(&a->json, "title", v->title);
    fv_json_string(&a->json, "second", v->second);
    fv_json_unsigned(&a->json, "span_ns", t->header->span_ns);
    fv_json_unsigned(&a->json, "slices", t->header->slices);
    fv_json_unsigned(&a->json, "samples", t->header->samples);
    fv_json_unsigned(&a->json, "messages", t->header->messages);
    fv_json_unsigned(&a->json, "unmatched", t->header->unmatched);
    fv_json_unsigned(&a->json, "collectives", t->header->members);
    fv_json_unsigned(&a->json, "io", t->header->io);
    fv_json_unsigned(&a->json, "critical", t->header->critical.count + t->header->left_out.critical);
    tell_left_out(&a->json, &t->header->left_out);
    tell_doubts(&a->json, &t->header->doubts);
    tell_classes(&a->json);
    fv_json_array(&a->json, "rows");
    for (uint64_t i = 0; i < t->header->rows.count; i++) {
        fv_json_array(&a->json, NULL);
        fv_json_unsigned(&a->json, NULL, t->rows[i].rank);
        fv_json_unsigned(&a->json, NULL, t->rows[i].thread);
        fv_json_string(&a->json, NULL, fv_timeline_text(t, t->rows[i].host));
        fv_json_unsigned(&a->json, NULL, t->rows[i].depth);
        fv_json_string(&a->json, NULL, fv_timeline_text(t, t->rows[i].name));
        fv_json_end(&a->json);
    }
    fv_json_end(&a->json);
    fv_json_array(&a->json, "comms");
    for (uint64_t i = 0; i < t->header->comm_names.count; i++)
        fv_json_string(&a->json, NULL, fv_timeline_comm_name(t, (uint32_t)i));
    fv_json_end(&a->json);
    fv_json_array(&a->json, "regions");
    for (uint64_t i = 0; i < t->header->regions.count; i++) {
        fv_json_array(&a->json, NULL);
        fv_json_string(&a->json, NULL, fv_timeline_text(t, t->regions[i].name));
        fv_json_unsigned(&a->json, NULL, t->regions[i].class);
        fv_json_string(&a->json, NULL, fv_timeline_text(t, t->regions[i].file));
        fv_json_unsigned(&a->json, NULL, t->regions[i].count);
        fv_json_unsigned(&a->json, NULL, t->regions[i].ns);
        fv_json_end(&a->json);
    }
    fv_json_end(&a->json);
    return end_answer(v, connection, a);
}

/* ---- a trace that grows ---- */

/* Of two traces, that of the one that is behind. */
static void tell_progress(struct fv_json *json, const struct fv_viewer *v)
{
    bool is_head = false, has_failed = false;
    unsigned percent = 100;

    for (size_t i = 0; i < v->count; i++) {
        is_head = is_head || v->shown[i]->is_head;
        has_failed = has_failed || v->has_failed[i];
        if (v->shown[i]->is_head && v->percent[i] < percent)
            percent = v->percent[i];
    }
    if (is_head)
        fv_json_unsigned(json, "percent", percent);
    else
        fv_json_null(json, "percent");
    fv_json_bool(json, "failed", has_failed);
}

static enum MHD_Result answer_more(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    struct fv_viewer *v = context;
    struct answer *a = begin_answer();
    bool has_more = false;
    uint64_t number = 0;

    (void)r;
    for (size_t i = 0; i < v->count; i++) {
        has_more = has_more || v->has_more[i];
        number += v->shown[i]->number;
    }
    fv_json_bool(&a->json, "more", has_more);
    fv_json_unsigned(&a->json, "number", number);
    tell_progress(&a->json, v);
    return end_answer(v->shown[0], connection, a);
}

static enum MHD_Result answer_renew(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    struct fv_viewer *v = context;

    (void)r;
    v->is_asked = true;
    return fv_web_say(&v->site, connection, MHD_HTTP_OK, "soon\n");
}

/* ---- slices ---- */

struct chosen {
    struct fv_timeline_seen items[SLICES];
    size_t count;
    uint64_t left_out, least_ns;
};

static int by_length(const void *a, const void *b)
{
    const struct fv_timeline_seen *x = a, *y = b;

    return (x->ns < y->ns) - (x->ns > y->ns);
}

/* Of too many, the longer half so far. */
static bool choose(void *context, const struct fv_timeline_seen *slice)
{
    struct chosen *c = context;

    if (slice->ns < c->least_ns) {
        c->left_out++;
        return true;
    }
    if (c->count == SLICES) {
        qsort(c->items, SLICES, sizeof(*c->items), by_length);
        c->count = SLICES / 2;
        c->left_out += SLICES / 2;
        c->least_ns = c->items[c->count - 1].ns;
    }
    c->items[c->count++] = *slice;
    return true;
}

static void tell_slice(struct fv_json *json, const struct fv_timeline_seen *s)
{
    TELL_NUMBERS(json, s->begin_ns, s->ns, s->wait_ns, s->region, s->depth, known(s->context), known(s->cause),
                 s->is_sampled, s->comm != FV_TIMELINE_NONE);
}

static enum MHD_Result answer_slices(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_header *h = v->timeline->header;
    const struct window w = window_of(v, connection);
    const double row = number(connection, "row", 0, (double)h->rows.count, (double)h->rows.count);
    struct chosen *c = fv_xcalloc(1, sizeof(*c));
    struct answer *a = begin_answer();

    (void)r;
    if (row < (double)h->rows.count)
        fv_timeline_slices(v->timeline, (uint32_t)row, (uint64_t)w.from, (uint64_t)w.to,
                           (uint64_t)number(connection, "least", 0, 1e18, 0), choose, c);
    fv_json_unsigned(&a->json, "left_out", c->left_out);
    fv_json_array(&a->json, "slices");
    for (size_t i = 0; i < c->count; i++)
        tell_slice(&a->json, &c->items[i]);
    fv_json_end(&a->json);
    free(c);
    return end_answer(v, connection, a);
}

/* ---- paths ---- */

static enum MHD_Result answer_path(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_file *t = v->timeline;
    const double asked = number(connection, "context", 0, UINT32_MAX, UINT32_MAX);
    struct answer *a = begin_answer();
    unsigned depth = 0;

    (void)r;
    fv_json_array(&a->json, "path");
    for (uint64_t c = (uint64_t)asked; c < t->header->contexts.count && depth < 512;
         depth++, c = t->contexts[c].parent) {
        fv_json_array(&a->json, NULL);
        fv_json_string(&a->json, NULL, fv_timeline_text(t, t->contexts[c].function));
        fv_json_string(&a->json, NULL, fv_timeline_text(t, t->contexts[c].file));
        fv_json_unsigned(&a->json, NULL, t->contexts[c].line);
        fv_json_end(&a->json);
    }
    fv_json_end(&a->json);
    return end_answer(v, connection, a);
}

/* ---- for another viewer ---- */

static enum MHD_Result answer_perfetto(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct window w = window_of(v, connection);
    const struct fv_timeline_choice part = { .from_ns = (uint64_t)w.from, .to_ns = (uint64_t)w.to };
    char *file = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&file, &bytes);
    const int err = out ? fv_timeline_perfetto(v->timeline, &part, out) : -FV_EIO;

    (void)r;
    if (out && !fclose(out) && !err)
        return fv_web_queue(v->site, connection, MHD_HTTP_OK,
                            fv_http.MHD_create_response_from_buffer(bytes, file, MHD_RESPMEM_MUST_FREE),
                            "application/octet-stream");
    free(file);
    return fv_web_say(v->site, connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "there is no memory for it\n");
}

/* ---- the server ---- */

static const struct fv_web_route routes[] = {
    { MHD_HTTP_METHOD_GET, "/", answer_page },
    { MHD_HTTP_METHOD_GET, "/about", answer_about },
    { MHD_HTTP_METHOD_GET, "/more", answer_more },
    { MHD_HTTP_METHOD_POST, "/renew", answer_renew },
    { MHD_HTTP_METHOD_POST, "/tiles", fv_viewer_tiles },
    { MHD_HTTP_METHOD_GET, "/rows", fv_viewer_rows },
    { MHD_HTTP_METHOD_GET, "/blocked", fv_viewer_blocked },
    { MHD_HTTP_METHOD_GET, "/chain", fv_viewer_chain },
    { MHD_HTTP_METHOD_GET, "/call", fv_viewer_call },
    { MHD_HTTP_METHOD_GET, "/together", fv_viewer_together },
    { MHD_HTTP_METHOD_GET, "/critical", fv_viewer_critical },
    { MHD_HTTP_METHOD_GET, "/labels", fv_viewer_labels },
    { MHD_HTTP_METHOD_GET, "/series", fv_viewer_series },
    { MHD_HTTP_METHOD_GET, "/values", fv_viewer_values },
    { MHD_HTTP_METHOD_GET, "/slices", answer_slices },
    { MHD_HTTP_METHOD_GET, "/messages", fv_viewer_messages },
    { MHD_HTTP_METHOD_GET, "/path", answer_path },
    { MHD_HTTP_METHOD_GET, "/perfetto", answer_perfetto },
    { MHD_HTTP_METHOD_GET, "/sums", fv_viewer_sums },
    { MHD_HTTP_METHOD_GET, "/shares", fv_viewer_shares },
    { MHD_HTTP_METHOD_GET, "/tree", fv_viewer_tree },
    { MHD_HTTP_METHOD_GET, "/waits", fv_viewer_waits },
    { MHD_HTTP_METHOD_GET, "/traffic", fv_viewer_traffic },
    { MHD_HTTP_METHOD_GET, "/collectives", fv_viewer_collectives },
    { MHD_HTTP_METHOD_GET, "/files", fv_viewer_files },
    { MHD_HTTP_METHOD_GET, "/profiles", fv_viewer_profiles },
    { MHD_HTTP_METHOD_GET, "/calls", fv_viewer_calls },
    { MHD_HTTP_METHOD_GET, "/bookmarks", fv_viewer_bookmarks },
    { MHD_HTTP_METHOD_POST, "/bookmark", fv_viewer_keep_bookmark },
    { MHD_HTTP_METHOD_POST, "/forget", fv_viewer_forget_bookmark },
};

static struct shown *show(const struct fv_viewer *v, const struct fv_viewer_trace *trace, const char *second)
{
    struct shown *s = fv_xcalloc(1, sizeof(*s));

    *s = (struct shown){ .timeline = trace->timeline,
                         .title = trace->title,
                         .second = second,
                         .bookmarks = fv_bookmarks_open(trace->folder),
                         .is_head = trace->is_head,
                         .site = &v->site };
    return s;
}

void fv_viewer_tell_more(struct fv_viewer *v, size_t trace)
{
    v->has_more[trace] = true;
}

void fv_viewer_tell_progress(struct fv_viewer *v, size_t trace, unsigned percent)
{
    v->percent[trace] = percent;
}

void fv_viewer_tell_failure(struct fv_viewer *v, size_t trace)
{
    v->has_failed[trace] = true;
}

bool fv_viewer_is_asked(struct fv_viewer *v)
{
    return atomic_exchange(&v->is_asked, false);
}

void fv_viewer_renew(struct fv_viewer *v, size_t trace, const struct fv_viewer_trace *with)
{
    struct shown *s = show(v, with, v->shown[trace]->second);

    s->before = v->shown[trace];
    s->number = s->before->number + 1;
    v->shown[trace] = s;
    v->has_more[trace] = false;
    v->has_failed[trace] = false;
    v->percent[trace] = 0;
}

struct fv_viewer *fv_viewer_open(const struct fv_viewer_trace *traces, size_t count, unsigned port)
{
    struct fv_viewer *v = fv_xcalloc(1, sizeof(*v));

    v->count = count;
    for (size_t i = 0; i < count; i++)
        v->shown[i] = show(v, &traces[i], count > 1 && !i ? traces[1].title : NULL);
    /* Sums of a large trace take longer than tiles. */
    v->site = (struct fv_web_site){ "view", fv_view_policy, routes, sizeof(routes) / sizeof(*routes), v, true };
    v->web = fv_web_open(&v->site, port);
    if (v->web)
        return v;
    fv_viewer_close(v);
    return NULL;
}

void fv_viewer_close(struct fv_viewer *v)
{
    if (!v)
        return;
    if (v->web)
        fv_web_close(v->web);
    for (size_t i = 0; i < v->count; i++)
        for (struct shown *s = v->shown[i], *before; s; s = before) {
            before = s->before;
            fv_bookmarks_close(s->bookmarks);
            free(s);
        }
    free(v);
}

struct fv_web *fv_viewer_web(const struct fv_viewer *v)
{
    return v->web;
}
#else
struct fv_viewer *fv_viewer_open(const struct fv_viewer_trace *traces, size_t count, unsigned port)
{
    (void)traces, (void)count, (void)port;
    fv_http_load("view");
    return NULL;
}

void fv_viewer_close(struct fv_viewer *viewer)
{
    (void)viewer;
}

struct fv_web *fv_viewer_web(const struct fv_viewer *viewer)
{
    (void)viewer;
    return NULL;
}

void fv_viewer_tell_more(struct fv_viewer *viewer, size_t trace)
{
    (void)viewer, (void)trace;
}

void fv_viewer_tell_progress(struct fv_viewer *viewer, size_t trace, unsigned percent)
{
    (void)viewer, (void)trace, (void)percent;
}

void fv_viewer_tell_failure(struct fv_viewer *viewer, size_t trace)
{
    (void)viewer, (void)trace;
}

bool fv_viewer_is_asked(struct fv_viewer *viewer)
{
    (void)viewer;
    return false;
}

void fv_viewer_renew(struct fv_viewer *viewer, size_t trace, const struct fv_viewer_trace *with)
{
    (void)viewer, (void)trace, (void)with;
}
#endif
