/* Which instances are chosen without bias: programs of known patterns, run in a simulated time by the
 * sampler's own code of ticks, breakpoints and windows. What is simulated is the program, the clock and the
 * kernel. Each pattern is run many times with other random numbers: the means of the windows' instances must
 * have the patterns' means, and be as far off in single runs as their number makes likely, no further. Likewise what
 * rare long calls take, and how often their function is called. */
#include "sampler/instances.c"
#include "sampler/long_calls.c"
#include "sampler/slots.c"
#include "sampler/ticks.c"
#include "sampler/window.c"
#include "unit.h"

#include <limits.h>

#define RATE    500 /* ticks a second */
#define RUNS    200
#define OTHERS  10 /* functions, where there are any */
#define UNIT_NS 100.0
#define TRAP_NS 12000.0 /* half before the handler, half after it */
#define TICK_NS 20000.0 /* in handlers */
#define X_NS    12000.0
#define RW_NS   8000.0

/* The program is main, at ENTRY(0), which calls the function that is looked at, at ENTRY(1), or that and
 * another. */
#define ENTRY(function) ((uintptr_t)0x1000 * ((function) + 1))
#define SLOT            0x6000u /* of the return address */
#define RETURN          0x4242u

struct fv_calibration fv_sampler_calibration;
static struct fv_process_state here = { .state = FV_RT_ON, .recording = FV_RECORDING };
struct fv_runtime fv_rt = { .here = &here };

static struct fv_sampler *s;
#define PLACES 6 /* that call the function that is looked at, by turns, where more than one does */
static struct fv_instances context[OTHERS + 2 + PLACES]; /* of main and of the functions; of the other places */
static bool is_met[OTHERS + 2 + PLACES];
static unsigned places, place; /* how many call it; which one does at present */
static struct fv_long_calls long_calls[OTHERS + 2];
static unsigned inside;       /* the function that the program is in */
static double now, next_tick; /* CPU time */
static double call_ns;        /* of the present call */
static uint64_t chance;

static double uniform(void)
{
    chance += UINT64_C(0x9e3779b97f4a7c15);
    return (double)(fv_mix(chance) >> 11) / 9007199254740992.0;
}

/* ---- in place of the tables and the kernel ---- */

void fv_walk(struct fv_sampler *sampler, const struct fv_registers *registers)
{
    (void)registers;
    sampler->walk.count = inside ? 2 : 1;
    sampler->walk.function[0] = ENTRY(inside);
    sampler->walk.address[0] = ENTRY(inside) + 1;
    sampler->walk.function[1] = ENTRY(0);
    sampler->walk.slot[0] = inside ? SLOT : 0;
    sampler->walk.ret[0] = RETURN;
}
uint32_t fv_walk_intern_returned(struct fv_sampler *sampler, uintptr_t function)
{
    (void)sampler;
    return (uint32_t)(function / ENTRY(0));
}
struct fv_long_calls *fv_context_long(struct fv_sampler *sampler, uint32_t number)
{
    (void)sampler;
    return &long_calls[number];
}
uint64_t fv_live_computing_ns(const struct fv_sampler *sampler, const struct fv_live_instance *live,
                              const struct fv_readings *end)
{
    return fv_minus(end->cpu_ns - live->begin.cpu_ns,
                    sampler->tool_ns - live->tool_ns + fv_sampler_calibration.trap_ns);
}
void fv_readings_take_mpi(const struct fv_sampler *sampler, struct fv_readings *out)
{
    (void)sampler, (void)out;
}
uint32_t fv_walk_intern(struct fv_sampler *sampler, unsigned first)
{
    (void)sampler, (void)first;
    return inside == 1 && place ? OTHERS + 2 + place : inside + 1;
}

uint32_t fv_walk_intern_sample(struct fv_sampler *sampler)
{
    return fv_walk_intern(sampler, 0);
}
uint32_t fv_context_known(const struct fv_sampler *sampler, uint32_t node)
{
    (void)sampler;
    return node - 1;
}
uint32_t fv_context_find(struct fv_sampler *sampler, uint32_t node, uint32_t known)
{
    sampler->known[known].contexts += !is_met[node - 1];
    is_met[node - 1] = true;
    sampler->context[node - 1].known = known;
    return node - 1;
}
struct fv_instances *fv_context_record(struct fv_sampler *sampler, uint32_t number)
{
    (void)sampler;
    return &context[number];
}
struct fv_instance_computing *fv_context_computing(struct fv_sampler *sampler, uint32_t number)
{
    static struct fv_instance_computing none;
    (void)sampler, (void)number;
    return &none;
}
struct fv_event_counts *fv_context_events(struct fv_sampler *sampler, uint32_t number)
{
    (void)sampler, (void)number;
    return NULL;
}
uint32_t fv_known_find(struct fv_sampler *sampler, uintptr_t entry)
{
    for (uint32_t i = 0; i < sampler->known_count; i++)
        if (sampler->known[i].entry == entry)
            return i;
    sampler->known[sampler->known_count] = (struct fv_known_function){ .entry = entry };
    return sampler->known_count++;
}
uint64_t fv_context_add(struct fv_sampler *sampler, const struct fv_live_instance *live, const struct fv_readings *end)
{
    struct fv_instances *r = &context[live->context];
    struct fv_moments *m = &r->in_window[FV_METRIC_CPU];
    uint64_t place = r->returns < FV_RESERVOIR ? r->returns : fv_sampler_random(sampler) % (r->returns + 1);
    double off = call_ns - m->mean;

    (void)end;
    r->returns++;
    r->all[FV_METRIC_CPU].mean += (call_ns - r->all[FV_METRIC_CPU].mean) / (double)r->returns;
    if (live->in_window) {
        r->window++;
        m->mean += off / (double)r->window;
        m->m2 += off * (call_ns - m->mean);
    }
    if (place < FV_RESERVOIR)
        r->reservoir[place].cpu_ns = (uint64_t)call_ns;
    fv_window_refresh(sampler, live->context);
    return (uint64_t)call_ns;
}
bool fv_perf_arm(struct fv_event_fd *event, enum fv_trap kind, unsigned slot, uintptr_t address)
{
    (void)event, (void)kind, (void)slot, (void)address;
    return true;
}
bool fv_perf_arm_return(struct fv_event_fd *event, uintptr_t address)
{
    (void)event, (void)address;
    return true;
}
void fv_perf_disarm(struct fv_event_fd *event)
{
    (void)event;
}
void fv_perf_set_period(const struct fv_event_fd *event, uint64_t period_ns)
{
    (void)event;
    next_tick = now + (double)period_ns;
}
void fv_cost_add(struct fv_sampler *sampler, uint32_t node, bool in_mpi)
{
    (void)sampler, (void)node, (void)in_mpi;
}
void fv_timer_set(const struct fv_tick_timer *timer, uint64_t first_ns, uint64_t period_ns)
{
    (void)timer, (void)first_ns, (void)period_ns;
}
void fv_clock_on_tick(struct fv_sampler *sampler)
{
    (void)sampler;
}
void fv_calls_tick(struct fv_sampler *sampler)
{
    (void)sampler;
}
void fv_wall_measure(struct fv_sampler *sampler)
{
    (void)sampler;
}
void fv_usage_watch_memory(uint64_t ticks)
{
    (void)ticks;
}

void fv_readings_see_processor(struct fv_sampler *sampler)
{
    (void)sampler;
}
void fv_readings_take(struct fv_sampler *sampler, struct fv_readings *out)
{
    (void)sampler, (void)out;
}
void fv_pmu_learn(const struct fv_pmu *pmu, const struct fv_pmu_mark *mark)
{
    (void)pmu, (void)mark;
}
bool fv_may_wait_at(struct fv_sampler *sampler, uintptr_t ret)
{
    (void)sampler, (void)ret;
    return false;
}
bool fv_can_follow(struct fv_sampler *sampler, uintptr_t ret)
{
    (void)sampler, (void)ret;
    return true;
}
bool fv_step_is_missing(const struct fv_sampler *sampler)
{
    (void)sampler;
    return false;
}
const struct fv_cfi_row *fv_cfi_find(struct fv_cfi_cache *cache, uintptr_t pc)
{
    static const struct fv_cfi_row row;

    (void)cache, (void)pc;
    return &row;
}
void fv_sample_log_add(struct fv_sampler *sampler, uint32_t path, uint64_t ticks, uint64_t cpu_ns)
{
    (void)sampler, (void)path, (void)ticks, (void)cpu_ns;
}

/* ---- the handler, as in sampler.c, and the program ---- */

static void handle(enum fv_trap kind, unsigned slot, uintptr_t pc, uintptr_t sp, double takes_ns)
{
    struct fv_registers r = { 0 };
    struct fv_readings at = { 0 };

    r.r[FV_REG_PC] = pc;
    r.r[FV_REG_SP] = sp;
    s->stack = (struct fv_stack_range){ .high = UINTPTR_MAX, .watched = sp, .watched_value = RETURN };
#if !FV_RETURN_ON_STACK
    r.r[FV_REG_LR] = RETURN;
#endif
    now += TRAP_NS / 2;
    at.cpu_ns = (uint64_t)now;
    if (kind == FV_TRAP_TICK)
        fv_tick(s, &r, &at);
    else if (kind == FV_TRAP_X)
        fv_live_on_x(s, slot, &r, at.cpu_ns);
    else
        fv_live_on_rw(s, &r, &at);
    fv_x_settle(s);
    now += takes_ns;
    s->tool_ns += (uint64_t)now - at.cpu_ns + (uint64_t)TRAP_NS;
    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        if (s->x[i].fresh) {
            s->x[i].fresh = false;
            s->x[i].armed_cpu_ns = (uint64_t)now;
            s->x[i].armed_tool_ns = s->tool_ns;
        }
    now += TRAP_NS / 2;
}

static void compute(double ns)
{
    while (now + ns >= next_tick) {
        double before = fmax(next_tick - now, 0);

        now += before;
        ns -= before;
        handle(FV_TRAP_TICK, 0, 0, SLOT, TICK_NS);
        for (unsigned i = 0; inside && i < FV_X_SLOTS; i++) /* the program would be slow */
            assert_false(s->x[i].armed && s->x[i].entry == ENTRY(inside));
    }
    now += ns;
}

static void call(unsigned function, double units)
{
    inside = function;
    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        if (s->x[i].armed && s->x[i].entry == ENTRY(function))
            handle(FV_TRAP_X, i, ENTRY(function), SLOT, X_NS);
    call_ns = units * UNIT_NS * (1 + 0.02 * (uniform() - 0.5));
    compute(call_ns);
    if (s->thread->watched == SLOT)
        handle(FV_TRAP_RW, 0, RETURN, SLOT + FV_CALL_BYTES, RW_NS);
    inside = 0;
    compute(300); /* the loop in main */
}

/* ---- patterns: units of the i-th call ---- */

static double alternating(long i)
{
    return i & 1 ? 2000 : 400;
}
static double short_blocks(long i)
{
    return i / 10 & 1 ? 2000 : 500;
}
static double blocks(long i)
{
    return i / 100 & 1 ? 2000 : 500;
}
static double period(long i)
{
    return i % 7 ? 500 : 3500;
}
static double drift(long i)
{
    return (double)(400 + i % 1000);
}
static double rare(long i) /* two of a hundred take twenty times as long */
{
    return (uint32_t)i * 2654435769u < 85899346u ? 8000 : 400;
}

struct result {
    double bias, standard_error; /* of the mean: over the truth */
};

/* What the program did. */
struct program {
    long calls;
    double sum_ns, long_ns; /* of its calls; of those longer than LONG units */
    long long_calls;
};
#define LONG 5000

/* `other`: units of a call of others, which come in turn. */
static struct program simulate(double (*units)(long), double other, double seconds, uint64_t seed)
{
    static struct fv_thread_record thread_record;
    static struct fv_sampler_record record;
    static struct fv_thread thread;
    struct program p = { 0 };

    memset(s, 0, sizeof(*s));
    memset(context, 0, sizeof(context));
    memset(long_calls, 0, sizeof(long_calls));
    memset(is_met, 0, sizeof(is_met));
    record = (struct fv_sampler_record){ .rate = RATE, .mode = FV_SAMPLER_BREAKPOINTS };
    thread = (struct fv_thread){ .record = &thread_record, .stack_low = 0x1000, .stack_end = 0x10000 };
    s->thread = &thread;
    s->watches = true;
    s->record = &record;
    fv_rt.options.sample_budget = 5;
    s->random = chance = fv_mix2(seed, 77);
    now = 1e6;
    next_tick = now + 1e9 / RATE;
    for (; now < seconds * 1e9; p.calls++) {
        bool is_long = units(p.calls) > LONG;

        place = places ? (unsigned)(p.calls % places) : 0;
        call(1, units(p.calls));
        p.sum_ns += call_ns;
        p.long_ns += is_long ? call_ns : 0;
        p.long_calls += is_long;
        for (unsigned i = 0; i < OTHERS && other > 0; i++)
            call(2 + i, other);
    }
    return p;
}

static struct result run(double (*units)(long), double other, double seconds, uint64_t seed)
{
    const struct program p = simulate(units, other, seconds, seed);
    const struct fv_instances *r = &context[1];

    assert_true(r->window >= 40 && r->window <= r->returns);
    const struct fv_moments *m = &r->in_window[FV_METRIC_CPU];
    double truth = p.sum_ns / (double)p.calls, n = (double)r->window;
    return (struct result){ m->mean / truth - 1, sqrt(m->m2 / (n - 1) / n) / truth };
}

static void unbiased(const char *name, double (*units)(long), double other, double seconds, double tolerance)
{
    double bias = 0, squares = 0, z;
    unsigned far = 0;

    for (unsigned i = 0; i < RUNS; i++) {
        struct result r = run(units, other, seconds, i);

        bias += r.bias / RUNS;
        z = r.bias / r.standard_error;
        squares += z * z / RUNS;
        far += fabs(z) > 4;
    }
    z = sqrt(squares);
    printf("# %s: %+.1f %%, root of the mean squared error over the standard error %.2f, %u far off\n", name,
           100 * bias, z, far);
    if (fabs(bias) > tolerance || z > 1.5 || far > RUNS / 100)
        fail_msg("%s: biased by %+.1f %%, error %.2f times the standard error", name, 100 * bias, z);
}

static void patterns(void **state)
{
    (void)state;
    unbiased("alternating", alternating, 0, 2, 0.01);
    unbiased("blocks of 10", short_blocks, 0, 2, 0.01);
    unbiased("blocks of 100", blocks, 0, 2, 0.015);
    unbiased("period of 7", period, 0, 2, 0.015);
    unbiased("drift", drift, 0, 2, 0.015);
    unbiased("rare", rare, 0, 4, 0.02);
}

/* A program whose first second has long calls alone: they were chosen by a window as long as these. */
static double late(long i)
{
    return i < 1000 ? 8000 : 500;
}

/* With others in turn: which function is waited for must not depend on how long it takes at present. */
static double slow_drift(long i)
{
    return (double)(400 + i % 3000);
}

static void among_others(void **state)
{
    (void)state;
    unbiased("drift, and others", drift, 1000, 12, 0.015);
    unbiased("slow drift, and others", slow_drift, 1000, 12, 0.015);
    unbiased("blocks of 100, and others", blocks, 1000, 6, 0.015);
}

static void shrinks(void **state)
{
    (void)state;
    unbiased("long ones first", late, 0, 4, 0.03);
}

/* Places by turns, half of which have long calls: a tick falls into these, and the next call is that of the next
 * place. */
static double by_place(long i)
{
    return i % PLACES < PLACES / 2 ? 300 : 6300;
}

static void all_places(void **state)
{
    unsigned least = UINT_MAX;

    (void)state;
    places = PLACES;
    for (unsigned i = 0; i < RUNS; i++) {
        simulate(by_place, 0, 0.5, i);
        for (unsigned k = 0; k < PLACES; k++) {
            unsigned returns = (unsigned)context[k ? OTHERS + 1 + k : 1].returns;

            least = returns < least ? returns : least;
        }
    }
    places = 0;
    printf("# %u calls at least of each of %d places\n", least, PLACES);
    assert_that(least, >, 0);
}

/* ---- rare long calls ---- */

static double every_50th(long i) /* six ticks' periods */
{
    return i % 50 == 49 ? 120000 : 140;
}
static double every_20th(long i) /* half a period */
{
    return i % 20 == 19 ? 10000 : 140;
}

/* Over many runs; `each`: each of the long calls is met. Of others those are missed that a sample met shortly before
 * their end. Calls come in bursts, which sampling makes longer: they seem to be more. */
static void finds_long(const char *name, double (*units)(long), double other, bool each)
{
    double time = 0, calls = 0, time_squares = 0, calls_squares = 0;

    for (unsigned i = 0; i < RUNS; i++) {
        const struct program p = simulate(units, other, 4, i);
        const struct fv_long_calls *k = &long_calls[1];
        double t = (double)k->all_ns / p.long_ns - 1;
        double c = (double)k->look_entries / (double)k->look_ns * (double)k->cpu_ns / (double)p.calls - 1;

        assert_true(k->count && k->look_ns && (!each || labs((long)k->count - p.long_calls) <= 1));
        for (unsigned of = 2; of < OTHERS + 2; of++)
            assert_int_equal(long_calls[of].count, 0);
        time += t / RUNS;
        calls += c / RUNS;
        time_squares += t * t / RUNS;
        calls_squares += c * c / RUNS;
    }
    printf("# %s: time %+.1f %%, in a run %.1f %%; calls %+.1f %%, in a run %.1f %%\n", name, 100 * time,
           100 * sqrt(time_squares), 100 * calls, 100 * sqrt(calls_squares));
    if (fabs(time) > (each ? 0.02 : 0.16) || sqrt(time_squares) > 0.2 || fabs(calls) > 0.2 || sqrt(calls_squares) > 0.3)
        fail_msg("%s: not as they are", name);
}

static void rare_long_calls(void **state)
{
    (void)state;
    finds_long("every 50th of six periods", every_50th, 100, true);
    finds_long("every 50th, and few others", every_50th, 5, true);
    finds_long("every 20th of half a period", every_20th, 300, false);
}

static int make_sampler(void **state)
{
    (void)state;
    fv_sampler_calibration.trap_ns = (uint64_t)TRAP_NS;
    s = calloc(1, sizeof(*s));
    return s ? 0 : -1;
}

static int free_sampler(void **state)
{
    (void)state;
    free(s);
    return 0;
}

int main(void)
{
    static struct fv_file_header header; /* the sampler shows signs of life there */
    const struct CMUnitTest tests[] = { cmocka_unit_test(patterns), cmocka_unit_test(among_others),
                                        cmocka_unit_test(shrinks), cmocka_unit_test(rare_long_calls),
                                        cmocka_unit_test(all_places) };

    fv_rt.writer.header = &header;
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("windows", tests, make_sampler, free_sampler);
}
