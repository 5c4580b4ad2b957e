/* See sampler.h: the tables of a thread that is sampled. Its own call tree, in the rank file, because the
 * tree of the process is behind a lock; contexts and costs are found through the tree's nodes. */
#define UNW_LOCAL_ONLY
#include "sampler/sampler.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

bool fv_tables_init(struct fv_sampler *s)
{
    uint32_t thread = s->thread->id;
    struct fv_chunk_header *chunk;

    chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SAMPLER, thread, 0, sizeof(*s->record));
    s->nodes = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SAMPLE_PATHS, thread, 0,
                               FV_SAMPLE_NODES * sizeof(struct fv_path_record));
    s->instances = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_INSTANCES, thread, 0,
                                   FV_SAMPLE_CONTEXTS * sizeof(struct fv_instances));
    s->costs =
        fv_writer_chunk(&fv_rt.writer, FV_CHUNK_COSTS, thread, 0, FV_SAMPLE_COSTS * sizeof(struct fv_cost));
    if (!chunk || !s->nodes || !s->instances || !s->costs)
        return false;
    s->record = fv_chunk_records(chunk);
    fv_chunk_commit(chunk, sizeof(*s->record));
    return true;
}

/* ---- what must not trap ---- */

/* The dynamic linker and the kernel's page are called where nobody sees it, and so are we. */
static const void *excluded_object[4];
static uintptr_t excluded_function[8];

static const void *object_of(uintptr_t address)
{
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
    struct dl_find_object found;

    return address && !_dl_find_object((void *)address, &found) ? found.dlfo_link_map : NULL;
#else
    (void)address;
    return NULL;
#endif
}

bool fv_exclude_init(void)
{
    const uintptr_t functions[] = {
        (uintptr_t)ioctl,  (uintptr_t)clock_gettime, (uintptr_t)getrusage, (uintptr_t)memcpy,
        (uintptr_t)memset, (uintptr_t)memmove,       (uintptr_t)syscall,
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

/* ---- walks and the call tree ---- */

void fv_walk(struct fv_sampler *s, const struct fv_registers *registers)
{
    struct fv_registers r = *registers;
    struct fv_walk *w = &s->walk;
    uintptr_t sp = r.r[FV_REG_RSP], pc = r.r[FV_REG_RIP];
    bool own = sp >= s->thread->stack_low && sp < s->thread->stack_end;

    s->stack = (struct fv_stack){ .low = own ? sp - 128 : 0,
                                  .high = own ? s->thread->stack_end : 0,
                                  .watched = s->thread->watched,
                                  .watched_value = s->thread->watched_value };
    w->count = 0;
    w->cut = false;
    for (;;) {
        const struct fv_cfi_row *row = fv_cfi_find(&s->cfi, pc);

        w->address[w->count] = pc + 1;
        w->function[w->count] = row->begin && row->plain_entry && !fv_excluded(row) ? row->begin : 0;
        w->count++;
        if (row->kind == FV_CFI_END) {
            w->cut = !row->begin;
            return;
        }
        if (!fv_cfi_step(&s->cfi, row, pc, &s->stack, &r)) {
            w->cut = r.r[FV_REG_RIP] != 0;
            return;
        }
        if (w->count == FV_SAMPLE_DEPTH) {
            w->cut = true;
            return;
        }
        pc = r.r[FV_REG_RIP] - 1;
    }
}

static uint64_t node_hash(uint32_t parent, uintptr_t address)
{
    return fv_mix2(address, parent);
}

static uint32_t append_node(struct fv_sampler *s, uint32_t parent, uintptr_t address)
{
    struct fv_path_record *node = fv_chunk_next(s->nodes);
    uint32_t id = (uint32_t)(s->nodes->used / sizeof(*node)) + 1;

    if (id > FV_SAMPLE_NODES)
        return 0;
    node->parent = parent;
    if (address) {
        node->module = fv_module_known(address - 1, &node->offset);
        node->offset++;
        if (node->module == FV_MODULE_UNKNOWN && s->unknown_count < sizeof(s->unknown) / sizeof(*s->unknown))
            s->unknown[s->unknown_count++] = address - 1;
    } else {
        node->module = FV_MODULE_TRUNCATED;
        node->offset = 0;
    }
    s->node_address[id - 1] = address;
    fv_chunk_commit(s->nodes, sizeof(*node));
    return id;
}

/* address 0: the frames outside of here are not known. */
static uint32_t child(struct fv_sampler *s, uint32_t parent, uintptr_t address)
{
    const struct fv_path_record *nodes = fv_chunk_records(s->nodes);
    uint64_t at = node_hash(parent, address);

    for (;; at++) {
        uint32_t *id = &s->node_table[at % (2 * FV_SAMPLE_NODES)];

        if (!*id)
            return *id = append_node(s, parent, address);
        if (s->node_address[*id - 1] == address && nodes[*id - 1].parent == parent)
            return *id;
    }
}

uint32_t fv_walk_intern(struct fv_sampler *s, unsigned first)
{
    const struct fv_walk *w = &s->walk;
    uint32_t node = w->cut ? child(s, 0, 0) : 0;

    if (w->cut && !node)
        return 0;
    for (unsigned i = w->count; i-- > first;)
        if (!(node = child(s, node, w->address[i])))
            return 0;
    return node;
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
        s->known[s->known_count] = (struct fv_known){ .entry = entry };
        *slot = (uint16_t)++s->known_count;
        return s->known_count - 1;
    }
}

/* ---- contexts and costs ---- */

uint32_t fv_context_find(struct fv_sampler *s, uint32_t node, uint32_t known)
{
    uint32_t count = (uint32_t)(s->instances->used / sizeof(struct fv_instances));

    if (s->node_context[node - 1])
        return s->node_context[node - 1] - 1u;
    if (count == FV_SAMPLE_CONTEXTS)
        return FV_SAMPLE_CONTEXTS;
    struct fv_instances *record = fv_chunk_next(s->instances);
    record->path = node;
    record->time_min = UINT64_MAX;
    fv_chunk_commit(s->instances, sizeof(*record));
    s->node_context[node - 1] = (uint16_t)(count + 1);
    s->context[count] = (struct fv_context){ .known = known };
    return count;
}

struct fv_instances *fv_context_record(struct fv_sampler *s, uint32_t context)
{
    return (struct fv_instances *)fv_chunk_records(s->instances) + context;
}

void fv_cost_add(struct fv_sampler *s, uint32_t node, bool in_mpi)
{
    uint32_t count = (uint32_t)(s->costs->used / sizeof(struct fv_cost));
    struct fv_cost *cost = fv_chunk_records(s->costs);

    if (s->node_cost[node - 1]) {
        cost += s->node_cost[node - 1] - 1;
    } else if (count == FV_SAMPLE_COSTS) {
        s->record->lost_paths++;
        return;
    } else {
        cost += count;
        cost->path = node;
        fv_chunk_commit(s->costs, sizeof(*cost));
        s->node_cost[node - 1] = (uint16_t)(count + 1);
    }
    cost->ticks++;
    cost->in_mpi += in_mpi;
}

/* ---- measured instances ---- */

static void add_moment(struct fv_moments *m, uint64_t count, double value)
{
    double delta = value - m->mean;

    m->mean += delta / (double)count;
    m->m2 += delta * (value - m->mean);
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The 5th percentile of the CPU times in the reservoir, now and then: within that time before an entry, no
 * other instance of the context has ended, so a tick there says nothing about how long the one before took.
 */
#define WINDOW_FROM 16u /* instances */
static void refresh_window(struct fv_sampler *s, struct fv_context *c, struct fv_instances *r)
{
    unsigned count = r->returns < FV_RESERVOIR ? (unsigned)r->returns : FV_RESERVOIR, rank = count / 20;
    uint64_t least[FV_RESERVOIR / 20 + 1];
    unsigned kept = 0;

    for (unsigned i = 0; i < count; i++) {
        uint64_t value = r->reservoir[i].cpu_ns;
        unsigned at = kept <= rank ? kept++ : rank + 1;

        if (at > rank && value >= least[rank])
            continue;
        for (at = at > rank ? rank : at; at > 0 && least[at - 1] > value; at--)
            least[at] = least[at - 1];
        least[at] = value;
    }
    c->window_ns = least[rank] ? least[rank] : 1;
    c->refresh_at = r->returns + r->returns / 4;
    if (c->window_ns < fv_sampler_calibration.trap_ns) {
        r->flags |= FV_INSTANCES_FAST;
        s->known[c->known].fast = true;
    }
}

void fv_context_add(struct fv_sampler *s, const struct fv_live *live, const struct fv_readings *end)
{
    struct fv_instances *r = fv_context_record(s, live->context);
    struct fv_context *c = &s->context[live->context];
    const struct fv_readings *begin = &live->begin;
    uint64_t tool = s->tool_ticks - live->tool_ticks + fv_sampler_calibration.trap_ticks;
    uint64_t tool_ns = s->tool_ns - live->tool_ns + fv_sampler_calibration.trap_ns;
    const uint64_t value[FV_METRIC_COUNT] = {
        [FV_METRIC_TIME] = minus(end->ticks - begin->ticks, tool),
        [FV_METRIC_CPU] = minus(end->cpu_ns - begin->cpu_ns, tool_ns),
        [FV_METRIC_MPI] =
            minus(end->mpi_ticks - begin->mpi_ticks, end->mpi_tool_ticks - begin->mpi_tool_ticks),
        [FV_METRIC_MPI_CALLS] = end->mpi_calls - begin->mpi_calls,
        [FV_METRIC_FAULTS] = end->faults - begin->faults,
        [FV_METRIC_SWITCHES] = end->switches - begin->switches,
    };
    uint64_t place = r->returns < FV_RESERVOIR ? r->returns : fv_sampler_random(s) % (r->returns + 1);

    r->returns++;
    r->window += live->in_window;
    for (unsigned i = 0; i < FV_METRIC_COUNT; i++) {
        add_moment(&r->all[i], r->returns, (double)value[i]);
        if (live->in_window)
            add_moment(&r->in_window[i], r->window, (double)value[i]);
    }
    if (place < FV_RESERVOIR)
        r->reservoir[place] =
            (struct fv_instance){ begin->ticks, value[FV_METRIC_TIME], value[FV_METRIC_CPU] };
    if (value[FV_METRIC_TIME] < r->time_min)
        r->time_min = value[FV_METRIC_TIME];
    if (value[FV_METRIC_TIME] > r->time_max)
        r->time_max = value[FV_METRIC_TIME];
    if (r->returns >= WINDOW_FROM && r->returns >= c->refresh_at)
        refresh_window(s, c, r);
}
