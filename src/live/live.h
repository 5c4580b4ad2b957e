/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine counts, for many who look at once: one reads the sensors, at one interval; the samples of the last
 * minutes are kept as lines of JSON (jsonl.h), each made once, and everyone gets the same. What is sampled are the
 * events that anyone chose, and stays so. Labels stand among the lines, and
 *
 *     {"time_s":9.5,"first":3,"added":[series...]}                  from here on samples have more values: of further
 *                                                                   events, from the 3rd on
 *     {"time_s":9.5,"interval_s":0.1,"sensors":[...]}               another interval
 *     {"time_s":9.5,"first":1024,"values":[...]}                    a sample of another node (nodes.h): its events are
 *                                                                   the 1024th on, added as above
 *
 * All but the begin and the end is under `lock`: who samples holds it while it reads, who serves while it copies, never
 * while it writes to a socket. */
#ifndef FV_LIVE_H
#define FV_LIVE_H

#include "live/jsonl.h"
#include "live/ring.h"
#include "sensors/watch.h"

#include <pthread.h>
#include <signal.h>

#define FV_LIVE_LEAST_S  0.01
#define FV_LIVE_MOST_S   60
#define FV_LIVE_INTERVAL "seconds from sample to sample, from 0.01 to 60"
#define FV_LIVE_SERIES   ((size_t)1024) /* that are chosen in a page */
#define FV_LIVE_ADDED    UINT32_MAX     /* the `count` of such a line in the ring; of a sample: its values; else 0 */
#define FV_LIVE_CHOICES  1000           /* times */
#define FV_LIVE_OTHERS   ((size_t)8192) /* series of other nodes, in all */

/* Series of another node, as they were added. */
struct fv_live_block {
    struct fv_jsonl series; /* a list */
    uint32_t first;
    size_t count;
};

struct fv_live {
    pthread_mutex_t lock;
    struct fv_watch watch;
    double interval_s, budget;
    int64_t interval_ns, next_ns, start_ns, start_realtime_ns;
    double cpu_before_s;
    const char *job; /* an experiment that is followed (job.h); NULL: none */
    int wake;        /* an eventfd for who samples: what is due has changed */
    size_t samples, late, missed, choices;
    struct fv_ring ring;
    struct fv_jsonl line;         /* that is being made */
    struct fv_jsonl events;       /* all that the machine has, as JSON: for who chooses */
    struct fv_live_block *others; /* one behind the other, from `others_first` on: more than are ever chosen of this
                                   * machine */
    size_t other_count, other_room;
    uint32_t others_first;
};

int64_t fv_live_now_ns(void);
double fv_live_cpu_s(const struct fv_live *live); /* that this process took, since the begin */

/* What cannot be had is said. False: it has said why. The watch has its series already. */
bool fv_live_open(struct fv_live *live);
void fv_live_close(struct fv_live *live);

/* Reads what is due, if any is. When to come next. */
int64_t fv_live_sample(struct fv_live *live);
/* Waits until then at most, or until what is due has changed, or a signal of those that `mask` lets through comes. */
void fv_live_wait(struct fv_live *live, int64_t until_ns, const sigset_t *mask);

/* A line of somebody else's among the samples: `members` of an object, behind the time. False: it is too long. */
bool fv_live_tell(struct fv_live *live, const struct fv_jsonl *members);

/* Series of another node, a list of `count`; the same list again is the same series. The number of the first; 0: they
 * would be too many. */
uint32_t fv_live_add_series(struct fv_live *live, const struct fv_jsonl *series, size_t count);
/* Values of series that were added from the `first` on: `values`, a list of `count`, at a time since our start. */
void fv_live_add_sample(struct fv_live *live, int64_t since_ns, uint32_t first, const struct fv_jsonl *values,
                        size_t count);
void fv_live_label(struct fv_live *live, const char *text);

/* A command, as in control.h: label TEXT, interval S, and watch EVENT. False: `why` tells. `text` ends with a NUL, and
 * is changed. */
bool fv_live_obey(struct fv_live *live, char *text, char *why, size_t room);

/* Under the lock: the first line of a recording; a line about ourselves. */
/* in a file, other nodes' series are behind ours */
void fv_live_header(struct fv_live *live, bool is_file, struct fv_jsonl *out);
void fv_live_status(struct fv_live *live, size_t clients, struct fv_jsonl *out);

#endif
