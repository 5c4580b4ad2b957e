/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow of a location: regions, calling contexts, the program, metrics and parameters. */
#include "otf2/check_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- any location ---- */

static OTF2_CallbackCode on_Unknown(FV_EVENT)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "Unknown");

    fv_fault(c, FV_UNKNOWN_RECORD, "a record that the library does not know");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_BufferFlush(FV_EVENT, OTF2_TimeStamp stop)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "BufferFlush");

    if (stop < time)
        fv_fault(c, FV_FLUSH, "it stops %" PRIu64 " ticks before it begins", time - stop);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MeasurementOnOff(FV_EVENT, OTF2_MeasurementMode mode)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "MeasurementOnOff");

    if (mode != OTF2_MEASUREMENT_ON && mode != OTF2_MEASUREMENT_OFF)
        fv_fault(c, FV_ENUM, "mode %u is neither on nor off", mode);
    if (mode == OTF2_MEASUREMENT_OFF)
        fv_check_switched_off(c);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- regions and calling contexts: one stack, since a location may have only one kind ---- */

static const char *open_name(const struct fv_check *c, const struct fv_open *open)
{
    return open->context ? "calling context" : fv_def_text(c, FV_DEF_REGION, open->id);
}

static void check_kind(struct fv_check *c, bool context)
{
    struct fv_location_state *here = &c->here;

    *(context ? &here->contexts : &here->regions) = true;
    if (here->regions && here->contexts && !here->mixed) {
        here->mixed = true;
        fv_fault(c, FV_MIXED, "a location has either Enter and Leave or calling contexts; this one has both");
    }
    if (here->ended)
        fv_fault(c, FV_PROGRAM, "it comes after ProgramEnd");
    here->entered = true;
}

static void enter(struct fv_check *c, uint64_t id, bool context)
{
    struct fv_location_state *here = &c->here;

    check_kind(c, context);
    FV_GROW(here->stack, here->stack_room, here->depth + 1);
    here->stack[here->depth++] = (struct fv_open){ .id = id, .time = c->where.time, .context = context };
}

static void leave(struct fv_check *c, uint64_t id, bool context)
{
    struct fv_location_state *here = &c->here;
    const struct fv_open this = { .id = id, .context = context };
    size_t depth = here->depth;

    check_kind(c, context);
    while (depth && (here->stack[depth - 1].id != id || here->stack[depth - 1].context != context))
        depth--;
    if (!depth)
        fv_fault(c, FV_LEAVE_UNMATCHED, "\"%s\" (%" PRIu64 ") is left but was not entered", open_name(c, &this), id);
    else if (depth < here->depth)
        fv_fault(c, FV_LEAVE_WRONG, "\"%s\" (%" PRIu64 ") is left while \"%s\" (%" PRIu64 ") is still open inside it",
                 open_name(c, &this), id, open_name(c, &here->stack[here->depth - 1]), here->stack[here->depth - 1].id);
    if (depth)
        here->depth = depth - 1;
}

static OTF2_CallbackCode on_Enter(FV_EVENT, OTF2_RegionRef region)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "Enter");

    fv_check_reference(c, FV_DEF_REGION, region, "region");
    enter(c, region, false);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Leave(FV_EVENT, OTF2_RegionRef region)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "Leave");

    fv_check_reference(c, FV_DEF_REGION, region, "region");
    leave(c, region, false);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- calling contexts ---- */

#define NOWHERE ((uint64_t)OTF2_UNDEFINED_CALLING_CONTEXT)

static uint64_t parent_of(const struct fv_check *c, uint64_t context)
{
    const struct fv_definition *d = fv_def_get(c, FV_DEF_CALLING_CONTEXT, context);

    return d ? d->parent : NOWHERE;
}

/* Is it the node, or around it? The parents may form a cycle. */
static bool is_around(const struct fv_check *c, uint64_t around, uint64_t node)
{
    size_t most = c->definitions[FV_DEF_CALLING_CONTEXT].count;

    while (node != around && node != NOWHERE && most--)
        node = parent_of(c, node);
    return node == around || around == NOWHERE;
}

static uint64_t innermost_entered(const struct fv_location_state *here)
{
    for (size_t i = here->depth; i--;)
        if (here->stack[i].context)
            return here->stack[i].id;
    return NOWHERE;
}

/* So many steps outwards from its node an event has what goes on from the event before; what was entered is not left
 * so. */
static void check_distance(struct fv_check *c, uint64_t context, uint32_t distance)
{
    uint64_t node = context, entered = innermost_entered(&c->here);
    uint32_t steps = 0;

    for (; steps < distance && node != NOWHERE; steps++)
        node = parent_of(c, node);
    if (distance > steps + 1)
        fv_fault(c, FV_UNWIND, "unwind distance %u, but calling context %" PRIu64 " has %u nodes", distance, context,
                 steps);
    else if (!is_around(c, node, c->here.calling))
        fv_fault(c, FV_UNWIND,
                 "unwind distance %u leads to calling context %" PRIu64 ", in which the event before was not", distance,
                 node);
    else if (entered != NOWHERE && !is_around(c, parent_of(c, entered), node))
        fv_fault(c, FV_UNWIND, "unwind distance %u leaves calling context %" PRIu64 ", which is entered and not left",
                 distance, entered);
    c->here.calling = context;
}

static OTF2_CallbackCode on_CallingContextEnter(FV_EVENT, OTF2_CallingContextRef context, uint32_t unwind_distance)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "CallingContextEnter");

    if (fv_check_reference(c, FV_DEF_CALLING_CONTEXT, context, "calling context"))
        check_distance(c, context, unwind_distance);
    enter(c, context, true);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_CallingContextLeave(FV_EVENT, OTF2_CallingContextRef context)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "CallingContextLeave");

    if (fv_check_reference(c, FV_DEF_CALLING_CONTEXT, context, "calling context"))
        c->here.calling = parent_of(c, context);
    leave(c, context, true);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_CallingContextSample(FV_EVENT, OTF2_CallingContextRef context, uint32_t unwind_distance,
                                                 OTF2_InterruptGeneratorRef generator)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "CallingContextSample");

    if (fv_check_reference(c, FV_DEF_CALLING_CONTEXT, context, "calling context"))
        check_distance(c, context, unwind_distance);
    fv_check_reference(c, FV_DEF_INTERRUPT_GENERATOR, generator, "interrupt generator");
    check_kind(c, true);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- the program ---- */

static const char *string_of(const struct fv_check *c, OTF2_StringRef id)
{
    const struct fv_definition *d = fv_def_get(c, FV_DEF_STRING, id);

    return d ? d->u.text : "";
}

/* Is it the program, with its arguments after it? */
static bool is_command_line(const struct fv_check *c, const char *line, const char *program, uint32_t count,
                            const OTF2_StringRef *arguments)
{
    size_t length = strlen(program);
    bool same = !strncmp(line, program, length);

    for (uint32_t i = 0; i < count && same; i++) {
        line += length + 1;
        same = line[-1] == ' ';
        program = string_of(c, arguments[i]);
        length = strlen(program);
        same = same && !strncmp(line, program, length);
    }
    return same && !line[length];
}

/* Score-P's convention, on which readers rely. Said once, whatever the number of programs. */
static void check_program_region(struct fv_check *c, OTF2_StringRef name, uint32_t count,
                                 const OTF2_StringRef *arguments)
{
    const char *program = string_of(c, name);

    for (size_t i = 0; i < c->program_count; i++) {
        const struct fv_definition *d = fv_def_at(c, FV_DEF_REGION, c->programs[i]);

        if (!strcmp(string_of(c, d->name), fv_base_name(program)) &&
            is_command_line(c, string_of(c, d->u.region.canonical), program, count, arguments))
            return;
    }
    if (!c->program_said)
        fv_fault(c, FV_PROGRAM_REGION,
                 "no region stands for \"%s\": role ARTIFICIAL, paradigm MEASUREMENT_SYSTEM, that name without "
                 "directories, canonical name with the arguments; Scalasca refuses the archive",
                 program);
    c->program_said = true;
}

static OTF2_CallbackCode on_ProgramBegin(FV_EVENT, OTF2_StringRef name, uint32_t count, const OTF2_StringRef *arguments)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "ProgramBegin");

    fv_check_optional(c, FV_DEF_STRING, name, "program name");
    for (uint32_t i = 0; i < count; i++)
        fv_check_reference(c, FV_DEF_STRING, arguments[i], "program argument");
    if (c->here.begun)
        fv_fault(c, FV_PROGRAM, "a second ProgramBegin");
    else if (c->here.entered)
        fv_fault(c, FV_PROGRAM, "ProgramBegin after regions were entered; it must be outermost");
    check_program_region(c, name, count, arguments);
    c->here.begun = true;
    c->here.begun_time = time;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ProgramEnd(FV_EVENT, __attribute__((unused)) int64_t status)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "ProgramEnd");

    if (!c->here.begun)
        fv_fault(c, FV_PROGRAM, "ProgramEnd without ProgramBegin");
    else if (c->here.ended)
        fv_fault(c, FV_PROGRAM, "a second ProgramEnd");
    else if (c->here.depth)
        fv_fault(c, FV_PROGRAM, "ProgramEnd inside of \"%s\"; it must be outermost",
                 open_name(c, &c->here.stack[c->here.depth - 1]));
    c->here.ended = true;
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- metrics and parameters ---- */

static void check_values(struct fv_check *c, const struct fv_definition *class, uint8_t count, const OTF2_Type *types)
{
    if (count != class->u.metric.count) {
        fv_fault(c, FV_METRIC, "%u values, but its class has %u members", count, class->u.metric.count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        const struct fv_definition *member = fv_def_get(c, FV_DEF_METRIC_MEMBER, class->u.metric.members[i]);

        if (member && member->u.type != types[i])
            fv_fault(c, FV_METRIC, "value %u has type %u, but its member is defined with type %u", i, types[i],
                     member->u.type);
    }
}

static OTF2_CallbackCode on_Metric(FV_EVENT, OTF2_MetricRef metric, uint8_t count, const OTF2_Type *types,
                                   __attribute__((unused)) const OTF2_MetricValue *values)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "Metric");
    const struct fv_definition *d;

    if (!fv_check_reference(c, FV_DEF_METRIC, metric, "metric"))
        return OTF2_CALLBACK_SUCCESS;
    d = fv_def_get(c, FV_DEF_METRIC, metric);
    if (!d->u.metric.class) {
        if (d->u.metric.recorder != location)
            fv_fault(c, FV_METRIC, "the recorder of metric instance %u is location %" PRIu64, metric,
                     d->u.metric.recorder);
        d = fv_def_get(c, FV_DEF_METRIC, d->u.metric.class_id);
    }
    if (d && d->u.metric.class)
        check_values(c, d, count, types);
    return OTF2_CALLBACK_SUCCESS;
}

static struct fv_check *parameter(struct fv_check *c, OTF2_ParameterRef parameter, OTF2_ParameterType type)
{
    const struct fv_definition *d;

    if (!fv_check_reference(c, FV_DEF_PARAMETER, parameter, "parameter"))
        return c;
    d = fv_def_get(c, FV_DEF_PARAMETER, parameter);
    if (d->u.type != type)
        fv_fault(c, FV_PARAMETER, "parameter \"%s\" is of type %u, not of type %u",
                 fv_def_text(c, FV_DEF_PARAMETER, parameter), d->u.type, type);
    return c;
}

static OTF2_CallbackCode on_ParameterString(FV_EVENT, OTF2_ParameterRef ref, OTF2_StringRef string)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "ParameterString");

    fv_check_reference(parameter(c, ref, OTF2_PARAMETER_TYPE_STRING), FV_DEF_STRING, string, "string");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ParameterInt(FV_EVENT, OTF2_ParameterRef ref, __attribute__((unused)) int64_t value)
{
    parameter(fv_check_event(data, time, attributes, "ParameterInt"), ref, OTF2_PARAMETER_TYPE_INT64);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ParameterUnsignedInt(FV_EVENT, OTF2_ParameterRef ref,
                                                 __attribute__((unused)) uint64_t value)
{
    parameter(fv_check_event(data, time, attributes, "ParameterUnsignedInt"), ref, OTF2_PARAMETER_TYPE_UINT64);
    return OTF2_CALLBACK_SUCCESS;
}

#define EVENTS(X)           \
    X(Unknown)              \
    X(BufferFlush)          \
    X(MeasurementOnOff)     \
    X(Enter)                \
    X(Leave)                \
    X(CallingContextEnter)  \
    X(CallingContextLeave)  \
    X(CallingContextSample) \
    X(ProgramBegin) X(ProgramEnd) X(Metric) X(ParameterString) X(ParameterInt) X(ParameterUnsignedInt)

void fv_check_register_flow(OTF2_EvtReaderCallbacks *callbacks)
{
#define REGISTER(name) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, on_##name);
    EVENTS(REGISTER)
#undef REGISTER
}

/* ---- the end of a location ---- */

void fv_check_flow_end(struct fv_check *c)
{
    struct fv_location_state *here = &c->here;

    c->where.scope = FV_OF_EVENT;
    while (here->depth) {
        const struct fv_open *open = &here->stack[--here->depth];

        c->where.time = open->time;
        c->where.record = open->context ? "CallingContextEnter" : "Enter";
        fv_fault(c, FV_REGION_OPEN, "\"%s\" (%" PRIu64 ") is entered but never left", open_name(c, open), open->id);
    }
    if (here->begun && !here->ended) {
        c->where.time = here->begun_time;
        c->where.record = "ProgramBegin";
        fv_fault(c, FV_PROGRAM, "ProgramBegin without ProgramEnd");
    }
    if (here->collective || here->rma_collective) {
        c->where.time = here->collective_time;
        c->where.record = here->collective ? "MpiCollectiveBegin" : "RmaCollectiveBegin";
        fv_fault(c, FV_COLLECTIVE_OPEN, "this collective operation never ends");
    }
}
