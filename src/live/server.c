/* SPDX-License-Identifier: BSD-3-Clause */
/* See server.h. */
#include "live/server.h"
#include "base/base.h"
#include "live/clients.h"
#include "live/http.h"

#if FV_MICROHTTPD
#include "live/metrics.h"
#include "live/live_html.h"
#include "tool/vec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    DAEMONS = 2,      /* of IPv4 and IPv6 */
    CONNECTIONS = 32, /* of each */
    CONNECTION_BYTES = 16 << 10,
    TIMEOUT_S = 15,    /* in which nothing moves */
    STRANGER_S = 10,   /* until a connection has to show the token */
    BODY_BYTES = 4096, /* of a command */
    HOSTS = 3,
    PORT_TRIES = 20,
    TOO_LARGE = 413, /* its name differs by version */
};

struct slot {
    bool is_used, is_known; /* known: it has shown the token */
    int fd;
    int64_t since_ns;
};

struct fv_server {
    struct fv_live *live;
    struct MHD_Daemon *daemons[DAEMONS];
    unsigned port;
    char token[FV_SERVER_TOKEN + 1], hosts[HOSTS][32];
    pthread_mutex_t slots_lock;
    struct slot slots[DAEMONS * CONNECTIONS];
    /* under the lock of `live` */
    struct fv_client *clients;
    size_t count;
    bool is_ending;
    int64_t told_ns;
    uint64_t told_line;
};

struct request {
    const struct route *route;
    unsigned status; /* 0: it is good */
    size_t bytes;    /* of the body; what is beyond its room is not kept */
    char body[BODY_BYTES + 1];
};

struct route {
    const char *method, *path;
    enum MHD_Result (*answer)(struct fv_server *s, struct MHD_Connection *connection, struct request *r);
};

/* ---- answers ---- */

static void add_headers(struct MHD_Response *response, const char *type)
{
    static const char *const headers[][2] = {
        { "Cache-Control", "no-store" },
        { "Content-Security-Policy", fv_live_policy },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Referrer-Policy", "no-referrer" },
        { "X-Content-Type-Options", "nosniff" },
        { "X-Frame-Options", "DENY" },
    };

    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
        fv_http.MHD_add_response_header(response, headers[i][0], headers[i][1]);
    fv_http.MHD_add_response_header(response, "Content-Type", type);
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response,
                             const char *type)
{
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    add_headers(response, type);
    result = fv_http.MHD_queue_response(connection, status, response);
    fv_http.MHD_destroy_response(response);
    return result;
}

static enum MHD_Result say(struct MHD_Connection *connection, unsigned status, const char *text)
{
    return queue(connection, status,
                 fv_http.MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY),
                 "text/plain; charset=utf-8");
}

static enum MHD_Result answer_page(struct fv_server *s, struct MHD_Connection *connection, struct request *r)
{
    (void)s, (void)r;
    return queue(connection, MHD_HTTP_OK,
                 fv_http.MHD_create_response_from_buffer(fv_live_page_bytes, (void *)(uintptr_t)fv_live_page,
                                                         MHD_RESPMEM_PERSISTENT),
                 "text/html; charset=utf-8");
}

/* It does not change while there is a server. */
static enum MHD_Result answer_events(struct fv_server *s, struct MHD_Connection *connection, struct request *r)
{
    (void)r;
    return queue(
        connection, MHD_HTTP_OK,
        fv_http.MHD_create_response_from_buffer(s->live->events.used, s->live->events.text, MHD_RESPMEM_PERSISTENT),
        "application/json");
}

static enum MHD_Result answer_metrics(struct fv_server *s, struct MHD_Connection *connection, struct request *r)
{
    struct fv_jsonl out = { 0 };

    (void)r;
    pthread_mutex_lock(&s->live->lock);
    fv_metrics(s->live, s->count, &out);
    pthread_mutex_unlock(&s->live->lock);
    return queue(connection, MHD_HTTP_OK,
                 fv_http.MHD_create_response_from_buffer(out.used, out.text, MHD_RESPMEM_MUST_FREE),
                 "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

static enum MHD_Result answer_control(struct fv_server *s, struct MHD_Connection *connection, struct request *r)
{
    char why[400];

    if (r->bytes > BODY_BYTES)
        return say(connection, TOO_LARGE, "a command has at most 4096 bytes\n");
    if (!r->bytes || memchr(r->body, '\n', r->bytes) || memchr(r->body, '\0', r->bytes))
        return say(connection, MHD_HTTP_BAD_REQUEST, "a command is one line: label TEXT, interval S, watch EVENT\n");
    r->body[r->bytes] = '\0';
    return fv_live_obey(s->live, r->body, why, sizeof(why)) ? say(connection, MHD_HTTP_OK, "")
                                                            : say(connection, MHD_HTTP_BAD_REQUEST, why);
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

static enum MHD_Result queue_client(struct fv_client *c, struct MHD_Connection *connection, const char *type)
{
    struct MHD_Response *response;

    if (!c)
        return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many readers already\n");
    if (!(response = fv_http.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 8192, read_client, c, free_client))) {
        free_client(c);
        return MHD_NO;
    }
    return queue(connection, MHD_HTTP_OK, response, type);
}

static const char *query_of(struct MHD_Connection *connection, const char *name)
{
    return fv_http.MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result answer_stream(struct fv_server *s, struct MHD_Connection *connection, struct request *r)
{
    const char *after = fv_http.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID");
    struct fv_client *c = new_client(s, connection);

    (void)r;
    if (!after)
        after = query_of(connection, "after");
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
    return queue_client(c, connection, "text/event-stream");
}

static enum MHD_Result answer_record(struct fv_server *s, struct MHD_Connection *connection, struct request *r)
{
    struct fv_client *c = new_client(s, connection);

    (void)r;
    if (c)
        c->is_record = true;
    return queue_client(c, connection, "application/x-ndjson");
}

/* ---- who may ask, and for what ---- */

static const struct route routes[] = {
    { MHD_HTTP_METHOD_GET, "/", answer_page },           { MHD_HTTP_METHOD_GET, "/stream", answer_stream },
    { MHD_HTTP_METHOD_GET, "/events", answer_events },   { MHD_HTTP_METHOD_GET, "/record", answer_record },
    { MHD_HTTP_METHOD_GET, "/metrics", answer_metrics }, { MHD_HTTP_METHOD_POST, "/control", answer_control },
};
enum { ROUTES = sizeof(routes) / sizeof(*routes) };

/* What a request says of where it comes from; each at most once. */
struct origin {
    const char *host, *origin, *site, *mode, *destination, *authorization;
    bool is_twice;
};

static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct origin *o = context;
    const struct {
        const char *key, **to;
    } wanted[] = { { "Host", &o->host },
                   { "Origin", &o->origin },
                   { "Sec-Fetch-Site", &o->site },
                   { "Sec-Fetch-Mode", &o->mode },
                   { "Sec-Fetch-Dest", &o->destination },
                   { "Authorization", &o->authorization } };

    (void)kind;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        if (!strcasecmp(key, wanted[i].key)) {
            o->is_twice |= *wanted[i].to != NULL;
            *wanted[i].to = value ? value : "";
        }
    return MHD_YES;
}

static bool is_our_host(const struct fv_server *s, const char *host)
{
    for (size_t i = 0; i < HOSTS; i++)
        if (!strcasecmp(host, s->hosts[i]))
            return true;
    return false;
}

/* Another site's page may lead here, by its address with the token, but not ask for anything. */
static bool is_ours(const struct fv_server *s, const struct origin *o)
{
    static const char scheme[] = "http://";

    if (o->is_twice || !o->host || !is_our_host(s, o->host))
        return false;
    if (o->origin && (strncasecmp(o->origin, scheme, strlen(scheme)) || !is_our_host(s, o->origin + strlen(scheme))))
        return false;
    return !o->site || !strcmp(o->site, "same-origin") || !strcmp(o->site, "none") ||
           (o->mode && o->destination && !strcmp(o->mode, "navigate") && !strcmp(o->destination, "document"));
}

/* In a time that does not depend on where they differ. */
static bool is_token(const struct fv_server *s, const char *text)
{
    unsigned char differ = 0;

    if (!text || strlen(text) != FV_SERVER_TOKEN)
        return false;
    for (size_t i = 0; i < FV_SERVER_TOKEN; i++)
        differ |= (unsigned char)(text[i] ^ s->token[i]);
    return !differ;
}

static bool shows_token(const struct fv_server *s, struct MHD_Connection *connection, const struct origin *o)
{
    static const char bearer[] = "Bearer ";

    return is_token(s, query_of(connection, "token")) ||
           (o->authorization && !strncasecmp(o->authorization, bearer, strlen(bearer)) &&
            is_token(s, o->authorization + strlen(bearer)));
}

static void know(struct fv_server *s, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        fv_http.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct slot *slot = info ? info->socket_context : NULL;

    pthread_mutex_lock(&s->slots_lock);
    if (slot)
        slot->is_known = true;
    pthread_mutex_unlock(&s->slots_lock);
}

static unsigned judge(struct fv_server *s, struct MHD_Connection *connection, const char *path, const char *method,
                      const struct route **out)
{
    struct origin origin = { 0 };

    fv_http.MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &origin);
    if (!is_ours(s, &origin) || !shows_token(s, connection, &origin))
        return MHD_HTTP_FORBIDDEN;
    know(s, connection);
    for (size_t i = 0; i < ROUTES; i++)
        if (!strcmp(path, routes[i].path)) {
            *out = &routes[i];
            return strcmp(method, routes[i].method) ? MHD_HTTP_METHOD_NOT_ALLOWED : 0;
        }
    return MHD_HTTP_NOT_FOUND;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, const struct request *r)
{
    static const char wrong[] = "another method is needed\n";
    struct MHD_Response *response;

    if (r->status == MHD_HTTP_FORBIDDEN)
        return say(connection, r->status,
                   "Use the whole address that fvmpi live printed: 127.0.0.1 or localhost, its port, and its token.\n");
    if (r->status == MHD_HTTP_NOT_FOUND)
        return say(connection, r->status, "there is no such thing\n");
    response = fv_http.MHD_create_response_from_buffer(strlen(wrong), (void *)(uintptr_t)wrong, MHD_RESPMEM_PERSISTENT);
    if (response)
        fv_http.MHD_add_response_header(response, "Allow", r->route->method);
    return queue(connection, r->status, response, "text/plain; charset=utf-8");
}

/* A body is taken to its end, so that who sends it gets to see the answer; within bounds. */
static enum MHD_Result take_body(struct request *r, const char *data, size_t *bytes)
{
    for (size_t i = 0; i < *bytes && r->bytes + i < BODY_BYTES; i++)
        r->body[r->bytes + i] = data[i];
    r->bytes += *bytes;
    *bytes = 0;
    return r->bytes > 16 * BODY_BYTES ? MHD_NO : MHD_YES;
}

static enum MHD_Result take_request(void *context, struct MHD_Connection *connection, const char *path,
                                    const char *method, const char *version, const char *data, size_t *bytes,
                                    void **request)
{
    struct fv_server *s = context;
    struct request *r = *request;

    (void)version;
    if (!r) {
        *request = r = fv_xcalloc(1, sizeof(*r));
        r->status = judge(s, connection, path, method, &r->route);
        return MHD_YES;
    }
    if (*bytes)
        return take_body(r, data, bytes);
    return r->status ? refuse(connection, r) : r->route->answer(s, connection, r);
}

static void end_request(void *context, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode why)
{
    (void)context, (void)connection, (void)why;
    free(*request);
    *request = NULL;
}

/* ---- connections ---- */

static void begin_connection(struct fv_server *s, struct MHD_Connection *connection, void **slot)
{
    const union MHD_ConnectionInfo *info =
        fv_http.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    *slot = NULL;
    for (size_t i = 0; info && i < DAEMONS * CONNECTIONS && !*slot; i++)
        if (!s->slots[i].is_used) {
            s->slots[i] = (struct slot){ true, false, info->connect_fd, fv_live_now_ns() };
            *slot = &s->slots[i];
        }
}

static void note_connection(void *context, struct MHD_Connection *connection, void **slot,
                            enum MHD_ConnectionNotificationCode what)
{
    struct fv_server *s = context;

    pthread_mutex_lock(&s->slots_lock);
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        begin_connection(s, connection, slot);
    else if (*slot)
        ((struct slot *)*slot)->is_used = false; /* the descriptor is closed only after this */
    pthread_mutex_unlock(&s->slots_lock);
}

static void close_strangers(struct fv_server *s)
{
    int64_t before = fv_live_now_ns() - (int64_t)STRANGER_S * 1000000000;

    pthread_mutex_lock(&s->slots_lock);
    for (size_t i = 0; i < DAEMONS * CONNECTIONS; i++)
        if (s->slots[i].is_used && !s->slots[i].is_known && s->slots[i].since_ns < before)
            shutdown(s->slots[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&s->slots_lock);
}

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
    close_strangers(s);
    return next;
}

/* ---- sockets ---- */

static int listen_at(int family, unsigned port)
{
    const struct sockaddr_in v4 = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                                     .sin6_port = htons((uint16_t)port),
                                     .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    bool is_4 = family == AF_INET;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, saved;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (!is_4)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (!bind(fd, is_4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6, is_4 ? sizeof(v4) : sizeof(v6)) &&
        !listen(fd, CONNECTIONS))
        return fd;
    saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static unsigned port_of(int fd)
{
    struct sockaddr_in address;
    socklen_t bytes = sizeof(address);

    return getsockname(fd, (struct sockaddr *)&address, &bytes) ? 0 : ntohs(address.sin_port);
}

/* Both, at the same port: who else had ours of the other family would get requests for localhost, with the token. A
 * host may have no IPv6. */
static bool listen_both(struct fv_server *s, unsigned port, int fds[DAEMONS])
{
    for (int tries = 0; tries < PORT_TRIES; tries++) {
        fds[1] = -1;
        if ((fds[0] = listen_at(AF_INET, port)) < 0)
            return false;
        s->port = port_of(fds[0]);
        if ((fds[1] = listen_at(AF_INET6, s->port)) >= 0 || errno != EADDRINUSE)
            return true;
        close(fds[0]);
        errno = EADDRINUSE;
        if (port)
            return false;
    }
    return false;
}

static bool start(struct fv_server *s, size_t i, int fd)
{
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (i ? MHD_USE_IPv6 : 0);

    s->daemons[i] =
        fv_http.MHD_start_daemon(flags, (uint16_t)s->port, NULL, NULL, take_request, s, MHD_OPTION_LISTEN_SOCKET, fd,
                                 MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                 (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
                                 MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL, MHD_OPTION_NOTIFY_CONNECTION,
                                 note_connection, s, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (!s->daemons[i]) {
        fv_log("live: the server does not start%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
        close(fd);
    }
    return s->daemons[i];
}

static bool make_token(struct fv_server *s)
{
    unsigned char bytes[FV_SERVER_TOKEN / 2];
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC); /* older C libraries have no getrandom() */
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

    if (fd >= 0)
        close(fd);
    if (got != (ssize_t)sizeof(bytes)) {
        fv_log("live: no random numbers for the token: %s", strerror(errno));
        return false;
    }
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static void free_server(struct fv_server *s)
{
    pthread_mutex_destroy(&s->slots_lock);
    memset(s->token, 0, sizeof(s->token));
    __asm__ volatile("" : : "r"(s->token) : "memory"); /* or the compiler would leave it out */
    free(s);
}

struct fv_server *fv_server_open(struct fv_live *live, unsigned port)
{
    static const char *const names[HOSTS] = { "127.0.0.1", "localhost", "[::1]" };
    struct fv_server *s;
    int fds[DAEMONS];

    if (!fv_http_load())
        return NULL;
    s = fv_xcalloc(1, sizeof(*s));
    s->live = live;
    pthread_mutex_init(&s->slots_lock, NULL);
    if (!make_token(s)) {
        free_server(s);
        return NULL;
    }
    if (!listen_both(s, port, fds)) {
        fv_log("live: port %u of 127.0.0.1: %s%s", port, strerror(errno),
               port ? "; leave out --port to use any free port" : "");
        free_server(s);
        return NULL;
    }
    for (size_t i = 0; i < HOSTS; i++)
        snprintf(s->hosts[i], sizeof(s->hosts[i]), "%s:%u", names[i], s->port);
    if (!start(s, 0, fds[0])) {
        if (fds[1] >= 0)
            close(fds[1]);
        free_server(s);
        return NULL;
    }
    if (fds[1] >= 0)
        start(s, 1, fds[1]); /* IPv4 is enough */
    return s;
}

unsigned fv_server_port(const struct fv_server *s)
{
    return s->port;
}

const char *fv_server_token(const struct fv_server *s)
{
    return s->token;
}

void fv_server_close(struct fv_server *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->live->lock);
    s->is_ending = true;
    wake_clients(s);
    pthread_mutex_unlock(&s->live->lock);
    for (size_t i = 0; i < DAEMONS; i++)
        if (s->daemons[i])
            fv_http.MHD_stop_daemon(s->daemons[i]);
    free_server(s);
}
#else
struct fv_server *fv_server_open(struct fv_live *live, unsigned port)
{
    (void)live, (void)port;
    fv_http_load();
    return NULL;
}

unsigned fv_server_port(const struct fv_server *server)
{
    (void)server;
    return 0;
}

const char *fv_server_token(const struct fv_server *server)
{
    (void)server;
    return "";
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
#endif
