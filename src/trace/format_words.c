/* SPDX-License-Identifier: BSD-3-Clause */
/* See format_words.h; its tables are format-table.h, which is generated. */
#include "trace/format_words.h"

#include <errno.h>
#include <string.h>

#include "trace/format-table.h"

static inline uint64_t number_at(const void *record, uint32_t offset, uint32_t bytes)
{
    const void *at = (const char *)record + offset;

    if (bytes == sizeof(uint32_t))
        return *(const uint32_t *)at;
    return bytes == sizeof(uint16_t)  ? *(const uint16_t *)at
           : bytes == sizeof(uint8_t) ? *(const uint8_t *)at
                                      : *(const uint64_t *)at;
}

/* How many there are to be. */
static inline uint64_t asked_of(const struct fv_elements *e, const void *record)
{
    uint64_t count = number_at(record, e->by[0].offset, e->by[0].bytes);

    return e->by[1].bytes ? count + number_at(record, e->by[1].offset, e->by[1].bytes) : count;
}

uint64_t fv_elements(const struct fv_elements *e, const void *record, uint64_t bytes)
{
    uint64_t room = e->room ? e->room : (bytes - e->offset) / e->element,
             asked = e->by[0].bytes ? asked_of(e, record) : room;

    return asked < room ? asked : room;
}

bool fv_record_is_whole(const struct fv_layout *layout, const void *record, uint64_t bytes)
{
    if (bytes < layout->bytes)
        return false;
    for (const struct fv_elements *e = layout->elements; e < layout->elements + layout->counts; e++) {
        const char *at = (const char *)record + e->offset;
        const uint64_t room = e->room ? (uint64_t)e->room * e->element : bytes - e->offset;

        if (!e->by[0].bytes) {
            if (e->text && !memchr(at, '\0', room))
                return false;
            continue;
        }
        const uint64_t asked = asked_of(e, record);
        if (asked > bytes || (e->text ? asked >= room || at[asked] : asked * e->element > room))
            return false;
    }
    return true;
}

const char *fv_enum_word(const struct fv_enum *of, uint64_t value)
{
    for (unsigned i = 0; i < of->count; i++)
        if (of->list[i].value == value)
            return of->list[i].word;
    return "?";
}

/* ---- where threads wait ---- */

#define CALL(kind, operation) (FV_SYNC_##kind | FV_SYNC_##operation << 4)

static const char *const call_names[FV_THREAD_CALLS] = {
    [CALL(MUTEX, LOCK)] = "pthread_mutex_lock",
    [CALL(MUTEX, TIMED)] = "pthread_mutex_timedlock",
    [CALL(RWLOCK, LOCK)] = "pthread_rwlock_wrlock",
    [CALL(RWLOCK, TIMED)] = "pthread_rwlock_timedwrlock",
    [CALL(RWLOCK, READ)] = "pthread_rwlock_rdlock",
    [CALL(RWLOCK, TIMED_READ)] = "pthread_rwlock_timedrdlock",
    [CALL(SPIN, LOCK)] = "pthread_spin_lock",
    [CALL(BARRIER, WAIT)] = "pthread_barrier_wait",
    [CALL(COND, WAIT)] = "pthread_cond_wait",
    [CALL(COND, TIMED)] = "pthread_cond_timedwait",
    [CALL(SEM, WAIT)] = "sem_wait",
    [CALL(SEM, TIMED)] = "sem_timedwait",
    [CALL(JOIN, WAIT)] = "pthread_join",
    [CALL(JOIN, TIMED)] = "pthread_timedjoin_np",
    [CALL(ONCE, WAIT)] = "pthread_once",
    [CALL(OMP, LOCK)] = "omp lock",
    [CALL(OMP, WAIT)] = "omp barrier",
    [FV_THREAD_IMPLICIT_BARRIER] = "omp implicit barrier",
    [FV_THREAD_WORK(FV_OMP_WORK_LOOP)] = "omp for",
    [FV_THREAD_WORK(FV_OMP_WORK_SECTIONS)] = "omp sections",
    [FV_THREAD_WORK(FV_OMP_WORK_SINGLE)] = "omp single",
    [FV_THREAD_WORK(FV_OMP_WORK_WORKSHARE)] = "omp workshare",
    [FV_THREAD_WORK(FV_OMP_WORK_DISTRIBUTE)] = "omp distribute",
    [FV_THREAD_WORK(FV_OMP_WORK_TASKLOOP)] = "omp taskloop",
    [FV_THREAD_WORK(FV_OMP_WORK_SCOPE)] = "omp scope",
    [FV_THREAD_WORK(FV_OMP_WORK_MASKED)] = "omp masked",
    [FV_THREAD_WORK(FV_OMP_WORK_TASK)] = "omp task",
    [FV_THREAD_WORK(FV_OMP_WORK_TARGET)] = "omp target",
    [FV_THREAD_WORK(FV_OMP_WORK_TARGET_DATA)] = "omp target data",
};

const char *fv_thread_call_name(unsigned call)
{
    return call < FV_THREAD_CALLS ? call_names[call] : NULL;
}

/* ---- functions for files ---- */

static const struct {
    const char *name;
    uint8_t operation, layer;
} io_functions[] = {
    { "?", 0, 0 },
#define FV_IO_FUNCTION(name, word, operation, layer) { word, operation, layer },
#include "trace/io-list.h"
#undef FV_IO_FUNCTION
};

static uint32_t known(uint32_t function)
{
    return function < FV_IO_FUNCTIONS ? function : FV_IO_NO_FUNCTION;
}

const char *fv_io_function_name(uint32_t function)
{
    return io_functions[known(function)].name;
}

enum fv_io_operation fv_io_operation_of(uint32_t function)
{
    return (enum fv_io_operation)io_functions[known(function)].operation;
}

enum fv_io_layer fv_io_layer_of(uint32_t function)
{
    return (enum fv_io_layer)io_functions[known(function)].layer;
}

const char *fv_refused_words(uint32_t error)
{
    switch (error) {
    case EFBIG: return "the limit on file sizes was reached; use ulimit -f unlimited where ranks are started";
    case ENOSPC: return "the disk was full; choose another with -o";
    case EDQUOT: return "the quota of the file system was used up; choose another with -o";
    case ENOMEM: return "there was no memory or address space; raise ulimit -v";
    }
    return "the disk was full or failed";
}
