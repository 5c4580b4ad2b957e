/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults that are looked for, and how they are said. */
#ifndef FV_OTF2_CHECK_FAULT_H
#define FV_OTF2_CHECK_FAULT_H

#include "otf2/check.h"

enum fv_fault {
    /* definitions */
    FV_DUPLICATE,
    FV_UNDEFINED,
    FV_FORWARD,
    FV_CLOCK_MISSING,
    FV_CLOCK_TWICE,
    FV_CLOCK_RESOLUTION,
    FV_CLOCK_RANGE,
    FV_EMPTY_STRING,
    FV_CYCLE,
    FV_PARADIGM,
    FV_ENUM,
    FV_LOCATION_GROUP,
    FV_GROUP_MEMBER,
    FV_GROUP_TWICE,
    FV_GROUP_SELF,
    FV_COMM_GROUP,
    FV_COMM_PARENT,
    FV_METRIC_CLASS,
    FV_TOPOLOGY,
    FV_PRE_CREATED,
    FV_DEFINITION_COUNT,
    FV_LOCATION_COUNT,
    FV_LOCAL_MISSING,
    FV_MAPPING,
    FV_UNREADABLE,
    FV_UNKNOWN_RECORD,
    /* any event */
    FV_EVENTS_MISSING,
    FV_EVENT_COUNT,
    FV_TIME_ORDER,
    FV_TIME_RANGE,
    FV_LOCATION_TYPE,
    FV_ATTRIBUTE_TYPE,
    /* flow */
    FV_LEAVE_UNMATCHED,
    FV_LEAVE_WRONG,
    FV_REGION_OPEN,
    FV_MIXED,
    FV_UNWIND,
    FV_PROGRAM,
    FV_PROGRAM_REGION,
    FV_FLUSH,
    FV_METRIC,
    FV_PARAMETER,
    /* MPI */
    FV_RANK,
    FV_MEMBER,
    FV_REQUEST_REUSED,
    FV_REQUEST_UNKNOWN,
    FV_REQUEST_WRONG,
    FV_REQUEST_OPEN,
    FV_COLLECTIVE_PAIR,
    FV_COLLECTIVE_OPEN,
    FV_ROOT,
    FV_COLLECTIVE_ORDER,
    FV_COLLECTIVE_COUNT,
    FV_NOT_RECEIVED,
    FV_NOT_SENT,
    FV_UNRECORDED,
    FV_MESSAGE_SIZE,
    FV_MESSAGE_TIME,
    FV_COMM_LIFE,
    /* RMA */
    FV_RMA_REUSED,
    FV_RMA_UNKNOWN,
    FV_RMA_OPEN,
    FV_RMA_LOCK,
    FV_RMA_LOCK_HELD,
    /* threads */
    FV_JOIN,
    FV_FORK_OPEN,
    FV_TEAM,
    FV_THREAD_LINK,
    FV_THREAD_OPEN,
    FV_THREAD_TIME,
    FV_LOCK,
    FV_LOCK_HELD,
    FV_LOCK_ORDER,
    /* input and output */
    FV_IO_HANDLE,
    FV_IO_REUSED,
    FV_IO_UNKNOWN,
    FV_IO_OPEN,
    FV_IO_LOCK,
    FV_FAULT_COUNT
};

enum fv_fault_scope { FV_OF_ARCHIVE, FV_OF_DEFINITION, FV_OF_LOCATION, FV_OF_EVENT };
struct fv_fault_place {
    enum fv_fault_scope scope;
    uint32_t location; /* index; FV_NONE: none */
    uint64_t time;     /* of an event, ticks */
    const char *record;
    uint64_t id; /* of a definition; FV_NO_ID: it has none */
};
#define FV_NO_ID UINT64_MAX

struct fv_faults {
    const char *archive;
    const struct fv_check_options *options;
    uint64_t counts[FV_FAULT_COUNT];
};

struct fv_check;
/* What is wrong at c->where. */
void fv_fault(struct fv_check *c, enum fv_fault fault, const char *format, ...) FV_PRINTF(3, 4);
/* The same, elsewhere. */
void fv_fault_at(struct fv_check *c, const struct fv_fault_place *where, enum fv_fault fault, const char *format, ...)
    FV_PRINTF(4, 5);
/* How many were not shown, then the sum of it all. */
void fv_faults_end(struct fv_check *c);

#endif
