/* SPDX-License-Identifier: BSD-3-Clause */
/* Performance events of the calling thread by descriptor: opened, told from what the application may have put in its
 * place, read; and counters, which signal nothing.
 *
 * A counter is read by a system call or, where the kernel lets the program, by the processor's own instruction: the
 * kernel describes in a page which of the processor's registers the event is in, and what to add (perf_event_open(2),
 * struct perf_event_mmap_page).
 *
 * Nothing here takes a lock or memory: all but open, close, map and unmap may be called by a signal handler. */
#ifndef FV_PERF_FD_H
#define FV_PERF_FD_H

#include "base/perf_events.h"

#include <errno.h>

struct fv_event_fd {
    int fd; /* -1: none */
    uint64_t id;
    uint32_t generation; /* of its use; what came from an earlier one is stale */
};

/* Any event of the calling thread, in the group of the descriptor `group` (-1: its own). False: errno tells, and fd is
 * -1 or to be closed. */
struct perf_event_attr;
bool fv_perf_open(struct fv_event_fd *event, struct perf_event_attr *attr, int group);
/* Not what the application has put in the descriptor's place. */
bool fv_perf_is_ours(const struct fv_event_fd *event);
/* So many bytes of counts. */
bool fv_perf_read(const struct fv_event_fd *event, void *counts, size_t bytes);
/* Only what is still ours: an application may close what it does not own. */
void fv_perf_close(struct fv_event_fd *event);
void fv_perf_enable(const struct fv_event_fd *event);

/* ---- counters ---- */

/* What a group's read gives, and behind it the values in the order in which they were opened. */
struct fv_perf_group {
    uint64_t count, enabled, running; /* ns */
};
/* A group's leader begins disabled, and the others run with it. */
bool fv_perf_open_counter(struct fv_event_fd *event, const struct fv_perf_event *what, int group);
/* The same; where the kernel may not be counted, in user mode alone, which *what then says. 0, or an errno: there is no
 * such counter here. */
uint32_t fv_perf_try_counter(struct fv_event_fd *event, struct fv_perf_event *what, int group);
/* Of these, of an event that can be counted, only not beside the others of its group. */
#define FV_PERF_NO_REGISTER ENOSPC

/* Which of a list can be counted at a time: each is tried in the group of those before or, where groups may take turns,
 * in another one. Passed by is what is refused already, and what the kernel's own accounts tell. */
struct fv_perf_trial {
    struct fv_perf_event *event; /* its modes may change, as above */
    struct fv_event_fd opened;   /* while it is tried */
    uint32_t refusal, group;     /* refusal: 0, or an errno */
};
void fv_perf_try_all(struct fv_perf_trial *trials, size_t count, bool in_turns);

/* The page of an event; NULL: there is none, or it may not be read in user mode here. */
struct perf_event_mmap_page;
const volatile struct perf_event_mmap_page *fv_perf_map(const struct fv_event_fd *event);
void fv_perf_unmap(const volatile struct perf_event_mmap_page *page);
/* Its count, with the times of its group; `counter` reads a register (fv_perf_register). False: it is in no register
 * now, read() tells. */
struct fv_perf_count {
    uint64_t value, enabled, running;
};
bool fv_perf_page_read(const volatile struct perf_event_mmap_page *page, uint64_t (*counter)(uint32_t),
                       struct fv_perf_count *out);
uint64_t fv_perf_register(uint32_t index);

#endif
