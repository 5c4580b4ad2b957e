/* SPDX-License-Identifier: BSD-3-Clause */
/* References: what to say of a number under which nothing is defined. While the definitions are read, it may
 * still come; only the end tells a forward reference from an undefined one. */
#include "otf2/check_state.h"

#include <inttypes.h>

bool fv_check_reference(struct fv_check *c, enum fv_def kind, uint64_t id, const char *field)
{
    if (fv_def_find(c, kind, id) != FV_NONE)
        return true;
    if (!c->reading_events && id != fv_def_undefined(kind)) {
        FV_GROW(c->pending, c->pending_room, c->pending_count + 1);
        c->pending[c->pending_count++] = (struct fv_forward_reference){ c->where, kind, id, field };
    } else if (id == fv_def_undefined(kind)) {
        fv_fault(c, FV_UNDEFINED, "%s is UNDEFINED; it must be a %s", field, fv_def_name(kind));
    } else {
        fv_fault(c, FV_UNDEFINED, "%s: %s %" PRIu64 " is not defined", field, fv_def_name(kind), id);
    }
    return false;
}

bool fv_check_optional(struct fv_check *c, enum fv_def kind, uint64_t id, const char *field)
{
    return id == fv_def_undefined(kind) || fv_check_reference(c, kind, id, field);
}

static void resolve(struct fv_check *c, const struct fv_forward_reference *p)
{
    if (fv_def_find(c, p->kind, p->id) != FV_NONE)
        fv_fault_at(c, &p->where, FV_FORWARD, "%s: %s %" PRIu64 " is defined only later", p->field,
                    fv_def_name(p->kind), p->id);
    else
        fv_fault_at(c, &p->where, FV_UNDEFINED, "%s: %s %" PRIu64 " is not defined", p->field, fv_def_name(p->kind),
                    p->id);
}

void fv_check_string(struct fv_check *c, OTF2_StringRef id, const char *field)
{
    fv_check_optional(c, FV_DEF_STRING, id, field);
}

void fv_check_limit(struct fv_check *c, uint64_t value, uint64_t most, const char *field)
{
    if (value > most)
        fv_fault(c, FV_ENUM, "%s %" PRIu64 " is unknown; the known ones end at %" PRIu64, field, value, most);
}

static bool is_parallel(OTF2_Paradigm paradigm)
{
    switch (paradigm) {
    case OTF2_PARADIGM_UNKNOWN:
    case OTF2_PARADIGM_USER:
    case OTF2_PARADIGM_COMPILER:
    case OTF2_PARADIGM_MEASUREMENT_SYSTEM:
    case OTF2_PARADIGM_HARDWARE:
    case OTF2_PARADIGM_SAMPLING:
    case OTF2_PARADIGM_NONE: return false;
    }
    return true;
}

void fv_check_paradigm(struct fv_check *c, OTF2_Paradigm paradigm, const char *field)
{
    if (paradigm > OTF2_PARADIGM_KOKKOS) {
        fv_check_limit(c, paradigm, OTF2_PARADIGM_KOKKOS, field);
    } else if (is_parallel(paradigm) && !c->paradigm_said[paradigm] &&
               fv_def_find(c, FV_DEF_PARADIGM, paradigm) == FV_NONE) {
        c->paradigm_said[paradigm] = true;
        fv_fault(c, FV_PARADIGM, "%s %u has no Paradigm definition before it", field, paradigm);
    }
}

/* Attribute and property values: those that refer to a definition. */
void fv_check_typed(struct fv_check *c, OTF2_Type type, OTF2_AttributeValue value, const char *field)
{
    if (type > OTF2_TYPE_LOCATION_GROUP)
        fv_check_limit(c, type, OTF2_TYPE_LOCATION_GROUP, "type");
    else if (type >= OTF2_TYPE_STRING)
        fv_check_optional(c, fv_def_of_mapping((OTF2_MappingType)(type - OTF2_TYPE_STRING)),
                          type == OTF2_TYPE_LOCATION ? value.uint64 : value.uint32, field);
}

void fv_check_pending(struct fv_check *c)
{
    for (size_t i = 0; i < c->pending_count; i++)
        resolve(c, &c->pending[i]);
    c->pending_count = 0;
}
