/* SPDX-License-Identifier: BSD-3-Clause */
/* What the answers of fvmpi view share: what is asked for, within bounds, and JSON that is sent. */
#ifndef FV_VIEWER_ANSWER_H
#define FV_VIEWER_ANSWER_H

#include "timeline/timeline_stats.h"
#include "tool/json_stream.h"
#include "tool/vec.h"
#include "viewer/viewer.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FV_MICROHTTPD
/* A trace as answers see it. One that is shown anew leaves the old one as it is: answers may be using it. */
struct shown {
    const struct fv_timeline_file *timeline;
    const char *title, *second; /* second: the title of the trace that it is compared with; NULL: none */
    struct fv_bookmarks *bookmarks;
    const struct fv_web_site *site;
    struct shown *before; /* that it took the place of */
    uint64_t number;      /* of those before */
    bool is_head;         /* the whole is being made */
};

struct fv_viewer {
    struct shown *_Atomic shown[FV_VIEWER_TRACES];
    _Atomic bool has_more[FV_VIEWER_TRACES], has_failed[FV_VIEWER_TRACES], is_asked;
    _Atomic unsigned percent[FV_VIEWER_TRACES];
    size_t count;
    struct fv_web_site site;
    struct fv_web *web;
};

/* A number of the address. */
static inline double number(struct MHD_Connection *connection, const char *name, double least, double most,
                            double usual)
{
    const char *text = fv_web_query(connection, name);
    char *end;
    double value = text ? strtod(text, &end) : usual;

    if (!text || end == text || *end || !isfinite(value))
        value = usual;
    return value < least ? least : value > most ? most : value;
}

/* What is asked about: "trace" is the number of the trace, "number" which of those that were shown; else the last. */
static inline const struct shown *shown_of(struct fv_viewer *v, struct MHD_Connection *connection)
{
    const char *trace = fv_web_query(connection, "trace");
    const struct shown *last = v->shown[trace && *trace == '1' && v->count > 1], *s = last;
    const double asked = number(connection, "number", 0, (double)last->number, (double)last->number);

    while (s->before && (double)s->number > asked)
        s = s->before;
    return s;
}

struct window {
    double from, to;
    uint32_t first, rows;
};

static inline struct window window_of(const struct shown *v, struct MHD_Connection *connection)
{
    const struct fv_timeline_header *h = v->timeline->header;
    const double span = (double)h->span_ns, rows = (double)h->rows.count;
    struct window w = { .from = number(connection, "from", 0, span, 0), .to = number(connection, "to", 0, span, span) };

    w.to = w.to > w.from ? w.to : w.from + 1;
    w.first = (uint32_t)number(connection, "first", 0, rows, 0);
    w.rows = (uint32_t)number(connection, "rows", 0, rows - w.first, rows - w.first);
    return w;
}

struct answer {
    struct fv_json json;
    char *text;
    size_t bytes;
};

static inline struct answer *begin_answer(void)
{
    struct answer *a = fv_xcalloc(1, sizeof(*a));

    a->json.out = open_memstream(&a->text, &a->bytes);
    fv_json_object(&a->json, NULL);
    return a;
}

static inline enum MHD_Result end_answer(const struct shown *v, struct MHD_Connection *connection, struct answer *a)
{
    fv_json_end(&a->json);
    fclose(a->json.out);
    struct MHD_Response *response = fv_http.MHD_create_response_from_buffer(a->bytes, a->text, MHD_RESPMEM_MUST_FREE);
    free(a);
    return fv_web_queue(v->site, connection, MHD_HTTP_OK, response, "application/json");
}

/* A list; NOTHING: null. */
#define NOTHING UINT64_MAX
static inline void tell_numbers(struct fv_json *json, const uint64_t *numbers, size_t count)
{
    fv_json_array(json, NULL);
    for (size_t k = 0; k < count; k++)
        if (numbers[k] == NOTHING)
            fv_json_null(json, NULL);
        else
            fv_json_unsigned(json, NULL, numbers[k]);
    fv_json_end(json);
}
#define TELL_NUMBERS(json, ...) \
    tell_numbers(json, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static inline uint64_t known(uint32_t number)
{
    return number == FV_TIMELINE_NONE ? NOTHING : number;
}

/* statistics.c: what is asked about, in ns; `only`, rows as "0-3,7", takes the place of first and rows. It is kept in
 * the room of the request's body, of which there is none. */
struct fv_timeline_window fv_viewer_window(const struct shown *v, struct MHD_Connection *connection,
                                           struct fv_web_request *request);

/* lines.c: of "0-3,7" the next rows, behind a comma; false: that is none. */
bool fv_viewer_take_rows(const char **at, uint64_t rows, uint64_t *first, uint64_t *last);

/* statistics.c: "3,17" of "region": by region; the caller's. */
bool *fv_viewer_regions(const struct shown *v, struct MHD_Connection *connection);

/* statistics.c, bookmarks.c */
typedef enum MHD_Result fv_viewer_answer(void *viewer, struct MHD_Connection *connection,
                                         struct fv_web_request *request);
fv_viewer_answer fv_viewer_sums, fv_viewer_shares, fv_viewer_tree, fv_viewer_waits, fv_viewer_calls;
fv_viewer_answer fv_viewer_tiles, fv_viewer_rows;                            /* lines.c */
fv_viewer_answer fv_viewer_messages, fv_viewer_traffic;                      /* messages.c */
fv_viewer_answer fv_viewer_collectives, fv_viewer_files, fv_viewer_profiles; /* operations.c */
fv_viewer_answer fv_viewer_blocked, fv_viewer_chain, fv_viewer_call, fv_viewer_together, fv_viewer_critical,
    fv_viewer_labels, fv_viewer_series, fv_viewer_values; /* links.c */
fv_viewer_answer fv_viewer_bookmarks, fv_viewer_keep_bookmark, fv_viewer_forget_bookmark;
#endif

#endif
