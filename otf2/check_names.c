/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and numbers: of the kinds of definitions, of what is defined under which identifier, of operations. */
#include "otf2/check_state.h"

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
    _Static_assert(sizeof(of) / sizeof(*of) == OTF2_TYPE_LOCATION_GROUP - OTF2_TYPE_STRING + 1, "as many types");

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

/* ---- collective operations ---- */

static const struct {
    const char *name;
    bool rooted;
} operations[] = {
    [OTF2_COLLECTIVE_OP_BARRIER] = { "BARRIER", false },
    [OTF2_COLLECTIVE_OP_BCAST] = { "BCAST", true },
    [OTF2_COLLECTIVE_OP_GATHER] = { "GATHER", true },
    [OTF2_COLLECTIVE_OP_GATHERV] = { "GATHERV", true },
    [OTF2_COLLECTIVE_OP_SCATTER] = { "SCATTER", true },
    [OTF2_COLLECTIVE_OP_SCATTERV] = { "SCATTERV", true },
    [OTF2_COLLECTIVE_OP_ALLGATHER] = { "ALLGATHER", false },
    [OTF2_COLLECTIVE_OP_ALLGATHERV] = { "ALLGATHERV", false },
    [OTF2_COLLECTIVE_OP_ALLTOALL] = { "ALLTOALL", false },
    [OTF2_COLLECTIVE_OP_ALLTOALLV] = { "ALLTOALLV", false },
    [OTF2_COLLECTIVE_OP_ALLTOALLW] = { "ALLTOALLW", false },
    [OTF2_COLLECTIVE_OP_ALLREDUCE] = { "ALLREDUCE", false },
    [OTF2_COLLECTIVE_OP_REDUCE] = { "REDUCE", true },
    [OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = { "REDUCE_SCATTER", false },
    [OTF2_COLLECTIVE_OP_SCAN] = { "SCAN", false },
    [OTF2_COLLECTIVE_OP_EXSCAN] = { "EXSCAN", false },
    [OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = { "REDUCE_SCATTER_BLOCK", false },
    [OTF2_COLLECTIVE_OP_CREATE_HANDLE] = { "CREATE_HANDLE", false },
    [OTF2_COLLECTIVE_OP_DESTROY_HANDLE] = { "DESTROY_HANDLE", false },
    [OTF2_COLLECTIVE_OP_ALLOCATE] = { "ALLOCATE", false },
    [OTF2_COLLECTIVE_OP_DEALLOCATE] = { "DEALLOCATE", false },
    [OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE] = { "CREATE_HANDLE_AND_ALLOCATE", false },
    [OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE] = { "DESTROY_HANDLE_AND_DEALLOCATE", false },
};
enum { OPERATIONS = sizeof(operations) / sizeof(*operations) };

const char *fv_collective_name(OTF2_CollectiveOp op)
{
    return op < OPERATIONS ? operations[op].name : "?";
}

bool fv_collective_is_known(OTF2_CollectiveOp op)
{
    return op < OPERATIONS;
}

bool fv_collective_has_root(OTF2_CollectiveOp op)
{
    return op < OPERATIONS && operations[op].rooted;
}
