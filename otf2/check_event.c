/* SPDX-License-Identifier: BSD-3-Clause */
/* What every event must obey: time, range, attributes. */
#include "otf2/check_state.h"

#include <inttypes.h>
#include <string.h>

static void check_attributes(struct fv_check *c, const OTF2_AttributeList *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        OTF2_AttributeRef attribute;
        OTF2_Type type;
        OTF2_AttributeValue value;
        const struct fv_definition *d;

        if (OTF2_AttributeList_GetAttributeByIndex(list, i, &attribute, &type, &value) != OTF2_SUCCESS)
            continue;
        if (!fv_check_reference(c, FV_DEF_ATTRIBUTE, attribute, "attribute"))
            continue;
        d = fv_def_get(c, FV_DEF_ATTRIBUTE, attribute);
        if (d->u.type != type)
            fv_fault(c, FV_ATTRIBUTE_TYPE, "attribute \"%s\" has type %u, but is defined with type %u",
                     fv_def_text(c, FV_DEF_ATTRIBUTE, attribute), type, d->u.type);
        fv_check_typed(c, type, value, "attribute's value");
    }
}

static void check_time(struct fv_check *c, uint64_t time)
{
    if (time < c->here.last)
        fv_fault(c, FV_TIME_ORDER, "%" PRIu64 " ticks before the event that precedes it", c->here.last - time);
    c->here.last = time;
    if (!c->clock.count)
        return;
    if (time < c->clock.offset)
        fv_fault(c, FV_TIME_RANGE, "%" PRIu64 " ticks before the trace begins", c->clock.offset - time);
    else if (time - c->clock.offset > c->clock.length)
        fv_fault(c, FV_TIME_RANGE, "%" PRIu64 " ticks after the trace ends", time - c->clock.offset - c->clock.length);
}

struct fv_check *fv_check_event(void *data, uint64_t time, const OTF2_AttributeList *attributes, const char *record)
{
    struct fv_check *c = data;
    uint32_t count = OTF2_AttributeList_GetNumberOfElements(attributes);

    c->here.events++;
    c->where.time = time;
    c->where.record = record;
    check_time(c, time);
    if (count)
        check_attributes(c, attributes, count);
    if (c->here.metric_only && strcmp(record, "Metric"))
        fv_fault(c, FV_LOCATION_TYPE, "this location is of type METRIC; it may have no other events");
    return c;
}
