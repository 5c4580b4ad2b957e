/* The merge's parts on rank files made in memory: what the replay tells, in which order the definitions end
 * up, and how times are mapped, moved and matched. */
#include "merge/correct.h"
#include "merge/requests.h"
#include "trace_builder.h"
#include "unit.h"

#include <time.h>
#include <zstd.h>

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
        w->used += (size_t)snprintf(w->text + w->used, sizeof(w->text) - w->used, "(%u %u %u %llu) ", r->ref, r->peer,
                                    r->tag, (unsigned long long)(r->sent + r->received));
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

static void replay(struct fv_merge *m, size_t file, struct words *out, struct fv_replay_stats *stats)
{
    const struct fv_replay r = { .defs = &m->defs, .clocks = &m->clocks, .calls = m->calls };
    struct fv_sink sink = { .context = out, .open = open_words, .put = put_words, .close = close_words };
    struct fv_location_stats locations[4] = { 0 };

    *out = (struct words){ .used = 0 };
    *stats = (struct fv_replay_stats){ 0 };
    assert_true(
        fv_replay_rank(&r, m->files[file].rank, m->files[file].reader, &m->files[file].map, &sink, locations, stats));
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
    assert_string_equal(w.text, "PROGRAM_BEGIN@0 ENTER@10 SEND@10 (0 1 7 100) LEAVE@20 ENTER@30 IRECEIVE@30 LEAVE@40 "
                                "ENTER@50 IRECEIVE_END@60 (0 1 9 200) LEAVE@60 "
                                "ENTER@70 COLL_BEGIN@70 COLL_END@80 (op 11 8/8) LEAVE@80 PROGRAM_END@1000000000 ");
    assert_int_equal(stats.calls, 4);
    assert_int_equal(stats.no_begin, 0);
    assert_int_equal(stats.unfinished, 0);
    fv_merge_close(&m);
    fvr_release(&f);
}

/* A pause ends on the thread that ends it, and where a call is recorded again. */
static void pauses_are_told(void **state)
{
    struct fv_replay_stats stats;
    struct fv_merge m;
    struct words w;
    struct events e;
    struct fvr f;

    (void)state;
    rank_file(&f, 0, 1);
    f.header.paused_since = 1000000090;
    begin_events(&e, 1000000000);
    EVENT(&e, RESUME, 10); /* switched off before its first call, or by another thread */
    e.end += 10;
    call(&e, WAIT, 1000000020, 1000000030);
    EVENT(&e, PAUSE, 10);
    e.end += 10;
    call(&e, WAIT, 1000000050, 1000000060); /* switched on by another thread */
    end_file(&f, &e, NULL);
    merge_files(&m, &f, 1);
    replay(&m, 0, &w, &stats);
    assert_string_equal(w.text, "PROGRAM_BEGIN@0 MEASURE@0 MEASURE@10 ENTER@20 LEAVE@30 MEASURE@40 "
                                "MEASURE@50 ENTER@50 LEAVE@60 MEASURE@60 PROGRAM_END@1000000000 ");
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

/* ---- the order of definitions ---- */

static void say_things(FILE *out, const struct fv_defs *d)
{
    for (size_t i = 0; i < d->comm_count; i++) {
        const struct fv_def_comm *c = &d->comms[i];

        fprintf(out, "comm %llu of %llu owner %lld flags %u %u+%u \"%s\" origin %u.%u created %u",
                (unsigned long long)c->uid, (unsigned long long)c->parent, (long long)c->owner, c->flags, c->size,
                c->remote_size, c->name, c->origin.rank, c->origin.number, c->created);
        for (uint32_t k = 0; k < c->run_count + c->remote_run_count; k++)
            fprintf(out, " %d.%d.%d", c->runs[k].first, c->runs[k].stride, c->runs[k].count);
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < d->window_count; i++)
        fprintf(out, "window on %u sequence %u owner %d origin %u.%u created %u\n", d->windows[i].comm,
                d->windows[i].sequence, d->windows[i].owner, d->windows[i].origin.rank, d->windows[i].origin.number,
                d->windows[i].created);
    for (size_t i = 0; i < d->file_count; i++)
        fprintf(out, "file %s on \"%s\"\n", d->files[i].name, d->files[i].host);
    for (size_t i = 0; i < d->handle_count; i++)
        fprintf(out, "handle %u on %u mode %u occurrence %u owner %d origin %u.%u\n", d->handles[i].file,
                d->handles[i].comm, d->handles[i].mode, d->handles[i].occurrence, d->handles[i].owner,
                d->handles[i].origin.rank, d->handles[i].origin.number);
    for (size_t i = 0; i < d->group_count; i++) {
        fprintf(out, "group");
        for (uint32_t k = 0; k < d->groups[i].count; k++)
            fprintf(out, " %u", d->groups[i].ranks[k]);
        fprintf(out, "\n");
    }
}

/* All that an archive has of definitions, in their order. */
static char *say_definitions(const struct fv_defs *d)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    for (size_t i = 0; i < d->function_count; i++)
        fprintf(out, "function %s %u\n", d->functions[i].name, d->functions[i].class);
    for (size_t i = FV_MODEL_FIRST_MODULE; i < d->tree.module_count; i++)
        fprintf(out, "module %s %02x\n", d->tree.modules[i].path, d->tree.modules[i].build_id[0]);
    for (size_t i = 1; i < d->tree.node_count; i++)
        fprintf(out, "node %u %u %llx %u\n", d->tree.nodes[i].parent, d->tree.nodes[i].module,
                (unsigned long long)d->tree.nodes[i].offset, d->tree.nodes[i].flags);
    say_things(out, d);
    for (size_t i = 0; i < d->rank_count; i++)
        fprintf(out, "rank %u pid %u threads %u\n", d->ranks[i].world_rank, d->ranks[i].pid, d->ranks[i].thread_count);
    fclose(out);
    return text;
}

static void comm_record(struct fvr *f, uint64_t uid, int rank, const char *name, const struct fv_rank_run runs[2])
{
    uint64_t memory[(sizeof(struct fv_comm_record) + 2 * sizeof(struct fv_rank_run) + 7) / 8] = { 0 };
    struct fv_comm_record *r = (void *)memory;

    *r = (struct fv_comm_record){ .bytes = sizeof(memory),
                                  .id = ++f->comms,
                                  .uid = uid,
                                  .parent = 1,
                                  .rank = rank,
                                  .size = runs[0].count,
                                  .remote_size = runs[1].count,
                                  .flags = runs[1].count ? FV_COMM_INTER : 0,
                                  .runs = 1,
                                  .remote_runs = runs[1].count > 0 };
    strcpy(r->name, name);
    memcpy(r->run, runs, 2 * sizeof(*runs));
    fvr_add(f, FV_CHUNK_COMMS, FV_NO_THREAD, r, sizeof(memory));
}

static void file_record(struct fvr *f, uint32_t id, const char *name)
{
    uint64_t memory[5] = { 0 };
    struct fv_file_record *r = (void *)memory;

    *r = (struct fv_file_record){ sizeof(memory), id, 1, 1, (uint32_t)strlen(name), 0 };
    strcpy(r->name, name);
    fvr_add(f, FV_CHUNK_FILES, FV_NO_THREAD, r, sizeof(memory));
}

/* Three ranks that tell of the same and of different things, in different orders, under different numbers. */
static void various_file(struct fvr *f, int rank)
{
    static const char *const comm_names[] = { "", "called by 1", "called by 2" };
    const struct fv_rank_run all[2] = { { 0, 1, 3 } }, left[2] = { { 0, 1, 1 }, { 1, 1, 2 } },
                             right[2] = { { 1, 1, 2 }, { 0, 1, 1 } };
    const uint64_t i = (uint64_t)rank;
    struct events e;

    rank_file(f, rank, 3);
    for (uint64_t k = 0; k < 3; k++)
        comm_record(f, 700 + (i + k) % 3, rank, (i + k) % 3 ? "" : comm_names[i], all);
    comm_record(f, 800 + i, 0, "", (struct fv_rank_run[2]){ { rank, 1, 1 } });
    comm_record(f, 900, rank ? rank - 1 : 0, "", rank ? right : left);
    file_record(f, 1, rank == 1 ? "b" : "a");
    file_record(f, 2, rank == 1 ? "a" : "c");
    uint32_t module = fvr_module(f, rank == 2 ? "/b" : "/a", 0, NULL);
    uint32_t outer = fvr_path(f, 0, module, 0x10u * (unsigned)(3 - rank));
    struct fv_site_record site = { .function = SEND, .path = fvr_path(f, outer, module, 0x99) };
    fvr_add(f, FV_CHUNK_SITES, 0, &site, sizeof(site));
    fvr_function(f, 20, FV_CLASS_OTHER, FV_RULE_NONE, rank == 1 ? "MPI_Aint_add" : "MPI_Zzz");
    site = (struct fv_site_record){ .function = 20 };
    fvr_add(f, FV_CHUNK_SITES, 0, &site, sizeof(site));
    begin_events(&e, 1000000000);
    call(&e, DUP, 1000000010 + i, 1000000020);
    EVENT(&e, COMM_NEW, 2 + (3 - i) % 3); /* uid 700 */
    for (uint64_t k = 0; k < 3; k++) {
        call(&e, DUP, 1000000030 + 20 * k, 1000000040 + 20 * k);
        EVENT(&e, WIN_NEW, k + 1, 1, 5 + (i + k) % 3);
        EVENT(&e, MEMBER, k);
        if (rank)
            EVENT(&e, MEMBER, (k + 1) % 3);
    }
    end_file(f, &e, NULL);
    fvr_finish(f);
}

static void add_file(struct fv_defs *d, const struct fvr *f)
{
    struct fv_reader *reader;
    struct fv_def_map map;
    char why[200];

    assert_int_equal(fv_reader_open_memory(f->bytes, f->size, &reader, why, sizeof(why)), 0);
    fv_defs_add_file(d, reader, "f", &map);
    fv_def_map_release(&map);
    fv_reader_free(reader);
}

/* The files in an order, each in a process of its own or all in one. */
static char *sorted_definitions(const struct fvr *files, const unsigned *order, bool merged)
{
    struct fv_defs all, sorted;
    char *text;

    fv_defs_init(&all, 3);
    for (unsigned i = 0; i < 3; i++) {
        struct fv_defs one;

        if (!merged) {
            add_file(&all, &files[order[i]]);
            continue;
        }
        fv_defs_init(&one, 3);
        add_file(&one, &files[order[i]]);
        fv_defs_merge(&all, &one);
        fv_defs_release(&one);
    }
    fv_defs_sort(&sorted, &all);
    text = say_definitions(&sorted);
    fv_defs_release(&sorted);
    fv_defs_release(&all);
    return text;
}

/* Whatever the order in which definitions come together, they end up the same. */
static void definitions_have_one_order(void **state)
{
    static const unsigned orders[6][3] = {
        { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 }
    };
    struct fv_bytes packed = { 0 };
    struct fv_defs all, again;
    struct fvr files[3];
    char *first, *other;

    (void)state;
    for (int i = 0; i < 3; i++)
        various_file(&files[i], i);
    first = sorted_definitions(files, orders[0], false);
    for (unsigned i = 0; i < 12; i++) {
        other = sorted_definitions(files, orders[i / 2], i % 2);
        assert_string_equal(other, first);
        free(other);
    }
    assert_non_null(strstr(first, "\ncomm 700 of 1 owner -1 flags 0 3+0 \"called by 1\" origin 0.2 created 3 0.1.3\n"
                                  "comm 701 of 1 owner -1 flags 0 3+0 \"\" origin 0.3 created 0 0.1.3\n"));
    assert_non_null(strstr(first, "\ncomm 900 of 1 owner -1 flags 4 1+2 \"\" origin 0.6 created 0 0.1.1 1.1.2\n"));
    assert_non_null(strstr(first, "\nwindow on 0 sequence 5 owner -1 origin 0.1 created 3\n"
                                  "window on 0 sequence 6 owner -1 origin 0.2 created 3\n"
                                  "window on 0 sequence 7 owner -1 origin 0.3 created 3\n"));
    assert_non_null(strstr(first, "\ngroup 0\ngroup 1\ngroup 2\ngroup 0 1\ngroup 0 2\ngroup 1 2\n"));
    assert_non_null(strstr(first, "\nfile a on \"\"\nfile b on \"\"\nfile c on \"\"\n"));

    fv_defs_init(&all, 3);
    for (int i = 0; i < 3; i++)
        add_file(&all, &files[i]);
    fv_defs_pack(&all, &packed);
    assert_true(fv_defs_unpack(&again, packed.data, packed.count));
    other = say_definitions(&again);
    free(first);
    first = say_definitions(&all);
    assert_string_equal(other, first);
    fv_defs_release(&all);
    assert_false(fv_defs_unpack(&all, packed.data, packed.count - 1));
    fv_defs_release(&all);
    fv_defs_release(&again);
    free(first);
    free(other);
    free(packed.data);
    for (int i = 0; i < 3; i++)
        fvr_release(&files[i]);
}

/* ---- chunks ---- */

static void pack_chunk(struct fvr *f, uint64_t first, const struct events *e, size_t cut)
{
    uint8_t bytes[sizeof(struct fv_packed_events) + sizeof(e->bytes) + 100];
    struct fv_packed_events packed = { .used = e->count };

    packed.bytes = ZSTD_compress(bytes + sizeof(packed), sizeof(bytes) - sizeof(packed), e->bytes, e->count, 1);
    assert_false(ZSTD_isError(packed.bytes));
    packed.bytes -= cut;
    memcpy(bytes, &packed, sizeof(packed));
    fvr_chunk(f, FV_CHUNK_PACKED, 0, first, bytes, sizeof(packed) + packed.bytes);
}

enum { IN_THE_FILE_TWICE, ONLY_PACKED, PACKED_AND_DAMAGED, MISSING };

/* Three chunks of calls 0 and 1, 2, and 3, the last of them first in the file, and what `second` says. */
static void three_chunks(struct fvr *f, int second)
{
    struct events e, middle;

    rank_file(f, 0, 2);
    fvr_thread(f, 0, true, 1, 1, NULL);
    begin_events(&e, 1000000300);
    call(&e, ALLREDUCE, 1000000310, 1000000320);
    fvr_chunk(f, FV_CHUNK_EVENTS, 0, 3, e.bytes, e.count);
    begin_events(&middle, 1000000200);
    call(&middle, WAIT, 1000000210, 1000000220);
    EVENT(&middle, RECEIVED, 5, 1, 9, 200);
    if (second == IN_THE_FILE_TWICE)
        fvr_chunk(f, FV_CHUNK_EVENTS, 0, 2, middle.bytes, middle.count);
    if (second == IN_THE_FILE_TWICE || second == ONLY_PACKED)
        pack_chunk(f, 2, &middle, 0);
    if (second == PACKED_AND_DAMAGED)
        pack_chunk(f, 2, &middle, 3);
    begin_events(&e, 1000000000);
    call(&e, SEND, 1000000010, 1000000020);
    EVENT(&e, SEND, 1, 1, 7, 100);
    call(&e, IRECV, 1000000030, 1000000040);
    EVENT(&e, IRECV, 5, 1, (uint64_t)FV_ANY_PEER, (uint64_t)-1);
    fvr_chunk(f, FV_CHUNK_EVENTS, 0, 0, e.bytes, e.count);
}

/* A thread's chunks follow each other by what they count, not by their places in the file; what is there
 * twice, since it was being packed, is told once; what is not there is counted, and recording is off
 * meanwhile. */
static void chunks_follow_each_other(void **state)
{
#define BEGIN "PROGRAM_BEGIN@0 ENTER@10 SEND@10 (0 1 7 100) LEAVE@20 ENTER@30 IRECEIVE@30 LEAVE@40 "
#define END   "ENTER@310 LEAVE@320 PROGRAM_END@1000000000 "
    static const struct {
        const char *words;
        unsigned lost, damaged, unfinished;
    } want[] = {
        [IN_THE_FILE_TWICE] = { BEGIN "ENTER@210 IRECEIVE_END@220 (0 1 9 200) LEAVE@220 " END, 0, 0, 0 },
        [ONLY_PACKED] = { BEGIN "ENTER@210 IRECEIVE_END@220 (0 1 9 200) LEAVE@220 " END, 0, 0, 0 },
        [PACKED_AND_DAMAGED] = { BEGIN "MEASURE@40 MEASURE@310 " END, 1, 1, 1 },
        [MISSING] = { BEGIN "MEASURE@40 MEASURE@310 " END, 1, 0, 1 },
    };
#undef BEGIN
#undef END
    struct fv_replay_stats stats;
    struct fv_merge m;
    struct words w;
    struct fvr f;

    (void)state;
    for (int second = IN_THE_FILE_TWICE; second <= MISSING; second++) {
        three_chunks(&f, second);
        merge_files(&m, &f, 1);
        replay(&m, 0, &w, &stats);
        assert_string_equal(w.text, want[second].words);
        assert_int_equal(stats.calls, 4 - want[second].lost);
        assert_int_equal(stats.lost, want[second].lost);
        assert_int_equal(stats.damaged, want[second].damaged);
        assert_int_equal(stats.unfinished, want[second].unfinished);
        fv_merge_close(&m);
        fvr_release(&f);
    }
}

/* Where the end of a thread's events is damaged, nothing is known until the rank's end, or until the call that it is
 * in. One call may be counted that has no event yet. */
static void end_is_missing(void **state)
{
#define BEGIN "PROGRAM_BEGIN@0 ENTER@10 SEND@10 (0 1 7 100) LEAVE@20 ENTER@30 LEAVE@40 "
    static const struct {
        const char *words;
        uint64_t counted;
        struct fv_in_call in_call;
        unsigned lost;
    } want[] = {
        { BEGIN "PROGRAM_END@1000000000 ", 2, { 0 }, 0 },
        { BEGIN "PROGRAM_END@1000000000 ", 3, { 0 }, 0 },
        { BEGIN "MEASURE@40 PROGRAM_END@1000000000 ", 4, { 0 }, 2 },
        { BEGIN "MEASURE@40 MEASURE@500 ENTER@500 LEAVE@1000000000 PROGRAM_END@1000000000 ",
          9,
          { .begin = 1000000500, .function = RECV },
          7 },
    };
#undef BEGIN
    struct fv_replay_stats stats;
    struct fv_merge m;
    struct words w;
    struct events e;
    struct fvr f;

    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        rank_file(&f, 0, 2);
        if (want[i].in_call.begin)
            f.header.state = FV_STATE_RUNNING;
        fvr_thread(&f, 0, true, want[i].counted, 1, &want[i].in_call);
        begin_events(&e, 1000000000);
        call(&e, SEND, 1000000010, 1000000020);
        EVENT(&e, SEND, 1, 1, 7, 100);
        call(&e, ALLREDUCE, 1000000030, 1000000040);
        fvr_chunk(&f, FV_CHUNK_EVENTS, 0, 0, e.bytes, e.count);
        merge_files(&m, &f, 1);
        replay(&m, 0, &w, &stats);
        assert_string_equal(w.text, want[i].words);
        assert_int_equal(stats.lost, want[i].lost);
        fv_merge_close(&m);
        fvr_release(&f);
    }
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
    assert_true(fv_correct(&m, "/tmp", 1 << 20, &c));
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

/* Two ranks that send to each other in turn, of which one's clock drifts against the other's. */
static struct fv_correction correct_drift(uint64_t messages, uint64_t memory_bytes)
{
    struct fv_correction c;
    struct fvr files[2];
    struct fv_merge m;
    struct events e;

    for (uint64_t i = 0; i < 2; i++) {
        rank_file(&files[i], (int)i, 2);
        files[i].header.boot_id[0] = (uint8_t)i;
        begin_events(&e, 1000000000);
        for (uint64_t k = 0; k < messages; k++) {
            flush_events(&files[i], &e);
            call(&e, k % 2 == i ? SEND : RECV, 1000001000 + k * 10000, 1000001100 + k * 10000);
            if (k % 2 == i)
                EVENT(&e, SEND, 1, 1 - i, 7, 8);
            else
                EVENT(&e, RECV, 1, 1 - i, 7, 8);
        }
        end_file(&files[i], &e, NULL);
    }
    files[1].header.first.realtime_ns -= 300000;
    files[1].header.last.realtime_ns += 300000;
    merge_files(&m, files, 2);
    assert_true(fv_correct(&m, "/tmp", memory_bytes, &c));
    assert_int_equal(c.checked, messages);
    fv_merge_close(&m);
    for (int i = 0; i < 2; i++)
        fvr_release(&files[i]);
    return c;
}

/* However little memory there is, events are not read again for each round: some 20 times in all, and not 20 times for
 * each of 32 rounds. */
static void many_rounds_with_little_memory(void **state)
{
    const uint64_t messages = 45000;
    const clock_t begin = clock();

    (void)state;
    const struct fv_correction little = correct_drift(messages, 1 << 19);
    const clock_t of_little = clock() - begin;
    const struct fv_correction much = correct_drift(messages, 1 << 26);
    const clock_t of_much = clock() - begin - of_little;

    assert_that(of_little, <, 100 * of_much);
    assert_that(little.rounds, >, 8);
    assert_int_equal(little.rounds, much.rounds);
    assert_int_equal(little.early, much.early);
    assert_int_equal(little.left, much.left);
    assert_int_equal(little.largest_ns, much.largest_ns);
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

/* Many that stay in the way of none: else this runs into the time limit. */
static void pendings_beside_many_that_stay(void **state)
{
    const uint64_t stay = 100000, live = 100;
    struct fv_pendings p = { 0 };

    (void)state;
    for (uint64_t i = 1; i < 3000000; i++) {
        fv_pendings_add(&p, &(struct fv_pending){ .number = i });
        if (i > stay + live)
            fv_pendings_remove(&p, fv_pendings_find(&p, i - live));
    }
    assert_int_equal(p.count, stay + live);
    fv_pendings_release(&p);
}

/* Neighbours, and numbers far apart that share a place: each is found as long as it is there. */
static void pendings_are_told_apart(void **state)
{
    enum { NUMBERS = 600 };
    struct fv_pendings p = { 0 };
    uint64_t number[NUMBERS], seed = 1;
    bool there[NUMBERS] = { false };
    (void)state;

    for (uint64_t i = 0; i < NUMBERS; i++)
        number[i] = i % 3 == 0 ? 1 + i : i % 3 == 1 ? i << 10 : i << 20 | 5;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned i = (unsigned)((seed = fv_mix(seed)) % NUMBERS);
        struct fv_pending *item = fv_pendings_find(&p, number[i]);

        assert_int_equal(item != NULL, there[i]);
        if (item && round % 2)
            fv_pendings_remove(&p, item);
        else
            fv_pendings_add(&p, &(struct fv_pending){ .number = number[i], .sent = i });
        there[i] = !item || round % 2 == 0;
    }
    for (unsigned i = 0; i < NUMBERS; i++) {
        const struct fv_pending *item = fv_pendings_find(&p, number[i]);

        assert_int_equal(item != NULL, there[i]);
        assert_true(!item || item->sent == i);
        p.count -= there[i];
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
    c = fv_call_info("MPI_Bcast_c", FV_CLASS_COLLECTIVE); /* with large counts */
    assert_int_equal(c.op, FV_OP_BCAST);
    assert_int_equal(fv_call_info("MPI_Reduce_init_c", FV_CLASS_COLLECTIVE).op, FV_OP_REDUCE);
    assert_int_equal(fv_call_info("MPI_Ialltoallw_c", FV_CLASS_COLLECTIVE).op, FV_OP_ALLTOALLW);
    assert_true(fv_call_info("MPI_Neighbor_allgather_c", FV_CLASS_COLLECTIVE).neighbour);
    assert_true(fv_call_info("MPI_Ineighbor_alltoallw", FV_CLASS_COLLECTIVE).neighbour);
    assert_int_equal(fv_call_info("MPI_Init", FV_CLASS_INIT).op, FV_OP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_become_records),
        cmocka_unit_test(open_call_is_closed),
        cmocka_unit_test(definitions_have_one_order),
        cmocka_unit_test(chunks_follow_each_other),
        cmocka_unit_test(end_is_missing),
        cmocka_unit_test(early_message_is_moved),
        cmocka_unit_test(many_rounds_with_little_memory),
        cmocka_unit_test(pendings_come_and_go),
        cmocka_unit_test(pendings_are_told_apart),
        cmocka_unit_test(bytes_as_readers_expect),
        cmocka_unit_test(pauses_are_told),
        cmocka_unit_test(pendings_beside_many_that_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
