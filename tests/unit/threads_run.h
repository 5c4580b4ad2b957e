/* Threads of a synthetic run of four ranks: their locks, lives and regions, and the report of them. */
#ifndef THREADS_RUN_H
#define THREADS_RUN_H

#include "fvr_builder.h"
#include "json_rows.h"
#include "base/options.h"
#include "profile/threads/phases.h"
#include "views/views.h"
#include "unit.h"

#include <unistd.h>
#include <jansson.h>

#define MS    UINT64_C(1000000)
#define START UINT64_C(1000000000)
#define RANKS 4
enum { MAIN = 1, WORKER, LOCKS, SITE, HOLDS }; /* paths: LOCKS is main <- worker <- 0x300, SITE the call 0x300 alone */

static struct fvr file[RANKS];
static struct fv_experiment experiment;
static struct fv_model model;
static const struct fv_findings no_findings;
static struct fv_symbols symbols;
static const struct fv_cost_profile no_costs;
static struct fv_profile view = { &model, &symbols, &no_costs, &no_findings, 0 };
static char *output;
static size_t output_bytes;

static inline int set_up(void **state)
{
    (void)state;
    experiment = (struct fv_experiment){ 0 };
    model = (struct fv_model){ 0 };
    symbols = (struct fv_symbols){ 0 };
    for (int i = 0; i < RANKS; i++) {
        fvr_init(&file[i], i, RANKS);
        for (int k = 0; k < i; k++) /* modules have other numbers on each rank */
            fvr_module(&file[i], k % 2 ? "/lib/one" : "/lib/two", 0, NULL);
        uint32_t app = fvr_module(&file[i], "/no/app", (uint64_t)i << 20, "0123456789abcdef0123");
        fvr_path(&file[i], 0, app, 0x100);
        fvr_path(&file[i], MAIN, app, 0x200);
        fvr_path(&file[i], WORKER, app, 0x300);
        fvr_path(&file[i], 0, app, 0x300);
        fvr_path(&file[i], WORKER, app, 0x400);
        fvr_thread(&file[i], 0, true, 0, 0, NULL);
    }
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    free(output);
    output = NULL;
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    for (int i = 0; i < RANKS; i++)
        fvr_release(&file[i]);
    return 0;
}

static inline void build(int ranks)
{
    for (int i = 0; i < ranks; i++)
        fvr_join(&file[i], &experiment);
    fv_experiment_choose(&experiment);
    fv_model_build(&model, &symbols, &experiment, true);
}

static inline uint32_t app_of(int rank)
{
    return (uint32_t)rank + 1;
}

/* ---- records ---- */

static inline void add_object(int rank, struct fv_sync_object o)
{
    fvr_add(&file[rank], FV_CHUNK_SYNC_OBJECTS, FV_NO_THREAD, &o, sizeof(o));
}

static inline void static_object(int rank, uint32_t id, unsigned kind, uint64_t offset)
{
    add_object(rank, (struct fv_sync_object){ .id = id,
                                              .kind = (uint8_t)kind,
                                              .flags = FV_SYNC_STATIC,
                                              .address = ((uint64_t)rank << 20) + offset,
                                              .offset = offset,
                                              .module = app_of(rank),
                                              .path = SITE });
}

static inline void heap_object(int rank, uint32_t id, unsigned kind, uint64_t address, uint32_t path)
{
    add_object(rank, (struct fv_sync_object){
                         .id = id, .kind = (uint8_t)kind, .address = address, .offset = address, .path = path });
}

static inline void add_record(int rank, uint32_t thread, struct fv_sync_record r)
{
    r.thread = thread;
    if (r.wait_sum)
        r.wait_histogram[3] = (uint32_t)r.contended;
    fvr_add(&file[rank], FV_CHUNK_SYNC, thread, &r, sizeof(r));
}

static inline void add_thread(int rank, uint32_t thread, struct fv_sync_thread t)
{
    if (!t.mode)
        t.mode = FV_THREADS_ON | FV_THREADS_HOLD | FV_THREADS_OWNER;
    fvr_add(&file[rank], FV_CHUNK_SYNC_THREAD, thread, &t, sizeof(t));
}

/* Milliseconds from the rank's begin; end 0: it lives. */
static inline void add_life_of(int rank, uint32_t thread, uint64_t routine, unsigned created, unsigned end,
                               unsigned waited, unsigned joined, unsigned cpu)
{
    struct fv_thread_life l = { .thread = thread,
                                .tid = 100 + thread,
                                .creator = 0,
                                .create_path = MAIN,
                                .joiner = joined ? 0 : FV_NO_THREAD,
                                .join_path = joined ? MAIN : 0,
                                .routine_module = app_of(rank),
                                .routine_offset = routine,
                                .created = START + created * MS,
                                .begin = START + created * MS,
                                .end = end ? START + end * MS : 0,
                                .wait_at_begin = 7 * MS,
                                .wait_at_end = end ? (7 + waited) * MS : 0,
                                .join_begin = joined ? START + (joined - 1) * MS : 0,
                                .join_end = joined ? START + joined * MS : 0,
                                .cpu_ns = cpu * MS };

    fvr_add(&file[rank], FV_CHUNK_LIVES, FV_NO_THREAD, &l, sizeof(l));
}

static inline void add_life(int rank, uint32_t thread, uint64_t routine, unsigned created, unsigned end,
                            unsigned waited, unsigned joined)
{
    add_life_of(rank, thread, routine, created, end, waited, joined, end ? end - created - waited : 0);
}

/* ---- output ---- */

static inline const char *text(size_t width)
{
    const struct fv_text_options o = { .width = width, .top = 10, .brief = true };
    FILE *out;

    free(output);
    out = open_memstream(&output, &output_bytes);
    assert_int_equal(fv_view_text(&view, &o, out), 0);
    fclose(out);
    return output;
}

static inline const char *stacks(void)
{
    const struct fv_stacks_options o = { .text = { .width = 140, .top = 10 } };
    FILE *out;

    free(output);
    out = open_memstream(&output, &output_bytes);
    assert_int_equal(fv_view_stacks(&view, &o, out), 0);
    fclose(out);
    return output;
}

static inline json_t *json(void)
{
    json_error_t error;
    FILE *out;

    free(output);
    out = open_memstream(&output, &output_bytes);
    assert_int_equal(fv_view_json(&view, FV_JSON_RANKS_ALL, out), 0);
    fclose(out);
    json_t *root = json_loads(output, 0, &error);
    if (!root)
        fail_msg("%s at %d", error.text, error.position);
    return json_plainly(root);
}

static inline double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_number(value))
        fail_msg("%s is no number", key);
    return json_number_value(value);
}

/* The site of a lock that has a role and an innermost offset. */
static inline json_t *site(const json_t *lock, const char *role, unsigned offset, bool whole)
{
    json_t *found = NULL, *s;
    size_t i;

    json_array_foreach(json_object_get(lock, "sites"), i, s)
    {
        const json_t *path = json_object_get(s, "path");

        if (!strcmp(json_string_value(json_object_get(s, "role")), role) &&
            number(json_array_get(path, 0), "offset") == offset &&
            json_is_true(json_object_get(s, "whole_path")) == whole) {
            assert_null(found);
            found = s;
        }
    }
    if (!found)
        fail_msg("no site that %s at 0x%x", role, offset);
    return found;
}

/* By hand: t = 100, 80, 60, 40 ms, w = 50, 0, 20, 0 ms, so t - w = 50, 80, 40, 40: sum 210, longest 80. */
static inline void one_phase(int rank, unsigned from)
{
    static const unsigned t[] = { 100, 80, 60, 40 }, w[] = { 50, 0, 20, 0 };

    for (uint32_t i = 0; i < 4; i++)
        add_life(rank, i + 1, 0x700, from, from + t[i], w[i], from + 100 + i + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
