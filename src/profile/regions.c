/* SPDX-License-Identifier: BSD-3-Clause */
/* Computing between calls: how long each rank was outside of MPI, and of that without a processor, by the call before
 * and the call behind. Rank files have it exactly, as ticks of pairs of a call path and a cell. */
#include "profile/build.h"
#include "profile/io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a rank file has ---- */

static int by_node(const void *a, const void *b)
{
    const struct fv_caller *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->calls < y->calls) - (x->calls > y->calls);
}

static void gather(struct fv_callers *c, const struct fv_model *m, uint32_t rank)
{
    /* While they are read, parts are by rank. */
    size_t first = FV_COUNT_BEFORE(i, m->site_rank_count, m->site_ranks[i].rank < rank);

    for (size_t i = first; i < m->site_rank_count && m->site_ranks[i].rank == rank; i++) {
        const struct fv_site_rank *s = &m->site_ranks[i];

        if (!s->stat.calls || !m->sites[s->site].node)
            continue;
        FV_GROW(c->items, c->room, c->count + 1);
        c->items[c->count++] = (struct fv_caller){ m->sites[s->site].node, s->site, s->stat.calls };
    }
    if (c->count)
        qsort(c->items, c->count, sizeof(*c->items), by_node);
    c->known = true;
}

void fv_callers_release(struct fv_callers *c)
{
    free(c->items);
    *c = (struct fv_callers){ 0 };
}

uint32_t fv_build_caller(struct fv_build *b, struct fv_callers *c, uint32_t rank, uint32_t thread, uint32_t from)
{
    if (!from || from == FV_FROM_SEVERAL)
        return FV_NONE;
    if (from & FV_FROM_CELL) {
        const struct fv_cell_place *place = fv_build_place(&b->files[rank], thread, from & ~FV_FROM_CELL);

        return place ? b->model->site_ranks[place->site_rank].site : FV_NONE;
    }
    if (!c->known)
        gather(c, b->model, rank);
    uint32_t node = fv_build_node_of(b, &b->files[rank], from);
    size_t at = FV_COUNT_BEFORE(i, c->count, c->items[i].node < node);
    return at < c->count && c->items[at].node == node ? c->items[at].site : FV_NONE;
}

/* Nothing, where the kernel would have told. */
static struct fv_off_processor nothing_off(const struct fv_rank *r)
{
    double seconds = r->mpi_threads && r->switch_threads == r->mpi_threads ? 0 : NAN;

    return (struct fv_off_processor){ .blocked_s = seconds, .preempted_s = seconds };
}

/* No pair took longer than the rank: else it is damage. */
static void add_pair(struct fv_build *b, struct fv_callers *callers, const struct fv_cell_place *place, uint32_t thread,
                     uint32_t from, uint64_t count, uint64_t ticks)
{
    struct fv_model *m = b->model;

    if (!place || !count || (int64_t)ticks <= 0)
        return;
    struct fv_site_rank *part = &m->site_ranks[place->site_rank];
    const struct fv_rank *r = &m->ranks[part->rank];
    double seconds = fmin(fv_build_seconds(m, part->rank, ticks), fmax(r->end_s - r->begin_s, 0));
    const bool is_main = thread == fv_main_thread(m, part->rank);

    FV_GROW(m->region_ranks, m->region_rank_room, m->region_rank_count + 1);
    m->region_ranks[m->region_rank_count++] = (struct fv_region_rank){
        .site = part->site,
        .from = fv_build_caller(b, callers, part->rank, thread, from),
        .rank = part->rank,
        .count = count,
        .main_count = is_main ? count : 0,
        .seconds = seconds,
        .main_s = is_main ? seconds : 0,
        .off = nothing_off(r),
    };
}

static void add_off(struct fv_off_processor *to, const struct fv_off_processor *more)
{
    to->blocked += more->blocked;
    to->preempted += more->preempted;
    to->unseen += more->unseen;
    to->blocked_s += more->blocked_s;
    to->preempted_s += more->preempted_s;
}

/* Becomes part of the pair's row when rows are ordered. */
static void add_switches(struct fv_build *b, struct fv_callers *callers, const struct fv_cell_place *place,
                         uint32_t thread, const struct fv_switch_record *s)
{
    struct fv_model *m = b->model;

    if (!place)
        return;
    struct fv_site_rank *part = &m->site_ranks[place->site_rank];
    struct fv_region_rank row = { .site = part->site,
                                  .from = fv_build_caller(b, callers, part->rank, thread, s->from),
                                  .rank = part->rank,
                                  .off = { s->blocked, s->preempted, (double)s->blocked_ns * 1e-9,
                                           (double)s->preempted_ns * 1e-9, s->unseen } };
    FV_GROW(m->region_ranks, m->region_rank_room, m->region_rank_count + 1);
    m->region_ranks[m->region_rank_count++] = row;
    add_off(&m->ranks[part->rank].off, &row.off);
}

/* The name of a rank's file; NULL: it is not known. */
static const char *name_of(const struct fv_build *b, uint32_t rank, uint32_t file)
{
    uint32_t at = fv_numbers_get(fv_build_numbers(&b->files[rank], FV_CHUNK_IO_FILES), file);

    return at == FV_NONE ? NULL : fv_model_io(b->model)->files[at].path;
}

/* Becomes part of the pair's row when rows are ordered. */
static void add_file_io(struct fv_build *b, struct fv_callers *callers, const struct fv_cell_place *place,
                        uint32_t thread, const struct fv_io_region *r)
{
    struct fv_model *m = b->model;

    if (!place || !r->calls || (int64_t)r->ticks < 0)
        return;
    struct fv_site_rank *part = &m->site_ranks[place->site_rank];
    struct fv_region_rank row = { .site = part->site,
                                  .from = fv_build_caller(b, callers, part->rank, thread, r->from),
                                  .rank = part->rank };
    row.io =
        (struct fv_region_io){ .seconds = fv_build_seconds(m, part->rank, r->ticks),
                               .weight_s = fv_build_seconds(m, part->rank, r->weight < r->ticks ? r->weight : r->ticks),
                               .calls = r->calls,
                               .node = r->path ? fv_build_node_of(b, &b->files[part->rank], r->path) : 0,
                               .function = fv_io_function_number(b, part->rank, r->function),
                               .file = name_of(b, part->rank, r->file) };
    FV_GROW(m->region_ranks, m->region_rank_room, m->region_rank_count + 1);
    m->region_ranks[m->region_rank_count++] = row;
}

static void read_regions(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_callers callers = { 0 };
    struct fv_build_file *f = &b->files[rank];
    struct fv_cursor cells = fv_cursor(f->reader, FV_CHUNK_CELLS), regions = fv_cursor(f->reader, FV_CHUNK_REGIONS),
                     switches = fv_cursor(f->reader, FV_CHUNK_SWITCHES),
                     files = fv_cursor(f->reader, FV_CHUNK_IO_REGIONS);
    struct fv_rank *of = &b->model->ranks[rank];
    struct fv_switch_record s;
    struct fv_io_region io;
    struct fv_region_record r;
    struct fv_cell cell;
    (void)state;

    for (const void *p; (p = fv_cursor_next(&cells));) {
        memcpy(&cell, p, sizeof(cell));
        if (cell.calls > cell.from_calls)
            add_pair(b, &callers, fv_build_place(f, cells.thread, cells.index), cells.thread, cell.from,
                     cell.calls - cell.from_calls, cell.before_ticks);
    }
    for (const void *p; (p = fv_cursor_next(&regions));) {
        memcpy(&r, p, sizeof(r));
        add_pair(b, &callers, fv_build_place(f, regions.thread, r.cell), regions.thread, r.from, r.count, r.ticks);
    }
    of->off = nothing_off(of);
    for (const void *p; (p = fv_cursor_next(&switches));) {
        memcpy(&s, p, sizeof(s));
        add_switches(b, &callers, fv_build_place(f, switches.thread, s.cell), switches.thread, &s);
    }
    for (const void *p; (p = fv_cursor_next(&files));) {
        memcpy(&io, p, sizeof(io));
        add_file_io(b, &callers, fv_build_place(f, files.thread, io.cell), files.thread, &io);
    }
    if (of->mpi_threads != 1)
        of->off.blocked_s = of->off.preempted_s = NAN;
    fv_callers_release(&callers);
}

const struct fv_track fv_track_regions = {
    .name = "regions",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_CELLS },
    .read = read_regions,
    .needs = { "io" },
};

/* ---- the list ---- */

static int by_ends(const void *a, const void *b)
{
    const struct fv_region_rank *x = a, *y = b;

    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

void fv_build_renumber_sites(struct fv_model *m, const uint32_t *sites)
{
    for (size_t i = 0; i < m->region_rank_count; i++) {
        struct fv_region_rank *r = &m->region_ranks[i];

        r->site = sites[r->site];
        r->from = r->from == FV_NONE ? FV_NONE : sites[r->from];
    }
    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        if (fv_subjects[i]->renumber)
            fv_subjects[i]->renumber(m, sites);
    for (size_t i = 0; i < m->causes.late_count; i++) {
        struct fv_late_procedure *late = &m->causes.late[i];

        late->site = late->site == FV_NONE ? FV_NONE : sites[late->site];
    }
    for (size_t i = 0; i < m->excerpt.call_count; i++) {
        struct fv_trace_call *call = &m->excerpt.calls[i];

        call->site = call->site == FV_NONE ? FV_NONE : sites[call->site];
    }
    for (size_t i = 0; i < m->causes.computed_count; i++) {
        m->causes.computed[i].from = sites[m->causes.computed[i].from];
        m->causes.computed[i].site = sites[m->causes.computed[i].site];
    }
}

/* Damage tells of more than there was, or of what was not. */
static void bound_parts(struct fv_model *m)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->region_rank_count; i++) {
        struct fv_region_rank r = m->region_ranks[i];

        r.io.seconds = fmin(r.io.seconds, r.seconds);
        r.off.blocked_s = isnan(r.off.blocked_s) ? NAN : fmin(r.off.blocked_s, r.seconds);
        r.off.preempted_s = isnan(r.off.preempted_s) ? NAN : fmin(r.off.preempted_s, r.seconds - r.off.blocked_s);
        if (r.count)
            m->region_ranks[kept++] = r;
    }
    m->region_rank_count = kept;
}

/* What has most of both, by the vote of the recording. */
static void add_io(struct fv_region_io *to, const struct fv_region_io *more)
{
    double seconds = to->seconds + more->seconds;
    uint64_t calls = to->calls + more->calls;
    double weight_s = fabs(to->weight_s - more->weight_s);

    if (to->node == more->node && to->function == more->function && fv_same_text(to->file, more->file))
        weight_s = to->weight_s + more->weight_s;
    else if (more->weight_s > to->weight_s)
        *to = *more;
    to->seconds = seconds;
    to->calls = calls;
    to->weight_s = weight_s;
}

static void order_parts(struct fv_model *m)
{
    size_t kept = 0;

    if (m->region_rank_count)
        qsort(m->region_ranks, m->region_rank_count, sizeof(*m->region_ranks), by_ends);
    for (size_t i = 1; i < m->region_rank_count; i++) {
        struct fv_region_rank *last = &m->region_ranks[kept], *r = &m->region_ranks[i];

        if (by_ends(last, r)) {
            m->region_ranks[++kept] = *r;
        } else {
            last->count += r->count;
            last->main_count += r->main_count;
            last->seconds += r->seconds;
            last->main_s += r->main_s;
            add_off(&last->off, &r->off);
            add_io(&last->io, &r->io);
        }
    }
    m->region_rank_count = m->region_rank_count ? kept + 1 : 0;
    bound_parts(m);
}

static struct fv_region *add_region(struct fv_causes *c, uint32_t site, uint32_t from)
{
    FV_GROW(c->regions, c->region_room, c->region_count + 1);
    struct fv_region *r = &c->regions[c->region_count++];
    *r = (struct fv_region){
        .site = site, .from = from, .max_rank = FV_NONE, .off = { .blocked_s = NAN, .preempted_s = NAN }
    };
    return r;
}

static void add_part(const struct fv_model *m, struct fv_region *r, const struct fv_region_rank *part)
{
    r->ranks++;
    r->count += part->count;
    r->mean_s += part->seconds / (double)m->rank_count;
    if (r->max_rank == FV_NONE || part->seconds > r->max_s) {
        r->max_s = part->seconds;
        r->max_rank = part->rank;
        r->off = part->off;
        r->io = part->io;
    }
}

static void list_parts(struct fv_model *m)
{
    struct fv_causes *c = &m->causes;
    struct fv_region *r = NULL;

    for (size_t i = 0; i < m->region_rank_count; i++) {
        const struct fv_region_rank *part = &m->region_ranks[i];

        if (!r || r->site != part->site || r->from != part->from) {
            r = add_region(c, part->site, part->from);
            r->first = (uint32_t)i;
        }
        add_part(m, r, part);
    }
    for (size_t i = 0; i < c->region_count; i++)
        c->regions[i].imbalance_s = (c->regions[i].max_s - c->regions[i].mean_s) * (double)m->rank_count;
}

/* Which part of the critical path before a call lies behind which other call is not known. */
static void add_critical(struct fv_model *m)
{
    struct fv_causes *c = &m->causes;
    uint32_t *largest = fv_xcalloc(m->site_count, sizeof(*largest)); /* index + 1 */

    for (uint32_t i = 0; i < c->region_count; i++) {
        uint32_t *l = &largest[c->regions[i].site];

        if (!*l || c->regions[i].max_s > c->regions[*l - 1].max_s)
            *l = i + 1;
    }
    for (size_t i = 0; i < m->site_rank_count; i++) {
        const struct fv_site_rank *part = &m->site_ranks[i];
        const struct fv_blame *blame = &fv_site_more(m, part)->blame;
        uint32_t *l = &largest[part->site];

        for (unsigned k = 0; k < FV_PLACES; k++) {
            if (blame->critical_s[k] <= 0)
                continue;
            if (!*l) {
                add_region(c, part->site, FV_NONE)->max_rank = part->rank;
                *l = (uint32_t)c->region_count;
            }
            c->regions[*l - 1].critical_s[k] += blame->critical_s[k];
        }
    }
    free(largest);
}

static int by_longest(const void *a, const void *b)
{
    const struct fv_region *x = a, *y = b;

    if (x->max_s != y->max_s)
        return x->max_s > y->max_s ? -1 : 1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

#define POLLED 1000 /* calls that ask: fewer are no loop */
#define IDLE_S \
    2e-6                   /* between two of them nothing is done; fvmpi itself takes a part of it. Nor does one take
                            * longer: it may find something each time */
#define BLOCKED_ASKING 0.9 /* of the time between two of them, and it does nothing else */
#define BYTES_PER_S    1e9 /* calls that ask move data, too: at least as fast */

bool fv_func_asks(const struct fv_func *f)
{
    static const char *const begins[] = { "MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status" };

    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (!strncmp(f->name, begins[i], strlen(begins[i])))
            return strcmp(f->name, "MPI_Test_cancelled") != 0;
    return false;
}

bool fv_func_shares_file(const struct fv_func *f)
{
    static const char *const marks[] = { "_all",  "_ordered", "_open",        "_close",
                                         "_set_", "_sync",    "_preallocate", "_seek_shared" };

    if (!strstr(f->name, "MPI_File_") || f->wait != FV_RULE_NONE || strstr(f->name, "File_i") ||
        strstr(f->name, "_begin"))
        return false;
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        if (strstr(f->name, marks[i]))
            return true;
    return false;
}

static bool asks(const struct fv_model *m, uint32_t site)
{
    return fv_func_asks(&m->functions[m->sites[site].function]);
}

double fv_region_call_s(const struct fv_model *m, const struct fv_region_rank *r)
{
    const struct fv_site *site = &m->sites[r->site];

    for (uint32_t k = 0; k < site->ranks; k++)
        if (m->site_ranks[site->first + k].rank == r->rank) {
            const struct fv_call_stat *all = &m->site_ranks[site->first + k].stat;

            return all->calls ? all->sum_s * fmin((double)r->main_count / (double)all->calls, 1) : 0;
        }
    return 0;
}

static bool is_idle(const struct fv_model *m, const struct fv_region_rank *r)
{
    const double most_s = IDLE_S * (double)r->count;

    return r->from != FV_NONE && r->count >= POLLED && r->seconds - fv_off_least_s(&r->off) <= most_s &&
           asks(m, r->site) && asks(m, r->from) && fv_region_call_s(m, r) <= most_s;
}

static int by_rank(const void *a, const void *b)
{
    const struct fv_region_rank *x = *(struct fv_region_rank *const *)a, *y = *(struct fv_region_rank *const *)b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Of a rank's idle ones those stay whose ends others of them lead on from and to, at least half as often: one call by
 * itself, or several in turn. Else something is done before the first one, or behind the last one. `before`, `behind`:
 * room for a number by place. */
static void keep_rounds(struct fv_region_rank **idle, size_t count, uint64_t *before, uint64_t *behind)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            before[idle[i]->site] = before[idle[i]->from] = 0;
            behind[idle[i]->site] = behind[idle[i]->from] = 0;
        }
        for (size_t i = 0; i < count; i++)
            if (idle[i]->polls) {
                before[idle[i]->site] += idle[i]->count;
                behind[idle[i]->from] += idle[i]->count;
            }
        for (size_t i = 0; i < count; i++)
            if (idle[i]->polls &&
                (before[idle[i]->from] < idle[i]->count / 2 || behind[idle[i]->site] < idle[i]->count / 2)) {
                idle[i]->polls = false;
                changed = true;
            }
    }
}

static void find_polling(struct fv_model *m)
{
    struct fv_region_rank **idle = fv_xcalloc(m->region_rank_count + 1, sizeof(*idle));
    uint64_t *before = fv_xcalloc(m->site_count + 1, sizeof(*before));
    uint64_t *behind = fv_xcalloc(m->site_count + 1, sizeof(*behind));
    size_t count = 0;

    for (size_t i = 0; i < m->region_rank_count; i++)
        if ((m->region_ranks[i].polls = is_idle(m, &m->region_ranks[i])))
            idle[count++] = &m->region_ranks[i];
    qsort(idle, count, sizeof(*idle), by_rank);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && idle[end]->rank == idle[i]->rank;)
            end++;
        keep_rounds(idle + i, end - i, before, behind);
    }
    free(idle);
    free(before);
    free(behind);
}

bool fv_region_asks(const struct fv_model *m, const struct fv_region *region)
{
    return region && region->from != FV_NONE && asks(m, region->from) && asks(m, region->site);
}

/* It sleeps before it asks again, or does I/O. */
static bool is_blocked_asking(const struct fv_model *m, const struct fv_region_rank *r)
{
    return r->from != FV_NONE && asks(m, r->site) && asks(m, r->from) &&
           fv_off_least_s(&r->off) >= BLOCKED_ASKING * r->main_s;
}

void fv_build_parts(struct fv_model *m)
{
    order_parts(m);
    find_polling(m);
    for (size_t i = 0; i < m->region_rank_count; i++) {
        const struct fv_region_rank *r = &m->region_ranks[i];

        if (!r->polls && is_blocked_asking(m, r))
            m->ranks[r->rank].asks_blocked_s += r->main_s;
        if (!r->polls)
            continue;
        m->ranks[r->rank].polled_s += r->main_s;
        m->ranks[r->rank].polled_off_s += fv_off_least_s(&r->off);
        m->ranks[r->rank].asked_s += fv_region_call_s(m, r);
    }
    for (size_t i = 0; i < m->site_rank_count; i++) {
        struct fv_rank *rank = &m->ranks[m->site_ranks[i].rank];
        const struct fv_call_stat *stat = &m->site_ranks[i].stat;

        rank->asked_s = fmax(rank->asked_s - (double)(stat->bytes_sent + stat->bytes_received) / BYTES_PER_S, 0);
    }
}

void fv_build_regions(struct fv_model *m)
{
    struct fv_causes *c = &m->causes;

    list_parts(m);
    if (c->source == FV_CAUSES_TRACE)
        add_critical(m);
    if (c->region_count)
        qsort(c->regions, c->region_count, sizeof(*c->regions), by_longest);
}
