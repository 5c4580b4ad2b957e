/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: the tables of a thread that is sampled. Its own call tree, in the rank file, because the
 * tree of the process is behind a lock; contexts and costs are found through the tree's nodes. */
#define UNW_LOCAL_ONLY
#include "rt/loaded_objects.h"
#include "rt/sections.h"
#include "sampler/sampler.h"

#include <errno.h>
#include <libunwind.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static bool init_instances(struct fv_sampler *s, uint32_t thread)
{
    return fv_record_table_init(&s->instances, FV_CHUNK_INSTANCES, thread, sizeof(struct fv_instances),
                                FV_SAMPLE_CONTEXTS) &&
           fv_record_table_init(&s->computing, FV_CHUNK_INSTANCE_COMPUTING, thread,
                                sizeof(struct fv_instance_computing), FV_SAMPLE_CONTEXTS) &&
           fv_record_table_init(&s->long_calls, FV_CHUNK_LONG_CALLS, thread, sizeof(struct fv_long_calls),
                                FV_SAMPLE_CONTEXTS) &&
           fv_record_table_init(&s->recent, FV_CHUNK_RECENT_INSTANCES, thread, sizeof(struct fv_recent_instances),
                                FV_SAMPLE_CONTEXTS) &&
           (!fv_pmu_wanted() || (fv_record_table_init(&s->event_counts, FV_CHUNK_EVENT_COUNTS, thread,
                                                      sizeof(struct fv_event_counts), FV_SAMPLE_CONTEXTS) &&
                                 fv_record_table_init(&s->events, FV_CHUNK_INSTANCE_EVENTS, thread,
                                                      sizeof(struct fv_instance_events), FV_SAMPLE_CONTEXTS)));
}

bool fv_tables_init(struct fv_sampler *s)
{
    uint32_t thread = s->thread->id;
    struct fv_chunk_header *chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SAMPLER, thread, 0, sizeof(*s->record));

    if (!chunk ||
        !fv_record_table_init(&s->nodes, FV_CHUNK_SAMPLE_PATHS, thread, sizeof(struct fv_path_record),
                              FV_SAMPLE_NODES) ||
        !fv_record_table_init(&s->costs, FV_CHUNK_COSTS, thread, sizeof(struct fv_cost), FV_SAMPLE_COSTS) ||
        !fv_record_table_init(&s->cost_regions, FV_CHUNK_COST_REGIONS, thread, sizeof(struct fv_cost_region),
                              FV_SAMPLE_COSTS) ||
        (!fv_clock_alone() && !init_instances(s, thread)))
        return false;
    s->record = fv_chunk_records(chunk);
    fv_chunk_commit(chunk, sizeof(*s->record));
    return true;
}

/* ---- what must not trap ---- */

/* The dynamic linker and the kernel's page are called where nobody sees it, and so are we. */
static const void *excluded_object[4];
static uintptr_t excluded_function[9];

static const void *object_of(uintptr_t address)
{
    struct fv_loaded_object found;

    return address && fv_loaded_find(address, &found) ? found.object : NULL;
}

bool fv_exclude_init(void)
{
    const uintptr_t functions[] = {
        (uintptr_t)ioctl,   (uintptr_t)clock_gettime, (uintptr_t)getrusage,
        (uintptr_t)memcpy,  (uintptr_t)memset,        (uintptr_t)memmove,
        (uintptr_t)syscall, (uintptr_t)sched_getcpu,  (uintptr_t)__errno_location,
    };

    excluded_object[0] = object_of((uintptr_t)fv_exclude_init);
    excluded_object[1] = object_of(getauxval(AT_BASE));
    excluded_object[2] = object_of(getauxval(AT_SYSINFO_EHDR));
    excluded_object[3] = object_of((uintptr_t)unw_step); /* used by rt/path.c */
    memcpy(excluded_function, functions, sizeof(functions));
    return excluded_object[0] && excluded_object[0] != object_of(getauxval(AT_ENTRY));
}

bool fv_excluded(const struct fv_cfi_row *row)
{
    for (unsigned i = 0; i < sizeof(excluded_object) / sizeof(*excluded_object); i++)
        if (row->object == excluded_object[i])
            return true;
    for (unsigned i = 0; i < sizeof(excluded_function) / sizeof(*excluded_function); i++)
        if (row->begin == excluded_function[i])
            return true;
    return false;
}

/* Not the way back from a signal handler, which ours takes, too. */
bool fv_may_wait_at(struct fv_sampler *s, uintptr_t ret)
{
    const struct fv_cfi_row *row = fv_cfi_find(&s->cfi, ret);

    return row->begin && row->begin < ret && row->kind == FV_CFI_SIMPLE && !fv_excluded(row);
}

bool fv_can_follow(struct fv_sampler *s, uintptr_t ret)
{
    return s->watches || s->calibration || fv_may_wait_at(s, ret);
}

/* ---- walks and the call tree ---- */

/* A function that calls itself is one frame, the innermost that waits for such a call: else each depth of a
 * recursion would be a context of its own, and each way through a recursive tree. */
void fv_walk(struct fv_sampler *s, const struct fv_registers *registers)
{
    struct fv_registers r = *registers;
    struct fv_walk *w = &s->walk;
    uintptr_t sp = r.r[FV_REG_SP], pc = r.r[FV_REG_PC], last = 0;
    bool own = sp >= s->thread->stack_low && sp < s->thread->stack_end;

    s->stack = (struct fv_stack_range){ .low = own ? sp - 128 : 0,
                                        .high = own ? s->thread->stack_end : 0,
                                        .watched = s->thread->watched,
                                        .watched_value = s->thread->watched_value };
    w->count = 0;
    w->cut = false;
    for (unsigned steps = 0;; steps++) {
        const struct fv_cfi_row *row = fv_cfi_find(&s->cfi, pc);
        bool is_ours = w->count && fv_path_is_unseen(pc + 1); /* between the application's functions */

        /* One of ours leaves no frame, and makes the one inside of it recursive: its breakpoint never rests. That is
         * more than it needs; resting, one of a team's region missed a return in one of some hundred calls, for a cause
         * not known yet (tests/planted/threads.t). */
        if (!is_ours && (w->count < 2 || !row->begin || row->begin != last)) {
            w->address[w->count] = pc + 1;
            w->function[w->count] = row->begin && row->plain_entry && !fv_excluded(row) ? row->begin : 0;
            w->recursive[w->count] = false;
            w->slot[w->count] = w->ret[w->count] = 0;
            w->count++;
        } else {
            w->recursive[w->count - 1] = true;
        }
        last = row->begin;
        if (row->kind == FV_CFI_END) {
            w->cut = !row->begin;
            return;
        }
        if (!fv_cfi_step(&s->cfi, row, pc, &s->stack, &r)) {
            w->cut = r.r[FV_REG_PC] != 0;
            return;
        }
        if (!w->slot[w->count - 1]) {
            w->slot[w->count - 1] = r.r[FV_REG_SP] - FV_CALL_BYTES;
            w->ret[w->count - 1] = r.r[FV_REG_PC];
        }
        if (w->count == FV_SAMPLE_DEPTH || steps == FV_SAMPLE_STEPS) {
            w->cut = true;
            return;
        }
        pc = r.r[FV_REG_PC] - 1;
    }
}

static uint64_t node_hash(uint32_t parent, uintptr_t address)
{
    return fv_mix2(address, parent);
}

static uint32_t append_node(struct fv_sampler *s, uint32_t parent, uintptr_t address)
{
    struct fv_path_record *node = fv_record_table_next(&s->nodes);

    if (!node)
        return 0;
    node->parent = parent;
    if (address & FV_PYTHON_KEY) {
        node->module = fv_python_key_module(address, &node->offset);
    } else if (address) {
        node->module = fv_module_known(address - 1, &node->offset);
        node->offset++;
        if (node->module == FV_MODULE_UNKNOWN && s->unknown_count < sizeof(s->unknown) / sizeof(*s->unknown))
            s->unknown[s->unknown_count++] = address - 1;
    } else {
        node->module = FV_MODULE_TRUNCATED;
        node->offset = 0;
    }
    s->node_address[s->nodes.count] = address;
    fv_record_table_commit(&s->nodes);
    return s->nodes.count;
}

uint32_t fv_walk_child(struct fv_sampler *s, uint32_t parent, uintptr_t address)
{
    uint64_t at = node_hash(parent, address);

    for (;; at++) {
        uint32_t *id = &s->node_table[at % (2 * FV_SAMPLE_NODES)];

        if (!*id)
            return *id = append_node(s, parent, address);
        const struct fv_path_record *node = fv_record_table_at(&s->nodes, *id - 1);
        if (s->node_address[*id - 1] == address && node->parent == parent)
            return *id;
    }
}

uint32_t fv_walk_intern(struct fv_sampler *s, unsigned first)
{
    const struct fv_walk *w = &s->walk;
    uint32_t node = w->cut ? fv_walk_child(s, 0, 0) : 0;

    if (w->cut && !node)
        return 0;
    for (unsigned i = w->count; i-- > first;)
        if (!(node = fv_walk_child(s, node, w->address[i])))
            return 0;
    return node;
}

uint32_t fv_walk_intern_returned(struct fv_sampler *s, uintptr_t function)
{
    uint32_t caller;

    s->walk.address[0]--; /* it is a return address, which is one past what is meant already */
    caller = fv_walk_intern(s, fv_path_is_unseen(s->walk.address[0]));
    s->walk.address[0]++;
    return caller ? fv_walk_child(s, caller, function + 1) : 0;
}

/* ---- functions ---- */

uint32_t fv_known_find(struct fv_sampler *s, uintptr_t entry)
{
    for (uint64_t at = fv_mix(entry);; at++) {
        uint16_t *slot = &s->known_table[at % (2 * FV_KNOWN)];

        if (*slot && s->known[*slot - 1].entry == entry)
            return *slot - 1u;
        if (*slot)
            continue;
        if (s->known_count == FV_KNOWN)
            return FV_KNOWN;
        s->known[s->known_count] = (struct fv_known_function){ .entry = entry };
        *slot = (uint16_t)++s->known_count;
        return s->known_count - 1;
    }
}

/* ---- contexts and costs ---- */

static bool has_events(const struct fv_sampler *s)
{
    return s->event_counts.chunk[0] != NULL;
}

uint32_t fv_context_known(const struct fv_sampler *s, uint32_t node)
{
    return s->node_context[node - 1] ? s->node_context[node - 1] - 1u : FV_SAMPLE_CONTEXTS;
}

uint32_t fv_context_find(struct fv_sampler *s, uint32_t node, uint32_t known)
{
    uint32_t count = s->instances.count;

    if (s->node_context[node - 1])
        return s->node_context[node - 1] - 1u;
    struct fv_instances *record = fv_record_table_next(&s->instances);
    if (!record || !fv_record_table_next(&s->computing) || !fv_record_table_next(&s->recent) ||
        !fv_record_table_next(&s->long_calls) ||
        (has_events(s) && (!fv_record_table_next(&s->event_counts) || !fv_record_table_next(&s->events))))
        return FV_SAMPLE_CONTEXTS;
    record->path = node;
    record->time_min = UINT64_MAX;
    fv_record_table_commit(&s->computing);
    fv_record_table_commit(&s->long_calls);
    fv_record_table_commit(&s->instances);
    fv_record_table_commit(&s->recent);
    if (has_events(s)) {
        fv_record_table_commit(&s->event_counts);
        fv_record_table_commit(&s->events);
    }
    s->node_context[node - 1] = (uint16_t)(count + 1);
    s->context[count] = (struct fv_sampler_context){ .known = known };
    s->known[known].contexts++;
    return count;
}

struct fv_instances *fv_context_record(struct fv_sampler *s, uint32_t context)
{
    return fv_record_table_at(&s->instances, context);
}

struct fv_instance_computing *fv_context_computing(struct fv_sampler *s, uint32_t context)
{
    return fv_record_table_at(&s->computing, context);
}

struct fv_long_calls *fv_context_long(struct fv_sampler *s, uint32_t context)
{
    return fv_record_table_at(&s->long_calls, context);
}

struct fv_event_counts *fv_context_events(struct fv_sampler *s, uint32_t context)
{
    return has_events(s) ? fv_record_table_at(&s->event_counts, context) : NULL;
}

struct fv_instance_events *fv_context_event_values(struct fv_sampler *s, uint32_t context)
{
    return has_events(s) ? fv_record_table_at(&s->events, context) : NULL;
}

struct fv_recent_instances *fv_context_recent(struct fv_sampler *s, uint32_t context)
{
    return fv_record_table_at(&s->recent, context);
}

/* NULL: no room. */
static struct fv_cost *new_cost(struct fv_sampler *s, uint32_t node, uint32_t section, uint32_t from)
{
    struct fv_cost *cost = fv_record_table_next(&s->costs);
    struct fv_cost_region *region = fv_record_table_next(&s->cost_regions);

    if (!cost || !region)
        return NULL;
    cost->path = node;
    cost->section = section;
    region->from = from;
    fv_record_table_commit(&s->cost_regions);
    fv_record_table_commit(&s->costs);
    return cost;
}

/* The table is full: one behind another call, which is not known of it any more. NULL: there is none. */
static struct fv_cost *share_cost(struct fv_sampler *s, uint32_t node, uint32_t section)
{
    for (uint16_t at = s->node_cost[node - 1]; at; at = s->cost_next[at - 1]) {
        struct fv_cost *cost = fv_record_table_at(&s->costs, at - 1u);
        struct fv_cost_region *region = fv_record_table_at(&s->cost_regions, at - 1u);

        if (cost->section != section)
            continue;
        region->from = 0;
        return cost;
    }
    return NULL;
}

/* The node's costs make a list, of which the one that was used last comes first. */
static struct fv_cost *find_cost(struct fv_sampler *s, uint32_t node, uint32_t section, uint32_t from)
{
    uint16_t *first = &s->node_cost[node - 1], *at = first;
    struct fv_cost *cost;

    for (; *at; at = &s->cost_next[*at - 1]) {
        uint16_t found = *at;
        const struct fv_cost_region *region = fv_record_table_at(&s->cost_regions, found - 1u);

        cost = fv_record_table_at(&s->costs, found - 1u);
        if (cost->section != section || region->from != from)
            continue;
        *at = s->cost_next[found - 1];
        s->cost_next[found - 1] = *first;
        *first = found;
        return cost;
    }
    if (!(cost = new_cost(s, node, section, from)))
        return share_cost(s, node, section);
    s->cost_next[s->costs.count - 1] = *first;
    *first = (uint16_t)s->costs.count;
    return cost;
}

void fv_cost_add(struct fv_sampler *s, uint32_t node, bool in_mpi)
{
    struct fv_cost *cost = find_cost(s, node, fv_sections_of(s->thread), in_mpi ? 0 : s->thread->previous);

    if (!cost) {
        s->record->lost_paths++;
        return;
    }
    cost->ticks++;
    cost->in_mpi += in_mpi;
}
