/* SPDX-License-Identifier: BSD-3-Clause */
/* Performance events by name: the words of FVMPI_EVENTS and FVMPI_CALL_EVENT, and what they mean to
 * perf_event_open(2).
 *
 *     NAME[:u|:k]                                                 one of the kernel's generic events
 *     rHEX[:u|:k]                                                 a raw one
 *     NAME@TYPE:CONFIG:CONFIG1:CONFIG2:FLAGS:PROCESSOR            as `fvmpi run` hands on what libpfm4 told
 * it
 *
 * Words have commas between. The kernel's names are known here, spelled as libpfm4 spells them, because
 * inside the application there is no libpfm4; all others are encoded by `fvmpi run`. No malloc; any thread.
 */
#ifndef FV_PERF_EVENTS_H
#define FV_PERF_EVENTS_H

#include "base/base.h"

#define FV_PERF_EVENT_NAME 64 /* bytes, with the NUL */
#define FV_PERF_EVENT_TEXT (FV_PERF_EVENT_NAME + 96)

enum fv_perf_event_flags {
    FV_PERF_NO_USER = 1,   /* :k */
    FV_PERF_NO_KERNEL = 2, /* :u */
    FV_PERF_PRECISE = 16,  /* times perf_event_attr.precise_ip, 0 to 3 */
};

struct fv_perf_event {
    char name[FV_PERF_EVENT_NAME]; /* as asked for, without the encoding */
    uint32_t type, flags;          /* enum perf_type_id or a PMU's number; enum fv_perf_event_flags */
    uint64_t config, config1, config2;
    uint32_t processor; /* that the encoding is for: fv_processor(); 0: for any */
};

/* Takes the first word off a list: true, with the word in [*word, *word + *length); false at the end. */
bool fv_perf_event_word(const char **list, const char **word, size_t *length);

/* What a word means. -FV_ENOENT: not a name that is known here; out->name is set. -FV_EINVAL: nobody's word.
 */
int fv_perf_event_parse(const char *word, size_t length, struct fv_perf_event *out);

/* With its encoding, for fv_perf_event_parse(). */
void fv_perf_event_print(const struct fv_perf_event *event, char text[FV_PERF_EVENT_TEXT]);

/* The generic name that looks most like an unknown one; NULL: none is near. */
const char *fv_perf_event_near(const char *name);

/* Can the event count in user mode at all? The kernel's own doings cannot. */
bool fv_perf_event_in_user_mode(const struct fv_perf_event *event);

/* What the kernel accounts for of each thread anyway: such an event, in both modes, needs no perf event. */
enum fv_perf_account {
    FV_NO_ACCOUNT,
    FV_ACCOUNT_FAULTS,
    FV_ACCOUNT_MINOR,
    FV_ACCOUNT_MAJOR,
    FV_ACCOUNT_SWITCHES,
    FV_ACCOUNT_CPU_NS,
    FV_ACCOUNTS
};
enum fv_perf_account fv_perf_event_account(const struct fv_perf_event *event);

/* As a counter: in user mode, unless its name or its encoding says otherwise; software's in both. */
void fv_perf_event_choose_mode(struct fv_perf_event *event);

/* Why an event is not counted: an errno of perf_event_open(), ESRCH (no name that the library knows), EXDEV
 * (encoded for another processor). */
const char *fv_perf_event_refusal(uint32_t error, bool user_only);

/* Vendor, family and model of this host's processor, for events that only that one has; 0: not known. */
uint32_t fv_processor(void);

#endif
