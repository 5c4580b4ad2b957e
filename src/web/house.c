/* SPDX-License-Identifier: BSD-3-Clause */
/* See house.h. */
#include "web/house.h"
#include "base/base.h"
#include "base/now.h"
#include "tool/vec.h"

#include <stdio.h>
#include <sys/utsname.h>

#if FV_MICROHTTPD
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    DAEMONS = 2,      /* of IPv4 and IPv6 */
    CONNECTIONS = 32, /* of each */
    CONNECTION_BYTES = 16 << 10,
    TIMEOUT_S = 15,  /* in which nothing moves */
    STRANGER_S = 10, /* until a connection has to show the token */
    HOSTS = 3,
    PORT_TRIES = 20,
};

struct slot {
    bool is_used, is_known; /* known: it has shown the token */
    int fd;
    int64_t since_ns;
};

struct fv_web {
    const struct fv_web_site *site;
    struct MHD_Daemon *daemons[DAEMONS];
    unsigned port;
    char token[FV_WEB_TOKEN + 1], hosts[HOSTS][32];
    pthread_mutex_t slots_lock;
    struct slot slots[DAEMONS * CONNECTIONS];
};

/* ---- answers ---- */

static void add_headers(const struct fv_web_site *site, struct MHD_Response *response, const char *type)
{
    const char *const headers[][2] = {
        { "Cache-Control", "no-store" },
        { "Content-Security-Policy", site->policy },
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

enum MHD_Result fv_web_queue(const struct fv_web_site *site, struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response, const char *type)
{
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    add_headers(site, response, type);
    result = fv_http.MHD_queue_response(connection, status, response);
    fv_http.MHD_destroy_response(response);
    return result;
}

enum MHD_Result fv_web_say(const struct fv_web_site *site, struct MHD_Connection *connection, unsigned status,
                           const char *text)
{
    return fv_web_queue(
        site, connection, status,
        fv_http.MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY),
        "text/plain; charset=utf-8");
}

const char *fv_web_query(struct MHD_Connection *connection, const char *name)
{
    return fv_http.MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- who may ask, and for what ---- */

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

static bool is_our_host(const struct fv_web *s, const char *host)
{
    for (size_t i = 0; i < HOSTS; i++)
        if (!strcasecmp(host, s->hosts[i]))
            return true;
    return false;
}

/* Another site's page may lead here, by its address with the token, but not ask for anything. */
static bool is_ours(const struct fv_web *s, const struct origin *o)
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
static bool is_token(const struct fv_web *s, const char *text)
{
    unsigned char differ = 0;

    if (!text || strlen(text) != FV_WEB_TOKEN)
        return false;
    for (size_t i = 0; i < FV_WEB_TOKEN; i++)
        differ |= (unsigned char)(text[i] ^ s->token[i]);
    return !differ;
}

static bool shows_token(const struct fv_web *s, struct MHD_Connection *connection, const struct origin *o)
{
    static const char bearer[] = "Bearer ";

    return is_token(s, fv_web_query(connection, "token")) ||
           (o->authorization && !strncasecmp(o->authorization, bearer, strlen(bearer)) &&
            is_token(s, o->authorization + strlen(bearer)));
}

static void know(struct fv_web *s, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        fv_http.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct slot *slot = info ? info->socket_context : NULL;

    pthread_mutex_lock(&s->slots_lock);
    if (slot)
        slot->is_known = true;
    pthread_mutex_unlock(&s->slots_lock);
}

static unsigned judge(struct fv_web *s, struct MHD_Connection *connection, const char *path, const char *method,
                      const struct fv_web_route **out)
{
    struct origin origin = { 0 };

    fv_http.MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &origin);
    if (!is_ours(s, &origin) || !shows_token(s, connection, &origin))
        return MHD_HTTP_FORBIDDEN;
    know(s, connection);
    for (size_t i = 0; i < s->site->route_count; i++)
        if (!strcmp(path, s->site->routes[i].path)) {
            *out = &s->site->routes[i];
            return strcmp(method, s->site->routes[i].method) ? MHD_HTTP_METHOD_NOT_ALLOWED : 0;
        }
    return MHD_HTTP_NOT_FOUND;
}

static enum MHD_Result refuse(const struct fv_web_site *site, struct MHD_Connection *connection,
                              const struct fv_web_request *r)
{
    static const char wrong[] = "another method is needed\n";
    struct MHD_Response *response;

    if (r->status == MHD_HTTP_FORBIDDEN)
        return fv_web_say(
            site, connection, r->status,
            "Use the whole address that fvmpi printed: 127.0.0.1 or localhost, its port, and its token.\n");
    if (r->status == MHD_HTTP_NOT_FOUND)
        return fv_web_say(site, connection, r->status, "there is no such thing\n");
    response = fv_http.MHD_create_response_from_buffer(strlen(wrong), (void *)(uintptr_t)wrong, MHD_RESPMEM_PERSISTENT);
    if (response)
        fv_http.MHD_add_response_header(response, "Allow", r->route->method);
    return fv_web_queue(site, connection, r->status, response, "text/plain; charset=utf-8");
}

/* A body is taken to its end, so that who sends it gets to see the answer; within bounds. */
static enum MHD_Result take_body(struct fv_web_request *r, const char *data, size_t *bytes)
{
    const size_t all = r->bytes + *bytes;

    if (all > FV_WEB_BODY_MOST)
        return MHD_NO;
    if (!r->status) {
        FV_GROW(r->body, r->room, all + 1);
        memcpy(r->body + r->bytes, data, *bytes);
    }
    r->bytes = all;
    *bytes = 0;
    return MHD_YES;
}

static enum MHD_Result take_request(void *context, struct MHD_Connection *connection, const char *path,
                                    const char *method, const char *version, const char *data, size_t *bytes,
                                    void **request)
{
    struct fv_web *s = context;
    struct fv_web_request *r = *request;

    (void)version;
    if (!r) {
        *request = r = fv_xcalloc(1, sizeof(*r));
        FV_GROW(r->body, r->room, 1);
        r->status = judge(s, connection, path, method, &r->route);
        return MHD_YES;
    }
    if (*bytes)
        return take_body(r, data, bytes);
    return r->status ? refuse(s->site, connection, r) : r->route->answer(s->site->context, connection, r);
}

static void end_request(void *context, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode why)
{
    struct fv_web_request *r = *request;

    (void)context, (void)connection, (void)why;
    if (r)
        free(r->body);
    free(r);
    *request = NULL;
}

/* ---- connections ---- */

static void begin_connection(struct fv_web *s, struct MHD_Connection *connection, void **slot)
{
    const union MHD_ConnectionInfo *info =
        fv_http.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    *slot = NULL;
    for (size_t i = 0; info && i < DAEMONS * CONNECTIONS && !*slot; i++)
        if (!s->slots[i].is_used) {
            s->slots[i] = (struct slot){ true, false, info->connect_fd, fv_now_ns() };
            *slot = &s->slots[i];
        }
}

static void note_connection(void *context, struct MHD_Connection *connection, void **slot,
                            enum MHD_ConnectionNotificationCode what)
{
    struct fv_web *s = context;

    pthread_mutex_lock(&s->slots_lock);
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        begin_connection(s, connection, slot);
    else if (*slot)
        ((struct slot *)*slot)->is_used = false; /* the descriptor is closed only after this */
    pthread_mutex_unlock(&s->slots_lock);
}

void fv_web_close_strangers(struct fv_web *s)
{
    int64_t before = fv_now_ns() - (int64_t)STRANGER_S * 1000000000;

    pthread_mutex_lock(&s->slots_lock);
    for (size_t i = 0; i < DAEMONS * CONNECTIONS; i++)
        if (s->slots[i].is_used && !s->slots[i].is_known && s->slots[i].since_ns < before)
            shutdown(s->slots[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&s->slots_lock);
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
static bool listen_both(struct fv_web *s, unsigned port, int fds[DAEMONS])
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

static bool start(struct fv_web *s, size_t i, int fd)
{
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | (i ? MHD_USE_IPv6 : 0) |
                     (s->site->is_at_once ? MHD_USE_THREAD_PER_CONNECTION : MHD_ALLOW_SUSPEND_RESUME);

    s->daemons[i] =
        fv_http.MHD_start_daemon(flags, (uint16_t)s->port, NULL, NULL, take_request, s, MHD_OPTION_LISTEN_SOCKET, fd,
                                 MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                 (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
                                 MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL, MHD_OPTION_NOTIFY_CONNECTION,
                                 note_connection, s, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (!s->daemons[i]) {
        fv_log("%s: the server does not start%s%s", s->site->name, errno ? ": " : "", errno ? strerror(errno) : "");
        close(fd);
    }
    return s->daemons[i];
}

static bool make_token(struct fv_web *s)
{
    unsigned char bytes[FV_WEB_TOKEN / 2];
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC); /* older C libraries have no getrandom() */
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

    if (fd >= 0)
        close(fd);
    if (got != (ssize_t)sizeof(bytes)) {
        fv_log("%s: no random numbers for the token: %s", s->site->name, strerror(errno));
        return false;
    }
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static void free_server(struct fv_web *s)
{
    pthread_mutex_destroy(&s->slots_lock);
    memset(s->token, 0, sizeof(s->token));
    __asm__ volatile("" : : "r"(s->token) : "memory"); /* or the compiler would leave it out */
    free(s);
}

struct fv_web *fv_web_open(const struct fv_web_site *site, unsigned port)
{
    static const char *const names[HOSTS] = { "127.0.0.1", "localhost", "[::1]" };
    struct fv_web *s;
    int fds[DAEMONS];

    if (!fv_http_load(site->name))
        return NULL;
    s = fv_xcalloc(1, sizeof(*s));
    s->site = site;
    pthread_mutex_init(&s->slots_lock, NULL);
    if (!make_token(s)) {
        free_server(s);
        return NULL;
    }
    if (!listen_both(s, port, fds)) {
        fv_log("%s: port %u of 127.0.0.1: %s%s", site->name, port, strerror(errno),
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

void fv_web_close(struct fv_web *s)
{
    for (size_t i = 0; i < DAEMONS; i++)
        if (s->daemons[i])
            fv_http.MHD_stop_daemon(s->daemons[i]);
    free_server(s);
}

unsigned fv_web_port(const struct fv_web *s)
{
    return s->port;
}

const char *fv_web_token(const struct fv_web *s)
{
    return s->token;
}
#else
unsigned fv_web_port(const struct fv_web *s)
{
    (void)s;
    return 0;
}

const char *fv_web_token(const struct fv_web *s)
{
    (void)s;
    return "";
}

void fv_web_close_strangers(struct fv_web *s)
{
    (void)s;
}
#endif

void fv_web_say_address(const struct fv_web *s)
{
    const unsigned port = fv_web_port(s);
    struct utsname name;

    uname(&name);
    printf("http://127.0.0.1:%u/?token=%s\n"
           "(from elsewhere: ssh -L %u:127.0.0.1:%u %s, then the same address)\n",
           port, fv_web_token(s), port, port, name.nodename);
    fflush(stdout);
}
