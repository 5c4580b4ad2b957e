/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of fvmpi live, by libmicrohttpd, which is loaded when it is needed: with what it loads itself it would
 * cost every other command, and every rank, 20 ms. Its threads serve; who samples tells it when there is something new.
 *
 * Loopback is open to all users of a node, and to any web page that a browser here looks at. So each request needs the
 * token, a Host that is ours, and, if it has one, an Origin that is ours. The token stands in the address or in
 * "Authorization: Bearer", never in a cookie: those go to all ports of the host, also to other people's. Paths are
 * names of what there is, never files.
 *
 *     GET /          the page                      GET /stream   samples, by server-sent events: from `after` or
 *     Last-Event-ID on
 *     GET /events    all that the machine has      GET /record   all that is kept, as `fvmpi record` writes it
 *     GET /metrics   OpenMetrics                   POST /control a command (live.h)
 *
 * Each client of samples has its place in the ring and a buffer of its own: one that reads slowly is told what it
 * missed; one that reads nothing is left after a while. */
#ifndef FV_SERVER_H
#define FV_SERVER_H

#include "live/live.h"

#define FV_SERVER_TOKEN    32 /* hexadecimal digits */
#define FV_SERVER_CLIENTS  16
#define FV_SERVER_BATCH_NS ((int64_t)400000000)

struct fv_server;
/* port 0: any that is free. NULL: it has said why. */
struct fv_server *fv_server_open(struct fv_live *live, unsigned port);
unsigned fv_server_port(const struct fv_server *server);
const char *fv_server_token(const struct fv_server *server);
/* Wakes clients, if there is something for them and they have waited for a batch; closes connections that show no
 * token. When to come next. */
int64_t fv_server_tell(struct fv_server *server);
void fv_server_close(struct fv_server *server);

#endif
