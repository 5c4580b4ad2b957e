/* Measured instances of functions in a trace: how they nest with each other and with calls of MPI, what is
 * left out and counted, and that they are the same functions in all ranks. Samples of the CPU clock between them. */
#include "merge/weave.h"
#include "merge/weave_samples.h"
#include "trace_builder.h"
#include "unit.h"

#define BEGIN UINT64_C(1000000000) /* tick of time 0 */

/* ---- rank files with instances ---- */

/* Contexts of a thread: f, called by main; g, called by f; h, called by main. Offsets are one past the
 * entries. */
enum { F, G, H, CONTEXTS };

static void contexts(struct fvr *f, uint32_t thread, const char *build_id)
{
    uint32_t module = f->modules ? f->modules : fvr_module(f, "/app", 0, build_id);
    const struct fv_path_record paths[] = {
        { 0, module, 0x1f0 }, { 1, module, 0x401 }, /* main's call, f's entry */
        { 1, module, 0x410 }, { 3, module, 0x501 }, /* in f: its call, g's entry */
        { 0, module, 0x1fa }, { 5, module, 0x601 }, /* main's other call, h's entry */
    };

    fvr_add(f, FV_CHUNK_SAMPLE_PATHS, thread, paths, sizeof(paths));
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        const struct fv_instances r = { .path = 2 * i + 2, .entries = 1, .returns = 1 };

        fvr_add(f, FV_CHUNK_INSTANCES, thread, &r, sizeof(r));
    }
}

static void instance(struct fvr *f, uint32_t thread, uint32_t context, uint64_t begin, uint64_t end)
{
    const struct fv_logged_instance i = { BEGIN + begin, BEGIN + end, (end - begin) / 2, context, 0 };

    fvr_add(f, FV_CHUNK_INSTANCE_LOG, thread, &i, sizeof(i));
}

/* ---- a sink that writes words: function{ for a begin, } for an end, [ and ] for a call ---- */

struct words {
    const struct fv_merge *merge;
    char text[4096];
    size_t used;
    struct fv_location_stats locations[4];
    uint64_t told; /* records */
};

static bool open_words(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    (void)sink, (void)slot, (void)location;
    return true;
}

static void say(struct words *w, const char *what, uint64_t time)
{
    w->used +=
        (size_t)snprintf(w->text + w->used, sizeof(w->text) - w->used, "%s%llu ", what, (unsigned long long)time);
    assert_that(w->used, <, sizeof(w->text));
}

static const char *function_of(const struct fv_merge *m, uint32_t node)
{
    const char *name = m->contexts.functions[m->function_of_node[node]].name;

    return !strcmp(name, "app+0x400")   ? "f{"
           : !strcmp(name, "app+0x500") ? "g{"
           : !strcmp(name, "app+0x600") ? "h{"
                                        : name;
}

static bool put_words(struct fv_sink *sink, uint32_t slot, const struct fv_record *r)
{
    struct words *w = sink->context;

    assert_that(r->time_ns, >=, w->locations[slot].first_ns);
    w->told++;
    if (slot && (r->kind == FV_REC_INSTANCE || r->kind == FV_REC_INSTANCE_END))
        say(w, "thread", slot);
    switch (r->kind) {
    case FV_REC_PROGRAM_BEGIN: break;
    case FV_REC_PROGRAM_END: say(w, ".", r->time_ns); break;
    case FV_REC_ENTER: say(w, "[", r->time_ns); break;
    case FV_REC_LEAVE: say(w, "]", r->time_ns); break;
    case FV_REC_MEASURE: say(w, r->op ? "on" : "off", r->time_ns); break;
    case FV_REC_INSTANCE: say(w, function_of(w->merge, r->context), r->time_ns); break;
    case FV_REC_INSTANCE_END: say(w, "}", r->time_ns); break;
    case FV_REC_SAMPLE: say(w, "*", r->time_ns); break;
    case FV_REC_EVENT_COUNT:
        say(w, "event", r->op);
        say(w, "=", r->sent);
        break;
    default: say(w, "?", r->time_ns); break;
    }
    return true;
}

static bool close_words(struct fv_sink *sink, uint32_t slot)
{
    (void)sink, (void)slot;
    return true;
}

static struct fv_instance_stats weave_with(const struct fv_merge *m, size_t file, struct words *out,
                                           struct fv_sample_counts *samples)
{
    const struct fv_replay r = { .defs = (struct fv_defs *)&m->defs, .clocks = &m->clocks, .calls = m->calls };
    const struct fv_merge_file *f = &m->files[file];
    struct fv_sink sink = { .context = out, .open = open_words, .put = put_words, .close = close_words };
    struct fv_replay_stats stats = { 0 };
    struct fv_weave_samples s;
    struct fv_weave w;

    *out = (struct words){ .merge = m };
    fv_weave_samples_init(&s, &m->defs, &m->clocks, &sink);
    fv_weave_samples_rank(&s, f->rank, f->reader, &f->map, out->locations);
    fv_weave_init(&w, &m->defs, &m->clocks, samples ? &s.sink : &sink);
    fv_weave_rank(&w, f->rank, f->reader, &f->map, out->locations);
    assert_true(fv_replay_rank(&r, f->rank, f->reader, &f->map, &w.sink, out->locations, &stats));
    assert_int_equal(stats.records, out->told);
    fv_weave_release(&w);
    fv_weave_samples_release(&s);
    if (samples)
        *samples = s.counts;
    return w.stats;
}

static struct fv_instance_stats weave(const struct fv_merge *m, size_t file, struct words *out)
{
    return weave_with(m, file, out, NULL);
}

/* Calls: pairs of begin and end, until 0. */
static void trace(struct fvr *f, const uint64_t *calls)
{
    struct events e;

    rank_file(f, 0, 1);
    contexts(f, 0, NULL);
    begin_events(&e, BEGIN);
    for (; *calls; calls += 2)
        call(&e, WAIT, BEGIN + calls[0], BEGIN + calls[1]);
    end_file(f, &e, NULL);
}
#define TRACE(f, ...) trace(f, (const uint64_t[]){ __VA_ARGS__, 0, 0 })

static struct fv_instance_stats expect(struct fvr *f, const char *wanted)
{
    struct fv_instance_stats stats;
    struct fv_merge m;
    struct words w;

    merge_files(&m, f, 1);
    stats = weave(&m, 0, &w);
    assert_string_equal(w.text, wanted);
    fv_merge_close(&m);
    fvr_release(f);
    return stats;
}

static void assert_told(const struct fv_instance_stats *s, uint64_t told, uint64_t cut)
{
    assert_int_equal(s->told, told);
    assert_int_equal(s->cut, cut);
    assert_int_equal(s->off + s->no_context + s->crossed + s->damaged, 0);
}

/* ---- nesting ---- */

static void around_and_in_calls(void **state)
{
    struct fv_instance_stats s;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60, 70, 90, 120, 130);
    instance(&f, 0, G, 30, 40);
    instance(&f, 0, H, 72, 74); /* the MPI library ran it */
    instance(&f, 0, H, 75, 80);
    instance(&f, 0, F, 10, 100);
    instance(&f, 0, H, 200, 300);
    s = expect(&f, "f{10 g{30 }40 [50 ]60 [70 h{72 }74 h{75 }80 ]90 }100 [120 ]130 h{200 }300 .1000000000 ");
    assert_told(&s, 5, 0);
}

static void recursion(void **state)
{
    struct fv_instance_stats s;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60);
    instance(&f, 0, F, 30, 70);
    instance(&f, 0, F, 20, 80);
    instance(&f, 0, F, 82, 84);
    instance(&f, 0, F, 10, 90);
    s = expect(&f, "f{10 f{20 f{30 [50 ]60 }70 }80 f{82 }84 }90 .1000000000 ");
    assert_told(&s, 4, 0);
}

static void equal_times(void **state)
{
    struct fv_instance_stats s;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60);
    instance(&f, 0, H, 40, 50);
    instance(&f, 0, G, 50, 55);
    instance(&f, 0, G, 55, 60);
    instance(&f, 0, F, 50, 60); /* as long as the call: around it */
    instance(&f, 0, H, 60, 60);
    instance(&f, 0, H, 60, 70);
    s = expect(&f, "h{40 }50 f{50 [50 g{50 }55 g{55 }60 ]60 }60 h{60 }60 h{60 }70 .1000000000 ");
    assert_told(&s, 6, 0);

    TRACE(&f, 50, 50, 50, 50); /* of no length */
    instance(&f, 0, G, 50, 50);
    instance(&f, 0, F, 50, 50);
    instance(&f, 0, H, 40, 50);
    s = expect(&f, "h{40 }50 g{50 }50 f{50 }50 [50 ]50 [50 ]50 .1000000000 ");
    assert_told(&s, 3, 0);

    TRACE(&f, 50, 60);
    instance(&f, 0, H, 50, 50); /* before the next, which is around the call */
    instance(&f, 0, F, 50, 70);
    s = expect(&f, "h{50 }50 f{50 [50 ]60 }70 .1000000000 ");
    assert_told(&s, 2, 0);

    TRACE(&f, 50, 60);
    instance(&f, 0, F, 10, 100); /* tail calls: all return together */
    instance(&f, 0, H, 20, 100);
    instance(&f, 0, G, 30, 100);
    s = expect(&f, "f{10 h{20 g{30 [50 ]60 }100 }100 }100 .1000000000 ");
    assert_told(&s, 3, 0);
}

/* What neither lies in a call nor around it keeps what is outside. */
static void overlaps_with_calls(void **state)
{
    struct fv_instance_stats s;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60);
    instance(&f, 0, G, 45, 54); /* cut as well */
    instance(&f, 0, G, 54, 55); /* in the call, and now by itself */
    instance(&f, 0, F, 40, 56);
    s = expect(&f, "f{40 g{45 }50 }50 [50 g{54 }55 ]60 .1000000000 ");
    assert_told(&s, 3, 2);

    TRACE(&f, 50, 60);
    instance(&f, 0, G, 53, 55); /* in the call */
    instance(&f, 0, G, 56, 65);
    instance(&f, 0, F, 52, 70);
    s = expect(&f, "[50 g{53 }55 ]60 f{60 g{60 }65 }70 .1000000000 ");
    assert_told(&s, 3, 2);

    TRACE(&f, 50, 60, 80, 90);
    instance(&f, 0, F, 55, 85);
    s = expect(&f, "[50 ]60 f{60 }80 [80 ]90 .1000000000 ");
    assert_told(&s, 1, 1);

    TRACE(&f, 50, 60, 60, 90);
    instance(&f, 0, F, 59, 61); /* nothing of it is outside */
    s = expect(&f, "[50 ]60 f{60 }60 [60 ]90 .1000000000 ");
    assert_told(&s, 1, 1);
}

/* ---- what is not told, or later ---- */

static void after_the_program(void **state)
{
    struct fv_instance_stats s;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60);
    instance(&f, 0, F, 999999990, 1000000010);
    s = expect(&f, "[50 ]60 f{999999990 }1000000010 .1000000010 ");
    assert_told(&s, 1, 0);
}

/* A loop's end that came after the end of the instance around its beginning: told with that, and counted once. */
static void works_cut_by_an_instance(void **state)
{
    const struct fv_record records[] = { { .kind = FV_REC_PROGRAM_BEGIN, .time_ns = 1 },
                                         { .kind = FV_REC_WORK_ENTER, .ref = 7, .time_ns = 120 },
                                         { .kind = FV_REC_WORK_LEAVE, .ref = 7, .time_ns = 300 },
                                         { .kind = FV_REC_PROGRAM_END, .time_ns = 400 } };
    struct words out = { 0 };
    struct fv_sink sink = { .context = &out, .open = open_words, .put = put_words, .close = close_words };
    struct fv_weave w;
    struct fv_merge m;
    struct fvr f;
    (void)state;

    TRACE(&f, 10, 20);
    instance(&f, 0, 0, 100, 200);
    merge_files(&m, &f, 1);
    out.merge = &m;
    fv_weave_init(&w, &m.defs, &m.clocks, &sink);
    fv_weave_rank(&w, m.files[0].rank, m.files[0].reader, &m.files[0].map, out.locations);
    assert_true(w.sink.open(&w.sink, 0, 0));
    for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
        out.locations[0].records++; /* as the replay does */
        assert_true(w.sink.put(&w.sink, 0, &records[i]));
    }
    assert_true(w.sink.close(&w.sink, 0));
    assert_string_equal(out.text, "f{100 ?120 ?200 }200 .400 ");
    assert_int_equal(out.locations[0].records, out.told);
    fv_weave_release(&w);
    fv_merge_close(&m);
    fvr_release(&f);
}

static void pauses(void **state)
{
    struct fv_instance_stats s;
    struct events e;
    struct fvr f;

    (void)state;
    rank_file(&f, 0, 1);
    contexts(&f, 0, NULL);
    begin_events(&e, BEGIN);
    call(&e, WAIT, BEGIN + 10, BEGIN + 20);
    EVENT(&e, PAUSE, 20);
    e.end += 20;
    EVENT(&e, RESUME, 20);
    end_file(&f, &e, NULL);
    instance(&f, 0, G, 42, 48); /* not told */
    instance(&f, 0, F, 30, 50);
    instance(&f, 0, H, 55, 65); /* not told */
    instance(&f, 0, H, 70, 80);
    s = expect(&f, "[10 ]20 f{30 off40 }50 on60 h{70 }80 .1000000000 ");
    assert_int_equal(s.told, 2);
    assert_int_equal(s.off, 2);
}

static void damage(void **state)
{
    struct fv_instance_stats s;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60);
    instance(&f, 0, F, 1, 2);
    instance(&f, 0, CONTEXTS, 3, 4); /* of no context */
    instance(&f, 0, F, 10, 20);
    instance(&f, 0, G, 16, 15);  /* ends before it begins */
    instance(&f, 0, G, 22, 900); /* ends after those that come later */
    instance(&f, 0, H, 30, 40);
    instance(&f, 0, H, 35, 45); /* they overlap */
    instance(&f, 0, F, 6, 7);   /* ends before those ahead of it */
    instance(&f, 0, H, 70, 80);
    instance(&f, 0, F, 65, 90);
    s = expect(&f, "f{1 }2 f{10 }20 h{35 }45 [50 ]60 f{65 h{70 }80 }90 .1000000000 ");
    assert_int_equal(s.told, 5);
    assert_int_equal(s.no_context, 1);
    assert_int_equal(s.crossed, 0);
    assert_int_equal(s.damaged, 4); /* with the first H, that stands behind the one that ends too late */

    TRACE(&f, 50, 60);
    instance(&f, 0, F, 10, 30);
    instance(&f, 0, G, 20, 40); /* not in each other */
    s = expect(&f, "g{20 }40 [50 ]60 .1000000000 ");
    assert_int_equal(s.told, 1);
    assert_int_equal(s.crossed, 1);
}

/* A chunk in the middle is not there. */
static void missing_chunk(void **state)
{
    const struct fv_logged_instance early[2] = { { BEGIN + 1, BEGIN + 2, 0, F, 0 }, { BEGIN + 3, BEGIN + 4, 0, F, 0 } },
                                    late = { BEGIN + 5, BEGIN + 90, 0, F, 0 };
    struct fv_instance_stats s;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60);
    fvr_chunk(&f, FV_CHUNK_INSTANCE_LOG, 0, 9, &late, sizeof(late));
    fvr_chunk(&f, FV_CHUNK_INSTANCE_LOG, 0, 0, early, sizeof(early));
    s = expect(&f, "f{1 }2 f{3 }4 f{5 [50 ]60 }90 .1000000000 ");
    assert_int_equal(s.told, 3);
    assert_int_equal(s.damaged, 7);
}

/* Thread 7 never calls MPI, and is a location all the same; thread 8 has neither. */
static void threads_without_calls(void **state)
{
    struct fv_instance_stats s;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60);
    fvr_thread(&f, 7, false, 0, 0, NULL);
    fvr_thread(&f, 8, false, 0, 0, NULL);
    contexts(&f, 7, NULL);
    contexts(&f, 8, NULL);
    instance(&f, 7, G, 20, 55);
    instance(&f, 7, F, 10, 70);
    instance(&f, 0, H, 61, 62);
    s = expect(&f, "[50 ]60 h{61 }62 .1000000000 thread1 f{10 thread1 g{20 thread1 }55 thread1 }70 ");
    assert_told(&s, 3, 0);
}

/* Without MPI_Init no thread says that it is the main one: the first is, also if nothing is known of it. */
static void program_without_mpi(void **state)
{
    struct fv_instance_stats s;
    struct fvr f;

    (void)state;
    rank_file(&f, 0, 1);
    fvr_thread(&f, 3, false, 0, 0, NULL);
    fvr_thread(&f, 0, false, 0, 0, NULL);
    contexts(&f, 3, NULL);
    instance(&f, 3, F, 10, 70);
    s = expect(&f, ".1000000000 thread1 f{10 thread1 }70 ");
    assert_told(&s, 1, 0);
}

/* ---- definitions ---- */

/* The same function in the same context is one node; in another build it is another. */
static void equal_contexts_only(void **state)
{
    static const char *const build_ids[3] = { "one object of it    ", "one object of it    ", "another object of it" };
    struct fv_merge m;
    struct fvr f[3];

    (void)state;
    for (int rank = 0; rank < 3; rank++) {
        struct events e;

        rank_file(&f[rank], rank, 3);
        begin_events(&e, BEGIN);
        end_file(&f[rank], &e, NULL);
        contexts(&f[rank], 0, build_ids[rank]);
        instance(&f[rank], 0, F, 10, 20);
    }
    merge_files(&m, f, 3);
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        uint32_t node[3];

        for (unsigned k = 0; k < 3; k++) {
            assert_int_equal(m.files[k].map.entry_count, CONTEXTS);
            node[k] = m.files[k].map.entries[i];
            assert_that(m.defs.tree.nodes[node[k]].flags, ==, FV_DEF_ENTRY);
            assert_that(m.defs.tree.nodes[m.defs.tree.nodes[node[k]].parent].flags, ==, FV_DEF_CALLS);
        }
        assert_int_equal(node[0], node[1]);
        assert_int_not_equal(node[0], node[2]);
    }
    assert_true(fv_defs_has_instances(&m.defs));
    assert_int_equal(m.defs.tree.node_count, 1 + 2 * 6);
    fv_merge_close(&m);
    for (unsigned i = 0; i < 3; i++)
        fvr_release(&f[i]);
}

/* An address in an object that the process met later than the thread. */
static void late_modules(void **state)
{
    const struct fv_path_record paths[2] = { { 0, FV_MODULE_UNKNOWN, 0x7f0 }, { 1, FV_MODULE_UNKNOWN, 0x801 } };
    const struct fv_instances r = { .path = 2, .entries = 1, .returns = 1 };
    struct fv_merge m;
    struct events e;
    struct fvr f;

    (void)state;
    rank_file(&f, 0, 1);
    begin_events(&e, BEGIN);
    end_file(&f, &e, NULL);
    fvr_module(&f, "/app", 0x300, NULL);
    fvr_add(&f, FV_CHUNK_SAMPLE_PATHS, 0, paths, sizeof(paths));
    fvr_add(&f, FV_CHUNK_INSTANCES, 0, &r, sizeof(r));
    instance(&f, 0, 0, 10, 20);
    merge_files(&m, &f, 1);
    const struct fv_node *node = &m.defs.tree.nodes[m.files[0].map.entries[0]];
    assert_that(node->module, >=, FV_MODEL_FIRST_MODULE);
    assert_int_equal(node->offset, 0x501);
    fv_merge_close(&m);
    fvr_release(&f);
}

/* ---- what was counted in instances ---- */

static void metric_event(struct fvr *f, const char *name, uint32_t refusal)
{
    struct fv_metric_event e = { .refusal = refusal };

    strcpy(e.name, name);
    fvr_add(f, FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &e, sizeof(e));
}

static void count_events(struct fvr *f, uint64_t a, uint64_t b, uint64_t c)
{
    const struct fv_logged_events e = { { a, b, c, 0 } };

    fvr_add(f, FV_CHUNK_LOGGED_EVENTS, 0, &e, sizeof(e));
}

/* Of three events the second could not be counted; of the outer instance, one is not known. Those of the
 * third instance had no room. */
static void counted_events(void **state)
{
    struct words words;
    struct fv_merge m;
    struct fvr f;
    char name[64];

    (void)state;
    TRACE(&f, 50, 60);
    metric_event(&f, "faults", 0);
    metric_event(&f, "misses", 2);
    metric_event(&f, "cycles", 0);
    instance(&f, 0, G, 20, 30);
    count_events(&f, 7, 0, 8);
    instance(&f, 0, F, 10, 40);
    count_events(&f, 70, 0, FV_COUNT_UNKNOWN);
    instance(&f, 0, H, 70, 80);
    instance(&f, 0, H, 90, 95);
    fvr_chunk(&f, FV_CHUNK_LOGGED_EVENTS, 0, 3, (const struct fv_logged_events[]){ { { 1, 2, 3, 4 } } },
              sizeof(struct fv_logged_events));
    merge_files(&m, &f, 1);
    weave(&m, 0, &words);
    assert_string_equal(words.text, "f{10 g{20 event0 =7 event2 =8 }30 event0 =70 }40 [50 ]60 h{70 }80 "
                                    "h{90 event0 =1 event2 =3 }95 .1000000000 ");
    assert_true(fv_def_event(m.defs.ranks[0].events, 0, name) && !strcmp(name, "faults"));
    assert_false(fv_def_event(m.defs.ranks[0].events, 1, name));
    assert_true(fv_def_event(m.defs.ranks[0].events, 2, name) && !strcmp(name, "cycles"));
    assert_false(fv_def_event(m.defs.ranks[0].events, 3, name));
    fv_merge_close(&m);
    fvr_release(&f);
}

/* ---- samples of the CPU clock ---- */

static void sample(struct fvr *f, uint64_t time, uint32_t path)
{
    const struct fv_logged_sample s = { BEGIN + time, path, 100 };

    fvr_add(f, FV_CHUNK_SAMPLE_LOG, 0, &s, sizeof(s));
}

static struct fv_sample_counts expect_samples(struct fvr *f, const char *wanted)
{
    struct fv_sample_counts counts;
    struct words words;
    struct fv_merge m;

    merge_files(&m, f, 1);
    weave_with(&m, 0, &words, &counts);
    assert_string_equal(words.text, wanted);
    assert_int_equal(words.locations[0].records + words.locations[1].records, words.told);
    fv_merge_close(&m);
    fvr_release(f);
    return counts;
}

/* Each in its place, before what is at the same time; the program is around all. */
static void samples_in_order(void **state)
{
    struct fv_sample_counts c;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60, 70, 80);
    instance(&f, 0, F, 10, 40);
    for (const uint64_t *t = (const uint64_t[]){ 0, 5, 10, 20, 20, 40, 55, 60, 80, 90, 1000000000, UINT64_MAX };
         *t != UINT64_MAX; t++)
        sample(&f, *t, 2);
    c = expect_samples(&f, "*0 *5 *10 f{10 *20 *20 *40 }40 [50 *55 *60 ]60 [70 *80 ]80 *90 *1000000000 .1000000000 ");
    assert_int_equal(c.told, 11);
    assert_int_equal(c.off + c.damaged, 0);
}

static void samples_of_pauses(void **state)
{
    struct fv_sample_counts c;
    struct events e;
    struct fvr f;

    (void)state;
    rank_file(&f, 0, 1);
    contexts(&f, 0, NULL);
    begin_events(&e, BEGIN);
    call(&e, WAIT, BEGIN + 10, BEGIN + 20);
    EVENT(&e, PAUSE, 20);
    e.end += 20;
    EVENT(&e, RESUME, 20);
    end_file(&f, &e, NULL);
    sample(&f, 30, 1);
    sample(&f, 45, 1);
    sample(&f, 70, 1);
    c = expect_samples(&f, "[10 ]20 *30 off40 on60 *70 .1000000000 ");
    assert_int_equal(c.told, 2);
    assert_int_equal(c.off, 1);
}

static void sample_of(struct fvr *f, uint32_t thread, uint64_t time)
{
    const struct fv_logged_sample s = { BEGIN + time, 1, 100 };

    fvr_add(f, FV_CHUNK_SAMPLE_LOG, thread, &s, sizeof(s));
}

/* Each that was logged is told, or counted by why it is not: of a program that computes after MPI_Finalize, in its
 * first thread and in one that made no calls; before all that is known; in a pause; after the last sign of life. */
static void all_samples_are_told_or_counted(void **state)
{
    static const uint64_t pause = 20;
    struct fv_sample_counts c;
    struct events e;
    struct fvr f;

    (void)state;
    rank_file(&f, 0, 1);
    contexts(&f, 0, NULL);
    contexts(&f, 7, NULL);
    begin_events(&e, BEGIN);
    call(&e, WAIT, BEGIN + 10, BEGIN + 20);
    event(&e, FV_EV_PAUSE, &pause);
    e.end += pause;
    event(&e, FV_EV_RESUME, &pause);
    end_file(&f, &e, NULL);
    fvr_thread(&f, 7, false, 0, 0, NULL);
    f.header.alive_ticks = BEGIN + 1000000300;
    for (const uint64_t *t = (const uint64_t[]){ 0, 10, 20, 45, 999999999, 1000000000, 1000000001, 1000000300,
                                                 1000000301, 3000000000, UINT64_MAX };
         *t != UINT64_MAX; t++)
        sample_of(&f, 0, *t);
    for (const uint64_t *t = (const uint64_t[]){ 5, 1000000200, 1000000301, UINT64_MAX }; *t != UINT64_MAX; t++)
        sample_of(&f, 7, *t);
    c = expect_samples(
        &f, "*0 *10 [10 *20 ]20 off40 on60 *999999999 *1000000000 *1000000001 *1000000300 .1000000300 *5 *1000000200 ");
    assert_int_equal(c.told, 7 + 2);
    assert_int_equal(c.off, 1);
    assert_int_equal(c.behind, 2 + 1);
    assert_int_equal(c.damaged, 0);
}

/* One goes back in time, one is of a call path that is not there, one is before and one behind all that is known; two
 * are missing. */
static void samples_that_are_damaged(void **state)
{
    struct fv_sample_counts c;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60);
    sample(&f, 20, 1);
    sample(&f, 10, 1);
    sample(&f, 30, 99);
    sample(&f, 40, 1);
    fvr_chunk(&f, FV_CHUNK_SAMPLE_LOG, 0, 6,
              (const struct fv_logged_sample[]){
                  { BEGIN - 10, 1, 100 }, { BEGIN + 70, 1, 100 }, { BEGIN + 2000000000, 1, 100 } },
              3 * sizeof(struct fv_logged_sample));
    c = expect_samples(&f, "*20 *40 [50 ]60 *70 .1000000000 ");
    assert_int_equal(c.told, 3);
    assert_int_equal(c.damaged, 5);
    assert_int_equal(c.behind, 1);
}

/* ---- a long log, in many chunks ---- */

#define MANY 20000u

struct many {
    struct fv_logged_instance items[MANY];
    uint32_t count;
    uint64_t time, random;
};

static uint64_t draw(struct many *m, uint64_t below)
{
    m->random = m->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (m->random >> 33) % below;
}

static void nest(struct many *m, unsigned depth)
{
    uint32_t context = (uint32_t)draw(m, CONTEXTS);
    uint64_t begin = m->time += draw(m, 3);

    for (uint64_t i = draw(m, depth > 40 ? 1 : 5); i > 0 && m->count + depth + 1 < MANY; i--)
        nest(m, depth + 1);
    m->time += draw(m, 3);
    m->items[m->count++] = (struct fv_logged_instance){ BEGIN + begin, BEGIN + m->time, depth, context, 0 };
}

static int by_begin(const void *a, const void *b)
{
    const struct fv_logged_instance *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->cpu_ns > y->cpu_ns) - (x->cpu_ns < y->cpu_ns);
}

static void long_log(void **state)
{
    static struct many m = { .time = 1000, .random = 5 };
    struct fv_instance_stats stats = { 0 };
    struct fv_logged_instance got;
    struct fv_logged_events counts;
    struct fv_instance_log *log;
    struct fv_merge merge;
    uint64_t last = 0;
    struct fvr f;

    (void)state;
    TRACE(&f, 50, 60);
    f.chunk_payload = 9000 * sizeof(*m.items); /* more than a piece */
    while (m.count < MANY - 50)
        nest(&m, 0);
    for (uint32_t i = 0; i < m.count; i++)
        fvr_add(&f, FV_CHUNK_INSTANCE_LOG, 0, &m.items[i], sizeof(*m.items));
    for (uint32_t i = 0; i < m.count; i++)
        fvr_add(&f, FV_CHUNK_LOGGED_EVENTS, 0,
                (const struct fv_logged_events[]){ { { m.items[i].begin, m.items[i].end } } },
                sizeof(struct fv_logged_events));
    merge_files(&merge, &f, 1);
    log = fv_instance_log_open(merge.files[0].reader, &merge.files[0].map, 0, &stats);
    qsort(m.items, m.count, sizeof(*m.items), by_begin);
    for (uint32_t i = 0; i < m.count; i++) {
        assert_true(fv_instance_log_next(log, &got, &counts));
        assert_int_equal(counts.count[0], got.begin);
        assert_int_equal(counts.count[1], got.end);
        assert_that(got.begin, >=, last);
        last = got.begin;
        if (m.items[i].begin == m.items[i].end || (i && m.items[i - 1].begin == m.items[i].begin))
            continue; /* without length, or together with others, there are several orders */
        assert_int_equal(got.begin, m.items[i].begin);
    }
    assert_false(fv_instance_log_next(log, &got, &counts));
    assert_int_equal(stats.damaged + stats.crossed + stats.no_context, 0);
    fv_instance_log_free(log);
    fv_merge_close(&merge);
    fvr_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(around_and_in_calls),
        cmocka_unit_test(recursion),
        cmocka_unit_test(counted_events),
        cmocka_unit_test(samples_in_order),
        cmocka_unit_test(samples_of_pauses),
        cmocka_unit_test(all_samples_are_told_or_counted),
        cmocka_unit_test(samples_that_are_damaged),
        cmocka_unit_test(equal_times),
        cmocka_unit_test(overlaps_with_calls),
        cmocka_unit_test(after_the_program),
        cmocka_unit_test(works_cut_by_an_instance),
        cmocka_unit_test(pauses),
        cmocka_unit_test(damage),
        cmocka_unit_test(missing_chunk),
        cmocka_unit_test(threads_without_calls),
        cmocka_unit_test(program_without_mpi),
        cmocka_unit_test(equal_contexts_only),
        cmocka_unit_test(late_modules),
        cmocka_unit_test(long_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
