/* SPDX-License-Identifier: BSD-3-Clause */
/* The house of servers that people look at in a browser, by libmicrohttpd, which is loaded when it is needed: with what
 * it loads itself it would cost every other command, and every rank, 20 ms. Its threads serve.
 *
 * Loopback is open to all users of a node, and to any web page that a browser here looks at. So each request needs the
 * token, a Host that is ours, and, if it has one, an Origin that is ours. The token stands in the address or in
 * "Authorization: Bearer", never in a cookie: those go to all ports of the host, also to other people's. Paths are
 * names of what there is, never files. */
#ifndef FV_WEB_HOUSE_H
#define FV_WEB_HOUSE_H

#include "web/http.h"

#include <stddef.h>
#include <stdint.h>

#define FV_WEB_TOKEN      32      /* hexadecimal digits */
#define FV_WEB_BODY_BYTES 4096    /* of what is posted, usually */
#define FV_WEB_BODY_MOST  1048576 /* ... at most: with more the connection is closed */

struct fv_web;
struct fv_web_request {
    const struct fv_web_route *route;
    unsigned status; /* 0: it is good */
    size_t bytes;    /* of the body */
    size_t room;
    char *body; /* ... and one byte more */
};

#if FV_MICROHTTPD
struct fv_web_route {
    const char *method, *path;
    enum MHD_Result (*answer)(void *context, struct MHD_Connection *connection, struct fv_web_request *request);
};
struct fv_web_site {
    const char *name;   /* of the command, in messages: "live" */
    const char *policy; /* Content-Security-Policy */
    const struct fv_web_route *routes;
    size_t route_count;
    void *context;   /* of the answers */
    bool is_at_once; /* each connection has a thread, and none is suspended; else those of an address share one */
};

/* At 127.0.0.1, and at ::1 if there is IPv6. port 0: any that is free. `site` stays. NULL: it has said why. */
struct fv_web *fv_web_open(const struct fv_web_site *site, unsigned port);
void fv_web_close(struct fv_web *web);

/* For answers. */
enum MHD_Result fv_web_say(const struct fv_web_site *site, struct MHD_Connection *connection, unsigned status,
                           const char *text);
/* The response is given away; NULL: there was no memory for it. */
enum MHD_Result fv_web_queue(const struct fv_web_site *site, struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response, const char *type);
/* NULL: it is not in the address. */
const char *fv_web_query(struct MHD_Connection *connection, const char *name);
#endif

unsigned fv_web_port(const struct fv_web *web);
const char *fv_web_token(const struct fv_web *web);
/* Closes connections that have shown no token for a while; every few seconds. */
void fv_web_close_strangers(struct fv_web *web);
/* The first line of such a command is the address, the second one how to come to it from elsewhere. */
void fv_web_say_address(const struct fv_web *web);

#endif
