/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a location begins and ends for all parts, and what is looked at when all have been read. */
#include "otf2/check_state.h"

void fv_check_location_begin(struct fv_check *c, uint32_t location)
{
    const struct fv_definition *d = fv_def_at(c, FV_DEF_LOCATION, location), *group;
    struct fv_location_state old = c->here;

    fv_check_map_clear(&old.active);
    c->here = (struct fv_location_state){ .location = location,
                                          .calling = OTF2_UNDEFINED_CALLING_CONTEXT,
                                          .epoch = old.epoch + 1,
                                          .stack = old.stack,
                                          .stack_room = old.stack_room,
                                          .teams = old.teams,
                                          .team_room = old.team_room,
                                          .active = old.active };
    c->here.group = fv_def_find(c, FV_DEF_LOCATION_GROUP, d->u.location.group);
    group = c->here.group == FV_NONE ? NULL : fv_def_at(c, FV_DEF_LOCATION_GROUP, c->here.group);
    c->here.shared = group && group->u.location_group.locations > 1;
    c->here.metric_only = d->u.location.type == OTF2_LOCATION_TYPE_METRIC;
    c->where = (struct fv_fault_place){ .scope = FV_OF_EVENT, .location = location };
}

void fv_check_location_end(struct fv_check *c)
{
    fv_check_flow_end(c);
    fv_check_threads_end(c);
    fv_check_still_active(c);
    fv_check_sequences_end(c);
}

void fv_check_matches(struct fv_check *c)
{
    fv_check_messages(c);
    fv_check_sequences(c);
    fv_check_threads_all(c);
    fv_check_io_all(c);
}
