/* SPDX-License-Identifier: BSD-3-Clause */
/* Global definitions: each is stored under its identifier, and what it refers to is looked up. What is not
 * there yet may still come; only the end tells a forward reference from an undefined one. */
#include "otf2/check_state.h"

#include <inttypes.h>
#include <string.h>

/* ---- definitions ---- */

static void at(struct fv_check *c, const char *record, uint64_t id)
{
    c->result.definitions++;
    c->where = (struct fv_fault_place){ .scope = FV_OF_DEFINITION, .location = FV_NONE, .record = record, .id = id };
}

/* The place of a new definition; NULL: there is one already. */
static struct fv_definition *define(struct fv_check *c, enum fv_def kind, const char *record, uint64_t id)
{
    struct fv_definitions *d = &c->definitions[kind];

    at(c, record, id);
    if (id == fv_def_undefined(kind))
        fv_fault(c, FV_UNDEFINED, "its identifier means UNDEFINED");
    if (fv_def_find(c, kind, id) != FV_NONE) {
        fv_fault(c, FV_DUPLICATE, "%s %" PRIu64 " is defined already", fv_def_name(kind), id);
        return NULL;
    }
    FV_GROW(d->ids, d->room, d->count + 1);
    FV_GROW(d->items, d->items_room, d->count + 1);
    fv_index_add(&d->index, fv_mix(id), (uint32_t)d->count);
    d->ids[d->count] = id;
    struct fv_definition *item = &d->items[d->count++];
    *item = (struct fv_definition){ .name = OTF2_UNDEFINED_STRING, .parent = fv_def_undefined(kind) };
    return item;
}

static const void *keep(struct fv_check *c, const void *array, size_t bytes)
{
    return memcpy(fv_arena_take(&c->arena, bytes), array, bytes);
}

static OTF2_CallbackCode on_Unknown(void *data)
{
    struct fv_check *c = data;

    at(c, "Unknown", FV_NO_ID);
    fv_fault(c, FV_UNKNOWN_RECORD, "a record that the library does not know");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ClockProperties(void *data, uint64_t resolution, uint64_t offset, uint64_t length,
                                            __attribute__((unused)) uint64_t realtime)
{
    struct fv_check *c = data;

    at(c, "ClockProperties", FV_NO_ID);
    if (c->clock.count++) {
        fv_fault(c, FV_CLOCK_TWICE, "there are ClockProperties already");
        return OTF2_CALLBACK_SUCCESS;
    }
    if (!resolution)
        fv_fault(c, FV_CLOCK_RESOLUTION, "the timer resolution is 0 ticks per second");
    if (length > UINT64_MAX - offset) {
        fv_fault(c, FV_CLOCK_RANGE, "offset %" PRIu64 " and length %" PRIu64 " go beyond 64 bits", offset, length);
        length = UINT64_MAX - offset;
    }
    c->clock.resolution = resolution;
    c->clock.offset = offset;
    c->clock.length = length;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Paradigm(void *data, OTF2_Paradigm paradigm, OTF2_StringRef name, OTF2_ParadigmClass class)
{
    struct fv_check *c = data;

    define(c, FV_DEF_PARADIGM, "Paradigm", paradigm);
    fv_check_string(c, name, "name");
    fv_check_limit(c, class, OTF2_PARADIGM_CLASS_ACCELERATOR, "class");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ParadigmProperty(void *data, OTF2_Paradigm paradigm, OTF2_ParadigmProperty property,
                                             OTF2_Type type, OTF2_AttributeValue value)
{
    struct fv_check *c = data;

    at(c, "ParadigmProperty", FV_NO_ID);
    fv_check_reference(c, FV_DEF_PARADIGM, paradigm, "paradigm");
    fv_check_limit(c, property, OTF2_PARADIGM_PROPERTY_RMA_ONLY, "property");
    fv_check_typed(c, type, value, "value");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoParadigm(void *data, OTF2_IoParadigmRef self, OTF2_StringRef identification,
                                       OTF2_StringRef name, OTF2_IoParadigmClass class,
                                       __attribute__((unused)) OTF2_IoParadigmFlag flags, uint8_t count,
                                       __attribute__((unused)) const OTF2_IoParadigmProperty *properties,
                                       const OTF2_Type *types, const OTF2_AttributeValue *values)
{
    struct fv_check *c = data;

    define(c, FV_DEF_IO_PARADIGM, "IoParadigm", self);
    fv_check_string(c, identification, "identification");
    fv_check_string(c, name, "name");
    fv_check_limit(c, class, OTF2_IO_PARADIGM_CLASS_PARALLEL, "class");
    for (unsigned i = 0; i < count; i++)
        fv_check_typed(c, types[i], values[i], "property");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_String(void *data, OTF2_StringRef self, const char *text)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_STRING, "String", self);

    if (d)
        d->u.text = fv_arena_string(&c->arena, text);
    if (d && self == 0 && *text)
        fv_fault(c, FV_EMPTY_STRING, "string 0 is not empty; tools take 0 for \"\"");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Attribute(void *data, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_ATTRIBUTE, "Attribute", self);

    if (d) {
        d->name = name;
        d->u.type = type;
    }
    fv_check_string(c, name, "name");
    fv_check_string(c, description, "description");
    fv_check_limit(c, type, OTF2_TYPE_LOCATION_GROUP, "type");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_SystemTreeNode(void *data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                           OTF2_StringRef class, OTF2_SystemTreeNodeRef parent)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_NODE, "SystemTreeNode", self);

    if (d) {
        d->name = name;
        d->parent = parent;
    }
    fv_check_string(c, name, "name");
    fv_check_string(c, class, "class");
    fv_check_optional(c, FV_DEF_NODE, parent, "parent");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_LocationGroup(void *data, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                          OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                          OTF2_LocationGroupRef creator)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_LOCATION_GROUP, "LocationGroup", self);

    if (d) {
        d->name = name;
        d->parent = creator;
    }
    fv_check_string(c, name, "name");
    fv_check_limit(c, type, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, "type");
    fv_check_reference(c, FV_DEF_NODE, parent, "system tree parent");
    fv_check_optional(c, FV_DEF_LOCATION_GROUP, creator, "creating location group");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Location(void *data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t events, OTF2_LocationGroupRef group)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_LOCATION, "Location", self);
    struct fv_definition *of = fv_def_get(c, FV_DEF_LOCATION_GROUP, group);

    if (d) {
        d->name = name;
        d->u.location.type = type;
        d->u.location.events = events;
        d->u.location.group = group;
        if (of)
            of->u.location_group.locations++;
    }
    fv_check_string(c, name, "name");
    fv_check_limit(c, type, OTF2_LOCATION_TYPE_METRIC, "type");
    fv_check_reference(c, FV_DEF_LOCATION_GROUP, group, "location group");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Region(void *data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
                                   OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   __attribute__((unused)) OTF2_RegionFlag flags, OTF2_StringRef file,
                                   __attribute__((unused)) uint32_t begin, __attribute__((unused)) uint32_t end)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_REGION, "Region", self);

    if (d) {
        d->name = name;
        d->u.region.canonical = canonical;
        if (role == OTF2_REGION_ROLE_ARTIFICIAL && paradigm == OTF2_PARADIGM_MEASUREMENT_SYSTEM) {
            FV_GROW(c->programs, c->program_room, c->program_count + 1);
            c->programs[c->program_count++] = (uint32_t)c->definitions[FV_DEF_REGION].count - 1;
        }
    }
    fv_check_string(c, name, "name");
    fv_check_string(c, canonical, "canonical name");
    fv_check_string(c, description, "description");
    fv_check_string(c, file, "source file");
    fv_check_limit(c, role, OTF2_REGION_ROLE_FILE_IO_METADATA, "role");
    fv_check_paradigm(c, paradigm, "paradigm");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Callsite(void *data, OTF2_CallsiteRef self, OTF2_StringRef file,
                                     __attribute__((unused)) uint32_t line, OTF2_RegionRef entered, OTF2_RegionRef left)
{
    struct fv_check *c = data;

    define(c, FV_DEF_CALLSITE, "Callsite", self);
    fv_check_string(c, file, "source file");
    fv_check_reference(c, FV_DEF_REGION, entered, "entered region");
    fv_check_reference(c, FV_DEF_REGION, left, "left region");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Callpath(void *data, OTF2_CallpathRef self, OTF2_CallpathRef parent, OTF2_RegionRef region)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_CALLPATH, "Callpath", self);

    if (d)
        d->parent = parent;
    fv_check_optional(c, FV_DEF_CALLPATH, parent, "parent");
    fv_check_reference(c, FV_DEF_REGION, region, "region");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_CallpathParameter(void *data, OTF2_CallpathRef path, OTF2_ParameterRef parameter,
                                              OTF2_Type type, OTF2_AttributeValue value)
{
    struct fv_check *c = data;

    at(c, "CallpathParameter", FV_NO_ID);
    fv_check_reference(c, FV_DEF_CALLPATH, path, "call path");
    fv_check_reference(c, FV_DEF_PARAMETER, parameter, "parameter");
    fv_check_typed(c, type, value, "value");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Group(void *data, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count, const uint64_t *members)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_GROUP, "Group", self);

    if (d) {
        d->name = name;
        d->u.group.type = type;
        d->u.group.paradigm = paradigm;
        d->u.group.global = flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS;
        d->u.group.count = count;
        d->u.group.members = keep(c, members, count * sizeof(*members));
    }
    fv_check_string(c, name, "name");
    fv_check_limit(c, type, OTF2_GROUP_TYPE_COMM_SELF, "type");
    if (type >= OTF2_GROUP_TYPE_COMM_LOCATIONS)
        fv_check_paradigm(c, paradigm, "paradigm");
    static const enum fv_def of[] = { [OTF2_GROUP_TYPE_LOCATIONS] = FV_DEF_LOCATION,
                                      [OTF2_GROUP_TYPE_REGIONS] = FV_DEF_REGION,
                                      [OTF2_GROUP_TYPE_METRIC] = FV_DEF_METRIC,
                                      [OTF2_GROUP_TYPE_COMM_LOCATIONS] = FV_DEF_LOCATION };
    if (type >= OTF2_GROUP_TYPE_LOCATIONS && type <= OTF2_GROUP_TYPE_COMM_LOCATIONS)
        for (uint32_t i = 0; i < count; i++)
            fv_check_reference(c, of[type], members[i], "member");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MetricMember(void *data, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                         OTF2_StringRef description, OTF2_MetricType metric,
                                         __attribute__((unused)) OTF2_MetricMode mode, OTF2_Type type, OTF2_Base base,
                                         __attribute__((unused)) int64_t exponent, OTF2_StringRef unit)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_METRIC_MEMBER, "MetricMember", self);

    if (d) {
        d->name = name;
        d->u.type = type;
    }
    fv_check_string(c, name, "name");
    fv_check_string(c, description, "description");
    fv_check_string(c, unit, "unit");
    fv_check_limit(c, metric, OTF2_METRIC_TYPE_USER, "metric type");
    fv_check_limit(c, base, OTF2_BASE_DECIMAL, "base");
    if (type != OTF2_TYPE_INT64 && type != OTF2_TYPE_UINT64 && type != OTF2_TYPE_DOUBLE)
        fv_fault(c, FV_METRIC_CLASS, "value type %u; values are INT64, UINT64 or DOUBLE", type);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MetricClass(void *data, OTF2_MetricRef self, uint8_t count,
                                        const OTF2_MetricMemberRef *members, OTF2_MetricOccurrence occurrence,
                                        OTF2_RecorderKind recorder)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_METRIC, "MetricClass", self);

    if (d) {
        d->u.metric.class = true;
        d->u.metric.count = count;
        d->u.metric.members = keep(c, members, count * sizeof(*members));
    }
    for (unsigned i = 0; i < count; i++)
        fv_check_reference(c, FV_DEF_METRIC_MEMBER, members[i], "member");
    fv_check_limit(c, occurrence, OTF2_METRIC_ASYNCHRONOUS, "occurrence");
    fv_check_limit(c, recorder, OTF2_RECORDER_KIND_GPU, "recorder kind");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MetricInstance(void *data, OTF2_MetricRef self, OTF2_MetricRef class,
                                           OTF2_LocationRef recorder, OTF2_MetricScope kind, uint64_t scope)
{
    static const enum fv_def of[] = { FV_DEF_LOCATION, FV_DEF_LOCATION_GROUP, FV_DEF_NODE, FV_DEF_GROUP };
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_METRIC, "MetricInstance", self);

    if (d) {
        d->u.metric.class_id = class;
        d->u.metric.recorder = recorder;
    }
    if (fv_check_reference(c, FV_DEF_METRIC, class, "class") && !fv_def_get(c, FV_DEF_METRIC, class)->u.metric.class)
        fv_fault(c, FV_METRIC_CLASS, "class %u is an instance itself", class);
    fv_check_reference(c, FV_DEF_LOCATION, recorder, "recorder");
    fv_check_limit(c, kind, OTF2_SCOPE_GROUP, "scope");
    if (kind <= OTF2_SCOPE_GROUP)
        fv_check_reference(c, of[kind], scope, "scope");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MetricClassRecorder(void *data, OTF2_MetricRef metric, OTF2_LocationRef recorder)
{
    struct fv_check *c = data;

    at(c, "MetricClassRecorder", FV_NO_ID);
    fv_check_reference(c, FV_DEF_METRIC, metric, "metric");
    fv_check_reference(c, FV_DEF_LOCATION, recorder, "recorder");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Comm(void *data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_COMM, "Comm", self);

    if (d) {
        d->name = name;
        d->parent = parent;
        d->u.comm.group[0] = group;
        d->u.comm.events = flags & OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS;
    }
    fv_check_string(c, name, "name");
    fv_check_reference(c, FV_DEF_GROUP, group, "group");
    fv_check_optional(c, FV_DEF_COMM, parent, "parent");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_InterComm(void *data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef a,
                                      OTF2_GroupRef b, OTF2_CommRef common, OTF2_CommFlag flags)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_COMM, "InterComm", self);

    if (d) {
        d->name = name;
        d->parent = common;
        d->u.comm.group[0] = a;
        d->u.comm.group[1] = b;
        d->u.comm.inter = true;
        d->u.comm.events = flags & OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS;
    }
    fv_check_string(c, name, "name");
    fv_check_reference(c, FV_DEF_GROUP, a, "group A");
    fv_check_reference(c, FV_DEF_GROUP, b, "group B");
    fv_check_optional(c, FV_DEF_COMM, common, "common communicator");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Parameter(void *data, OTF2_ParameterRef self, OTF2_StringRef name, OTF2_ParameterType type)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_PARAMETER, "Parameter", self);

    if (d) {
        d->name = name;
        d->u.type = type;
    }
    fv_check_string(c, name, "name");
    fv_check_limit(c, type, OTF2_PARAMETER_TYPE_UINT64, "type");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaWin(void *data, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
                                   OTF2_RmaWinFlag flags)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_RMA_WIN, "RmaWin", self);

    if (d) {
        d->name = name;
        d->u.window.comm = comm;
        d->u.window.events = flags & OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS;
    }
    fv_check_string(c, name, "name");
    fv_check_reference(c, FV_DEF_COMM, comm, "communicator");
    return OTF2_CALLBACK_SUCCESS;
}

/* A property of something: four kinds of definitions have the same. */
static OTF2_CallbackCode property(struct fv_check *c, const char *record, enum fv_def kind, uint64_t of,
                                  OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue value)
{
    at(c, record, FV_NO_ID);
    fv_check_reference(c, kind, of, "what it belongs to");
    fv_check_string(c, name, "name");
    fv_check_typed(c, type, value, "value");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_SystemTreeNodeProperty(void *data, OTF2_SystemTreeNodeRef node, OTF2_StringRef name,
                                                   OTF2_Type type, OTF2_AttributeValue value)
{
    return property(data, "SystemTreeNodeProperty", FV_DEF_NODE, node, name, type, value);
}

static OTF2_CallbackCode on_LocationGroupProperty(void *data, OTF2_LocationGroupRef group, OTF2_StringRef name,
                                                  OTF2_Type type, OTF2_AttributeValue value)
{
    return property(data, "LocationGroupProperty", FV_DEF_LOCATION_GROUP, group, name, type, value);
}

static OTF2_CallbackCode on_LocationProperty(void *data, OTF2_LocationRef location, OTF2_StringRef name, OTF2_Type type,
                                             OTF2_AttributeValue value)
{
    return property(data, "LocationProperty", FV_DEF_LOCATION, location, name, type, value);
}

static OTF2_CallbackCode on_CallingContextProperty(void *data, OTF2_CallingContextRef context, OTF2_StringRef name,
                                                   OTF2_Type type, OTF2_AttributeValue value)
{
    return property(data, "CallingContextProperty", FV_DEF_CALLING_CONTEXT, context, name, type, value);
}

static OTF2_CallbackCode on_IoFileProperty(void *data, OTF2_IoFileRef file, OTF2_StringRef name, OTF2_Type type,
                                           OTF2_AttributeValue value)
{
    return property(data, "IoFileProperty", FV_DEF_IO_FILE, file, name, type, value);
}

static OTF2_CallbackCode on_SystemTreeNodeDomain(void *data, OTF2_SystemTreeNodeRef node, OTF2_SystemTreeDomain domain)
{
    struct fv_check *c = data;

    at(c, "SystemTreeNodeDomain", FV_NO_ID);
    fv_check_reference(c, FV_DEF_NODE, node, "system tree node");
    fv_check_limit(c, domain, OTF2_SYSTEM_TREE_DOMAIN_NETWORKING_DEVICE, "domain");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_CartDimension(void *data, OTF2_CartDimensionRef self, OTF2_StringRef name, uint32_t size,
                                          OTF2_CartPeriodicity periodicity)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_CART_DIMENSION, "CartDimension", self);

    if (d)
        d->u.size = size;
    fv_check_string(c, name, "name");
    fv_check_limit(c, periodicity, OTF2_CART_PERIODIC_TRUE, "periodicity");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_CartTopology(void *data, OTF2_CartTopologyRef self, OTF2_StringRef name, OTF2_CommRef comm,
                                         uint8_t count, const OTF2_CartDimensionRef *dimensions)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_CART_TOPOLOGY, "CartTopology", self);

    if (d) {
        d->u.topology.comm = comm;
        d->u.topology.count = count;
        d->u.topology.dimensions = keep(c, dimensions, count * sizeof(*dimensions));
    }
    fv_check_string(c, name, "name");
    fv_check_reference(c, FV_DEF_COMM, comm, "communicator");
    for (unsigned i = 0; i < count; i++)
        fv_check_reference(c, FV_DEF_CART_DIMENSION, dimensions[i], "dimension");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_CartCoordinate(void *data, OTF2_CartTopologyRef topology, uint32_t rank, uint8_t count,
                                           const uint32_t *coordinates)
{
    struct fv_check *c = data;
    const struct fv_definition *d, *dimension;

    at(c, "CartCoordinate", FV_NO_ID);
    if (!fv_check_reference(c, FV_DEF_CART_TOPOLOGY, topology, "topology"))
        return OTF2_CALLBACK_SUCCESS;
    d = fv_def_get(c, FV_DEF_CART_TOPOLOGY, topology);
    if (count != d->u.topology.count) {
        fv_fault(c, FV_TOPOLOGY, "rank %u has %u coordinates in topology %u of %u dimensions", rank, count, topology,
                 d->u.topology.count);
        return OTF2_CALLBACK_SUCCESS;
    }
    for (unsigned i = 0; i < count; i++)
        if ((dimension = fv_def_get(c, FV_DEF_CART_DIMENSION, d->u.topology.dimensions[i])) &&
            coordinates[i] >= dimension->u.size)
            fv_fault(c, FV_TOPOLOGY, "rank %u: coordinate %u in a dimension of %u", rank, coordinates[i],
                     dimension->u.size);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_SourceCodeLocation(void *data, OTF2_SourceCodeLocationRef self, OTF2_StringRef file,
                                               __attribute__((unused)) uint32_t line)
{
    struct fv_check *c = data;

    define(c, FV_DEF_SOURCE_LOCATION, "SourceCodeLocation", self);
    fv_check_string(c, file, "file");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_CallingContext(void *data, OTF2_CallingContextRef self, OTF2_RegionRef region,
                                           OTF2_SourceCodeLocationRef source, OTF2_CallingContextRef parent)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_CALLING_CONTEXT, "CallingContext", self);

    if (d)
        d->parent = parent;
    fv_check_reference(c, FV_DEF_REGION, region, "region");
    fv_check_optional(c, FV_DEF_SOURCE_LOCATION, source, "source code location");
    fv_check_optional(c, FV_DEF_CALLING_CONTEXT, parent, "parent");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_InterruptGenerator(void *data, OTF2_InterruptGeneratorRef self, OTF2_StringRef name,
                                               OTF2_InterruptGeneratorMode mode, OTF2_Base base,
                                               __attribute__((unused)) int64_t exponent,
                                               __attribute__((unused)) uint64_t period)
{
    struct fv_check *c = data;

    define(c, FV_DEF_INTERRUPT_GENERATOR, "InterruptGenerator", self);
    fv_check_string(c, name, "name");
    fv_check_limit(c, mode, OTF2_INTERRUPT_GENERATOR_MODE_COUNT, "mode");
    fv_check_limit(c, base, OTF2_BASE_DECIMAL, "base");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode io_file(struct fv_check *c, const char *record, OTF2_IoFileRef self, OTF2_StringRef name,
                                 OTF2_SystemTreeNodeRef scope)
{
    struct fv_definition *d = define(c, FV_DEF_IO_FILE, record, self);

    if (d)
        d->name = name;
    fv_check_string(c, name, "name");
    fv_check_reference(c, FV_DEF_NODE, scope, "scope");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoRegularFile(void *data, OTF2_IoFileRef self, OTF2_StringRef name,
                                          OTF2_SystemTreeNodeRef scope)
{
    return io_file(data, "IoRegularFile", self, name, scope);
}

static OTF2_CallbackCode on_IoDirectory(void *data, OTF2_IoFileRef self, OTF2_StringRef name,
                                        OTF2_SystemTreeNodeRef scope)
{
    return io_file(data, "IoDirectory", self, name, scope);
}

static OTF2_CallbackCode on_IoHandle(void *data, OTF2_IoHandleRef self, OTF2_StringRef name, OTF2_IoFileRef file,
                                     OTF2_IoParadigmRef paradigm, OTF2_IoHandleFlag flags, OTF2_CommRef comm,
                                     OTF2_IoHandleRef parent)
{
    struct fv_check *c = data;
    struct fv_definition *d = define(c, FV_DEF_IO_HANDLE, "IoHandle", self);

    if (d) {
        d->name = name;
        d->parent = parent;
        d->u.handle.pre_created = flags & OTF2_IO_HANDLE_FLAG_PRE_CREATED;
    }
    fv_check_string(c, name, "name");
    fv_check_optional(c, FV_DEF_IO_FILE, file, "file");
    fv_check_reference(c, FV_DEF_IO_PARADIGM, paradigm, "I/O paradigm");
    fv_check_optional(c, FV_DEF_COMM, comm, "communicator");
    fv_check_optional(c, FV_DEF_IO_HANDLE, parent, "parent");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoPreCreatedHandleState(void *data, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode,
                                                    __attribute__((unused)) OTF2_IoStatusFlag flags)
{
    struct fv_check *c = data;
    struct fv_definition *d;

    at(c, "IoPreCreatedHandleState", FV_NO_ID);
    fv_check_limit(c, mode, OTF2_IO_ACCESS_MODE_SEARCH_ONLY, "access mode");
    if (!fv_check_reference(c, FV_DEF_IO_HANDLE, handle, "handle"))
        return OTF2_CALLBACK_SUCCESS;
    d = fv_def_get(c, FV_DEF_IO_HANDLE, handle);
    d->u.handle.has_state = true;
    if (!d->u.handle.pre_created)
        fv_fault(c, FV_PRE_CREATED, "IoHandle %u lacks the flag PRE_CREATED", handle);
    return OTF2_CALLBACK_SUCCESS;
}

#define DEFINITIONS(X)        \
    X(Unknown)                \
    X(ClockProperties)        \
    X(Paradigm)               \
    X(ParadigmProperty)       \
    X(IoParadigm)             \
    X(String)                 \
    X(Attribute)              \
    X(SystemTreeNode)         \
    X(LocationGroup)          \
    X(Location)               \
    X(Region)                 \
    X(Callsite)               \
    X(Callpath)               \
    X(CallpathParameter)      \
    X(Group)                  \
    X(MetricMember)           \
    X(MetricClass)            \
    X(MetricInstance)         \
    X(MetricClassRecorder)    \
    X(Comm)                   \
    X(InterComm)              \
    X(Parameter)              \
    X(RmaWin)                 \
    X(SystemTreeNodeProperty) \
    X(SystemTreeNodeDomain)   \
    X(LocationGroupProperty)  \
    X(LocationProperty)       \
    X(CartDimension)          \
    X(CartTopology)           \
    X(CartCoordinate)         \
    X(SourceCodeLocation)     \
    X(CallingContext)         \
    X(CallingContextProperty) \
    X(InterruptGenerator) X(IoFileProperty) X(IoRegularFile) X(IoDirectory) X(IoHandle) X(IoPreCreatedHandleState)

OTF2_GlobalDefReaderCallbacks *fv_check_definition_callbacks(void)
{
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();

#define REGISTER(name) OTF2_GlobalDefReaderCallbacks_Set##name##Callback(callbacks, on_##name);
    DEFINITIONS(REGISTER)
#undef REGISTER
    return callbacks;
}

void fv_check_definitions_end(struct fv_check *c)
{
    fv_check_pending(c);
    c->where = (struct fv_fault_place){ .scope = FV_OF_ARCHIVE, .location = FV_NONE };
    if (!c->clock.count)
        fv_fault(c, FV_CLOCK_MISSING, "there are no ClockProperties: times have no unit and no range");
    if (fv_def_find(c, FV_DEF_STRING, 0) == FV_NONE)
        fv_fault(c, FV_EMPTY_STRING, "there is no string 0; tools take 0 for \"\"");
    c->reading_events = true;
    fv_check_groups(c);
}
