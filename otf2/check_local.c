/* SPDX-License-Identifier: BSD-3-Clause */
/* The definitions of one location: mapping tables must lead to global definitions. What else may stand in
 * such a file is a copy of global definitions from before they were unified; readers ignore it, and so does
 * this. */
#include "otf2/check_state.h"

#include <inttypes.h>

static void at(struct fv_check *c, const char *record)
{
    c->result.definitions++;
    c->where = (struct fv_fault_place){
        .scope = FV_OF_DEFINITION, .location = c->here.location, .record = record, .id = FV_NO_ID
    };
}

struct traversal {
    struct fv_check *check;
    enum fv_def kind;
};

static void on_pair(uint64_t local, uint64_t global, void *data)
{
    const struct traversal *t = data;

    if (global != fv_def_undefined(t->kind) && fv_def_find(t->check, t->kind, global) == FV_NONE)
        fv_fault(t->check, FV_MAPPING, "local %s %" PRIu64 " is mapped to %" PRIu64 ", which is not defined",
                 fv_def_name(t->kind), local, global);
}

static OTF2_CallbackCode on_MappingTable(void *data, OTF2_MappingType type, const OTF2_IdMap *map)
{
    enum fv_def kind = fv_def_of_mapping(type);
    struct fv_check *c = data;

    at(c, "MappingTable");
    if (kind == FV_DEF_COUNT) {
        fv_fault(c, FV_ENUM, "a mapping of unknown type %u", type);
        return OTF2_CALLBACK_SUCCESS;
    }
    if (c->mapping_seen & UINT32_C(1) << type)
        fv_fault(c, FV_DUPLICATE, "a second mapping table of %s", fv_def_name(kind));
    c->mapping_seen |= UINT32_C(1) << type;
    OTF2_IdMap_Traverse(map, on_pair, &(struct traversal){ c, kind });
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_ClockOffset(void *data, __attribute__((unused)) OTF2_TimeStamp time,
                                        __attribute__((unused)) int64_t offset,
                                        __attribute__((unused)) double deviation)
{
    at(data, "ClockOffset");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_Unknown(void *data)
{
    at(data, "Unknown");
    fv_fault(data, FV_UNKNOWN_RECORD, "a record that the library does not know");
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_DefReaderCallbacks *fv_check_local_callbacks(void)
{
    OTF2_DefReaderCallbacks *callbacks = OTF2_DefReaderCallbacks_New();

    OTF2_DefReaderCallbacks_SetMappingTableCallback(callbacks, on_MappingTable);
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks, on_ClockOffset);
    OTF2_DefReaderCallbacks_SetUnknownCallback(callbacks, on_Unknown);
    return callbacks;
}
