/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be said of definitions only when all of them are known: trees without cycles, groups whose members
 * are there, communicators whose ranks can be told. */
#include "otf2/check_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void at(struct fv_check *c, enum fv_def kind, uint32_t index)
{
    c->where = (struct fv_fault_place){ .scope = FV_OF_DEFINITION,
                                        .location = FV_NONE,
                                        .record = fv_def_name(kind),
                                        .id = c->definitions[kind].ids[index] };
}

/* ---- trees ---- */

/* Walks up from each; a walk that meets itself is a cycle. */
static void check_cycles(struct fv_check *c, enum fv_def kind)
{
    const struct fv_definitions *d = &c->definitions[kind];
    uint32_t *walk = fv_xcalloc(d->count, sizeof(*walk)); /* number of the walk that came by */

    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t at_node = i;

        while (at_node != FV_NONE && !walk[at_node]) {
            walk[at_node] = i + 1;
            at_node = fv_def_find(c, kind, d->items[at_node].parent);
        }
        if (at_node != FV_NONE && walk[at_node] == i + 1) {
            at(c, kind, at_node);
            fv_fault(c, FV_CYCLE, "its parents lead back to itself");
        }
    }
    free(walk);
}

/* ---- groups ---- */

/* A location without events may stand for several ranks of which nothing was recorded. */
static bool has_events(struct fv_check *c, const struct fv_definition *group, uint64_t member)
{
    uint32_t location =
        group->u.group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS ? fv_def_find(c, FV_DEF_LOCATION, member) : FV_NONE;

    return location == FV_NONE || fv_def_at(c, FV_DEF_LOCATION, location)->u.location.events;
}

static void check_twice(struct fv_check *c, const struct fv_definition *group)
{
    struct fv_index index = { 0 };

    for (uint32_t i = 0; i < group->u.group.count; i++) {
        uint64_t member = group->u.group.members[i];
        struct fv_index_probe probe = fv_index_probe(&index, fv_mix(member));
        uint32_t found;

        while ((found = fv_index_next(&probe)) != FV_NONE && group->u.group.members[found] != member)
            ;
        if (found != FV_NONE && has_events(c, group, member))
            fv_fault(c, FV_GROUP_MEMBER, "members %u and %u are both %" PRIu64, found, i, member);
        if (found == FV_NONE)
            fv_index_add(&index, fv_mix(member), i);
    }
    fv_index_release(&index);
}

static void check_indices(struct fv_check *c, const struct fv_definition *group)
{
    uint32_t world = c->comm_locations[group->u.group.paradigm];

    if (world == FV_NONE) {
        fv_fault(c, FV_GROUP_MEMBER, "there is no group COMM_LOCATIONS of paradigm %u, of which members are indices",
                 group->u.group.paradigm);
        return;
    }
    uint32_t size = fv_def_at(c, FV_DEF_GROUP, world)->u.group.count;
    for (uint32_t i = 0; i < group->u.group.count; i++)
        if (group->u.group.members[i] >= size)
            fv_fault(c, FV_GROUP_MEMBER, "member %u is index %" PRIu64 ", but COMM_LOCATIONS has %u members", i,
                     group->u.group.members[i], size);
}

static void find_comm_locations(struct fv_check *c)
{
    const struct fv_definitions *d = &c->definitions[FV_DEF_GROUP];
    bool self[256] = { false };

    memset(c->comm_locations, 0xff, sizeof(c->comm_locations)); /* FV_NONE */
    for (uint32_t i = 0; i < d->count; i++) {
        const struct fv_definition *group = &d->items[i];
        uint8_t paradigm = group->u.group.paradigm;
        bool twice = false;

        at(c, FV_DEF_GROUP, i);
        if (group->u.group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
            twice = c->comm_locations[paradigm] != FV_NONE;
            c->comm_locations[paradigm] = twice ? c->comm_locations[paradigm] : i;
        } else if (group->u.group.type == OTF2_GROUP_TYPE_COMM_SELF) {
            twice = self[paradigm];
            self[paradigm] = true;
        }
        if (twice)
            fv_fault(c, FV_GROUP_TWICE, "a second %s of paradigm %u; each paradigm has one",
                     group->u.group.type == OTF2_GROUP_TYPE_COMM_SELF ? "COMM_SELF" : "COMM_LOCATIONS", paradigm);
    }
}

static void check_each_group(struct fv_check *c)
{
    const struct fv_definitions *d = &c->definitions[FV_DEF_GROUP];

    for (uint32_t i = 0; i < d->count; i++) {
        const struct fv_definition *group = &d->items[i];

        at(c, FV_DEF_GROUP, i);
        if (group->u.group.type == OTF2_GROUP_TYPE_COMM_GROUP)
            check_indices(c, group);
        if (group->u.group.type == OTF2_GROUP_TYPE_COMM_GROUP || group->u.group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
            check_twice(c, group);
        if (group->u.group.type == OTF2_GROUP_TYPE_COMM_SELF && group->u.group.count)
            fv_fault(c, FV_GROUP_SELF, "a group COMM_SELF has no members, this one has %u", group->u.group.count);
    }
}

/* ---- world ranks ---- */

/* Threads are not in COMM_LOCATIONS; they have the rank of the one location of their process that is. */
static void number_world(struct fv_check *c, uint8_t paradigm)
{
    const struct fv_definition *world = fv_def_at(c, FV_DEF_GROUP, c->comm_locations[paradigm]);
    size_t locations = c->definitions[FV_DEF_LOCATION].count, groups = c->definitions[FV_DEF_LOCATION_GROUP].count;
    uint32_t *by_location = fv_xcalloc(locations, sizeof(*by_location));
    uint32_t *by_group = fv_xcalloc(groups, sizeof(*by_group));

    memset(by_location, 0xff, locations * sizeof(*by_location));
    memset(by_group, 0xff, groups * sizeof(*by_group));
    for (uint32_t i = 0; i < world->u.group.count; i++) {
        uint32_t location = fv_def_find(c, FV_DEF_LOCATION, world->u.group.members[i]);
        if (location == FV_NONE)
            continue;
        uint32_t group =
            fv_def_find(c, FV_DEF_LOCATION_GROUP, fv_def_at(c, FV_DEF_LOCATION, location)->u.location.group);

        by_location[location] = i;
        if (group != FV_NONE)
            by_group[group] = by_group[group] == FV_NONE ? i : FV_NONE - 1; /* several: only they themselves */
    }
    for (size_t i = 0; i < groups; i++)
        if (by_group[i] == FV_NONE - 1)
            by_group[i] = FV_NONE;
    c->world_by_location[paradigm] = by_location;
    c->world_by_group[paradigm] = by_group;
}

static uint32_t world_rank(const struct fv_check *c, uint8_t paradigm)
{
    if (!c->world_by_location[paradigm])
        return FV_NONE;
    uint32_t rank = c->world_by_location[paradigm][c->here.location];
    return rank == FV_NONE && c->here.group != FV_NONE ? c->world_by_group[paradigm][c->here.group] : rank;
}

/* ---- communicators ---- */

static void resolve_side(struct fv_check *c, struct fv_check_comm *comm, unsigned number, uint64_t id)
{
    struct fv_side *side = &comm->side[number];
    uint32_t index = fv_def_find(c, FV_DEF_GROUP, id);

    side->group = index;
    if (index == FV_NONE) { /* was reported */
        comm->usable = false;
        return;
    }
    const struct fv_definition *group = fv_def_at(c, FV_DEF_GROUP, index);
    comm->paradigm = group->u.group.paradigm;
    side->members = group->u.group.members;
    side->size = group->u.group.count;
    side->global = group->u.group.global;
    switch (group->u.group.type) {
    case OTF2_GROUP_TYPE_COMM_GROUP:
        comm->usable = comm->usable && c->comm_locations[comm->paradigm] != FV_NONE; /* was reported */
        return;
    case OTF2_GROUP_TYPE_COMM_SELF:
        side->self = true;
        side->size = 1;
        return;
    case OTF2_GROUP_TYPE_COMM_LOCATIONS: side->identity = true; break; /* what it must mean */
    default: comm->usable = false;
    }
    fv_fault(c, FV_COMM_GROUP, "its group %" PRIu64 " is of type %u; COMM_GROUP or COMM_SELF was expected", id,
             group->u.group.type);
}

static bool is_in(const struct fv_side *side, uint64_t world)
{
    if (side->identity)
        return world < side->size;
    for (uint32_t i = 0; i < side->size; i++)
        if (side->members[i] == world)
            return true;
    return false;
}

static void check_disjoint(struct fv_check *c, const struct fv_check_comm *comm)
{
    for (uint32_t i = 0; i < comm->side[0].size; i++)
        if (!comm->side[0].identity && is_in(&comm->side[1], comm->side[0].members[i])) {
            fv_fault(c, FV_COMM_GROUP, "index %" PRIu64 " is in both groups", comm->side[0].members[i]);
            return;
        }
}

/* A communicator's members come from its parent's, unless either is an inter-communicator. */
static void check_parent(struct fv_check *c, uint32_t index)
{
    const struct fv_check_comm *comm = &c->comms[index];
    uint32_t parent = fv_def_find(c, FV_DEF_COMM, fv_def_at(c, FV_DEF_COMM, index)->parent);
    const struct fv_check_comm *from = parent == FV_NONE ? NULL : &c->comms[parent];
    size_t size = c->comm_locations[comm->paradigm] == FV_NONE
                      ? 0
                      : fv_def_at(c, FV_DEF_GROUP, c->comm_locations[comm->paradigm])->u.group.count;

    if (!from || comm->inter || from->inter || !comm->usable || !from->usable || comm->side[0].self ||
        comm->side[0].identity || from->side[0].identity || from->side[0].self || from->paradigm != comm->paradigm)
        return;
    bool *in = fv_xcalloc(size, sizeof(*in));
    for (uint32_t i = 0; i < from->side[0].size; i++)
        if (from->side[0].members[i] < size)
            in[from->side[0].members[i]] = true;
    for (uint32_t i = 0; i < comm->side[0].size; i++)
        if (comm->side[0].members[i] < size && !in[comm->side[0].members[i]]) {
            fv_fault(c, FV_COMM_PARENT, "member %u (index %" PRIu64 ") is not in its parent", i,
                     comm->side[0].members[i]);
            break;
        }
    free(in);
}

static void resolve_comms(struct fv_check *c)
{
    const struct fv_definitions *d = &c->definitions[FV_DEF_COMM];

    c->comms = fv_xcalloc(d->count, sizeof(*c->comms));
    for (uint32_t i = 0; i < d->count; i++) {
        struct fv_check_comm *comm = &c->comms[i];

        at(c, FV_DEF_COMM, i);
        *comm = (struct fv_check_comm){ .usable = true, .inter = d->items[i].u.comm.inter };
        for (unsigned side = 0; side <= comm->inter; side++)
            resolve_side(c, comm, side, d->items[i].u.comm.group[side]);
        if (comm->inter && comm->usable)
            check_disjoint(c, comm);
    }
    for (uint32_t i = 0; i < d->count; i++) {
        at(c, FV_DEF_COMM, i);
        check_parent(c, i);
    }
}

static uint32_t rank_in(const struct fv_side *side, uint32_t world)
{
    if (side->self)
        return 0;
    if (world == FV_NONE)
        return FV_NONE;
    if (side->identity)
        return world < side->size ? world : FV_NONE;
    for (uint32_t i = 0; i < side->size; i++)
        if (side->members[i] == world)
            return side->global ? world : i;
    return FV_NONE;
}

uint32_t fv_comm_rank(struct fv_check *c, struct fv_check_comm *comm, uint32_t *side)
{
    if (comm->epoch != c->here.epoch) {
        uint32_t world = world_rank(c, comm->paradigm);

        comm->epoch = c->here.epoch;
        comm->created = comm->destroyed = false;
        comm->in_side = 0;
        comm->rank = rank_in(&comm->side[0], world);
        if (comm->rank == FV_NONE && comm->inter) {
            comm->in_side = 1;
            comm->rank = rank_in(&comm->side[1], world);
        }
    }
    *side = comm->in_side;
    return comm->rank;
}

void fv_check_groups(struct fv_check *c)
{
    static const enum fv_def trees[] = { FV_DEF_NODE,     FV_DEF_LOCATION_GROUP,  FV_DEF_COMM,
                                         FV_DEF_CALLPATH, FV_DEF_CALLING_CONTEXT, FV_DEF_IO_HANDLE };
    const struct fv_definitions *d = &c->definitions[FV_DEF_LOCATION_GROUP];

    for (unsigned i = 0; i < sizeof(trees) / sizeof(*trees); i++)
        check_cycles(c, trees[i]);
    for (uint32_t i = 0; i < d->count; i++) {
        at(c, FV_DEF_LOCATION_GROUP, i);
        if (!d->items[i].u.location_group.locations)
            fv_fault(c, FV_LOCATION_GROUP, "no location belongs to it");
    }
    find_comm_locations(c);
    check_each_group(c);
    for (unsigned paradigm = 0; paradigm < 256; paradigm++)
        if (c->comm_locations[paradigm] != FV_NONE)
            number_world(c, (uint8_t)paradigm);
    resolve_comms(c);
    d = &c->definitions[FV_DEF_IO_HANDLE];
    for (uint32_t i = 0; i < d->count; i++) {
        at(c, FV_DEF_IO_HANDLE, i);
        if (d->items[i].u.handle.pre_created && !d->items[i].u.handle.has_state)
            fv_fault(c, FV_PRE_CREATED, "it is PRE_CREATED, but there is no IoPreCreatedHandleState of it");
    }
    size_t sequences = c->definitions[FV_DEF_COMM].count + c->definitions[FV_DEF_RMA_WIN].count;
    c->sequences = fv_xcalloc(sequences, sizeof(*c->sequences));
    for (size_t i = 0; i < sequences; i++)
        c->sequences[i].owner = FV_NONE;
    c->windows = fv_xcalloc(c->definitions[FV_DEF_RMA_WIN].count, sizeof(*c->windows));
    c->handles = fv_xcalloc(d->count, sizeof(*c->handles));
}
