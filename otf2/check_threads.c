/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads: fork and join, teams, creation by sequence count, locks by acquisition order, tasks. OpenMP's own
 * events of OTF2 1.1 are the same as those of today with the model OpenMP. */
#include "otf2/check_state.h"

#include <inttypes.h>

/* ---- fork and join, teams ---- */

static void fork_(struct fv_check *c, OTF2_Paradigm model)
{
    fv_check_paradigm(c, model, "model");
    c->here.forks++;
}

static void join(struct fv_check *c, OTF2_Paradigm model)
{
    fv_check_paradigm(c, model, "model");
    if (c->here.forks)
        c->here.forks--;
    else
        fv_fault(c, FV_JOIN, "there was no fork before it");
}

static OTF2_CallbackCode on_ThreadFork(FV_EVENT, OTF2_Paradigm model, __attribute__((unused)) uint32_t requested)
{
    fork_(fv_check_event(data, time, attributes, "ThreadFork"), model);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ThreadJoin(FV_EVENT, OTF2_Paradigm model)
{
    join(fv_check_event(data, time, attributes, "ThreadJoin"), model);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_OmpFork(FV_EVENT, __attribute__((unused)) uint32_t requested)
{
    fork_(fv_check_event(data, time, attributes, "OmpFork"), OTF2_PARADIGM_OPENMP);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_OmpJoin(FV_EVENT)
{
    join(fv_check_event(data, time, attributes, "OmpJoin"), OTF2_PARADIGM_OPENMP);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ThreadTeamBegin(FV_EVENT, OTF2_CommRef team)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "ThreadTeamBegin");

    fv_check_reference(c, FV_DEF_COMM, team, "thread team");
    FV_GROW(c->here.teams, c->here.team_room, c->here.team_depth + 1);
    c->here.teams[c->here.team_depth++] = team;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ThreadTeamEnd(FV_EVENT, OTF2_CommRef team)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "ThreadTeamEnd");

    fv_check_reference(c, FV_DEF_COMM, team, "thread team");
    if (!c->here.team_depth)
        fv_fault(c, FV_TEAM, "team %u ends, but none has begun", team);
    else if (c->here.teams[--c->here.team_depth] != team)
        fv_fault(c, FV_TEAM, "team %u ends, but the innermost is %" PRIu64, team, c->here.teams[c->here.team_depth]);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- creation: four events of one contingent and sequence count, on two locations ---- */

#define LINKS(X)         X(CREATE, "ThreadCreate") X(BEGIN, "ThreadBegin") X(END, "ThreadEnd") X(WAIT, "ThreadWait")
#define LINK(name, word) name,
enum { LINKS(LINK) };
static const char *const link_names[] = { LINKS(FV_LIST_WORD) };

static void link_thread(struct fv_check *c, unsigned what, OTF2_CommRef contingent, uint64_t sequence)
{
    uint64_t hash = fv_mix2(contingent, sequence);
    struct fv_index_probe probe = fv_index_probe(&c->link_index, hash);
    uint32_t i;

    fv_check_reference(c, FV_DEF_COMM, contingent, "thread contingent");
    while ((i = fv_index_next(&probe)) != FV_NONE)
        if (c->links[i].contingent == contingent && c->links[i].sequence == sequence)
            break;
    if (i == FV_NONE) {
        FV_GROW(c->links, c->link_room, c->link_count + 1);
        i = (uint32_t)c->link_count++;
        fv_index_add(&c->link_index, hash, i);
        c->links[i] = (struct fv_link){ .contingent = contingent, .sequence = sequence };
    }
    c->links[i].count[what]++;
    c->links[i].time[what] = c->where.time;
    c->links[i].location[what] = c->here.location;
}

static OTF2_CallbackCode on_ThreadCreate(FV_EVENT, OTF2_CommRef contingent, uint64_t sequence)
{
    link_thread(fv_check_event(data, time, attributes, link_names[CREATE]), CREATE, contingent, sequence);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ThreadBegin(FV_EVENT, OTF2_CommRef contingent, uint64_t sequence)
{
    link_thread(fv_check_event(data, time, attributes, link_names[BEGIN]), BEGIN, contingent, sequence);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ThreadEnd(FV_EVENT, OTF2_CommRef contingent, uint64_t sequence)
{
    link_thread(fv_check_event(data, time, attributes, link_names[END]), END, contingent, sequence);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ThreadWait(FV_EVENT, OTF2_CommRef contingent, uint64_t sequence)
{
    link_thread(fv_check_event(data, time, attributes, link_names[WAIT]), WAIT, contingent, sequence);
    return OTF2_CALLBACK_SUCCESS;
}

/* `of` needs `first` before it; the other way round it is only odd. */
static void check_pair(struct fv_check *c, const struct fv_link *link, unsigned first, unsigned second)
{
    bool too_many = link->count[second] > link->count[first];
    unsigned of = too_many ? second : first;
    const struct fv_fault_place where = {
        .scope = FV_OF_EVENT, .location = link->location[of], .time = link->time[of], .record = link_names[of]
    };

    if (link->count[first] != link->count[second])
        fv_fault_at(c, &where, too_many ? FV_THREAD_LINK : FV_THREAD_OPEN,
                    "contingent %" PRIu64 ", sequence count %" PRIu64 ": %" PRIu64 " times, but %s %" PRIu64 " times",
                    link->contingent, link->sequence, link->count[of], link_names[too_many ? first : second],
                    link->count[too_many ? first : second]);
    else if (link->count[first] == 1 && link->time[second] < link->time[first])
        fv_fault_at(c, &where, FV_THREAD_TIME, "sequence count %" PRIu64 ": its %s is %" PRIu64 " ticks earlier",
                    link->sequence, link_names[second], link->time[first] - link->time[second]);
}

/* ---- locks ---- */

static struct fv_lock_orders *find_lock(struct fv_check *c, uint64_t key)
{
    struct fv_index_probe probe = fv_index_probe(&c->lock_index, fv_mix(key));

    for (uint32_t i; (i = fv_index_next(&probe)) != FV_NONE;)
        if (c->locks[i].key == key)
            return &c->locks[i];
    FV_GROW(c->locks, c->lock_room, c->lock_count + 1);
    fv_index_add(&c->lock_index, fv_mix(key), (uint32_t)c->lock_count);
    c->locks[c->lock_count] = (struct fv_lock_orders){ .key = key, .least = UINT64_MAX };
    return &c->locks[c->lock_count++];
}

static void acquire(struct fv_check *c, OTF2_Paradigm model, uint32_t id, uint32_t order)
{
    struct fv_lock_orders *lock = find_lock(c, (uint64_t)model << 32 | id);

    fv_check_paradigm(c, model, "model");
    fv_check_start(c, FV_ACTIVE_LOCK, lock->key, order, 1, 0);
    if (lock->acquired && lock->last_location == c->here.location && order <= lock->last)
        fv_fault(c, FV_LOCK_ORDER, "lock %u is acquired with order %u after order %u", id, order, lock->last);
    lock->last_location = c->here.location;
    lock->last = order;
    lock->sum += order;
    lock->acquired++;
    lock->least = order < lock->least ? order : lock->least;
    lock->most = order > lock->most ? order : lock->most;
}

static void release(struct fv_check *c, OTF2_Paradigm model, uint32_t id, uint32_t order)
{
    struct fv_entry entry;

    fv_check_paradigm(c, model, "model");
    fv_check_complete(c, FV_ACTIVE_LOCK, (uint64_t)model << 32 | id, order, &entry);
}

static OTF2_CallbackCode on_ThreadAcquireLock(FV_EVENT, OTF2_Paradigm model, uint32_t lock, uint32_t order)
{
    acquire(fv_check_event(data, time, attributes, "ThreadAcquireLock"), model, lock, order);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ThreadReleaseLock(FV_EVENT, OTF2_Paradigm model, uint32_t lock, uint32_t order)
{
    release(fv_check_event(data, time, attributes, "ThreadReleaseLock"), model, lock, order);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_OmpAcquireLock(FV_EVENT, uint32_t lock, uint32_t order)
{
    acquire(fv_check_event(data, time, attributes, "OmpAcquireLock"), OTF2_PARADIGM_OPENMP, lock, order);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_OmpReleaseLock(FV_EVENT, uint32_t lock, uint32_t order)
{
    release(fv_check_event(data, time, attributes, "OmpReleaseLock"), OTF2_PARADIGM_OPENMP, lock, order);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- tasks ---- */

static OTF2_CallbackCode task(struct fv_check *c, OTF2_CommRef team)
{
    fv_check_reference(c, FV_DEF_COMM, team, "thread team");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ThreadTaskCreate(FV_EVENT, OTF2_CommRef team, __attribute__((unused)) uint32_t creator,
                                             __attribute__((unused)) uint32_t generation)
{
    return task(fv_check_event(data, time, attributes, "ThreadTaskCreate"), team);
}

static OTF2_CallbackCode on_ThreadTaskSwitch(FV_EVENT, OTF2_CommRef team, __attribute__((unused)) uint32_t creator,
                                             __attribute__((unused)) uint32_t generation)
{
    return task(fv_check_event(data, time, attributes, "ThreadTaskSwitch"), team);
}

static OTF2_CallbackCode on_ThreadTaskComplete(FV_EVENT, OTF2_CommRef team, __attribute__((unused)) uint32_t creator,
                                               __attribute__((unused)) uint32_t generation)
{
    return task(fv_check_event(data, time, attributes, "ThreadTaskComplete"), team);
}

static OTF2_CallbackCode on_OmpTaskCreate(FV_EVENT, __attribute__((unused)) uint64_t task_id)
{
    fv_check_event(data, time, attributes, "OmpTaskCreate");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_OmpTaskSwitch(FV_EVENT, __attribute__((unused)) uint64_t task_id)
{
    fv_check_event(data, time, attributes, "OmpTaskSwitch");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_OmpTaskComplete(FV_EVENT, __attribute__((unused)) uint64_t task_id)
{
    fv_check_event(data, time, attributes, "OmpTaskComplete");
    return OTF2_CALLBACK_SUCCESS;
}

#define EVENTS(X)        \
    X(ThreadFork)        \
    X(ThreadJoin)        \
    X(OmpFork)           \
    X(OmpJoin)           \
    X(ThreadTeamBegin)   \
    X(ThreadTeamEnd)     \
    X(ThreadCreate)      \
    X(ThreadBegin)       \
    X(ThreadEnd)         \
    X(ThreadWait)        \
    X(ThreadAcquireLock) \
    X(ThreadReleaseLock) \
    X(OmpAcquireLock)    \
    X(OmpReleaseLock)    \
    X(ThreadTaskCreate) X(ThreadTaskSwitch) X(ThreadTaskComplete) X(OmpTaskCreate) X(OmpTaskSwitch) X(OmpTaskComplete)

void fv_check_register_threads(OTF2_EvtReaderCallbacks *callbacks)
{
#define REGISTER(name) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, on_##name);
    EVENTS(REGISTER)
#undef REGISTER
}

void fv_check_threads_end(struct fv_check *c)
{
    c->where.time = c->here.last;
    c->where.scope = FV_OF_LOCATION;
    c->where.record = NULL;
    if (c->here.forks)
        fv_fault(c, FV_FORK_OPEN, "%u ThreadFork without ThreadJoin", c->here.forks);
    if (c->here.team_depth)
        fv_fault(c, FV_TEAM, "%zu ThreadTeamBegin without ThreadTeamEnd", c->here.team_depth);
    c->where.scope = FV_OF_EVENT;
}

/* Orders of one lock are consecutive over all threads; a location's own are checked as pairs. */
void fv_check_threads_all(struct fv_check *c)
{
    const struct fv_fault_place where = { .scope = FV_OF_ARCHIVE, .location = FV_NONE };

    for (size_t i = 0; i < c->link_count; i++) {
        check_pair(c, &c->links[i], CREATE, BEGIN);
        if (c->links[i].count[WAIT]) /* nobody waits for a detached one */
            check_pair(c, &c->links[i], END, WAIT);
    }
    for (size_t i = 0; c->locks_complete && i < c->lock_count; i++) {
        const struct fv_lock_orders *lock = &c->locks[i];

        uint64_t consecutive = (lock->least + lock->most) * lock->acquired / 2;

        if (lock->most - lock->least + 1 != lock->acquired || lock->sum != consecutive)
            fv_fault_at(c, &where, FV_LOCK_ORDER,
                        "lock %" PRIu64 " of model %" PRIu64 ": %" PRIu64
                        " acquisitions, but their orders go from %" PRIu64 " to %" PRIu64 "%s",
                        lock->key & UINT32_MAX, lock->key >> 32, lock->acquired, lock->least, lock->most,
                        lock->sum != consecutive ? ", some twice" : "");
    }
}
