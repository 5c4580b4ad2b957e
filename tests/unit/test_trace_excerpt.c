/* The calls, messages and spans of a trace, as the page's timeline has them, of two ranks made in memory. */
#include "profile/model.h"
#include "trace_builder.h"
#include "unit.h"

#define BEGIN UINT64_C(1000000000)
#define MS    UINT64_C(1000000)
#define WORLD 1

static struct fvr file[2];
static struct events events[2];
static struct fv_experiment experiment;
static struct fv_model model;

static int begin(void **state)
{
    (void)state;
    experiment = (struct fv_experiment){ 0 };
    for (int i = 0; i < 2; i++) {
        rank_file(&file[i], i, 2);
        begin_events(&events[i], BEGIN);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    for (int i = 0; i < 2; i++)
        fvr_release(&file[i]);
    return 0;
}

static void build(size_t traced_calls)
{
    /* call sites are known by their cells */
    for (int i = 0; i < 2; i++)
        for (uint16_t f = 0; f < FUNCTIONS; f++)
            fvr_cell(&file[i], 0, 0, WORLD, f, (const uint64_t[]){ 10 * f + 1 }, 1, 0, 0);
    for (int i = 0; i < 2; i++) {
        end_file(&file[i], &events[i], NULL);
        fvr_join(&file[i], &experiment);
    }
    fv_experiment_choose(&experiment);
    experiment.traced_calls = traced_calls;
    fv_model_build(&model, NULL, &experiment, false);
}

/* Rank 0 sends three messages, two with one tag; rank 1 takes the other one first, by a non-blocking receive. */
static void talk(void)
{
    call(&events[0], SEND, BEGIN + 1 * MS, BEGIN + 2 * MS);
    EVENT(&events[0], SEND, WORLD, 1, 5, 100);
    call(&events[0], SEND, BEGIN + 3 * MS, BEGIN + 4 * MS);
    EVENT(&events[0], SEND, WORLD, 1, 6, 200);
    call(&events[0], SEND, BEGIN + 5 * MS, BEGIN + 15 * MS);
    EVENT(&events[0], SEND, WORLD, 1, 5, 300);
    call(&events[1], IRECV, BEGIN + 1 * MS, BEGIN + 1 * MS + 10);
    EVENT(&events[1], IRECV, 1, WORLD, 0, 6);
    call(&events[1], WAIT, BEGIN + 2 * MS, BEGIN + 6 * MS);
    EVENT(&events[1], RECEIVED, 1, 0, 6, 200);
    call(&events[1], RECV, BEGIN + 7 * MS, BEGIN + 8 * MS);
    EVENT(&events[1], RECV, WORLD, 0, 5, 100);
    call(&events[1], RECV, BEGIN + 9 * MS, BEGIN + 16 * MS);
    EVENT(&events[1], RECV, WORLD, 0, 5, 300);
}

static bool is_ms(double seconds, double ms)
{
    return fabs(seconds * 1e3 - ms) < 1e-6;
}

static const struct fv_trace_message *of_bytes(uint64_t bytes)
{
    for (size_t i = 0; i < model.excerpt.message_count; i++)
        if (model.excerpt.messages[i].bytes == bytes)
            return &model.excerpt.messages[i];
    fail_msg("no message of %llu bytes", (unsigned long long)bytes);
    return NULL;
}

static void calls_and_messages(void **state)
{
    static const struct {
        uint64_t bytes;
        double sent, received;
    } wanted[] = { { 100, 1, 8 }, { 200, 3, 6 }, { 300, 5, 16 } };
    const struct fv_trace_excerpt *t = &model.excerpt;
    double first;

    (void)state;
    talk();
    build(1000);
    assert_int_equal(t->call_count, 7);
    assert_int_equal(t->calls_left_out, 0);
    first = t->calls[0].begin_s;
    for (size_t i = 0; i < 7; i++) {
        const char *name = model.functions[model.sites[t->calls[i].site].function].name;

        assert_int_equal(t->calls[i].rank, i >= 3);
        assert_string_equal(name, i < 3 ? "MPI_Send" : i == 3 ? "MPI_Irecv" : i == 4 ? "MPI_Wait" : "MPI_Recv");
    }
    assert_true(is_ms(t->calls[2].begin_s - first, 4) && is_ms(t->calls[2].duration_s, 10));
    assert_int_equal(t->calls[4].bytes, 200); /* where it was completed */
    for (size_t i = 0; i < 7; i++) /* a late receiver of the send that did not return before, a late sender */
        assert_true(is_ms(t->calls[i].wait_s, i == 2 ? 4 : i == 4 ? 1 : 0));
    assert_int_equal(t->calls[2].waits_for, 1);
    assert_int_equal(t->calls[4].waits_for, 0);
    assert_int_equal(t->message_count, 3);
    assert_int_equal(t->unmatched, 0);
    for (size_t i = 0; i < 3; i++) {
        const struct fv_trace_message *m = of_bytes(wanted[i].bytes);

        assert_int_equal(m->from, 0);
        assert_int_equal(m->to, 1);
        assert_true(is_ms(m->sent_s - first, wanted[i].sent - 1) &&
                    is_ms(m->received_s - first, wanted[i].received - 1));
    }
}

/* Of each rank the longest, and the largest messages of all. */
static void no_more_than_asked(void **state)
{
    const struct fv_trace_excerpt *t = &model.excerpt;

    (void)state;
    talk();
    build(4);
    assert_int_equal(t->call_count, 4);
    assert_int_equal(t->calls_left_out, 3);
    assert_true(is_ms(t->calls[1].duration_s, 10) && is_ms(t->calls[2].duration_s, 4) &&
                is_ms(t->calls[3].duration_s, 7));
    assert_int_equal(t->message_count, 3);
    end(NULL);
    begin(NULL);
    talk();
    build(2);
    assert_int_equal(t->message_count, 2);
    assert_int_equal(t->messages_left_out, 1);
    assert_int_equal(of_bytes(300)->to, 1);
}

static void none_asked(void **state)
{
    (void)state;
    talk();
    build(0);
    assert_int_equal(model.excerpt.call_count, 0);
    assert_int_equal(model.excerpt.message_count, 0);
}

/* A message whose other end is missing is no message; a request that nobody began is nobody's, whatever its number. */
static void half_messages(void **state)
{
    (void)state;
    call(&events[0], SEND, BEGIN + 1 * MS, BEGIN + 2 * MS);
    EVENT(&events[0], SEND, WORLD, 1, 5, 100);
    call(&events[0], SEND, BEGIN + 3 * MS, BEGIN + 4 * MS);
    EVENT(&events[0], SEND, WORLD, 9, 5, 100);
    call(&events[1], WAIT, BEGIN + 2 * MS, BEGIN + 6 * MS);
    EVENT(&events[1], RECEIVED, UINT64_C(1) << 60, 0, 5, 100);
    build(1000);
    assert_int_equal(model.excerpt.call_count, 3);
    assert_int_equal(model.excerpt.message_count, 0);
    assert_int_equal(model.excerpt.unmatched, 1); /* rank 9 is not in the communicator */
}

static void collective(int rank, unsigned function, uint64_t sequence, uint64_t root, uint64_t begin_ms,
                       uint64_t end_ms)
{
    call(&events[rank], function, BEGIN + begin_ms * MS, BEGIN + end_ms * MS);
    EVENT(&events[rank], COLLECTIVE, WORLD, root, 8, 8, sequence);
}

/* Who waits for whom follows from the function: all for the last, others for the root, or the root for the others.
 * Nobody knows where a rank's entry is missing. */
static void waits_in_collectives(void **state)
{
    static const double waited_ms[2][5] = { { 5, 3, 4, 0, 0 }, { 0, 0, 0, 0, 0 } };

    (void)state;
    collective(0, ALLREDUCE, 1, UINT64_MAX, 2, 10);
    collective(1, ALLREDUCE, 1, UINT64_MAX, 7, 11);
    collective(0, BCAST, 2, 1, 12, 20);
    collective(1, BCAST, 2, 1, 15, 16);
    collective(0, REDUCE, 3, 0, 21, 30);
    collective(1, REDUCE, 3, 0, 25, 26);
    collective(1, REDUCE, 4, 0, 27, 28); /* gives, and goes on */
    collective(0, REDUCE, 4, 0, 31, 32);
    collective(0, ALLREDUCE, 5, UINT64_MAX, 40, 50);
    collective(1, ALLREDUCE, 6, UINT64_MAX, 45, 50);
    build(1000);
    assert_int_equal(model.excerpt.call_count, 10);
    for (size_t i = 0; i < 10; i++) {
        const struct fv_trace_call *c = &model.excerpt.calls[i];

        assert_true(is_ms(c->wait_s, waited_ms[c->rank][i % 5]));
        assert_true(c->wait_s <= 0 || c->waits_for == 1);
    }
    end(NULL);
    begin(NULL);
    collective(0, ALLREDUCE, 1, UINT64_MAX, 2, 10);
    collective(1, ALLREDUCE, 1, UINT64_MAX, 9, 10);
    build(2);
    assert_true(is_ms(model.excerpt.calls[0].wait_s, 7));
}

static const struct fv_trace_call *call_at(uint32_t rank, uint64_t ms)
{
    for (size_t i = 0; i < model.excerpt.call_count; i++)
        if (model.excerpt.calls[i].rank == rank &&
            is_ms(model.excerpt.calls[i].begin_s - model.excerpt.calls[0].begin_s, (double)ms - 1))
            return &model.excerpt.calls[i];
    fail_msg("rank %u has no call after %llu ms", rank, (unsigned long long)ms);
    return NULL;
}

/* A communicator in which the ranks of the world stand the other way round. */
static uint32_t reversed(int rank)
{
    uint64_t memory[(sizeof(struct fv_comm_record) + sizeof(struct fv_rank_run) + 7) / 8] = { 0 };
    struct fv_comm_record *r = (void *)memory;

    r->bytes = sizeof(memory);
    r->id = ++file[rank].comms;
    r->uid = 9;
    r->rank = 1 - rank;
    r->size = 2;
    r->runs = 1;
    r->run[0] = (struct fv_rank_run){ 1, -1, 2 };
    fvr_add(&file[rank], FV_CHUNK_COMMS, FV_NO_THREAD, r, sizeof(memory));
    return r->id;
}

/* By ranks of the communicator; who sends nothing keeps nobody waiting; fvmpi's own barrier keeps all. */
static void waits_by_the_rule(void **state)
{
    (void)state;
    for (int parted = 0; parted < 2; parted++) {
        uint32_t comm[2] = { reversed(0), reversed(1) };

        for (int i = 0; i < 2; i++) {
            /* from world rank 0, which is 1 there */
            call(&events[i], BCAST, BEGIN + (i ? 2 : 9) * MS, BEGIN + 12 * MS);
            EVENT(&events[i], COLLECTIVE, comm[i], 1, 8, 8, 1);
            call(&events[i], ALLREDUCE, BEGIN + (i ? 20 : 27) * MS, BEGIN + 30 * MS); /* rank 0 gives nothing */
            EVENT(&events[i], COLLECTIVE, comm[i], UINT64_MAX, i ? 8 : 0, 8, 2);
            call(&events[i], REDUCE, BEGIN + (i ? 45 : 41) * MS, BEGIN + 50 * MS); /* to world rank 1 */
            EVENT(&events[i], COLLECTIVE, comm[i], 0, 8, 8, 3);
            file[i].header.barrier = parted ? FV_BARRIER_BEFORE : FV_BARRIER_NONE;
        }
        build(1000);
        assert_int_equal(model.excerpt.waits_unknown, 0);
        for (size_t i = 0; i < 6; i++) {
            const struct fv_trace_call *c = &model.excerpt.calls[i];
            double wanted = i == 3 ? 7 : i == 4 && parted ? 7 : i == 2 && parted ? 4 : 0;

            assert_true(is_ms(c->wait_s, wanted));
        }
        end(NULL);
        begin(NULL);
    }
}

/* 100 bytes soon, and 200 bytes late, with one tag. */
static void send_two(void)
{
    call(&events[0], SEND, BEGIN + 1 * MS, BEGIN + 2 * MS);
    EVENT(&events[0], SEND, WORLD, 1, 5, 100);
    call(&events[0], SEND, BEGIN + 30 * MS, BEGIN + 31 * MS);
    EVENT(&events[0], SEND, WORLD, 1, 5, 200);
}

/* Receives are of the messages in the order in which they were posted, whichever is completed first, and on whichever
 * thread. */
static void order_of_posting(void **state)
{
    (void)state;
    send_two();
    call(&events[1], IRECV, BEGIN + 3 * MS, BEGIN + 3 * MS + 10);
    EVENT(&events[1], IRECV, 1, WORLD, 0, 5);
    call(&events[1], IRECV, BEGIN + 4 * MS, BEGIN + 4 * MS + 10);
    EVENT(&events[1], IRECV, 2, WORLD, 0, 5);
    call(&events[1], WAIT, BEGIN + 5 * MS, BEGIN + 32 * MS); /* for the second */
    EVENT(&events[1], RECEIVED, 2, 0, 5, 200);
    call(&events[1], WAIT, BEGIN + 33 * MS, BEGIN + 34 * MS);
    EVENT(&events[1], RECEIVED, 1, 0, 5, 100);
    build(1000);
    assert_int_equal(model.excerpt.message_count, 2);
    assert_true(is_ms(call_at(1, 5)->wait_s, 25) && call_at(1, 5)->waits_for == 0);
    assert_true(is_ms(call_at(1, 33)->wait_s, 0));
    assert_true(is_ms(of_bytes(200)->received_s - of_bytes(200)->sent_s, 2));
}

/* Of a matched probe the message is told by the receive. */
static void matched_probe(void **state)
{
    (void)state;
    send_two();
    call(&events[1], PROBE, BEGIN + 3 * MS, BEGIN + 4 * MS);
    EVENT(&events[1], MATCHED, 1, WORLD, 0, 5);
    call(&events[1], RECV, BEGIN + 5 * MS, BEGIN + 6 * MS);
    EVENT(&events[1], MRECV, 1, 100);
    call(&events[1], RECV, BEGIN + 7 * MS, BEGIN + 32 * MS);
    EVENT(&events[1], RECV, WORLD, 0, 5, 200);
    build(1000);
    assert_int_equal(model.excerpt.message_count, 2);
    assert_int_equal(model.excerpt.unmatched, 0);
    assert_true(is_ms(call_at(1, 7)->wait_s, 23));
    assert_int_equal(of_bytes(100)->to, 1);
}

/* Of a run that ended well, a receive that was freed makes it unknown which messages of its stream the others are. */
static void freed_receive(void **state)
{
    (void)state;
    send_two();
    call(&events[1], IRECV, BEGIN + 3 * MS, BEGIN + 3 * MS + 10);
    EVENT(&events[1], IRECV, 1, WORLD, 0, 5);
    call(&events[1], RECV, BEGIN + 7 * MS, BEGIN + 32 * MS);
    EVENT(&events[1], RECV, WORLD, 0, 5, 200);
    build(1000);
    assert_int_equal(model.excerpt.message_count, 0);
    assert_int_equal(model.excerpt.unmatched, 3);
    assert_true(is_ms(call_at(1, 7)->wait_s, 0));
}

static void sample(int rank, uint32_t thread, uint64_t at, uint32_t path)
{
    const struct fv_logged_sample s = { at, path, 2 * MS };

    fvr_add(&file[rank], FV_CHUNK_SAMPLE_LOG, thread, &s, sizeof(s));
}

/* Two paths of thread 0, one of thread 1; of a path that is not there nothing is known. */
static void sample_rank(int rank)
{
    uint32_t app = fvr_module(&file[rank], "/usr/bin/app", 0x10000, NULL);
    uint32_t outer = fvr_sample_path(&file[rank], 0, 0, app, 0x10);
    uint32_t inner = fvr_sample_path(&file[rank], 0, outer, app, 0x20),
             other = fvr_sample_path(&file[rank], 1, 0, app, 0x30);

    for (unsigned i = 0; i < 6; i++)
        sample(rank, 0, BEGIN + (2 * i + 1) * MS, i == 5 ? outer : inner);
    sample(rank, 1, BEGIN + 3 * MS, other);
    sample(rank, 1, BEGIN + 4 * MS, 77);
}

static void samples(void **state)
{
    const struct fv_trace_excerpt *t = &model.excerpt;

    (void)state;
    talk();
    sample_rank(1);
    build(1000);
    assert_int_equal(t->sample_count, 8);
    assert_int_equal(t->samples_left_out, 0);
    assert_int_equal(t->samples[7].node, 0);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(t->samples[i].rank, 1);
        assert_int_equal(t->samples[i].thread, i == 6);
        assert_int_equal(model.tree.nodes[t->samples[i].node].offset, i == 6 ? 0x30 : i == 5 ? 0x10 : 0x20);
        assert_int_equal(t->samples[i].ticks, 1);
        /* the first call begins after 1 ms */
        assert_true(is_ms(t->samples[i].time_s - t->calls[0].begin_s, i == 6 ? 2 : 2.0 * (double)i));
    }
}

/* Those that are left stand for all, of each thread its own. */
static void samples_thinned(void **state)
{
    const struct fv_trace_excerpt *t = &model.excerpt;
    uint32_t ticks[2] = { 0 };

    (void)state;
    sample_rank(0);
    build(4); /* two of each rank: one of four */
    assert_int_equal(t->sample_count, 3);
    assert_int_equal(t->samples_left_out, 5);
    for (size_t i = 0; i < 3; i++)
        ticks[t->samples[i].thread] += t->samples[i].ticks;
    assert_int_equal(t->samples[0].ticks, 4);
    assert_int_equal(ticks[0], 6);
    assert_int_equal(ticks[1], 2);
}

/* An event of a thread, so many ms after the begin. */
static void at(struct events *e, enum fv_event_kind kind, uint64_t ms, uint64_t second, uint64_t third)
{
    event(e, kind, (const uint64_t[FV_EVENT_FIELDS]){ BEGIN + ms * MS - e->end, second, third });
    e->end = BEGIN + ms * MS;
}

static void lasts(struct events *e, enum fv_event_kind kind, uint64_t ms, uint64_t for_ms, const uint64_t of[4])
{
    event(e, kind, (const uint64_t[]){ BEGIN + ms * MS - e->end, for_ms * MS, of[0], of[1], of[2], of[3] });
    e->end = BEGIN + (ms + for_ms) * MS;
}

struct wanted_span {
    uint32_t thread;
    enum fv_trace_layer layer;
    double begin, lasts;
    unsigned depth;
    const char *name; /* NULL: a function's, by its node */
    const char *object;
    uint64_t bytes, offset; /* offset: of its node; 0: none */
};

static void same_spans(const struct wanted_span *wanted, size_t count, double first_ms)
{
    const struct fv_trace_excerpt *t = &model.excerpt;

    assert_int_equal(t->span_count, count);
    for (size_t i = 0; i < count; i++) {
        const struct fv_trace_span *of = &t->spans[i];
        const struct wanted_span *w = &wanted[i];

        assert_int_equal(of->thread, w->thread);
        assert_int_equal(of->layer, w->layer);
        assert_true(is_ms(of->begin_s - t->calls[0].begin_s, w->begin - first_ms));
        assert_true(is_ms(of->duration_s, w->lasts));
        assert_int_equal(of->depth, w->depth);
        assert_true(fv_same_text(of->name, w->name));
        assert_true(fv_same_text(of->object, w->object));
        assert_int_equal(of->bytes, w->bytes);
        assert_int_equal(model.tree.nodes[of->node].offset, w->offset);
    }
}

static void file_of(struct fvr *f, const char *name)
{
    uint64_t memory[16] = { 0 };
    struct fv_io_file *file = (void *)memory;

    *file = (struct fv_io_file){ .bytes = sizeof(memory), .id = 1, .path_bytes = (uint32_t)strlen(name) };
    strcpy((char *)memory + sizeof(*file), name);
    fvr_add(f, FV_CHUNK_IO_FILES, FV_NO_THREAD, memory, sizeof(memory));
    fvr_add(f, FV_CHUNK_IO_HANDLES, FV_NO_THREAD, &(struct fv_io_handle){ .id = 1, .file = 1 },
            sizeof(struct fv_io_handle));
}

static void section_of(struct fvr *f, const char *name, int32_t number, uint32_t outer, uint32_t id)
{
    struct fv_section section = { .number = number };

    strcpy(section.name, name);
    fvr_add(f, FV_CHUNK_SECTIONS, FV_NO_THREAD, &section, sizeof(section));
    fvr_add(f, FV_CHUNK_SECTION_SETS, FV_NO_THREAD, &(struct fv_section_set){ outer, id },
            sizeof(struct fv_section_set));
}

/* A call at 1 ms; sections, functions, a file and memory; an exception leaves inner(), and outer() is open at the
 * end. */
static void put_spans(void)
{
    struct events *e = &events[0];
    uint32_t app = fvr_module(&file[0], "/usr/bin/app", 0x10000, NULL), outer = fvr_path(&file[0], 0, app, 0x100),
             inner = fvr_path(&file[0], outer, app, 0x200);

    section_of(&file[0], "step", 3, 0, 1);
    section_of(&file[0], "output", 0, 1, 2);
    file_of(&file[0], "/tmp/x");
    call(e, ALLREDUCE, BEGIN + 1 * MS, BEGIN + 2 * MS);
    at(e, FV_EV_SECTIONS, 3, 1, 0);
    at(e, FV_EV_FUNCTION_ENTER, 4, outer, 0);
    at(e, FV_EV_FUNCTION_ENTER, 5, inner, 0);
    at(e, FV_EV_FUNCTION_ENTER, 6, inner, 0);
    at(e, FV_EV_FUNCTION_LEAVE, 8, 1, 0);
    at(e, FV_EV_SECTIONS, 9, 2, 0);
    lasts(e, FV_EV_IO, 10, 2, (const uint64_t[]){ outer, FV_IO_FN_write, 1, 501 });
    lasts(e, FV_EV_MEMORY, 13, 1, (const uint64_t[]){ outer, FV_MEMORY_FN_REALLOC, 65, 33 });
    at(e, FV_EV_SECTIONS, 15, 0, 0);
    call(e, ALLREDUCE, BEGIN + 16 * MS, BEGIN + 20 * MS);
}

static void spans_of_a_thread(void **state)
{
    static const struct wanted_span wanted[] = {
        { 0, FV_TRACE_SECTIONS, 3, 12, 0, "step 3", NULL, 0, 0 },
        { 0, FV_TRACE_SECTIONS, 9, 6, 1, "output", NULL, 0, 0 },
        { 0, FV_TRACE_FUNCTIONS, 4, 16, 0, NULL, NULL, 0, 0x100 },
        { 0, FV_TRACE_FUNCTIONS, 5, 3, 1, NULL, NULL, 0, 0x200 },
        { 0, FV_TRACE_FUNCTIONS, 6, 2, 2, NULL, NULL, 0, 0x200 },
        { 0, FV_TRACE_IO, 10, 2, 0, "write", "/tmp/x", 500, 0x100 },
        { 0, FV_TRACE_MEMORY, 13, 1, 0, "realloc", NULL, 64, 0x100 },
    };

    (void)state;
    put_spans();
    build(1000);
    same_spans(wanted, sizeof(wanted) / sizeof(wanted[0]), 1);
    for (unsigned layer = 0; layer < FV_TRACE_LAYERS; layer++)
        assert_int_equal(model.excerpt.spans_left_out[layer], 0);
}

/* Of each rank and layer the longest. */
static void longest_spans(void **state)
{
    static const struct wanted_span wanted[] = {
        { 0, FV_TRACE_SECTIONS, 3, 12, 0, "step 3", NULL, 0, 0 },
        { 0, FV_TRACE_FUNCTIONS, 4, 16, 0, NULL, NULL, 0, 0x100 },
        { 0, FV_TRACE_IO, 10, 2, 0, "write", "/tmp/x", 500, 0x100 },
        { 0, FV_TRACE_MEMORY, 13, 1, 0, "realloc", NULL, 64, 0x100 },
    };

    (void)state;
    put_spans();
    build(4); /* two of each rank: one of a layer */
    same_spans(wanted, sizeof(wanted) / sizeof(wanted[0]), 1);
    assert_int_equal(model.excerpt.spans_left_out[FV_TRACE_SECTIONS], 1);
    assert_int_equal(model.excerpt.spans_left_out[FV_TRACE_FUNCTIONS], 2);
}

/* Thread 1 comes at 20 ms, thread 0 at 8 ms: that waits for thread 1. A single's end that was lost is its team's. */
static void spans_of_a_team(void **state)
{
    static const struct wanted_span wanted[] = {
        { 0, FV_TRACE_OPENMP, 4, 4, 0, "omp parallel", NULL, 0, 0x100 },
        { 0, FV_TRACE_OPENMP, 5, 1, 1, "omp for", NULL, 0, 0x200 },
        { 0, FV_TRACE_WAITS, 8, 12, 0, "omp implicit barrier", "thread 1", 0, 0x100 },
        { 1, FV_TRACE_OPENMP, 6, 14, 0, "omp parallel", NULL, 0, 0x100 },
        { 1, FV_TRACE_OPENMP, 14, 6, 1, "omp single", NULL, 0, 0x200 },
        { 1, FV_TRACE_WAITS, 7, 5, 0, "pthread_mutex_lock", "thread 0", 0, 0x200 },
    };
    struct events *e = &events[0], worker;
    uint32_t app = fvr_module(&file[0], "/usr/bin/app", 0x10000, NULL), fork = fvr_path(&file[0], 0, app, 0x100),
             loop = fvr_path(&file[0], fork, app, 0x200);

    (void)state;
    call(e, ALLREDUCE, BEGIN + 1 * MS, BEGIN + 2 * MS);
    event(e, FV_EV_OMP_FORK, (const uint64_t[]){ 1 * MS, 1, 2, fork });
    e->end = BEGIN + 3 * MS;
    at(e, FV_EV_TEAM_BEGIN, 4, 1, 0);
    at(e, FV_EV_WORK_BEGIN, 5, FV_OMP_WORK_LOOP, loop);
    at(e, FV_EV_WORK_END, 6, FV_OMP_WORK_LOOP, 0);
    at(e, FV_EV_TEAM_END, 8, 1, 0);
    event(e, FV_EV_OMP_JOIN, (const uint64_t[]){ 13 * MS, 1, 1 * MS, 0, fork, 2 });
    e->end = BEGIN + 21 * MS;
    begin_events(&worker, BEGIN);
    at(&worker, FV_EV_TEAM_BEGIN, 6, 1, 0);
    lasts(&worker, FV_EV_WAIT, 7, 5, (const uint64_t[]){ 0, loop, FV_SYNC_MUTEX | FV_SYNC_LOCK << 4, 1 });
    at(&worker, FV_EV_WORK_BEGIN, 14, FV_OMP_WORK_SINGLE, loop);
    at(&worker, FV_EV_TEAM_END, 20, 1, 0);
    fvr_thread(&file[0], 1, false, 0, 0, NULL);
    fvr_add(&file[0], FV_CHUNK_EVENTS, 1, worker.bytes, worker.count);
    build(1000);
    same_spans(wanted, sizeof(wanted) / sizeof(wanted[0]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_and_messages, begin, end),
        cmocka_unit_test_setup_teardown(no_more_than_asked, begin, end),
        cmocka_unit_test_setup_teardown(none_asked, begin, end),
        cmocka_unit_test_setup_teardown(half_messages, begin, end),
        cmocka_unit_test_setup_teardown(waits_in_collectives, begin, end),
        cmocka_unit_test_setup_teardown(waits_by_the_rule, begin, end),
        cmocka_unit_test_setup_teardown(order_of_posting, begin, end),
        cmocka_unit_test_setup_teardown(matched_probe, begin, end),
        cmocka_unit_test_setup_teardown(freed_receive, begin, end),
        cmocka_unit_test_setup_teardown(samples, begin, end),
        cmocka_unit_test_setup_teardown(samples_thinned, begin, end),
        cmocka_unit_test_setup_teardown(spans_of_a_thread, begin, end),
        cmocka_unit_test_setup_teardown(longest_spans, begin, end),
        cmocka_unit_test_setup_teardown(spans_of_a_team, begin, end),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("traced", tests, NULL, NULL);
}
