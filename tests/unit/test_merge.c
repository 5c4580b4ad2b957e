/* The merge's parts on rank files made in memory: what the replay tells, in which order the definitions end
 * up, and how times are mapped, moved and matched. */
#include "fvr_builder.h"
#include "merge/correct.h"
#include "merge/requests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEND, RECV, IRECV, WAIT, ALLREDUCE, DUP, FUNCTIONS };
static const char *const names[FUNCTIONS] = { "MPI_Send", "MPI_Recv",      "MPI_Irecv",
                                              "MPI_Wait", "MPI_Allreduce", "MPI_Comm_dup" };

/* ---- rank files ---- */

struct events {
    uint8_t bytes[4096];
    size_t count;
    uint64_t end;
};

static void begin_events(struct events *e, uint64_t ticks)
{
    *e = (struct events){ .count = sizeof(struct fv_event_base), .end = ticks };
    memcpy(e->bytes, &(struct fv_event_base){ ticks }, sizeof(struct fv_event_base));
}

static void event(struct events *e, enum fv_event_kind kind, const uint64_t *field)
{
    e->count = (size_t)(fv_put_event(e->bytes + e->count, kind, field) - e->bytes);
}
#define EVENT(e, kind, ...) event(e, FV_EV_##kind, (const uint64_t[]){ __VA_ARGS__ })

static void call(struct events *e, uint64_t site, uint64_t begin, uint64_t end)
{
    EVENT(e, CALL, site, begin - e->end, end - begin);
    e->end = end;
}

/* A rank with MPI_COMM_WORLD, and a call site for each function. */
static void rank_file(struct fvr *f, int rank, int ranks)
{
    static const uint8_t classes[FUNCTIONS] = { FV_CLASS_P2P,        FV_CLASS_P2P,        FV_CLASS_P2P,
                                                FV_CLASS_COMPLETION, FV_CLASS_COLLECTIVE, FV_CLASS_COMM };

    fvr_init(f, rank, ranks);
    f->header.traced = 1;
    for (uint16_t i = 0; i < FUNCTIONS; i++) {
        struct fv_site_record site = { .function = i };

        fvr_function(f, i, classes[i], FV_WAIT_NONE, names[i]);
        fvr_add(f, FV_CHUNK_SITES, 0, &site, sizeof(site));
    }
    fvr_comm(f, 1, FV_COMM_WORLD, rank, ranks);
}

static void end_file(struct fvr *f, const struct events *e, const struct fv_in_call *in_call)
{
    fvr_thread(f, 0, true, 1, 1, in_call);
    fvr_add(f, FV_CHUNK_EVENTS, 0, e->bytes, e->count);
}

/* ---- a sink that writes words ---- */

static const char *const kinds[] = {
#define NAME(kind) #kind,
    FV_RECORD_KINDS(NAME)
};

struct words {
    char text[8192];
    size_t used;
};

static bool open_words(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    (void)sink, (void)slot, (void)location;
    return true;
}

static bool put_words(struct fv_sink *sink, uint32_t slot, const struct fv_record *r)
{
    struct words *w = sink->context;

    (void)slot;
    w->used += (size_t)snprintf(w->text + w->used, sizeof(w->text) - w->used, "%s@%llu ", kinds[r->kind],
                                (unsigned long long)r->time_ns);
    if (r->kind == FV_REC_IRECEIVE_END || r->kind == FV_REC_SEND)
        w->used += (size_t)snprintf(w->text + w->used, sizeof(w->text) - w->used, "(%u %u %u %llu) ", r->ref,
                                    r->peer, r->tag, (unsigned long long)(r->sent + r->received));
    if (r->kind == FV_REC_COLL_END)
        w->used += (size_t)snprintf(w->text + w->used, sizeof(w->text) - w->used, "(op %u %llu/%llu) ", r->op,
                                    (unsigned long long)r->sent, (unsigned long long)r->received);
    return true;
}

static bool close_words(struct fv_sink *sink, uint32_t slot)
{
    (void)sink, (void)slot;
    return true;
}

/* A merge without a directory: the files are in memory. */
static void merge_files(struct fv_merge *m, struct fvr *files, size_t count)
{
    char why[200];

    *m = (struct fv_merge){ .transport = &fv_transport_alone };
    m->files = fv_xcalloc(count, sizeof(*m->files));
    fv_defs_init(&m->defs, (uint32_t)files[0].header.world_size);
    for (size_t i = 0; i < count; i++) {
        fvr_finish(&files[i]);
        assert_int_equal(
            fv_reader_open_memory(files[i].bytes, files[i].size, &m->files[i].reader, why, sizeof(why)), 0);
        m->files[m->file_count++].name = "f";
    }
    assert_true(fv_merge_unify(m, false));
}

static void replay(struct fv_merge *m, size_t file, struct words *out, struct fv_replay_stats *stats)
{
    const struct fv_replay r = { .defs = &m->defs, .clocks = &m->clocks, .calls = m->calls };
    struct fv_sink sink = { .context = out, .open = open_words, .put = put_words, .close = close_words };
    struct fv_location_stats locations[4] = { 0 };

    *out = (struct words){ .used = 0 };
    *stats = (struct fv_replay_stats){ 0 };
    assert_true(fv_replay_rank(&r, m->files[file].rank, m->files[file].reader, &m->files[file].map, &sink,
                               locations, stats));
}

/* ---- tests ---- */

static void calls_become_records(void **state)
{
    struct fv_replay_stats stats;
    struct fv_merge m;
    struct words w;
    struct events e;
    struct fvr f;

    (void)state;
    rank_file(&f, 0, 2);
    begin_events(&e, 1000000000);
    call(&e, SEND, 1000000010, 1000000020);
    EVENT(&e, SEND, 1, 1, 7, 100);
    call(&e, IRECV, 1000000030, 1000000040);
    EVENT(&e, IRECV, 5, 1, (uint64_t)FV_ANY_PEER, (uint64_t)-1);
    call(&e, WAIT, 1000000050, 1000000060);
    EVENT(&e, RECEIVED, 5, 1, 9, 200);
    call(&e, ALLREDUCE, 1000000070, 1000000080);
    EVENT(&e, COLLECTIVE, 1, (uint64_t)FV_ROOT_NONE, 4, 4, 0);
    end_file(&f, &e, NULL);
    merge_files(&m, &f, 1);
    replay(&m, 0, &w, &stats);
    assert_string_equal(w.text,
                        "PROGRAM_BEGIN@0 ENTER@10 SEND@10 (0 1 7 100) LEAVE@20 ENTER@30 IRECEIVE@30 LEAVE@40 "
                        "ENTER@50 IRECEIVE_END@60 (0 1 9 200) LEAVE@60 "
                        "ENTER@70 COLL_BEGIN@70 COLL_END@80 (op 11 8/8) LEAVE@80 PROGRAM_END@1000000000 ");
    assert_int_equal(stats.calls, 4);
    assert_int_equal(stats.no_begin, 0);
    assert_int_equal(stats.unfinished, 0);
    fv_merge_close(&m);
    fvr_release(&f);
}

/* A killed rank's open call goes from its begin to the last that is known. */
static void open_call_is_closed(void **state)
{
    const struct fv_in_call in_call = { .begin = 1000000100, .function = RECV };
    struct fv_replay_stats stats;
    struct fv_merge m;
    struct words w;
    struct events e;
    struct fvr f;

    (void)state;
    rank_file(&f, 0, 1);
    f.header.state = FV_STATE_RUNNING;
    f.header.end_ticks = 0;
    f.header.last = f.header.first;
    f.header.last.ticks += 500;
    f.header.last.monotonic_ns += 500;
    begin_events(&e, 1000000000);
    call(&e, WAIT, 1000000010, 1000000020);
    EVENT(&e, RECEIVED, 99, 0, 0, 0); /* of which nothing is known */
    end_file(&f, &e, &in_call);
    merge_files(&m, &f, 1);
    replay(&m, 0, &w, &stats);
    assert_string_equal(w.text, "PROGRAM_BEGIN@0 ENTER@10 LEAVE@20 ENTER@100 LEAVE@500 PROGRAM_END@500 ");
    assert_int_equal(stats.open_calls, 1);
    assert_int_equal(stats.no_begin, 1);
    fv_merge_close(&m);
    fvr_release(&f);
}

/* Whatever the order in which definitions come together, they end up the same. */
static void definitions_have_one_order(void **state)
{
    struct fv_bytes packed[2] = { { 0 }, { 0 } };
    struct fvr files[3];
    struct events e;
    char why[200];

    (void)state;
    for (int i = 0; i < 3; i++) {
        rank_file(&files[i], i, 3);
        fvr_comm(&files[i], 700u + (unsigned)i, 0, i, 3);
        uint32_t module = fvr_module(&files[i], i == 2 ? "/b" : "/a", 0, NULL);
        uint32_t outer = fvr_path(&files[i], 0, module, 0x10u * (unsigned)(3 - i));
        struct fv_site_record site = { .function = SEND, .path = fvr_path(&files[i], outer, module, 0x99) };
        fvr_add(&files[i], FV_CHUNK_SITES, 0, &site, sizeof(site));
        begin_events(&e, 1000000000);
        end_file(&files[i], &e, NULL);
        fvr_finish(&files[i]);
    }
    for (int way = 0; way < 2; way++) {
        struct fv_defs all, sorted, again;

        fv_defs_init(&all, 3);
        for (int i = 0; i < 3; i++) {
            struct fvr *f = &files[way ? 2 - i : i];
            struct fv_reader *reader;
            struct fv_def_map map;
            struct fv_defs one;

            fv_defs_init(&one, 3);
            assert_int_equal(fv_reader_open_memory(f->bytes, f->size, &reader, why, sizeof(why)), 0);
            fv_defs_add_file(&one, reader, "f", &map);
            fv_defs_merge(&all, &one);
            fv_def_map_release(&map);
            fv_defs_release(&one);
            fv_reader_free(reader);
        }
        fv_defs_sort(&sorted, &all);
        assert_int_equal(sorted.comm_count, 4);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(sorted.comms[i + 1].uid, 700 + i);
        assert_string_equal(sorted.modules[FV_MODEL_FIRST_MODULE].path, "/a");
        assert_int_equal(sorted.nodes[1].offset, 0x20);
        assert_int_equal(sorted.nodes[3].offset, 0x10);
        fv_defs_pack(&sorted, &packed[way]);
        assert_true(fv_defs_unpack(&again, packed[way].data, packed[way].count));
        assert_int_equal(again.node_count, sorted.node_count);

        fv_defs_release(&again);
        fv_defs_release(&sorted);
        fv_defs_release(&all);
    }
    assert_int_equal(packed[0].count, packed[1].count);
    for (int i = 0; i < 3; i++)
        fvr_release(&files[i]);
    free(packed[0].data);
    free(packed[1].data);
}

/* Rank 1's clock is 300 ns behind: its receive ends 200 ns before the send began. */
static void early_message_is_moved(void **state)
{
    struct fv_correction c;
    struct fvr files[2];
    struct fv_merge m;
    struct events e;
    uint32_t piece = 0;

    (void)state;
    for (int i = 0; i < 2; i++) {
        rank_file(&files[i], i, 2);
        files[i].header.boot_id[0] = (uint8_t)i;
        begin_events(&e, 1000000000);
        call(&e, i ? RECV : SEND, 1000001000, 1000001100);
        if (i)
            EVENT(&e, RECV, 1, 0, 7, 8);
        else
            EVENT(&e, SEND, 1, 1, 7, 8);
        end_file(&files[i], &e, NULL);
    }
    files[1].header.first.realtime_ns -= 300;
    files[1].header.last.realtime_ns -= 300;
    merge_files(&m, files, 2);
    assert_int_equal(m.clocks.line_count, 2);
    fv_correct(&m, 1 << 20, &c);
    assert_int_equal(c.checked, 1);
    assert_int_equal(c.early, 1);
    assert_int_equal(c.left, 0);
    assert_int_equal(c.largest_ns, 200);
    int64_t sent = fv_clock_ns(&m.clocks.lines[m.clocks.of_rank[0]], 1000001000, &piece);
    piece = 0;
    int64_t received = fv_clock_ns(&m.clocks.lines[m.clocks.of_rank[1]], 1000001100, &piece);
    assert_int_equal(received, sent);
    fv_merge_close(&m);
    for (int i = 0; i < 2; i++)
        fvr_release(&files[i]);
}

static void pendings_come_and_go(void **state)
{
    struct fv_pendings p = { 0 };

    (void)state;
    for (uint64_t round = 0; round < 50; round++) {
        for (uint64_t i = 1; i <= 200; i++)
            fv_pendings_add(&p, &(struct fv_pending){ .number = round * 1000 + i, .sent = i });
        for (uint64_t i = 200; i >= 1; i--) {
            struct fv_pending *item = fv_pendings_find(&p, round * 1000 + i * 77 % 200 + 1);

            if (!item)
                continue;
            assert_int_equal(item->sent, i * 77 % 200 + 1);
            fv_pendings_remove(&p, item);
        }
    }
    assert_int_equal(p.count, 0);
    fv_pendings_release(&p);
}

static void bytes_as_readers_expect(void **state)
{
    struct fv_call_info c = fv_call_info("MPI_Iallreduce", FV_CLASS_COLLECTIVE);
    struct fv_volume v = fv_notional(&c, (struct fv_volume){ 4, 4 }, 2, 0, false);

    (void)state;
    assert_int_equal(v.sent, 8);
    assert_int_equal(v.received, 8);
    c = fv_call_info("MPI_Bcast_init", FV_CLASS_COLLECTIVE);
    v = fv_notional(&c, (struct fv_volume){ 10, 0 }, 4, 0, true);
    assert_int_equal(v.sent, 40);
    assert_int_equal(v.received, 10);
    assert_true(fv_call_info("MPI_Ineighbor_alltoallw", FV_CLASS_COLLECTIVE).neighbour);
    assert_int_equal(fv_call_info("MPI_Init", FV_CLASS_INIT).op, FV_OP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_become_records),       cmocka_unit_test(open_call_is_closed),
        cmocka_unit_test(definitions_have_one_order), cmocka_unit_test(early_message_is_moved),
        cmocka_unit_test(pendings_come_and_go),       cmocka_unit_test(bytes_as_readers_expect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
