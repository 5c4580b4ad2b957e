/* Identifiers and references: what is defined under which number, and what to say of a number under which
 * nothing is. While the definitions are read, it may still come; only the end tells a forward reference from
 * an undefined one. */
#include "otf2/check_state.h"

#include <inttypes.h>

static const struct {
    const char *name;
    uint64_t undefined;
} kinds[] = {
    [FV_DEF_STRING] = { "String", OTF2_UNDEFINED_STRING },
    [FV_DEF_ATTRIBUTE] = { "Attribute", OTF2_UNDEFINED_ATTRIBUTE },
    [FV_DEF_NODE] = { "SystemTreeNode", OTF2_UNDEFINED_SYSTEM_TREE_NODE },
    [FV_DEF_LOCATION_GROUP] = { "LocationGroup", OTF2_UNDEFINED_LOCATION_GROUP },
    [FV_DEF_LOCATION] = { "Location", OTF2_UNDEFINED_LOCATION },
    [FV_DEF_REGION] = { "Region", OTF2_UNDEFINED_REGION },
    [FV_DEF_CALLSITE] = { "Callsite", OTF2_UNDEFINED_CALLSITE },
    [FV_DEF_CALLPATH] = { "Callpath", OTF2_UNDEFINED_CALLPATH },
    [FV_DEF_GROUP] = { "Group", OTF2_UNDEFINED_GROUP },
    [FV_DEF_METRIC_MEMBER] = { "MetricMember", OTF2_UNDEFINED_METRIC_MEMBER },
    [FV_DEF_METRIC] = { "Metric", OTF2_UNDEFINED_METRIC },
    [FV_DEF_COMM] = { "Comm", OTF2_UNDEFINED_COMM },
    [FV_DEF_PARAMETER] = { "Parameter", OTF2_UNDEFINED_PARAMETER },
    [FV_DEF_RMA_WIN] = { "RmaWin", OTF2_UNDEFINED_RMA_WIN },
    [FV_DEF_CART_DIMENSION] = { "CartDimension", OTF2_UNDEFINED_CART_DIMENSION },
    [FV_DEF_CART_TOPOLOGY] = { "CartTopology", OTF2_UNDEFINED_CART_TOPOLOGY },
    [FV_DEF_SOURCE_LOCATION] = { "SourceCodeLocation", OTF2_UNDEFINED_SOURCE_CODE_LOCATION },
    [FV_DEF_CALLING_CONTEXT] = { "CallingContext", OTF2_UNDEFINED_CALLING_CONTEXT },
    [FV_DEF_INTERRUPT_GENERATOR] = { "InterruptGenerator", OTF2_UNDEFINED_INTERRUPT_GENERATOR },
    [FV_DEF_IO_PARADIGM] = { "IoParadigm", OTF2_UNDEFINED_IO_PARADIGM },
    [FV_DEF_IO_FILE] = { "IoFile", OTF2_UNDEFINED_IO_FILE },
    [FV_DEF_IO_HANDLE] = { "IoHandle", OTF2_UNDEFINED_IO_HANDLE },
    [FV_DEF_PARADIGM] = { "Paradigm", FV_NO_ID },
};
_Static_assert(sizeof(kinds) / sizeof(*kinds) == FV_DEF_COUNT, "a row a kind");

const char *fv_def_name(enum fv_def kind)
{
    return kinds[kind].name;
}
uint64_t fv_def_undefined(enum fv_def kind)
{
    return kinds[kind].undefined;
}

/* OTF2_Type numbers these kinds alike, from OTF2_TYPE_STRING on. */
enum fv_def fv_def_of_mapping(OTF2_MappingType type)
{
    static const enum fv_def of[] = {
        [OTF2_MAPPING_STRING] = FV_DEF_STRING,
        [OTF2_MAPPING_ATTRIBUTE] = FV_DEF_ATTRIBUTE,
        [OTF2_MAPPING_LOCATION] = FV_DEF_LOCATION,
        [OTF2_MAPPING_REGION] = FV_DEF_REGION,
        [OTF2_MAPPING_GROUP] = FV_DEF_GROUP,
        [OTF2_MAPPING_METRIC] = FV_DEF_METRIC,
        [OTF2_MAPPING_COMM] = FV_DEF_COMM,
        [OTF2_MAPPING_PARAMETER] = FV_DEF_PARAMETER,
        [OTF2_MAPPING_RMA_WIN] = FV_DEF_RMA_WIN,
        [OTF2_MAPPING_SOURCE_CODE_LOCATION] = FV_DEF_SOURCE_LOCATION,
        [OTF2_MAPPING_CALLING_CONTEXT] = FV_DEF_CALLING_CONTEXT,
        [OTF2_MAPPING_INTERRUPT_GENERATOR] = FV_DEF_INTERRUPT_GENERATOR,
        [OTF2_MAPPING_IO_FILE] = FV_DEF_IO_FILE,
        [OTF2_MAPPING_IO_HANDLE] = FV_DEF_IO_HANDLE,
        [OTF2_MAPPING_LOCATION_GROUP] = FV_DEF_LOCATION_GROUP,
    };
    _Static_assert(sizeof(of) / sizeof(*of) == OTF2_TYPE_LOCATION_GROUP - OTF2_TYPE_STRING + 1,
                   "as many types");

    return type < sizeof(of) / sizeof(*of) ? of[type] : FV_DEF_COUNT;
}

uint32_t fv_def_find(const struct fv_check *c, enum fv_def kind, uint64_t id)
{
    const struct fv_definitions *d = &c->definitions[kind];
    struct fv_index_probe probe = fv_index_probe(&d->index, fv_mix(id));

    for (uint32_t i; (i = fv_index_next(&probe)) != FV_NONE;)
        if (d->ids[i] == id)
            return i;
    return FV_NONE;
}

struct fv_definition *fv_def_get(const struct fv_check *c, enum fv_def kind, uint64_t id)
{
    uint32_t index = fv_def_find(c, kind, id);

    return index == FV_NONE ? NULL : fv_def_at(c, kind, index);
}

const char *fv_def_text(const struct fv_check *c, enum fv_def kind, uint64_t id)
{
    const struct fv_definition *d = fv_def_get(c, kind, id);
    const struct fv_definition *text = d ? fv_def_get(c, FV_DEF_STRING, d->name) : NULL;

    return text ? text->u.text : "?";
}

/* ---- references ---- */

bool fv_check_reference(struct fv_check *c, enum fv_def kind, uint64_t id, const char *field)
{
    if (fv_def_find(c, kind, id) != FV_NONE)
        return true;
    if (!c->reading_events && id != kinds[kind].undefined) {
        FV_GROW(c->pending, c->pending_room, c->pending_count + 1);
        c->pending[c->pending_count++] = (struct fv_pending){ c->where, kind, id, field };
    } else if (id == kinds[kind].undefined) {
        fv_fault(c, FV_UNDEFINED, "%s is UNDEFINED; it must be a %s", field, kinds[kind].name);
    } else {
        fv_fault(c, FV_UNDEFINED, "%s: %s %" PRIu64 " is not defined", field, kinds[kind].name, id);
    }
    return false;
}

bool fv_check_optional(struct fv_check *c, enum fv_def kind, uint64_t id, const char *field)
{
    return id == kinds[kind].undefined || fv_check_reference(c, kind, id, field);
}

static void resolve(struct fv_check *c, const struct fv_pending *p)
{
    if (fv_def_find(c, p->kind, p->id) != FV_NONE)
        fv_fault_at(c, &p->where, FV_FORWARD, "%s: %s %" PRIu64 " is defined only later", p->field,
                    kinds[p->kind].name, p->id);
    else
        fv_fault_at(c, &p->where, FV_UNDEFINED, "%s: %s %" PRIu64 " is not defined", p->field,
                    kinds[p->kind].name, p->id);
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
