/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the checker share. Identifiers of an archive may be sparse 64-bit numbers; each kind of
 * definition has an index from them to small numbers ("indices", FV_NONE: not defined), which all arrays use.
 */
#ifndef FV_OTF2_CHECK_STATE_H
#define FV_OTF2_CHECK_STATE_H

#include "otf2/check.h"
#include "otf2/check_fault.h"
#include "otf2/check_map.h"
#include "base/list.h"
#include "tool/vec.h"

#include <otf2/otf2.h>

enum fv_def {
    FV_DEF_STRING,
    FV_DEF_ATTRIBUTE,
    FV_DEF_NODE,
    FV_DEF_LOCATION_GROUP,
    FV_DEF_LOCATION,
    FV_DEF_REGION,
    FV_DEF_CALLSITE,
    FV_DEF_CALLPATH,
    FV_DEF_GROUP,
    FV_DEF_METRIC_MEMBER,
    FV_DEF_METRIC,
    FV_DEF_COMM,
    FV_DEF_PARAMETER,
    FV_DEF_RMA_WIN,
    FV_DEF_CART_DIMENSION,
    FV_DEF_CART_TOPOLOGY,
    FV_DEF_SOURCE_LOCATION,
    FV_DEF_CALLING_CONTEXT,
    FV_DEF_INTERRUPT_GENERATOR,
    FV_DEF_IO_PARADIGM,
    FV_DEF_IO_FILE,
    FV_DEF_IO_HANDLE,
    FV_DEF_PARADIGM,
    FV_DEF_COUNT
};

struct fv_definition { /* its kind says which members count */
    uint32_t name;     /* a string's id */
    uint64_t parent;   /* id, of the same kind; undefined: a root */
    union {
        const char *text; /* String */
        struct {
            uint8_t type;
            uint64_t events, group; /* group: id */
        } location;
        struct {
            uint32_t locations; /* how many belong to it */
            bool off;           /* recording was switched off on one of them, */
            uint64_t last_off;  /* ... the last time at this */
        } location_group;
        struct {
            uint8_t type, paradigm;
            bool global; /* ranks are indices into the COMM_LOCATIONS group */
            uint32_t count;
            const uint64_t *members;
        } group;
        struct {
            uint64_t group[2];  /* ids; [1] only for inter-communicators */
            bool inter, events; /* events: it has CommCreate and CommDestroy */
        } comm;
        struct {
            bool class;
            uint8_t count;
            const OTF2_MetricMemberRef *members;
            uint64_t class_id, recorder; /* of an instance */
        } metric;
        struct {
            uint64_t comm;
            bool events;
        } window;
        struct {
            uint64_t comm;
            uint8_t count;
            const OTF2_CartDimensionRef *dimensions;
        } topology;
        struct {
            bool pre_created, has_state;
        } handle;
        struct {
            uint32_t canonical; /* a string's id */
        } region;
        uint8_t type;  /* Attribute, Parameter, MetricMember */
        uint32_t size; /* CartDimension */
    } u;
};

struct fv_definitions {
    struct fv_index index;
    uint64_t *ids;
    struct fv_definition *items;
    size_t count, room, items_room;
};

/* A reference to what was not defined yet; at the end of the definitions it is forward or undefined. */
struct fv_forward_reference {
    struct fv_fault_place where;
    enum fv_def kind;
    uint64_t id;
    const char *field;
};

/* Groups of a communicator or a window, resolved. */
struct fv_side {
    uint32_t group; /* index; FV_NONE: there is none that could be used */
    uint32_t size;
    bool self, global, identity;
    const uint64_t *members; /* world ranks */
};
struct fv_check_comm {
    struct fv_side side[2];
    uint8_t paradigm;
    bool inter, usable;
    /* what the location that is being read did with it; stale unless the epoch is its own */
    uint32_t epoch, rank, in_side;
    bool created, destroyed;
    uint64_t destroyed_time;
};

/* Order of collectives of a communicator or a window: [0, comms) and [comms, comms + windows). */
struct fv_sequence {
    uint64_t *items; /* of the first location that had any */
    size_t count, room;
    uint32_t owner; /* location; FV_NONE: nobody yet */
    bool cut;       /* past the budget */
    /* of the location that is being read */
    uint32_t epoch;
    uint64_t done, hash, later, later_hash; /* later: non-blocking, in no order */
    uint64_t differs, different, time;      /* first difference: its number from 1, what it was, when */
};

/* What one location did, kept until all are read. */
struct fv_sequence_part {
    uint32_t sequence, location, rank; /* rank: side << 31 | rank */
    uint64_t done, hash, later, later_hash, differs, different, time;
};

struct fv_message {
    uint32_t comm, side, sender, receiver, tag, self; /* self: location group, for COMM_SELF */
    uint32_t from, to;                                /* locations */
    const char *send, *receive;                       /* records */
    uint64_t sent, received, sent_bytes, received_bytes, sent_hash, received_hash;
    uint64_t first_send, last_send, first_receive, last_receive;
    bool cut; /* one was longer than its buffer (fvmpi::error of the receive) */
};

/* Started on one thread, completed on another of the same process. */
struct fv_loose {
    uint32_t group, location;
    struct fv_key key;
    bool start;
    uint64_t time;
    const char *record;
};

struct fv_link { /* thread creation: one contingent and sequence count */
    uint64_t contingent, sequence;
    uint64_t count[4], time[4];
    uint32_t location[4];
};

struct fv_lock_orders { /* of threads: how its acquisition orders were used */
    uint64_t sum, last_location;
    uint32_t last; /* order, on that location */
    uint64_t key, acquired, least, most;
};

struct fv_open { /* a region or a calling context that is entered */
    uint64_t id, time;
    bool context;
};

struct fv_location_state { /* the location that is being read */
    uint32_t location, group, epoch;
    uint64_t last, events;
    bool metric_only, shared; /* shared: its process has other locations */
    struct fv_open *stack;
    size_t depth, stack_room;
    bool regions, contexts, mixed;
    uint64_t calling;           /* the calling context of the event before */
    bool begun, ended, entered; /* ProgramBegin, ProgramEnd, any Enter */
    uint64_t begun_time;
    uint32_t forks;
    uint64_t *teams;
    size_t team_depth, team_room;
    unsigned collective, rma_collective;
    uint64_t collective_time;
    struct fv_check_map active; /* operations and locks, see enum fv_active */
    uint64_t rma_started, rma_highest;
};

enum fv_active {
    FV_ACTIVE_REQUEST,
    FV_ACTIVE_RMA,
    FV_ACTIVE_IO,
    FV_ACTIVE_RMA_LOCK,
    FV_ACTIVE_LOCK,
    FV_ACTIVE_IO_LOCK
};
/* fv_entry.what: X(kind, words) */
/* clang-format off */
#define FV_REQUESTS(X) \
    X(NONE, "nothing") X(SEND, "a send") X(RECEIVE, "a receive") X(COLLECTIVE, "a collective")
/* clang-format on */
#define FV_REQUEST(name, word) FV_REQUEST_##name,
enum fv_check_request { FV_REQUESTS(FV_REQUEST) };

struct fv_check {
    struct fv_faults faults;
    struct fv_fault_place where;
    struct fv_check_result result;
    struct fv_arena arena;
    OTF2_Reader *reader;
    struct fv_definitions definitions[FV_DEF_COUNT];
    bool reading_events;
    struct fv_forward_reference *pending;
    size_t pending_count, pending_room;
    struct {
        unsigned count;
        uint64_t resolution, offset, length;
    } clock;
    uint32_t comm_locations[256];     /* group of each paradigm, FV_NONE */
    uint32_t *world_by_location[256]; /* [location], [location group]: world rank; FV_NONE */
    uint32_t *world_by_group[256];
    struct fv_check_comm *comms;
    struct fv_sequence *sequences;
    size_t remembered; /* items of all sequences */
    uint32_t *touched; /* sequences of the location that is being read */
    size_t touched_count, touched_room;
    struct fv_sequence_part *parts;
    size_t part_count, part_room;
    struct fv_index message_index;
    struct fv_message *messages;
    size_t message_count, message_room;
    struct fv_loose *loose;
    size_t loose_count, loose_room;
    struct fv_link *links;
    size_t link_count, link_room;
    struct fv_index link_index;
    struct fv_lock_orders *locks;
    size_t lock_count, lock_room;
    struct fv_index lock_index;
    struct fv_window { /* what the location that is being read did with it */
        uint32_t epoch;
        bool created, destroyed;
    } * windows;
    struct fv_check_handle {
        uint32_t epoch;
        bool used, created, open;
        uint32_t user;
        uint64_t use_time;
    } * handles;
    bool any_off, any_empty, communication_incomplete, locks_complete;
    bool paradigm_said[256]; /* that it has no definition */
    uint32_t *programs;      /* regions that stand for a program */
    size_t program_count, program_room;
    bool program_said; /* that one has none */
    struct fv_location_state here;
    uint32_t mapping_seen; /* bits of the location's mapping tables */
    char library_error[512];
};

/* ---- identifiers and names (check_names.c) ---- */
const char *fv_def_name(enum fv_def kind);
uint64_t fv_def_undefined(enum fv_def kind);
enum fv_def fv_def_of_mapping(OTF2_MappingType type);                          /* FV_DEF_COUNT: an unknown type */
uint32_t fv_def_find(const struct fv_check *c, enum fv_def kind, uint64_t id); /* index or FV_NONE */
static inline struct fv_definition *fv_def_at(const struct fv_check *c, enum fv_def kind, uint32_t index)
{
    return &c->definitions[kind].items[index];
}
struct fv_definition *fv_def_get(const struct fv_check *c, enum fv_def kind, uint64_t id); /* NULL */
const char *fv_def_text(const struct fv_check *c, enum fv_def kind, uint64_t id);          /* its name, or "?" */
const char *fv_collective_name(OTF2_CollectiveOp op);
bool fv_collective_is_known(OTF2_CollectiveOp op);
bool fv_collective_has_root(OTF2_CollectiveOp op);

/* ---- references (check_refs.c) ---- */
/* Is `id` defined? If not: a fault, at once or at the end of the definitions. */
bool fv_check_reference(struct fv_check *c, enum fv_def kind, uint64_t id, const char *field);
bool fv_check_optional(struct fv_check *c, enum fv_def kind, uint64_t id, const char *field);
void fv_check_typed(struct fv_check *c, OTF2_Type type, OTF2_AttributeValue value, const char *field);
void fv_check_paradigm(struct fv_check *c, OTF2_Paradigm paradigm, const char *field);
void fv_check_string(struct fv_check *c, OTF2_StringRef id, const char *field); /* may be UNDEFINED */
void fv_check_limit(struct fv_check *c, uint64_t value, uint64_t most, const char *field);
void fv_check_pending(struct fv_check *c); /* the references that were not defined when they were read */

/* ---- definitions (check_defs.c) ---- */
OTF2_GlobalDefReaderCallbacks *fv_check_definition_callbacks(void);
void fv_check_definitions_end(struct fv_check *c);

/* ---- trees, groups and communicators, once all definitions are known (check_groups.c) ---- */
void fv_check_groups(struct fv_check *c);
/* FV_NONE: not a member. */
uint32_t fv_comm_rank(struct fv_check *c, struct fv_check_comm *comm, uint32_t *side);

/* ---- one location's definitions (check_local.c) ---- */
OTF2_DefReaderCallbacks *fv_check_local_callbacks(void);

/* ---- events; each registers its callbacks ---- */
#define FV_EVENT                                                                                                       \
    __attribute__((unused)) OTF2_LocationRef location, OTF2_TimeStamp time, __attribute__((unused)) uint64_t position, \
        void *data, OTF2_AttributeList *attributes
struct fv_check *fv_check_event(void *data, uint64_t time, const OTF2_AttributeList *attributes, const char *record);
void fv_check_register_flow(OTF2_EvtReaderCallbacks *callbacks);
void fv_check_register_mpi(OTF2_EvtReaderCallbacks *callbacks);
void fv_check_register_rma(OTF2_EvtReaderCallbacks *callbacks);
void fv_check_register_threads(OTF2_EvtReaderCallbacks *callbacks);
void fv_check_register_io(OTF2_EvtReaderCallbacks *callbacks);
void fv_check_flow_end(struct fv_check *c); /* of a location */
/* ---- all of a location, and of all (check_location.c) ---- */
void fv_check_location_begin(struct fv_check *c, uint32_t location);
void fv_check_location_end(struct fv_check *c);
void fv_check_matches(struct fv_check *c);

bool fv_check_rank(struct fv_check *c, const struct fv_check_comm *comm, unsigned side, uint32_t rank,
                   const char *field);
void fv_check_root(struct fv_check *c, const struct fv_check_comm *comm, OTF2_CollectiveOp op, uint32_t root);

/* ---- operations that are started and completed (check_match.c) ---- */
/* What was under way may end unseen from here on. */
void fv_check_switched_off(struct fv_check *c);
void fv_check_start(struct fv_check *c, enum fv_active kind, uint64_t a, uint64_t b, uint32_t what, uint64_t value);
/* False: nothing like it was started here, which was reported unless another thread may have started it. */
bool fv_check_complete(struct fv_check *c, enum fv_active kind, uint64_t a, uint64_t b, struct fv_entry *out);
/* The same, but it goes on. */
bool fv_check_goes_on(struct fv_check *c, enum fv_active kind, uint64_t a, uint64_t b);
void fv_check_still_active(struct fv_check *c); /* at the end of a location */

/* ---- matches across locations (check_match.c) ---- */
struct fv_message *fv_check_message(struct fv_check *c, const struct fv_message *key);
void fv_check_sequence(struct fv_check *c, uint32_t sequence, OTF2_CollectiveOp op, uint32_t root, bool ordered);
void fv_check_sequences_end(struct fv_check *c); /* of a location */
void fv_check_messages(struct fv_check *c);
void fv_check_sequences(struct fv_check *c);
void fv_check_threads_end(struct fv_check *c); /* of a location */
void fv_check_threads_all(struct fv_check *c);
void fv_check_io_all(struct fv_check *c);

#endif
