/* The numbers of rank files become one numbering: what is the same module, the same call path, the same
 * communicator, and what becomes of damage; and items that begin with their key, which all of it is made of.
 */
#include "experiment/call_tree.h"
#include "experiment/definitions.h"
#include "experiment/keys.h"
#include "fvr_builder.h"
#include "symbols/symbols.h"
#include "unit.h"

#define BUILD_ID "0123456789abcdef0123"

static uint32_t module(struct fv_call_tree *t, const char *build_id, const char *path)
{
    return fv_call_tree_module(t, (const uint8_t *)build_id, (uint32_t)strlen(build_id), path);
}

static void same_modules(void **state)
{
    struct fv_call_tree t;
    (void)state;

    fv_call_tree_init(&t);
    uint32_t app = module(&t, BUILD_ID, "/home/app"), plain = module(&t, "", "/lib/libm.so");
    assert_int_equal(app, FV_MODEL_FIRST_MODULE);
    assert_int_equal(module(&t, BUILD_ID, "/scratch/app"), app);
    assert_string_equal(t.modules[app].path, "/home/app");
    assert_string_equal(t.modules[app].name, "app");
    assert_int_not_equal(module(&t, BUILD_ID, "/home/copy"), app);
    assert_int_not_equal(module(&t, "1123456789abcdef0123", "/home/app"), app);
    assert_int_not_equal(module(&t, "", "/home/app"), app);
    assert_int_equal(module(&t, "", "/lib/libm.so"), plain);
    assert_int_not_equal(module(&t, "", "/lib64/libm.so"), plain);
    fv_call_tree_release(&t);
}

/* A file with two modules and the path main <- solve <- MPI, numbered from behind if `reversed`. */
static void make_file(struct fvr *f, bool reversed)
{
    uint32_t app, lib;

    fvr_init(f, 0, 1);
    if (reversed)
        lib = fvr_module(f, "/lib/libsolve.so", 1 << 30, NULL);
    app = fvr_module(f, reversed ? "/scratch/app" : "/home/app", 1 << 20, BUILD_ID);
    if (!reversed)
        lib = fvr_module(f, "/lib/libsolve.so", 1 << 25, NULL);
    else
        fvr_path(f, 0, app, 0x900); /* a path that the other file does not have */
    uint32_t main_node = fvr_path(f, 0, app, 0x100);
    fvr_path(f, main_node, lib, 0x200);
    fvr_finish(f);
}

static void add_file(struct fv_call_tree *t, struct fvr *f, struct fv_numbers *paths)
{
    struct fv_experiment e = { 0 };
    struct fv_numbers modules = { 0 };
    struct fv_path_record r;

    fvr_join(f, &e);
    struct fv_cursor c = fv_cursor(e.files[0].reader, FV_CHUNK_PATHS);
    fv_call_tree_add_modules(t, e.files[0].reader, &modules);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        uint32_t node = fv_call_tree_add_path(t, &modules, paths, c.index + 1, &r, FV_NONE);
        assert_int_equal(fv_numbers_get(paths, c.index + 1), node);
    }
    fv_numbers_release(&modules);
    fv_experiment_release(&e);
    fvr_release(f);
}

static void same_paths(void **state)
{
    struct fv_numbers first = { 0 }, second = { 0 };
    struct fv_call_tree t;
    struct fvr f;
    (void)state;

    fv_call_tree_init(&t);
    make_file(&f, false);
    add_file(&t, &f, &first);
    assert_int_equal(t.node_count, 3);
    make_file(&f, true);
    add_file(&t, &f, &second);
    assert_int_equal(t.node_count, 4);
    assert_int_equal(t.module_count, FV_MODEL_FIRST_MODULE + 2);
    assert_int_equal(second.of[2], first.of[1]);
    assert_int_equal(second.of[3], first.of[2]);
    const struct fv_node *n = &t.nodes[first.of[2]];
    assert_int_equal(n->parent, first.of[1]);
    assert_int_equal(n->offset, 0x200);
    assert_that(n->key, ==, fv_key_frame(t.nodes[n->parent].key, t.modules[n->module].key, 0x200));
    assert_int_equal(fv_numbers_get(&first, 7), FV_NONE);
    fv_numbers_release(&first);
    fv_numbers_release(&second);
    fv_call_tree_release(&t);
}

/* A caller behind its callee, or one that is missing, is lost; no path has a cycle. */
static void damaged_paths(void **state)
{
    const struct fv_path_record behind = { .parent = 3, .offset = 1 }, itself = { .parent = 2, .offset = 2 },
                                cut = { .parent = 1, .module = FV_MODULE_TRUNCATED, .offset = 3 };
    struct fv_numbers modules = { 0 }, paths = { 0 };
    struct fv_call_tree t;
    (void)state;

    fv_call_tree_init(&t);
    uint32_t a = fv_call_tree_add_path(&t, &modules, &paths, 1, &behind, FV_NONE);
    uint32_t b = fv_call_tree_add_path(&t, &modules, &paths, 2, &itself, FV_NONE);
    uint32_t c = fv_call_tree_add_path(&t, &modules, &paths, 9, &cut, FV_NONE);
    uint32_t grafted = fv_call_tree_add_path(&t, &modules, &paths, 10, &itself, c);
    assert_int_equal(t.nodes[grafted].parent, c);
    assert_int_equal(t.nodes[t.nodes[a].parent].module, FV_MODEL_LOST);
    assert_int_equal(t.nodes[b].parent, t.nodes[a].parent);
    assert_int_equal(t.nodes[a].module, FV_MODEL_NO_MODULE);
    assert_int_equal(t.nodes[c].module, FV_MODEL_CUT);
    assert_int_equal(t.nodes[c].parent, a);
    for (uint32_t i = 1; i < t.node_count; i++)
        assert_that(t.nodes[i].parent, <, i);
    fv_numbers_release(&paths);
    fv_call_tree_release(&t);
}

static void addresses(void **state)
{
    struct fv_loaded_modules loaded = { 0 };
    struct fv_experiment e = { 0 };
    struct fvr f;
    (void)state;

    make_file(&f, false);
    fvr_join(&f, &e);
    struct fv_path_record in = { .module = FV_MODULE_UNKNOWN, .offset = (1 << 25) + 0x30 }, out = in;
    fv_loaded_modules_place(&loaded, e.files[0].reader, &in);
    assert_int_equal(in.module, 2);
    assert_int_equal(in.offset, 0x30);
    out.offset = 0x10;
    fv_loaded_modules_place(&loaded, e.files[0].reader, &out);
    assert_int_equal(out.module, FV_MODULE_UNKNOWN);
    fv_loaded_modules_release(&loaded);
    fv_experiment_release(&e);
    fvr_release(&f);
}

/* Against a table that cannot be wrong. Keys of 12 bytes, which are no whole number of 8. */
static void interned(void **state)
{
    enum { SIDE = 20 };
    struct item {
        uint32_t a, b, c, sum;
    } *items = NULL;
    uint32_t of[SIDE][SIDE][SIDE] = { 0 };
    struct fv_index index = { 0 };
    size_t count = 0, room = 0;
    uint64_t random = 1;
    (void)state;

    for (int i = 0; i < 20000; i++) {
        random = fv_mix(random + 1);
        uint32_t key[] = { random % SIDE, (random >> 16) % SIDE, (random >> 32) % SIDE };
        uint32_t *known = &of[key[0]][key[1]][key[2]], found = FV_FIND(index, items, key);

        assert_int_equal(found, *known ? *known - 1 : FV_NONE);
        const void *where = items;
        size_t full = room;
        if (*known)
            room = count; /* what is there moves nothing, though there is no room for another */
        uint32_t at = FV_INTERN(index, items, count, room, key);
        assert_int_equal(items[at].sum, *known ? key[0] + key[1] + key[2] + 1 : 0);
        if (*known) {
            assert_ptr_equal(items, where);
            assert_int_equal(room, count);
            room = full;
        }
        items[at].sum = key[0] + key[1] + key[2] + 1;
        assert_int_equal(at, *known ? *known - 1 : count - 1);
        *known = at + 1;
    }
    free(items);
    fv_index_release(&index);
}

static void interned_by_name(void **state)
{
    struct item {
        const char *name;
        unsigned sum;
    } *items = NULL;
    struct fv_arena arena = { 0 };
    struct fv_index index = { 0 };
    size_t count = 0, room = 0;
    char name[16];
    (void)state;

    for (unsigned i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "MPI_%u", i % 1000);
        items[FV_INTERN_NAME(index, items, count, room, &arena, name)].sum += i;
    }
    assert_int_equal(count, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "MPI_%u", i);
        assert_string_equal(items[i].name, name);
        assert_int_equal(items[i].sum, 3 * i + 3000);
    }
    free(items);
    fv_index_release(&index);
    fv_arena_release(&arena);
}

static void read_functions(void **state)
{
    struct fv_function_record damaged = { .class = 200, .wait = 99 }, r;
    char name[FV_FUNCTION_NAME_BYTES];
    (void)state;

    assert_false(fv_def_function_read(&damaged, &r));
    memset(damaged.name, 'x', sizeof(damaged.name));
    assert_true(fv_def_function_read(&damaged, &r));
    assert_int_equal(strlen(r.name), sizeof(r.name) - 1);
    assert_int_equal(r.class, FV_CLASS_OTHER);
    assert_int_equal(r.wait, FV_RULE_NONE);
    fv_def_function_unnamed(12, name);
    assert_string_equal(name, "(function 12)");
}

/* ---- communicators ---- */

static struct fv_comm_record *comm_record(uint64_t uid, unsigned flags, int first, int count, int remote_first,
                                          int remote_count, const char *name)
{
    struct fv_comm_record *r = fv_xcalloc(1, sizeof(*r) + 2 * sizeof(r->run[0]));

    *r = (struct fv_comm_record){ .id = 1, .uid = uid, .flags = flags, .size = count, .remote_size = remote_count };
    r->runs = 1;
    r->remote_runs = remote_count > 0;
    r->run[0] = (struct fv_rank_run){ first, 1, count };
    r->run[1] = (struct fv_rank_run){ remote_first, 1, remote_count };
    memcpy(r->name, name, strlen(name));
    return r;
}

struct told {
    uint32_t rank;
    struct fv_comm_record *record;
};
struct comms {
    struct fv_arena arena;
    struct fv_index index;
    struct fv_def_comm *items;
    size_t count, room;
};

static struct fv_def_comm *tell(struct comms *c, const struct told *told)
{
    char name[FV_COMM_NAME_BYTES];
    struct fv_def_comm comm = fv_def_comm_of(told->record, told->rank, name);
    struct fv_def_comm *known = FV_INTERNED(c->index, c->items, c->count, c->room, FV_DEF_COMM_KEY(&comm));

    fv_def_comm_join(&c->arena, known, &comm);
    return known;
}

static void release_comms(struct comms *c)
{
    free(c->items);
    fv_index_release(&c->index);
    fv_arena_release(&c->arena);
}

/* Two ranks on either side of an intercommunicator, of whom the second and the third name it. */
static void same_communicator(void **state)
{
    const struct told told[] = {
        { 0, comm_record(77, FV_COMM_INTER, 0, 2, 2, 1, "") },
        { 1, comm_record(77, FV_COMM_INTER | FV_COMM_FREED, 0, 2, 2, 1, "second") },
        { 2, comm_record(77, FV_COMM_INTER, 2, 1, 0, 2, "third") },
    };
    (void)state;

    for (unsigned order = 0; order < 6; order++) {
        unsigned a = order % 3, b = (a + 1 + order / 3) % 3;
        struct comms c = { 0 };

        tell(&c, &told[a]);
        tell(&c, &told[b]);
        const struct fv_def_comm *all = tell(&c, &told[3 - a - b]);
        assert_int_equal(c.count, 1);
        assert_string_equal(all->name, "second");
        assert_int_equal(all->flags, FV_COMM_INTER | FV_COMM_FREED);
        assert_int_equal(all->size, 2);
        assert_int_equal(all->remote_size, 1);
        assert_int_equal(all->runs[0].count, 2);
        assert_int_equal(all->runs[1].first, 2);
        assert_int_equal(all->origin.rank, 0);
        release_comms(&c);
    }
    for (unsigned i = 0; i < 3; i++)
        free(told[i].record);
}

/* Two of its ranks list its members, one does not, in any order. */
static void same_communicator_listed_by_some(void **state)
{
    struct told told[] = {
        { 3, comm_record(78, FV_COMM_UNLISTED, 0, 9, 0, 0, "") },
        { 5, comm_record(78, 0, 20, 9, 0, 0, "") },
        { 4, comm_record(78, 0, 10, 9, 0, 0, "") },
    };
    (void)state;

    told[0].record->runs = 0;
    for (unsigned order = 0; order < 6; order++) {
        unsigned a = order % 3, b = (a + 1 + order / 3) % 3;
        struct comms c = { 0 };

        assert_int_equal(fv_def_comm_is_listed(tell(&c, &told[a])), a > 0);
        tell(&c, &told[b]);
        const struct fv_def_comm *all = tell(&c, &told[3 - a - b]);
        assert_int_equal(c.count, 1);
        assert_int_equal(all->size, 9);
        assert_int_equal(all->run_count, 1);
        assert_int_equal(all->runs[0].first, 10); /* the lower rank's of those who list them */
        assert_int_equal(all->origin.rank, 3);
        assert_int_equal(all->flags, 0);
        release_comms(&c);
    }
    for (unsigned i = 0; i < 3; i++)
        free(told[i].record);
}

/* MPI_COMM_SELF is one, whose uid the runtime makes of the rank, and the parent of what each rank made of it.
 */
static void self_and_inferred(void **state)
{
    struct told told[] = {
        { 3, comm_record(fv_mix2(2, 3), FV_COMM_SELF, 3, 1, 0, 0, "MPI_COMM_SELF") },
        { 1, comm_record(fv_mix2(2, 1), FV_COMM_SELF, 1, 1, 0, 0, "") },
        { 1, comm_record(9, 0, 1, 1, 0, 0, "") },
        { 1, comm_record(5, FV_COMM_INFERRED, 0, 4, 0, 0, "") },
        { 3, comm_record(5, FV_COMM_INFERRED, 0, 4, 0, 0, "") },
    };
    struct comms c = { 0 };
    (void)state;

    told[2].record->parent = fv_mix2(2, 1);
    for (unsigned i = 0; i < 5; i++)
        tell(&c, &told[i]);
    assert_int_equal(c.count, 4);
    assert_string_equal(c.items[0].name, "MPI_COMM_SELF");
    assert_int_equal(c.items[0].origin.rank, 1);
    assert_that(c.items[1].parent, ==, c.items[0].uid);
    assert_int_equal(c.items[0].owner, FV_NOBODY);
    assert_int_equal(c.items[2].owner, 1);
    assert_int_equal(c.items[3].owner, 3);
    release_comms(&c);
    for (unsigned i = 0; i < 5; i++)
        free(told[i].record);
}

/* Time is put down to the program; where that is main() alone, to a library that is the program's, too. */
static void own_frames(void **state)
{
    struct fv_call_tree t;
    (void)state;

    fv_call_tree_init(&t);
    const uint32_t app = module(&t, BUILD_ID, "/opt/app/bin/app"),
                   physics = module(&t, "1123456789abcdef0123", "/opt/app/lib/libphysics.so.1"),
                   math = module(&t, "2123456789abcdef0123", "/opt/gcc/lib/libm.so.6"),
                   dist = module(&t, "3123456789abcdef0123", "/usr/lib/x86_64-linux-gnu/libdist.so.0");
    uint8_t code[16];

    for (uint32_t i = FV_MODEL_FIRST_MODULE; i < t.module_count; i++)
        code[i] = (uint8_t)fv_code_of(&t.modules[i], i == app);
    assert_int_equal(code[physics], FV_CODE_OF_LIBRARY);
    assert_int_equal(code[math], FV_CODE_OTHER);
    assert_int_equal(code[dist], FV_CODE_OTHER);
    struct fv_frame frames[] = { { .function = "sin", .module = math },
                                 { .function = "force", .module = physics },
                                 { .function = "main", .module = app } };
    const struct fv_path path = { .frames = frames, .count = 3 };

    assert_int_equal(fv_path_own(&path, code), 1);
    frames[2].function = "step";
    assert_int_equal(fv_path_own(&path, code), 2);
    frames[1] = (struct fv_frame){ .function = NULL, .module = app }; /* a stub */
    assert_int_equal(fv_path_own(&path, code), 2);
    frames[1] = (struct fv_frame){ .function = "force", .module = physics };
    frames[2].function = "main";
    frames[1].module = dist;
    assert_int_equal(fv_path_own(&path, code), 2);
    fv_code_calls_mpi(code, t.modules, dist);
    assert_int_equal(fv_path_own(&path, code), 1);
    fv_call_tree_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_modules),
        cmocka_unit_test(same_paths),
        cmocka_unit_test(damaged_paths),
        cmocka_unit_test(addresses),
        cmocka_unit_test(interned),
        cmocka_unit_test(interned_by_name),
        cmocka_unit_test(read_functions),
        cmocka_unit_test(same_communicator),
        cmocka_unit_test(same_communicator_listed_by_some),
        cmocka_unit_test(self_and_inferred),
        cmocka_unit_test(own_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
