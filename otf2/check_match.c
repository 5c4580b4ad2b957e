/* SPDX-License-Identifier: BSD-3-Clause */
/* What has to fit together: operations that are started and completed, on one location or on two threads of a
 * process; messages sent and received; the collectives of all members of a communicator. */
#include "otf2/check_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- operations ---- */

static const struct {
    enum fv_fault reused, unknown, open;
    const char *started, *completed;
} actives[] = {
    [FV_ACTIVE_REQUEST] = { FV_REQUEST_REUSED, FV_REQUEST_UNKNOWN, FV_REQUEST_OPEN, "started", "completed" },
    [FV_ACTIVE_RMA] = { FV_RMA_REUSED, FV_RMA_UNKNOWN, FV_RMA_OPEN, "started", "completed" },
    [FV_ACTIVE_IO] = { FV_IO_REUSED, FV_IO_UNKNOWN, FV_IO_OPEN, "started", "completed" },
    [FV_ACTIVE_RMA_LOCK] = { FV_RMA_LOCK, FV_RMA_LOCK, FV_RMA_LOCK_HELD, "acquired", "released" },
    [FV_ACTIVE_LOCK] = { FV_LOCK, FV_LOCK, FV_LOCK_HELD, "acquired", "released" },
    [FV_ACTIVE_IO_LOCK] = { FV_IO_LOCK, FV_IO_LOCK, FV_IO_LOCK, "acquired", "released" },
};

static const char *describe(const struct fv_key *key, char text[96])
{
    uint64_t a = key->a, b = key->b;

    switch (key->kind) {
    case FV_ACTIVE_RMA: snprintf(text, 96, "operation %" PRIu64 " on window %" PRIu64, b, a); break;
    case FV_ACTIVE_IO: snprintf(text, 96, "operation %" PRIu64 " on handle %" PRIu64, b, a); break;
    case FV_ACTIVE_RMA_LOCK:
        if ((uint32_t)a == OTF2_UNDEFINED_UINT32) /* MPI_Win_lock_all */
            snprintf(text, 96, "lock %" PRIu64 " at all ranks on window %" PRIu64, b, a >> 32);
        else
            snprintf(text, 96, "lock %" PRIu64 " at rank %u on window %" PRIu64, b, (uint32_t)a, a >> 32);
        break;
    case FV_ACTIVE_LOCK: snprintf(text, 96, "lock %u with acquisition order %" PRIu64, (uint32_t)a, b); break;
    case FV_ACTIVE_IO_LOCK: snprintf(text, 96, "the lock of handle %" PRIu64, a); break;
    default: snprintf(text, 96, "request %" PRIu64, a);
    }
    return text;
}

/* Other threads of the process may have the other half; locks belong to one thread. */
static bool may_be_elsewhere(const struct fv_check *c, enum fv_active kind)
{
    return c->here.shared && kind <= FV_ACTIVE_IO;
}

static void keep_loose(struct fv_check *c, const struct fv_key *key, bool start, uint64_t time, const char *record)
{
    FV_GROW(c->loose, c->loose_room, c->loose_count + 1);
    c->loose[c->loose_count++] = (struct fv_loose){ .group = c->here.group,
                                                    .location = c->here.location,
                                                    .key = *key,
                                                    .start = start,
                                                    .time = time,
                                                    .record = record };
}

void fv_check_switched_off(struct fv_check *c)
{
    c->any_off = true;
    if (c->here.group != FV_NONE) {
        struct fv_definition *group = fv_def_at(c, FV_DEF_LOCATION_GROUP, c->here.group);

        group->u.location_group.off = true;
        if (c->where.time > group->u.location_group.last_off)
            group->u.location_group.last_off = c->where.time;
    }
}

/* Started at `time`, it was under way when a thread of its process switched recording off. */
static bool may_have_ended(const struct fv_check *c, uint32_t location_group, uint64_t time)
{
    const struct fv_definition *group =
        location_group == FV_NONE ? NULL : fv_def_at(c, FV_DEF_LOCATION_GROUP, location_group);

    return group && group->u.location_group.off && time <= group->u.location_group.last_off;
}

void fv_check_start(struct fv_check *c, enum fv_active kind, uint64_t a, uint64_t b, uint32_t what, uint64_t value)
{
    const struct fv_entry entry = {
        .key = { kind, a, b }, .what = what, .value = value, .time = c->where.time, .record = c->where.record
    };
    struct fv_entry *old = fv_check_map_find(&c->here.active, &entry.key);
    char text[96];

    if (!old) {
        fv_check_map_add(&c->here.active, &entry);
        return;
    }
    if (may_be_elsewhere(c, kind))
        keep_loose(c, &old->key, true, old->time, old->record);
    else if (!may_have_ended(c, c->here.group, old->time))
        fv_fault(c, actives[kind].reused, "%s is started again while it is active", describe(&entry.key, text));
    *old = entry;
}

bool fv_check_complete(struct fv_check *c, enum fv_active kind, uint64_t a, uint64_t b, struct fv_entry *out)
{
    const struct fv_key key = { kind, a, b };
    struct fv_entry *entry = fv_check_map_find(&c->here.active, &key);
    char text[96];

    if (entry) {
        *out = *entry;
        fv_check_map_remove(&c->here.active, entry);
        return true;
    }
    if (may_be_elsewhere(c, kind))
        keep_loose(c, &key, false, c->where.time, c->where.record);
    else
        fv_fault(c, actives[kind].unknown, "%s was not %s", describe(&key, text), actives[kind].started);
    return false;
}

bool fv_check_goes_on(struct fv_check *c, enum fv_active kind, uint64_t a, uint64_t b)
{
    const struct fv_key key = { kind, a, b };
    char text[96];

    if (fv_check_map_find(&c->here.active, &key) || may_be_elsewhere(c, kind))
        return true;
    fv_fault(c, actives[kind].unknown, "%s was not %s", describe(&key, text), actives[kind].started);
    return false;
}

static int by_time(const void *x, const void *y)
{
    const struct fv_entry *a = *(struct fv_entry *const *)x, *b = *(struct fv_entry *const *)y;

    return (a->time > b->time) - (a->time < b->time);
}

/* In the order of their starts, not of the hash. */
void fv_check_still_active(struct fv_check *c)
{
    struct fv_check_map *map = &c->here.active;
    struct fv_entry **left = fv_xcalloc(map->used, sizeof(*left));
    size_t count = 0;
    char text[96];

    for (size_t i = 0; map->used && i < map->room; i++)
        if (map->slots[i].what)
            left[count++] = &map->slots[i];
    qsort(left, count, sizeof(*left), by_time);
    for (size_t i = 0; i < count; i++) {
        c->where.time = left[i]->time;
        c->where.record = left[i]->record;
        if (may_be_elsewhere(c, left[i]->key.kind))
            keep_loose(c, &left[i]->key, true, left[i]->time, left[i]->record);
        else if (!may_have_ended(c, c->here.group, left[i]->time))
            fv_fault(c, actives[left[i]->key.kind].open, "%s is never %s", describe(&left[i]->key, text),
                     actives[left[i]->key.kind].completed);
    }
    free(left);
}

static int by_key(const void *x, const void *y)
{
    const struct fv_loose *a = x, *b = y;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->key.kind != b->key.kind)
        return a->key.kind < b->key.kind ? -1 : 1;
    if (a->key.a != b->key.a)
        return a->key.a < b->key.a ? -1 : 1;
    if (a->key.b != b->key.b)
        return a->key.b < b->key.b ? -1 : 1;
    return (a->time > b->time) - (a->time < b->time);
}

static void say_loose(struct fv_check *c, const struct fv_loose *l)
{
    const struct fv_fault_place where = {
        .scope = FV_OF_EVENT, .location = l->location, .time = l->time, .record = l->record
    };
    char text[96];

    if (l->start && may_have_ended(c, l->group, l->time))
        return;
    if (l->start)
        fv_fault_at(c, &where, actives[l->key.kind].open, "%s is never completed, on no thread of its process",
                    describe(&l->key, text));
    else
        fv_fault_at(c, &where, actives[l->key.kind].unknown, "%s was not started, on no thread of its process",
                    describe(&l->key, text));
}

/* Of the same key, in the order of time: each completion takes one start before it. */
static void match_loose(struct fv_check *c)
{
    size_t open = 0; /* starts without completion are moved to the front of their run */

    if (!c->loose_count)
        return;
    qsort(c->loose, c->loose_count, sizeof(*c->loose), by_key);
    for (size_t i = 0, run = 0; i <= c->loose_count; i++) {
        bool same = i < c->loose_count && i > run && c->loose[i].group == c->loose[run].group &&
                    fv_key_equal(&c->loose[i].key, &c->loose[run].key);

        if (!same) {
            for (size_t j = 0; j < open; j++)
                say_loose(c, &c->loose[run + j]);
            run = i;
            open = 0;
        }
        if (i == c->loose_count)
            return;
        if (c->loose[i].start)
            c->loose[run + open++] = c->loose[i];
        else if (open)
            open--;
        else
            say_loose(c, &c->loose[i]);
    }
}

/* ---- messages ---- */

struct fv_message *fv_check_message(struct fv_check *c, const struct fv_message *key)
{
    uint64_t hash = fv_mix2(fv_mix2((uint64_t)key->comm << 32 | key->tag, (uint64_t)key->sender << 32 | key->receiver),
                            (uint64_t)key->self << 1 | key->side);
    struct fv_index_probe probe = fv_index_probe(&c->message_index, hash);

    for (uint32_t i; (i = fv_index_next(&probe)) != FV_NONE;) {
        struct fv_message *m = &c->messages[i];

        if (m->comm == key->comm && m->side == key->side && m->sender == key->sender && m->tag == key->tag &&
            m->receiver == key->receiver && m->self == key->self)
            return m;
    }
    FV_GROW(c->messages, c->message_room, c->message_count + 1);
    fv_index_add(&c->message_index, hash, (uint32_t)c->message_count);
    c->messages[c->message_count] = *key;
    c->messages[c->message_count].from = c->messages[c->message_count].to = FV_NONE;
    return &c->messages[c->message_count++];
}

/* Does the archive say that it does not hold everything? Then what has no other side is no error. */
static bool is_partial(const struct fv_check *c)
{
    return c->any_off || c->any_empty || c->communication_incomplete;
}

static void check_message(struct fv_check *c, const struct fv_message *m)
{
    bool send = m->sent >= m->received;
    const struct fv_fault_place where = { .scope = FV_OF_EVENT,
                                          .location = send ? m->from : m->to,
                                          .time = send ? m->last_send : m->last_receive,
                                          .record = send ? m->send : m->receive };
    const struct fv_fault_place received = {
        .scope = FV_OF_EVENT, .location = m->to, .time = m->first_receive, .record = m->receive
    };
    enum fv_fault fault = is_partial(c) ? FV_UNRECORDED : send ? FV_NOT_RECEIVED : FV_NOT_SENT;
    char who[160];

    snprintf(who, sizeof(who), "\"%.60s\", rank %u to rank %u, tag %d",
             fv_def_text(c, FV_DEF_COMM, c->definitions[FV_DEF_COMM].ids[m->comm]), m->sender, m->receiver,
             (int)m->tag);
    if (m->sent != m->received)
        fv_fault_at(c, &where, fault, "%s: %" PRIu64 " messages sent, %" PRIu64 " received", who, m->sent, m->received);
    else if (m->cut ? m->received_bytes > m->sent_bytes
                    : m->sent_bytes != m->received_bytes || m->sent_hash != m->received_hash)
        fv_fault_at(c, &where, FV_MESSAGE_SIZE, "%s: sizes differ: %" PRIu64 " bytes sent, %" PRIu64 " received", who,
                    m->sent_bytes, m->received_bytes);
    else if (m->sent && (m->first_receive < m->first_send || m->last_receive < m->last_send))
        fv_fault_at(c, &received, FV_MESSAGE_TIME,
                    "%s: a message is received before it is sent; clocks are not synchronised", who);
}

/* ---- collectives ---- */

enum { REMEMBERED = 4 << 20 }; /* collectives kept in all, for comparison one by one: 32 MiB */

static uint64_t sequence_item(OTF2_CollectiveOp op, uint32_t root)
{
    return (uint64_t)op << 32 | root;
}

static void begin_sequence(struct fv_check *c, uint32_t number)
{
    struct fv_sequence *s = &c->sequences[number];

    s->epoch = c->here.epoch;
    s->done = s->hash = s->later = s->later_hash = s->differs = 0;
    if (s->owner == FV_NONE)
        s->owner = c->here.location;
    FV_GROW(c->touched, c->touched_room, c->touched_count + 1);
    c->touched[c->touched_count++] = number;
}

void fv_check_sequence(struct fv_check *c, uint32_t number, OTF2_CollectiveOp op, uint32_t root, bool ordered)
{
    struct fv_sequence *s = &c->sequences[number];
    uint64_t item = sequence_item(op, root);

    if (s->epoch != c->here.epoch)
        begin_sequence(c, number);
    if (!ordered) {
        s->later++;
        s->later_hash += fv_mix(item + 1);
        return;
    }
    if (s->owner == c->here.location) {
        s->cut = s->cut || c->remembered == REMEMBERED;
        if (!s->cut) {
            FV_GROW(s->items, s->room, s->count + 1);
            s->items[s->count++] = item;
            c->remembered++;
        }
    } else if (!s->differs && s->done < s->count && s->items[s->done] != item) {
        s->differs = s->done + 1;
        s->different = item;
        s->time = c->where.time;
    }
    s->done++;
    s->hash = fv_mix2(s->hash, item);
}

void fv_check_sequences_end(struct fv_check *c)
{
    const uint32_t rank_bits = UINT32_C(0x7fffffff);

    for (size_t i = 0; i < c->touched_count; i++) {
        uint32_t number = c->touched[i], side = 0, rank = 0;
        const struct fv_sequence *s = &c->sequences[number];
        size_t comms = c->definitions[FV_DEF_COMM].count;
        uint32_t comm =
            number < comms
                ? number
                : fv_def_find(c, FV_DEF_COMM, fv_def_at(c, FV_DEF_RMA_WIN, number - (uint32_t)comms)->u.window.comm);

        if (comm != FV_NONE)
            rank = fv_comm_rank(c, &c->comms[comm], &side);
        FV_GROW(c->parts, c->part_room, c->part_count + 1);
        c->parts[c->part_count++] = (struct fv_sequence_part){ .sequence = number,
                                                               .location = c->here.location,
                                                               .rank = side << 31 | (rank & rank_bits),
                                                               .done = s->done,
                                                               .hash = s->hash,
                                                               .later = s->later,
                                                               .later_hash = s->later_hash,
                                                               .differs = s->differs,
                                                               .different = s->different,
                                                               .time = s->time };
    }
    c->touched_count = 0;
}

static int by_rank(const void *x, const void *y)
{
    const struct fv_sequence_part *a = x, *b = y;

    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static void item_text(uint64_t item, char text[64])
{
    uint32_t root = (uint32_t)item;

    if (root == OTF2_COLLECTIVE_ROOT_NONE)
        snprintf(text, 64, "%s", fv_collective_name((OTF2_CollectiveOp)(item >> 32)));
    else
        snprintf(text, 64, "%s root %u", fv_collective_name((OTF2_CollectiveOp)(item >> 32)), root);
}

struct group_of { /* the communicator or window that a sequence belongs to */
    const char *name;
    uint32_t size; /* 0: not known */
};

static struct group_of group_of(const struct fv_check *c, uint32_t number)
{
    size_t comms = c->definitions[FV_DEF_COMM].count;
    uint32_t window = number < comms ? FV_NONE : number - (uint32_t)comms;
    uint32_t comm =
        window == FV_NONE ? number : fv_def_find(c, FV_DEF_COMM, fv_def_at(c, FV_DEF_RMA_WIN, window)->u.window.comm);
    struct group_of g = { .name = window == FV_NONE
                                      ? fv_def_text(c, FV_DEF_COMM, c->definitions[FV_DEF_COMM].ids[comm])
                                      : fv_def_text(c, FV_DEF_RMA_WIN, c->definitions[FV_DEF_RMA_WIN].ids[window]) };

    if (comm != FV_NONE && c->comms[comm].usable)
        g.size = c->comms[comm].side[0].size + (c->comms[comm].inter ? c->comms[comm].side[1].size : 0);
    return g;
}

static void compare_part(struct fv_check *c, const struct fv_sequence_part *ours, const struct fv_sequence_part *p,
                         const struct group_of *g)
{
    struct fv_fault_place where = { .scope = p->differs ? FV_OF_EVENT : FV_OF_LOCATION,
                                    .location = p->location,
                                    .time = p->time,
                                    .record = "MpiCollectiveEnd" };
    const uint64_t *ids = c->definitions[FV_DEF_LOCATION].ids;
    const struct fv_sequence *s = &c->sequences[p->sequence];
    char mine[64], theirs[64];

    if (p->sequence >= c->definitions[FV_DEF_COMM].count)
        where.record = "RmaCollectiveEnd";
    if (p->differs && !c->any_off) {
        item_text(p->different, mine);
        item_text(s->items[p->differs - 1], theirs);
        fv_fault_at(c, &where, FV_COLLECTIVE_ORDER,
                    "collective %" PRIu64 " on \"%s\" is %s here, but %s on location %" PRIu64, p->differs, g->name,
                    mine, theirs, ids[ours->location]);
    } else if (p->done != ours->done || p->later != ours->later) {
        fv_fault_at(c, &where, is_partial(c) ? FV_UNRECORDED : FV_COLLECTIVE_COUNT,
                    "%" PRIu64 " collectives on \"%s\" and %" PRIu64 " non-blocking ones, but %" PRIu64 " and %" PRIu64
                    " on location %" PRIu64,
                    p->done, g->name, p->later, ours->done, ours->later, ids[ours->location]);
    } else if (!c->any_off && (p->hash != ours->hash || p->later_hash != ours->later_hash)) {
        fv_fault_at(c, &where, FV_COLLECTIVE_ORDER,
                    "collectives on \"%s\" differ from those on location %" PRIu64 " in operation, root or order",
                    g->name, ids[ours->location]);
    }
}

/* Several locations of one rank (threads): their common order is not known, so only their sums are compared.
 */
static void add_threads(struct fv_sequence_part *parts, size_t *count)
{
    size_t kept = 0;

    for (size_t i = 1; i < *count; i++)
        if (parts[i].rank == parts[kept].rank) {
            parts[kept].done += parts[i].done;
            parts[kept].later += parts[i].later;
        } else {
            parts[++kept] = parts[i];
        }
    *count = kept + 1;
    for (size_t i = 0; i < *count; i++)
        parts[i].hash = parts[i].later_hash = parts[i].differs = 0;
}

static void compare_sequence(struct fv_check *c, struct fv_sequence_part *parts, size_t count)
{
    const struct group_of g = group_of(c, parts->sequence);
    const struct fv_fault_place where = { .scope = FV_OF_LOCATION, .location = parts->location };
    size_t ours = 0, all = count;

    for (size_t i = 1; i < all; i++)
        if (parts[i].rank == parts[i - 1].rank) {
            add_threads(parts, &count);
            break;
        }
    for (size_t i = 0; i < count; i++)
        if (parts[i].location == c->sequences[parts->sequence].owner)
            ours = i;
    if (g.size && count < g.size)
        fv_fault_at(c, &where, is_partial(c) ? FV_UNRECORDED : FV_COLLECTIVE_COUNT,
                    "collectives on \"%s\": only %zu of its %u ranks have any", g.name, count, g.size);
    for (size_t i = 0; i < count; i++)
        if (i != ours)
            compare_part(c, &parts[ours], &parts[i], &g);
}

void fv_check_sequences(struct fv_check *c)
{
    if (c->part_count)
        qsort(c->parts, c->part_count, sizeof(*c->parts), by_rank);
    for (size_t i = 0, j; i < c->part_count; i = j) {
        for (j = i + 1; j < c->part_count && c->parts[j].sequence == c->parts[i].sequence; j++)
            ;
        compare_sequence(c, c->parts + i, j - i);
    }
}

void fv_check_messages(struct fv_check *c)
{
    match_loose(c);
    for (size_t i = 0; i < c->message_count; i++)
        check_message(c, &c->messages[i]);
}
