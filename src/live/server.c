/* SPDX-License-Identifier: BSD-3-Clause */
/* See server.h. */
#include "live/server.h"
#include "base/list.h"
#include "base/base.h"
#include "live/clients.h"
#include "live/job_view.h"

#if FV_MICROHTTPD
#include "live/metrics.h"
#include "live/live_html.h"
#include "tool/vec.h"

#include <stdlib.h>
#include <string.h>

enum { TOO_LARGE = 413 /* its name differs by version */ };

struct fv_server {
    struct fv_live *live;
    struct fv_web_site site;
    struct fv_web *web;
    struct fv_job_view view;
    /* under the lock of `live` */
    struct fv_client *clients;
    size_t count;
    bool is_ending;
    int64_t told_ns;
    uint64_t told_line;
};

/* ---- answers ---- */

static enum MHD_Result answer_page(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    struct fv_server *s = context;
    (void)r;
    return fv_web_queue(&s->site, connection, MHD_HTTP_OK,
                        fv_http.MHD_create_response_from_buffer(fv_live_page_bytes, (void *)(uintptr_t)fv_live_page,
                                                                MHD_RESPMEM_PERSISTENT),
                        "text/html; charset=utf-8");
}

/* It does not change while there is a server. */
static enum MHD_Result answer_events(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    struct fv_server *s = context;
    (void)r;
    return fv_web_queue(
        &s->site, connection, MHD_HTTP_OK,
        fv_http.MHD_create_response_from_buffer(s->live->events.used, s->live->events.text, MHD_RESPMEM_PERSISTENT),
        "application/json");
}

static enum MHD_Result answer_metrics(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    struct fv_server *s = context;
    struct fv_jsonl out = { 0 };

    (void)r;
    pthread_mutex_lock(&s->live->lock);
    fv_metrics(s->live, s->count, &out);
    pthread_mutex_unlock(&s->live->lock);
    return fv_web_queue(&s->site, connection, MHD_HTTP_OK,
                        fv_http.MHD_create_response_from_buffer(out.used, out.text, MHD_RESPMEM_MUST_FREE),
                        "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

static enum MHD_Result answer_control(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    struct fv_server *s = context;
    char why[400];

    if (r->bytes > FV_WEB_BODY_BYTES)
        return fv_web_say(&s->site, connection, TOO_LARGE, "a command has at most 4096 bytes\n");
    if (!r->bytes || memchr(r->body, '\n', r->bytes) || memchr(r->body, '\0', r->bytes))
        return fv_web_say(&s->site, connection, MHD_HTTP_BAD_REQUEST,
                          "a command is one line: label TEXT, interval S, watch EVENT\n");
    r->body[r->bytes] = '\0';
    return fv_live_obey(s->live, r->body, why, sizeof(why))
               ? fv_web_say(&s->site, connection, MHD_HTTP_OK, "")
               : fv_web_say(&s->site, connection, MHD_HTTP_BAD_REQUEST, why);
}

/* ---- the job's timeline ---- */

/* {"job": true, "state": "starts", "address": null} */
static enum MHD_Result answer_timeline(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    static const char *const words[] = { FV_JOB_VIEW_STATES(FV_LIST_WORD) };
    struct fv_server *s = context;
    const enum fv_job_view_state state = s->view.state;
    struct fv_jsonl out = { 0 };

    (void)r;
    fv_jsonl_text(&out, s->live->job ? "{\"job\":true,\"state\":" : "{\"job\":false,\"state\":");
    fv_jsonl_string(&out, words[state]);
    fv_jsonl_text(&out, ",\"address\":");
    if (state == FV_JOB_VIEW_SERVES)
        fv_jsonl_string(&out, s->view.address);
    else
        fv_jsonl_text(&out, "null");
    fv_jsonl_text(&out, "}");
    return fv_web_queue(&s->site, connection, MHD_HTTP_OK,
                        fv_http.MHD_create_response_from_buffer(out.used, out.text, MHD_RESPMEM_MUST_FREE),
                        "application/json");
}

static enum MHD_Result ask_timeline(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    struct fv_server *s = context;

    if (s->live->job)
        fv_job_view_ask(&s->view);
    return answer_timeline(context, connection, r);
}

/* ---- samples ---- */

static ssize_t read_client(void *context, uint64_t at, char *out, size_t room)
{
    struct fv_client *c = context;
    struct fv_server *s = c->owner;
    size_t bytes;

    (void)at;
    if (c->given == c->out.used) {
        pthread_mutex_lock(&s->live->lock);
        bool any = !s->is_ending && fv_client_fill(c, s->live, s->count), is_over = s->is_ending || c->is_record;
        if (!any && !is_over) {
            fv_http.MHD_suspend_connection(c->connection);
            c->is_waiting = true; /* until it is resumed, by whoever has the lock then */
        }
        pthread_mutex_unlock(&s->live->lock);
        if (!any)
            return is_over ? MHD_CONTENT_READER_END_OF_STREAM : 0;
    }
    bytes = c->out.used - c->given < room ? c->out.used - c->given : room;
    memcpy(out, c->out.text + c->given, bytes);
    c->given += bytes;
    return (ssize_t)bytes;
}

static void free_client(void *context)
{
    struct fv_client *c = context;
    struct fv_server *s = c->owner;

    pthread_mutex_lock(&s->live->lock);
    *c->before = c->next;
    if (c->next)
        c->next->before = c->before;
    s->count--;
    pthread_mutex_unlock(&s->live->lock);
    fv_jsonl_release(&c->out);
    free(c);
}

/* NULL: there are too many. */
static struct fv_client *new_client(struct fv_server *s, struct MHD_Connection *connection)
{
    struct fv_client *c = NULL;

    pthread_mutex_lock(&s->live->lock);
    if (s->count < FV_SERVER_CLIENTS) {
        c = fv_xcalloc(1, sizeof(*c));
        *c = (struct fv_client){
            .next = s->clients, .before = &s->clients, .owner = s, .connection = connection, .line = s->live->ring.first
        };
        if (c->next)
            c->next->before = &c->next;
        s->clients = c;
        s->count++;
    }
    pthread_mutex_unlock(&s->live->lock);
    return c;
}

static enum MHD_Result queue_client(struct fv_server *s, struct fv_client *c, struct MHD_Connection *connection,
                                    const char *type)
{
    struct MHD_Response *response;

    if (!c)
        return fv_web_say(&s->site, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many readers already\n");
    if (!(response = fv_http.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 8192, read_client, c, free_client))) {
        free_client(c);
        return MHD_NO;
    }
    return fv_web_queue(&s->site, connection, MHD_HTTP_OK, response, type);
}

static enum MHD_Result answer_stream(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    struct fv_server *s = context;
    const char *after = fv_http.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID");
    struct fv_client *c = new_client(s, connection);

    (void)r;
    if (!after)
        after = fv_web_query(connection, "after");
    if (c && after) {
        uint64_t line = strtoull(after, NULL, 10);

        pthread_mutex_lock(&s->live->lock);
        if (line && line < s->live->ring.end) {
            c->line = line + 1;
            if (c->line < s->live->ring.first)
                c->is_late = true;
        }
        pthread_mutex_unlock(&s->live->lock);
    }
    return queue_client(s, c, connection, "text/event-stream");
}

static enum MHD_Result answer_record(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    struct fv_server *s = context;
    struct fv_client *c = new_client(s, connection);

    (void)r;
    if (c)
        c->is_record = true;
    return queue_client(s, c, connection, "application/x-ndjson");
}

/* ---- the server ---- */

static const struct fv_web_route routes[] = {
    { MHD_HTTP_METHOD_GET, "/", answer_page },
    { MHD_HTTP_METHOD_GET, "/stream", answer_stream },
    { MHD_HTTP_METHOD_GET, "/events", answer_events },
    { MHD_HTTP_METHOD_GET, "/record", answer_record },
    { MHD_HTTP_METHOD_GET, "/metrics", answer_metrics },
    { MHD_HTTP_METHOD_POST, "/control", answer_control },
    { MHD_HTTP_METHOD_GET, "/timeline", answer_timeline },
    { MHD_HTTP_METHOD_POST, "/view", ask_timeline },
};

static void wake_clients(struct fv_server *s)
{
    for (struct fv_client *c = s->clients; c; c = c->next)
        if (c->is_waiting) {
            c->is_waiting = false;
            fv_http.MHD_resume_connection(c->connection);
        }
}

int64_t fv_server_tell(struct fv_server *s)
{
    int64_t now = fv_live_now_ns(), next;

    pthread_mutex_lock(&s->live->lock);
    bool is_new = s->live->ring.end != s->told_line;
    if (now - s->told_ns >= (is_new ? FV_SERVER_BATCH_NS : FV_CLIENT_STATUS_NS)) {
        wake_clients(s);
        s->told_ns = now;
        s->told_line = s->live->ring.end;
        is_new = false;
    }
    next = s->told_ns + (is_new ? FV_SERVER_BATCH_NS : FV_CLIENT_STATUS_NS);
    pthread_mutex_unlock(&s->live->lock);
    fv_web_close_strangers(s->web);
    fv_job_view_go_on(&s->view, s->live->job);
    return next;
}

struct fv_server *fv_server_open(struct fv_live *live, unsigned port)
{
    struct fv_server *s = fv_xcalloc(1, sizeof(*s));

    s->live = live;
    s->site = (struct fv_web_site){ "live", fv_live_policy, routes, sizeof(routes) / sizeof(*routes), s, false };
    s->web = fv_web_open(&s->site, port);
    if (s->web)
        return s;
    free(s);
    return NULL;
}

void fv_server_close(struct fv_server *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->live->lock);
    s->is_ending = true;
    wake_clients(s);
    pthread_mutex_unlock(&s->live->lock);
    fv_web_close(s->web);
    fv_job_view_stop(&s->view);
    free(s);
}

const struct fv_web *fv_server_web(const struct fv_server *s)
{
    return s->web;
}
#else
struct fv_server *fv_server_open(struct fv_live *live, unsigned port)
{
    (void)live, (void)port;
    fv_http_load("live");
    return NULL;
}

int64_t fv_server_tell(struct fv_server *server)
{
    (void)server;
    return 0;
}

void fv_server_close(struct fv_server *server)
{
    (void)server;
}

const struct fv_web *fv_server_web(const struct fv_server *server)
{
    (void)server;
    return NULL;
}
#endif
