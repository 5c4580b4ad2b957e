/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of fvmpi live, in the house of web/house.h.
 *
 *     GET /          the page                      GET /stream   samples, by server-sent events: from `after` or
 *     Last-Event-ID on
 *     GET /events    all that the machine has      GET /record   all that is kept, as `fvmpi record` writes it
 *     GET /metrics   OpenMetrics                   POST /control a command (live.h)
 *     GET /timeline  JSON: whether fvmpi view serves the job's trace, and where; POST /view: it is wanted
 *
 * Each client of samples has its place in the ring and a buffer of its own: one that reads slowly is told what it
 * missed; one that reads nothing is left after a while. */
#ifndef FV_SERVER_H
#define FV_SERVER_H

#include "live/live.h"
#include "web/house.h"

#define FV_SERVER_CLIENTS  16
#define FV_SERVER_BATCH_NS ((int64_t)400000000)

struct fv_server;
/* port 0: any that is free. NULL: it has said why. */
struct fv_server *fv_server_open(struct fv_live *live, unsigned port);
const struct fv_web *fv_server_web(const struct fv_server *server);
/* Wakes clients, if there is something for them and they have waited for a batch; closes connections that show no
 * token. When to come next. */
int64_t fv_server_tell(struct fv_server *server);
void fv_server_close(struct fv_server *server);

#endif
