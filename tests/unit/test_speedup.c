/* Stacks of runs on several numbers of threads, with numbers that were chosen so that the answers are known. */
#include "scaling/speedup.h"
#include "profile/threads/locks.h"
#include "unit.h"

/* A run: seconds of its one phase, and of all of it. */
struct run {
    size_t threads;
    struct fv_speedup_times phase;
    double elapsed_s;
};

static void add(struct fv_speedup_phase *phase, size_t threads, struct fv_speedup_times times, double time_s,
                double serial_s)
{
    FV_GROW(phase->points, phase->room, phase->count + 1);
    phase->points[phase->count++] = (struct fv_speedup_point){ .threads = threads,
                                                               .runs = 1,
                                                               .least_s = time_s,
                                                               .next_s = INFINITY,
                                                               .most_s = time_s,
                                                               .times = times,
                                                               .serial_s = serial_s };
}

static struct fv_speedup make(const struct run *runs, size_t count)
{
    struct fv_speedup s = { 0 };

    FV_GROW(s.phases, s.room, 2);
    s.count = 2;
    s.phases[0] = (struct fv_speedup_phase){ .kind = "program" };
    s.phases[1] = (struct fv_speedup_phase){ .kind = "omp", .name = "a" };
    for (size_t i = 0; i < count; i++) {
        struct fv_speedup_times all = runs[i].phase;

        all.elapsed_s = runs[i].elapsed_s;
        add(&s.phases[0], runs[i].threads, all, runs[i].elapsed_s, runs[i].elapsed_s - runs[i].phase.elapsed_s);
        add(&s.phases[1], runs[i].threads, runs[i].phase, runs[i].phase.longest_s, 0);
    }
    return s;
}

static void close_to(double found, double wanted)
{
    if (!(fabs(found - wanted) < 1e-12 * (1 + fabs(wanted))))
        fail_msg("found %.15g, wanted %.15g", found, wanted);
}

#define ONE                             \
    {                                   \
        1, { 12, 12, 12, 12, 0, 0 }, 15 \
    }

static void components_add_up(void **state)
{
    struct fv_speedup s = make((struct run[]){ ONE, { 4, { 6, 6, 5, 18, 2, 2 }, 9 } }, 2);
    const struct fv_speedup_point *phase, *all;

    (void)state;
    assert_int_equal(fv_speedup_compute(&s), 0);
    phase = &s.phases[1].points[1];
    assert_int_equal(phase->reject, FV_SPEEDUP_GOOD);
    close_to(phase->stack.measured, 12. / 6);
    close_to(phase->stack.synchronisation, 12. / 5 - 12. / 6);
    close_to(phase->stack.imbalance, 48. / 18 - 12. / 5);
    close_to(phase->stack.few_cpus, 48. / 16 - 48. / 18);
    close_to(phase->stack.work, 4 - 48. / 16);
    all = &s.phases[0].points[1];
    close_to(all->stack.measured, 15. / 9);
    close_to(all->serial, 12. / 6 - 15. / 9);
    close_to(all->stack.measured + all->serial + all->stack.synchronisation + all->stack.imbalance +
                 all->stack.few_cpus + all->stack.work,
             4);
    fv_speedup_release(&s);
}

/* Without anything that takes away, the speedup is N. */
static void perfect(void **state)
{
    struct fv_speedup s =
        make((struct run[]){ { 1, { 12, 12, 12, 12, 0, 0 }, 12 }, { 3, { 4, 4, 4, 12, 0, 0 }, 4 } }, 2);
    const struct fv_speedup_point *all;

    (void)state;
    assert_int_equal(fv_speedup_compute(&s), 0);
    all = &s.phases[0].points[1];
    close_to(all->stack.measured, 3);
    close_to(all->serial, 0);
    close_to(all->stack.work, 0);
    fv_speedup_release(&s);
}

static enum fv_speedup_reject verdict(const struct run *runs, size_t count)
{
    struct fv_speedup s = make(runs, count);
    enum fv_speedup_reject found;

    assert_int_equal(fv_speedup_compute(&s), 0);
    found = s.phases[1].points[s.phases[1].count - 1].reject;
    fv_speedup_release(&s);
    return found;
}

static void rejected(void **state)
{
    struct fv_speedup s;

    (void)state;
    assert_int_equal(verdict((struct run[]){ ONE, { 2, { 7, 7, 7, 13, 0, 0 }, 9 } }, 2), FV_SPEEDUP_GOOD);
    assert_int_equal(verdict((struct run[]){ { 2, { 7, 7, 7, 13, 0, 0 }, 9 }, { 4, { 4, 4, 4, 13, 0, 0 }, 9 } }, 2),
                     FV_SPEEDUP_NO_T1);
    assert_int_equal(verdict((struct run[]){ ONE, { 2, { 7, 7, 7, 13, 0, 0.5 }, 9 } }, 2), FV_SPEEDUP_OFF_CPU);
    assert_int_equal(verdict((struct run[]){ { 1, { 12, 12, 12, 12, 0, 1 }, 15 }, { 2, { 7, 7, 7, 13, 0, 0 }, 9 } }, 2),
                     FV_SPEEDUP_OFF_CPU);
    assert_int_equal(verdict((struct run[]){ ONE, { 2, { 5, 5, 5, 10, 0, 0 }, 9 } }, 2), FV_SPEEDUP_TOO_LARGE);
    s = make((struct run[]){ ONE, { 2, { 7, 7, 7, 13, 0, 0 }, 9 } }, 2);
    s.phases[1].points[0].next_s = 13;
    assert_int_equal(fv_speedup_compute(&s), 0);
    assert_int_equal(s.phases[1].points[1].reject, FV_SPEEDUP_SPREAD);
    assert_int_equal(s.phases[0].points[1].reject, FV_SPEEDUP_GOOD);
    fv_speedup_release(&s);
    s = make((struct run[]){ ONE }, 1);
    assert_int_equal(fv_speedup_compute(&s), -FV_EFORMAT);
    fv_speedup_release(&s);
}

/* ---- one thread at a time ---- */

/* A run of the phase in which one thread at a time ran alone. */
struct alone {
    struct fv_alone_run run;
    struct fv_phase_alone of;
    uint64_t instances;
};
/* clang-format off */
#define WHOLE { true, 0, 8, 8, 1 }
#define PIRATE(part) { true, 1, 8, (uint64_t)(8 * (part)), part }
#define TIME(s) { .measured = 2, .threads = 4, .time_s = s, .cpu_s = s, .probes = 1000, .misses = 10 }
/* T1 = 12 s; of four threads, which together need 18 s, of these 2 s in a queue. */
#define FOUR { ONE, { 4, { 6, 6, 5, 18, 2, 2 }, 9 } }
/* clang-format on */

static struct fv_speedup with_alone(const struct run *runs, size_t count, const struct alone *alone, size_t alone_count)
{
    struct fv_speedup s = make(runs, count);

    for (size_t i = 0; i < alone_count; i++) {
        struct fv_phase phase = { .kind = FV_PHASE_OMP,
                                  .ranks = 1,
                                  .alone = alone[i].of,
                                  .sums = { .instances = alone[i].instances ? alone[i].instances : 2,
                                            .threads_max = 4 } };

        fv_alone_add(&s.phases[1], &alone[i].run, &phase);
    }
    assert_int_equal(fv_speedup_compute(&s), 0);
    return s;
}

static void taken_apart(void **state)
{
    const struct alone runs[] = {
        { WHOLE, TIME(3.2), 0 }, { PIRATE(0.25), TIME(3.75), 0 }, { PIRATE(0.5), TIME(3.5), 0 }, { WHOLE, TIME(3.2), 0 }
    };
    struct fv_speedup s = with_alone((struct run[])FOUR, 2, runs, 4);
    (void)state;

    for (size_t i = 0; i < 2; i++) { /* of the phase and of the whole program, which has no other */
        const struct fv_speedup_point *p = &s.phases[i].points[1];

        assert_int_equal(p->alone.verdict, FV_ALONE_GOOD);
        close_to(p->alone.alone, 12 / 3.2);
        close_to(p->alone.pirate, 12 / 3.75);
        close_to(p->alone.overhead, 4 - 12 / 3.2);
        close_to(p->alone.cache, 12 / 3.2 - 12 / 3.75);
        close_to(p->alone.memory, 12 / 3.75 - 48. / 16);
        close_to(p->alone.overhead + p->alone.cache + p->alone.memory, p->stack.work);
        close_to(p->alone.overhead + p->alone.shared, p->stack.work);
        assert_int_equal(s.phases[i].alone_count, 3);
        close_to(s.phases[i].alone[0].part, 1);
        close_to(s.phases[i].alone[1].slower, 3.5 / 3.2);
        close_to(s.phases[i].alone[2].slower, 3.75 / 3.2);
        assert_int_equal(s.phases[i].points[0].alone.verdict, FV_ALONE_NOT_RUN);
    }
    assert_int_equal(s.phases[1].alone[0].runs, 2);
    close_to(fv_alone_gain(&s.phases[1], 4, 1), 1);
    close_to(fv_alone_gain(&s.phases[1], 4, 2), 3.75 / 3.5);
    close_to(fv_alone_gain(&s.phases[1], 4, 4), 3.75 / 3.2);
    close_to(fv_alone_gain(&s.phases[1], 4, sqrt(8)), 3.75 / sqrt(3.5 * 3.2)); /* between two points */
    assert_true(isnan(fv_alone_gain(&s.phases[1], 4, 8)));
    assert_true(isnan(fv_alone_gain(&s.phases[1], 2, 2)));
    fv_speedup_release(&s);
}

/* Of 100 instances two were measured: all are thought to take as long. */
static void instances(void **state)
{
    struct fv_speedup s = with_alone((struct run[])FOUR, 2, (struct alone[]){ { WHOLE, TIME(0.064), 100 } }, 1);
    (void)state;

    close_to(s.phases[1].alone[0].time_s, 3.2);
    assert_int_equal(s.phases[1].points[1].alone.verdict, FV_ALONE_NO_PART);
    close_to(s.phases[1].points[1].alone.shared, 12 / 3.2 - 3);
    assert_true(isnan(s.phases[1].points[1].alone.cache));
    fv_speedup_release(&s);
}

static enum fv_alone_verdict separation(struct alone part, struct alone whole)
{
    const struct alone runs[] = { whole, part };
    struct fv_speedup s = with_alone((struct run[])FOUR, 2, runs, 2);
    const struct fv_speedup_point *p = &s.phases[1].points[1];
    enum fv_alone_verdict found = p->alone.verdict;

    assert_int_equal(s.phases[0].points[1].alone.verdict, found);
    if (found)
        assert_true(isnan(p->alone.cache) && isnan(p->alone.memory));
    fv_speedup_release(&s);
    return found;
}

/* 8 s of work of four threads, one of which has 5 s of it: the longest is above 1.25 times the mean. */
static void unequal(void **state)
{
    const struct run runs[] = { { 1, { 8, 8, 8, 8, 0, 0 }, 9 }, { 4, { 5, 5, 5, 8, 0, 0 }, 6 } };
    struct alone few = { WHOLE, TIME(2), 0 }, enough = few;
    struct fv_speedup s = with_alone(runs, 2, &few, 1);
    (void)state;

    assert_int_equal(s.phases[1].points[1].alone.verdict, FV_ALONE_UNEQUAL);
    /* so the whole program's is not known either */
    assert_int_equal(s.phases[0].points[1].alone.verdict, FV_ALONE_UNEQUAL);
    assert_true(isnan(s.phases[0].points[1].alone.overhead) && isnan(s.phases[0].points[1].alone.shared));
    fv_speedup_release(&s);
    enough.of.measured = 8, enough.instances = 8;
    s = with_alone(runs, 2, &enough, 1);
    assert_int_equal(s.phases[1].points[1].alone.verdict, FV_ALONE_NO_PART);
    close_to(s.phases[0].points[1].alone.overhead, 4 - s.phases[0].points[1].alone.alone);
    fv_speedup_release(&s);
}

static void dropped(void **state)
{
    const struct alone good = { PIRATE(0.25), TIME(3.75), 0 }, whole = { WHOLE, TIME(3.2), 0 };
    struct alone bad = good, other = whole;
    struct fv_speedup s;
    (void)state;

    assert_int_equal(separation(good, whole), FV_ALONE_GOOD);
    bad.of.misses = 31;
    assert_int_equal(separation(bad, whole), FV_ALONE_LOST);
    bad = good, bad.of.lost_s = 0.38;
    assert_int_equal(separation(bad, whole), FV_ALONE_LOST);
    bad = good, bad.of.probes = 63, bad.of.misses = 0;
    assert_int_equal(separation(bad, whole), FV_ALONE_UNPROBED);
    bad = good, bad.of.cpu_s = 0.97 * bad.of.time_s;
    assert_int_equal(separation(bad, whole), FV_ALONE_OFF_CPU);
    bad = good, bad.of.let_go = 1, bad.of.why = 1;
    assert_int_equal(separation(bad, whole), FV_ALONE_WAITS);
    bad.of.why = 10;
    assert_int_equal(separation(bad, whole), FV_ALONE_CUT);
    bad.of.why = 77; /* of a later version */
    assert_int_equal(separation(bad, whole), FV_ALONE_NOT_MEASURED);
    bad = good, bad.of.measured = 0;
    assert_int_equal(separation(bad, whole), FV_ALONE_NOT_MEASURED);
    bad = good, bad.of.time_s = bad.of.cpu_s = 4.3; /* together: 4 */
    assert_int_equal(separation(bad, whole), FV_ALONE_SHARED);
    other.of.time_s = other.of.cpu_s = 4.3;
    assert_int_equal(separation(good, other), FV_ALONE_MORE);
    other.of.time_s = other.of.cpu_s = 2.8; /* T1 / N: 3 */
    assert_int_equal(separation(good, other), FV_ALONE_TOO_LARGE);
    other = whole, other.of.let_go = 1, other.of.why = 6;
    assert_int_equal(separation(good, other), FV_ALONE_NESTED);
    /* before and after */
    s = with_alone((struct run[])FOUR, 2, (struct alone[]){ good, whole, { WHOLE, TIME(3.6), 0 } }, 3);
    assert_int_equal(s.phases[1].points[1].alone.verdict, FV_ALONE_VARIES);
    assert_true(isnan(s.phases[1].alone[1].slower));
    fv_speedup_release(&s);
}

/* ---- copies and ranks that share a node ---- */

/* Runs of N ranks; with_part < 0: together, each for so long (queue: of it, for a processor); else one at a time. */
struct job {
    const char *mpi;
    size_t ranks;
    double elapsed_s, mpi_s, queue_s; /* together: of each; the first one has less to do by its number */
    double part, alone_s;             /* part: 0: together */
    double cpu_share;
    uint64_t turns;
};

static void load(struct fv_throughput *t, const struct job *job)
{
    struct fv_rank ranks[4] = { 0 };
    struct fv_rank_turns turns[4] = { 0 };
    struct fv_model m = { .mpi = job->mpi, .ranks = ranks, .rank_count = job->ranks };

    for (uint32_t i = 0; i < job->ranks; i++) {
        bool is_copy = !strcmp(job->mpi, "none");

        ranks[i] = (struct fv_rank){ .world_rank = (int)i,
                                     .app_time_s = job->elapsed_s,
                                     .mpi_time_s = job->mpi_s,
                                     .cpu_s = job->elapsed_s - job->queue_s,
                                     .ready_s = is_copy ? job->queue_s : 0 };
        ranks[i].off = (struct fv_off_processor){ .preempted_s = is_copy ? NAN : job->queue_s };
        turns[i] = (struct fv_rank_turns){ i,
                                           { .measured = job->turns,
                                             .time_s = job->alone_s,
                                             .cpu_s = job->alone_s * (job->cpu_share > 0 ? job->cpu_share : 1),
                                             .probes = 1000,
                                             .misses = 10 },
                                           .fill_s = 0.001 };
    }
    m.data[FV_SUBJECT_phases] =
        &(struct fv_phases){ .alone = { job->part > 0, job->part < 1, 8, (uint64_t)(8 * job->part), job->part },
                             .turns = turns,
                             .turn_count = job->part > 0 ? job->ranks : 0 };
    fv_throughput_load(t, &m);
}

static struct fv_throughput of_jobs(const struct job *jobs, size_t count)
{
    struct fv_throughput t = { 0 };

    for (size_t i = 0; i < count; i++)
        load(&t, &jobs[i]);
    assert_true(fv_throughput_compute(&t));
    return t;
}

/* Four ranks for 10 s: 2 s in MPI, 1 s without a processor; alone 5 s, with their part of the cache 6 s. The longer
 * runs do not count. */
static void ranks_share(void **state)
{
    (void)state;
    const struct job jobs[] = { { "m", 4, 10, 2, 1, 0, 0, 0, 0 },    { "m", 4, 12, 2, 1, 0, 0, 0, 0 },
                                { "m", 4, 0, 0, 0, 1, 5, 0, 100 },   { "m", 4, 0, 0, 0, 0.25, 6, 0, 100 },
                                { "m", 4, 0, 0, 0, 1, 5.2, 0, 100 }, { "m", 4, 0, 0, 0, 1, 9, 0, 100 } };
    struct fv_throughput t = of_jobs(jobs, sizeof(jobs) / sizeof(*jobs));
    const struct fv_throughput_point *p = &t.points[0];

    assert_int_equal(t.count, 1);
    assert_int_equal(p->separation, FV_ALONE_GOOD);
    close_to(p->elapsed_s, 10);
    close_to(p->sums.together_s, 28);
    close_to(p->sums.queue_s, 4);
    close_to(p->sums.alone_s, 20);
    close_to(p->throughput, 2);
    close_to(p->cache, 4 - 4 * 20. / 24);
    close_to(p->memory, 4 * 20. / 24 - 4 * 20. / 28);
    close_to(p->few_cpus, 4 * 20. / 28 - 4 * 20. / 32);
    close_to(p->waiting, 4 * 20. / 32 - 2);
    close_to(p->shares[3].memory_s, 1);
    close_to(p->turn_s, 0.05);
    assert_false(p->is_least);
    fv_throughput_release(&t);
}

/* Two copies of two threads that compute on two processors: who waited for one is known with --threads alone. */
static void threads_of_copies(void **state)
{
    (void)state;
    for (int recorded = 0; recorded < 2; recorded++) {
        struct fv_throughput t = { 0 };
        struct fv_rank ranks[2];
        struct fv_model m = { .mpi = "none",
                              .ranks = ranks,
                              .rank_count = 2,
                              .data[FV_SUBJECT_locks] = &(struct fv_locks){ .recorded = recorded } };

        for (int i = 0; i < 2; i++)
            ranks[i] = (struct fv_rank){ .world_rank = i,
                                         .app_time_s = 4,
                                         .cpu_s = 4,
                                         .own_threads_s = 2,
                                         .cpus = 2,
                                         .ready_s = 0,
                                         .others_ready_s = NAN };
        fv_throughput_load(&t, &m);
        load(&t, &(struct job){ "none", 1, 0, 0, 0, 1, 2, 0, 1 });
        assert_true(fv_throughput_compute(&t));
        assert_int_equal(t.points[0].is_off_cpu, !recorded);
        assert_int_equal(isnan(t.points[0].throughput), !recorded);
        fv_throughput_release(&t);
    }
}

/* One copy stands for all: of two and four of them. With a quarter of the cache it takes 8 s, with a half 6 s. */
static void copies_share(void **state)
{
    (void)state;
    const struct job jobs[] = { { "none", 1, 0, 0, 0, 1, 5, 0, 1 },    { "none", 2, 8, 0, 0, 0, 0, 0, 0 },
                                { "none", 1, 0, 0, 0, 0.5, 6, 0, 1 },  { "none", 4, 12, 0, 0.5, 0, 0, 0, 0 },
                                { "none", 1, 0, 0, 0, 0.25, 8, 0, 1 }, { "none", 1, 0, 0, 0, 1, 5, 0, 1 } };
    struct fv_throughput t = of_jobs(jobs, sizeof(jobs) / sizeof(*jobs));

    assert_int_equal(t.count, 2);
    close_to(t.points[0].throughput, 2 * 5 / 8.);
    close_to(t.points[0].cache, 2 - 2 * 5 / 6.);
    close_to(t.points[0].memory, 2 * 5 / 6. - 2 * 5 / 8.);
    close_to(t.points[1].throughput, 4 * 5 / 12.);
    close_to(t.points[1].cache, 4 - 4 * 5 / 8.);
    close_to(t.points[1].memory, 4 * 5 / 8. - 4 * 5 / 11.5);
    close_to(t.points[1].few_cpus, 4 * 5 / 11.5 - 4 * 5 / 12.);
    assert_true(isnan(t.points[1].turn_s));
    close_to(fv_throughput_gain(&t, &t.points[0]), 6 / 5.);
    close_to(fv_throughput_gain(&t, &t.points[1]), 8 / 6.);
    fv_throughput_release(&t);
}

/* Two copies, with two threads each, of which one or the other waited for a processor half of the time; the second
 * began 1 s later. */
static void copies_of_threads(void **state)
{
    (void)state;
    struct fv_rank ranks[2];
    struct fv_model m = { .mpi = "none", .ranks = ranks, .rank_count = 2 };
    struct fv_throughput t = { 0 };

    for (int i = 0; i < 2; i++)
        ranks[i] = (struct fv_rank){
            .world_rank = i, .begin_s = 3 + i, .app_time_s = 4, .cpu_s = 4, .ready_s = 1, .others_ready_s = 3
        };
    fv_throughput_load(&t, &m);
    load(&t, &(struct job){ "none", 1, 0, 0, 0, 1, 2, 0, 1 });
    assert_true(fv_throughput_compute(&t));
    close_to(t.points[0].elapsed_s, 5);
    close_to(t.points[0].sums.queue_s, 4);
    close_to(t.points[0].sums.together_s, 4);
    close_to(t.points[0].few_cpus, 2 - 2 * 4 / 8.);
    close_to(t.points[0].waiting, 2 * 4 / 8. - 4 / 5.);
    close_to(t.points[0].sharing, 0);
    fv_throughput_release(&t);
}

static enum fv_alone_verdict of_sharing(const struct job *alone, size_t count, double *sharing)
{
    struct job jobs[4] = { { "m", 2, 10, 2, 0, 0, 0, 0, 0 } };

    memcpy(&jobs[1], alone, count * sizeof(*alone));
    struct fv_throughput t = of_jobs(jobs, count + 1);
    enum fv_alone_verdict verdict = t.points[0].separation;

    *sharing = t.points[0].sharing;
    fv_throughput_release(&t);
    return verdict;
}

static void sharing_is_not_told(void **state)
{
    (void)state;
    double sharing;

    assert_int_equal(of_sharing((struct job[]){ { "m", 2, 0, 0, 0, 1, 4, 0, 9 } }, 1, &sharing), FV_ALONE_NO_PART);
    close_to(sharing, 2 - 2 * 4 / 8.);
    assert_int_equal(of_sharing((struct job[]){ { "m", 2, 0, 0, 0, 1, 9, 0, 9 } }, 1, &sharing), FV_ALONE_MORE);
    assert_true(isnan(sharing));
    assert_int_equal(
        of_sharing((struct job[]){ { "m", 2, 0, 0, 0, 1, 4, 0, 9 }, { "m", 2, 0, 0, 0, 1, 4.9, 0, 9 } }, 2, &sharing),
        FV_ALONE_VARIES);
    assert_int_equal(of_sharing((struct job[]){ { "m", 2, 0, 0, 0, 1, 4, 0.9, 9 } }, 1, &sharing), FV_ALONE_OFF_CPU);
    assert_int_equal(
        of_sharing((struct job[]){ { "m", 2, 0, 0, 0, 1, 4, 0, 9 }, { "m", 2, 0, 0, 0, 0.5, 8.9, 0, 9 } }, 2, &sharing),
        FV_ALONE_SHARED);
    close_to(sharing, 2 - 2 * 4 / 8.);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(components_add_up), cmocka_unit_test(perfect),
                                        cmocka_unit_test(rejected),          cmocka_unit_test(taken_apart),
                                        cmocka_unit_test(instances),         cmocka_unit_test(unequal),
                                        cmocka_unit_test(dropped),           cmocka_unit_test(ranks_share),
                                        cmocka_unit_test(threads_of_copies), cmocka_unit_test(copies_share),
                                        cmocka_unit_test(copies_of_threads), cmocka_unit_test(sharing_is_not_told) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
