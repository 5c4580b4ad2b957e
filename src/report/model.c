/* See model.h: the order of construction, and everything that is a sum over what the parts found. */
#include "report/model.h"
#include "report/build.h"
#include "report/hang.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- statistics ---- */

double fv_stat_mean(const struct fv_stat *s)
{
    return s->calls ? s->sum / (double)s->calls : 0;
}

double fv_stat_stddev(const struct fv_stat *s)
{
    return s->calls && s->m2 > 0 ? sqrt(s->m2 / (double)s->calls) : 0;
}

/* Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances (1979),
 * eq. 1.5: stable for any sizes of the two parts. */
void fv_stat_add(struct fv_stat *to, const struct fv_stat *from)
{
    to->bytes_sent += from->bytes_sent;
    to->bytes_received += from->bytes_received;
    if (!from->calls)
        return;
    if (!to->calls) {
        uint64_t sent = to->bytes_sent, received = to->bytes_received;

        *to = *from;
        to->bytes_sent = sent;
        to->bytes_received = received;
        return;
    }
    double n = (double)to->calls, k = (double)from->calls, delta = from->sum / k - to->sum / n;
    to->m2 += from->m2 + delta * delta * n * k / (n + k);
    to->calls += from->calls;
    to->sum += from->sum;
    to->min = from->min < to->min ? from->min : to->min;
    to->max = from->max > to->max ? from->max : to->max;
}

/* A sum of waits is as good as its worst part. */
static void add_wait(double *wait_s, enum fv_wait_kind *kind, bool *any_unknown, double more_s,
                     enum fv_wait_kind of)
{
    *wait_s += more_s;
    if (of == FV_WAIT_UNKNOWN)
        *any_unknown = true;
    else if (of > *kind)
        *kind = of;
}

/* ---- sites ---- */

static int site_by_time(const void *a, const void *b)
{
    const struct fv_site *x = a, *y = b;

    if (x->time.sum != y->time.sum)
        return x->time.sum > y->time.sum ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first); /* while sorting: the number before */
}

/* Sorts the sites by time, and their parts by (site, rank): a counting sort, the parts come by rank. */
static void order_sites(struct fv_model *m)
{
    uint32_t *renumbered = fv_xcalloc(m->site_count, sizeof(*renumbered)), at = 0;
    struct fv_site_rank *sorted = fv_xcalloc(m->site_rank_count, sizeof(*sorted));

    for (size_t i = 0; i < m->site_rank_count; i++) {
        struct fv_site *s = &m->sites[m->site_ranks[i].site];

        fv_stat_add(&s->time, &m->site_ranks[i].time);
        s->ranks++;
    }
    for (uint32_t i = 0; i < m->site_count; i++)
        m->sites[i].first = i;
    if (m->site_count)
        qsort(m->sites, m->site_count, sizeof(*m->sites), site_by_time);
    for (uint32_t i = 0; i < m->site_count; i++) {
        renumbered[m->sites[i].first] = i;
        m->sites[i].first = at;
        at += m->sites[i].ranks;
        m->sites[i].ranks = 0;
    }
    for (size_t i = 0; i < m->site_rank_count; i++) {
        uint32_t site = renumbered[m->site_ranks[i].site];
        struct fv_site *s = &m->sites[site];

        sorted[s->first + s->ranks] = m->site_ranks[i];
        sorted[s->first + s->ranks++].site = site;
    }
    free(renumbered);
    free(m->site_ranks);
    m->site_ranks = sorted;
    m->site_rank_room = m->site_rank_count;
}

/* Spread over the ranks that called here: cov is the population's standard deviation over the mean. */
static void spread_over_ranks(const struct fv_model *m, struct fv_site *s)
{
    struct fv_stat over = { 0 };
    bool unknown = false;

    for (uint32_t i = 0; i < s->ranks; i++) {
        const struct fv_site_rank *r = &m->site_ranks[s->first + i];

        if (!r->time.calls)
            continue;
        fv_stat_add(&over, &(struct fv_stat){
                               .calls = 1, .sum = r->time.sum, .min = r->time.sum, .max = r->time.sum });
        add_wait(&s->wait_s, &s->wait_kind, &unknown, r->wait_s, r->wait_kind);
        s->barriers += r->barriers;
        s->barrier_s += r->barrier_s;
    }
    if (unknown && s->wait_kind == FV_WAIT_EXACT)
        s->wait_kind = FV_WAIT_ESTIMATE;
    s->rank_min = over.min;
    s->rank_mean = fv_stat_mean(&over);
    s->rank_max = over.max;
    s->cov = s->rank_mean > 0 ? fv_stat_stddev(&over) / s->rank_mean : 0;
}

void fv_build_sites(struct fv_model *m)
{
    order_sites(m);
    for (size_t i = 0; i < m->site_count; i++)
        spread_over_ranks(m, &m->sites[i]);
}

/* ---- functions and ranks ---- */

static void sum_functions(struct fv_model *m)
{
    uint32_t *seen = fv_xcalloc(m->function_count * (m->rank_count + 1), sizeof(*seen));
    bool *unknown = fv_xcalloc(m->function_count, sizeof(*unknown));

    for (size_t i = 0; i < m->site_count; i++) {
        const struct fv_site *s = &m->sites[i];
        struct fv_func *f = &m->functions[s->function];

        fv_stat_add(&f->time, &s->time);
        f->sites++;
        if (s->time.calls)
            add_wait(&f->wait_s, &f->wait_kind, &unknown[s->function], s->wait_s, s->wait_kind);
        for (uint32_t k = 0; k < s->ranks; k++) {
            uint32_t *flag = &seen[s->function * m->rank_count + m->site_ranks[s->first + k].rank];

            f->ranks += !*flag;
            *flag = 1;
        }
    }
    for (size_t i = 0; i < m->function_count; i++)
        if (unknown[i] && m->functions[i].wait_kind == FV_WAIT_EXACT)
            m->functions[i].wait_kind = FV_WAIT_ESTIMATE;
    free(unknown);
    free(seen);
}

struct numbered {
    uint32_t id;
    double sum;
};

static int function_by_time(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    if (x->sum != y->sum)
        return x->sum > y->sum ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Longest first, and those that were never called are left out unless a rank is in them. */
static void order_functions(struct fv_model *m)
{
    struct numbered *order = fv_xcalloc(m->function_count, sizeof(*order));
    uint32_t *renumbered = fv_xcalloc(m->function_count, sizeof(*renumbered));
    struct fv_func *sorted = fv_xcalloc(m->function_count, sizeof(*sorted));

    for (uint32_t i = 0; i < m->function_count; i++)
        order[i] = (struct numbered){ i, m->functions[i].time.sum };
    if (m->function_count)
        qsort(order, m->function_count, sizeof(*order), function_by_time);
    for (uint32_t i = 0; i < m->function_count; i++) {
        renumbered[order[i].id] = i;
        sorted[i] = m->functions[order[i].id];
    }
    for (size_t i = 0; i < m->site_count; i++)
        m->sites[i].function = renumbered[m->sites[i].function];
    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].in_call.function != FV_NONE)
            m->ranks[i].in_call.function = renumbered[m->ranks[i].in_call.function];
    for (size_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].in_call.function != FV_NONE)
            m->threads[i].in_call.function = renumbered[m->threads[i].in_call.function];
    free(m->functions);
    free(order);
    free(renumbered);
    m->functions = sorted;
    m->function_room = m->function_count;
}

static void sum_ranks(struct fv_model *m)
{
    for (size_t i = 0; i < m->site_rank_count; i++)
        m->ranks[m->site_ranks[i].rank].wait_time_s += m->site_ranks[i].wait_s;
    for (size_t i = 0; i < m->rank_count; i++) {
        struct fv_rank *r = &m->ranks[i];
        double mpi_s = 0;

        for (uint32_t k = 0; k < r->threads; k++)
            mpi_s += m->threads[r->first_thread + k].mpi_time_s;
        r->wait_share = mpi_s > 0 ? fmin(r->wait_time_s / mpi_s, 1) : 0;
    }
}

/* ---- the run ---- */

/* POP efficiencies (POP Centre of Excellence, "POP standard metrics for parallel performance analysis";
 * facts/wait-states.md). U_i: time of rank i outside of MPI; T: elapsed; P: ranks.
 *   parallel = sum U / (P T) = load balance * communication
 *   load balance = sum U / (P max U); communication = max U / T
 * T is the longest time of a rank, so that clocks of several hosts need not agree. */
static void measure(struct fv_model *m)
{
    struct fv_efficiency *e = &m->efficiency;
    double most = 0, ranks = (double)m->rank_count;
    bool exact = true;

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];
        double mpi = fmin(r->mpi_time_s, r->app_time_s), useful = r->app_time_s - mpi;

        e->total_s += r->app_time_s;
        e->mpi_s += mpi;
        e->compute_s += useful;
        e->wait_s += r->wait_share * mpi;
        e->thread_s += r->app_time_s * (r->mpi_threads > 1 ? r->mpi_threads : 1);
        e->serial_s = r->app_time_s > e->serial_s ? r->app_time_s : e->serial_s;
        most = useful > most ? useful : most;
        m->tool_s += r->tool_s;
        m->elapsed_s = r->end_s > m->elapsed_s ? r->end_s : m->elapsed_s;
    }
    for (size_t i = 0; i < m->function_count; i++)
        exact = exact && (m->functions[i].wait_s <= 0 || m->functions[i].wait_kind == FV_WAIT_EXACT);
    e->wait_exact = exact;
    e->parallel = e->serial_s > 0 ? e->compute_s / (ranks * e->serial_s) : NAN;
    e->communication = e->serial_s > 0 ? most / e->serial_s : NAN;
    e->load_balance = most > 0 ? e->compute_s / (ranks * most) : NAN;
}

static void say_drops(struct fv_model *m)
{
    static const struct {
        const char *one, *many, *advice;
    } words[FV_DROP_COUNT] = {
        [FV_DROP_CELLS] = { "call was counted without its call path",
                            "calls were counted without their call path", "raise FVMPI_PROFILE_MAX" },
        [FV_DROP_PATHS] = { "call has no call path", "calls have no call path",
                            "the budget for call paths was full" },
        [FV_DROP_PEERS] = { "message is missing from the communication matrix",
                            "messages are missing from the communication matrix", "its budget was full" },
        [FV_DROP_COMMS] = { "communicator is not described", "communicators are not described",
                            "too many were made" },
        [FV_DROP_CALLS] = { "call was not recorded at all", "calls were not recorded at all",
                            "no memory or disk for their thread" },
        [FV_DROP_DISK] = { "piece of a rank file could not be had", "pieces of rank files could not be had",
                           "the disk was full or failed" },
        [FV_DROP_REQUESTS] = { "request was not followed: bytes received by it are missing",
                               "requests were not followed: bytes received by them are missing",
                               "too many at a time" },
        [FV_DROP_EVENTS] = { "call is counted but not in the trace", "calls are counted but not in the trace",
                             "FVMPI_TRACE_MAX was used up, or the disk was full" },
    };

    for (unsigned d = 0; d < FV_DROP_COUNT; d++) {
        uint64_t sum = 0;
        unsigned ranks = 0;

        for (size_t i = 0; i < m->rank_count; i++) {
            sum += m->ranks[i].dropped[d];
            ranks += m->ranks[i].dropped[d] != 0;
        }
        if (!sum)
            continue;
        if (words[d].many)
            fv_problem_add(&m->problems, FV_PROBLEM_DROPPED, NULL, "%llu %s on %u %s (%s)",
                           (unsigned long long)sum, sum == 1 ? words[d].one : words[d].many, ranks,
                           ranks == 1 ? "rank" : "ranks", words[d].advice);
        else
            fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                           "%llu collective call%s not in the wait log of %u %s: waiting there is estimated "
                           "from the others "
                           "(raise FVMPI_COLLECTIVES_MAX)",
                           (unsigned long long)sum, sum == 1 ? " is" : "s are", ranks,
                           ranks == 1 ? "rank" : "ranks");
    }
}

/* What MPI_Comm_spawn started has an MPI_COMM_WORLD, and so an experiment, of its own. */
static void say_spawned(struct fv_model *m)
{
    for (size_t i = 0; i < m->function_count; i++)
        if (!strncmp(m->functions[i].name, "MPI_Comm_spawn", 14) && m->functions[i].time.calls) {
            fv_problem_add(
                &m->problems, FV_PROBLEM_NOTE, NULL,
                "%s started processes that are not in this report: they have an experiment of their "
                "own if fvmpi reached them, which it does when it stands before the launcher (fvmpi run "
                "mpiexec ...)",
                m->functions[i].name);
            return;
        }
}

static void say_states(struct fv_model *m)
{
    unsigned long long sites_lost = 0;
    unsigned exited = 0;

    for (size_t i = 0; i < m->site_count; i++)
        if (m->nodes[m->sites[i].node].module == FV_MODEL_LOST)
            sites_lost += m->sites[i].time.calls;
    if (sites_lost)
        fv_problem_add(&m->problems, FV_PROBLEM_DAMAGED, NULL,
                       "the call paths of %llu %s are in damaged parts of rank files", sites_lost,
                       sites_lost == 1 ? "call" : "calls");
    m->complete = m->rank_count == (size_t)(m->world_size > 0 ? m->world_size : 1);
    for (size_t i = 0; i < m->rank_count; i++) {
        m->complete = m->complete && (m->ranks[i].state == FV_RANK_FINALIZED ||
                                      (m->ranks[i].state == FV_RANK_EXITED && !strcmp(m->mpi, "none")));
        exited += m->ranks[i].state == FV_RANK_EXITED && strcmp(m->mpi, "none");
    }
    if (exited)
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL, "%u %s exited without MPI_Finalize", exited,
                       exited == 1 ? "rank" : "ranks");
    if (!m->same_clock)
        fv_problem_add(
            &m->problems, FV_PROBLEM_NOTE, NULL,
            "ranks ran on %zu different clocks, aligned by their wall clocks: waiting is an estimate",
            m->clock_count);
    for (size_t i = 0; i < m->problems.count; i++)
        m->complete = m->complete && !fv_problem_is_loss(m->problems.items[i].kind);
}

static void open_build(struct fv_build *b, struct fv_model *m, struct fv_experiment *e)
{
    const struct fv_file_header *first = fv_reader_header(e->files[0].reader);

    m->problems = e->problems;
    e->problems = (struct fv_problems){ 0 };
    m->directory = fv_arena_string(&m->arena, e->path ? e->path : "");
    m->command = fv_arena_string(&m->arena, first->command);
    m->program = fv_arena_string(&m->arena, first->program);
    m->mpi = fv_arena_string(&m->arena, first->mpi);
    m->fvmpi = fv_arena_string(&m->arena, first->fvmpi);
    m->world_size = first->world_size;
    m->rank_count = e->count;
    m->ranks = fv_xcalloc(e->count, sizeof(*m->ranks));
    b->model = m;
    b->files = fv_xcalloc(e->count, sizeof(*b->files));
    for (size_t i = 0; i < e->count; i++) {
        b->files[i].reader = e->files[i].reader;
        b->files[i].header = fv_reader_header(e->files[i].reader);
        b->files[i].name = e->files[i].name;
    }
}

static void close_build(struct fv_build *b)
{
    for (size_t i = 0; i < b->model->rank_count; i++) {
        struct fv_build_file *f = &b->files[i];

        free(f->functions);
        free(f->comms);
        free(f->nodes);
        free(f->modules);
        for (size_t k = 0; k < f->cell_maps; k++) {
            free(f->cells[k].cells);
            free(f->cells[k].waits);
        }
        free(f->cells);
    }
    free(b->files);
    free(b->best);
    fv_index_release(&b->functions);
    fv_index_release(&b->modules);
    fv_index_release(&b->nodes);
    fv_index_release(&b->sites);
    fv_index_release(&b->comms);
    fv_index_release(&b->addresses);
}

void fv_model_build(struct fv_model *out, struct fv_experiment *experiment)
{
    struct fv_build build = { 0 };
    struct fv_model *m = out;

    *m = (struct fv_model){ 0 };
    open_build(&build, m, experiment);
    fv_build_ranks(&build);
    fv_build_programs(&build);
    fv_build_callsites(&build);
    fv_build_in_calls(&build);
    fv_build_samples(&build);
    fv_build_waits(&build);
    fv_build_analysed(&build, experiment->analysed);
    fv_build_sections(&build);
    fv_build_phases(&build);
    fv_build_locks(&build);
    fv_build_sites(m);
    sum_functions(m);
    order_functions(m);
    sum_ranks(m);
    measure(m);
    fv_build_causes(m);
    fv_build_timeline(&build);
    fv_build_program_times(m);
    say_drops(m);
    say_states(m);
    say_spawned(m);
    m->hang = fv_hang_new(m);
    close_build(&build);
}

int fv_model_load(struct fv_model *out, const char *path)
{
    struct fv_experiment experiment;
    int err = fv_experiment_open(&experiment, path);

    if (err)
        return err;
    fv_model_build(out, &experiment);
    fv_experiment_release(&experiment);
    return 0;
}

int fv_model_load_analysed(struct fv_model *out, const char *path)
{
    struct fv_experiment experiment;
    struct fv_analysed analysed;
    char why[FV_ANALYSIS_WHY], name[4096];
    int err = fv_experiment_open(&experiment, path);

    if (err)
        return err;
    snprintf(name, sizeof(name), "%s/analysis.json", path);
    err = fv_analysed_read(&analysed, name, why);
    if (!err)
        experiment.analysed = &analysed;
    else if (err != -FV_ENOENT)
        fv_problem_add(&experiment.problems, FV_PROBLEM_NOTE, "analysis.json",
                       "%s; it is left out: run fvunify again", why);
    fv_model_build(out, &experiment);
    fv_analysed_release(&analysed);
    fv_experiment_release(&experiment);
    return 0;
}

void fv_model_release(struct fv_model *m)
{
    free(m->clocks);
    free(m->ranks);
    for (size_t i = 0; i < m->program_count; i++)
        free(m->programs[i].runs);
    free(m->programs);
    free(m->threads);
    free(m->modules);
    free(m->nodes);
    free(m->functions);
    free(m->sites);
    free(m->site_ranks);
    free(m->comms);
    free(m->edges);
    free(m->wait_items);
    free(m->comm_places);
    fv_hang_free(m->hang);
    free(m->causes.kinds);
    free(m->causes.elsewhere);
    free(m->causes.culprits);
    free(m->causes.regions);
    free(m->samples.items);
    fv_sections_release(&m->sections);
    free(m->addresses);
    fv_phases_release(&m->phases);
    fv_locks_release(&m->locks);
    free(m->samples.parts);
    free(m->samples.instances);
    fv_costs_release(&m->costs);
    free(m->timeline.share);
    fv_problems_release(&m->problems);
    fv_arena_release(&m->arena);
    *m = (struct fv_model){ 0 };
}
