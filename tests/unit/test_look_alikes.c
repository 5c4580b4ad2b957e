/* Symbols of this very program are found, and call sites that look the same are one. */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "symbols/module_files.h"
#include "viewed_run.h"

#include <unistd.h>
#include <elf.h>
#include <link.h>

/* ---- symbols ---- */

static void names(void **state)
{
    struct fv_arena arena = { 0 };
    (void)state;

    assert_string_equal(fv_demangle(&arena, "main", false), "main");
    assert_string_equal(fv_demangle(&arena, "_ZN4work4GridIiE8exchangeEi", false), "work::Grid<int>::exchange(int)");
    assert_string_equal(fv_demangle(&arena, "_ZN4work4GridIiE8exchangeEi.isra.0", false),
                        "work::Grid<int>::exchange(int)");
    assert_string_equal(fv_demangle(&arena, "solve_.constprop.3", true), "solve");
    assert_string_equal(fv_demangle(&arena, "", true), "");
    assert_string_equal(fv_demangle(&arena, "__heat_MOD_solve", false), "heat::solve");
    assert_string_equal(fv_demangle(&arena, "solve_", true), "solve");
    assert_string_equal(fv_demangle(&arena, "solve_", false), "solve_");
    assert_string_equal(fv_demangle(&arena, "MAIN__", true), "MAIN__");
    assert_string_equal(fv_demangle(&arena, "slow.0", true), "slow"); /* within another procedure */
    assert_string_equal(fv_demangle(&arena, "main._omp_fn.0", false), "main._omp_fn.0");
    assert_string_equal(fv_demangle(&arena, "memcpy@@GLIBC_2.14", false), "memcpy");
    fv_arena_release(&arena);
}

__attribute__((noinline)) int fv_test_landmark(int x);
__attribute__((noinline)) int fv_test_landmark(int x)
{
    __asm__ volatile("");
    return x + 1;
}

static uintptr_t bias;
static int find_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    bias = info->dlpi_addr; /* the program comes first */
    return 1;
}

static void own_symbols(void **state)
{
    char self[4096] = "", frame[300];
    const uint64_t ticks[] = { 50 * MS };
    struct fv_elf object;
    struct fv_path path = { 0 };
    (void)state;

    assert_that(readlink("/proc/self/exe", self, sizeof(self) - 1), >, 0);
    dl_iterate_phdr(find_bias, NULL);
    assert_int_equal(fv_elf_open(&object, self), 0);
    char id[21] = "";
    memcpy(id, object.build_id, 20);
    bool has_id = object.build_id_bytes == 20;
    uint32_t module = fvr_module(&file[0], self, bias, has_id ? id : NULL);
    uint32_t node = fvr_path(&file[0], 0, module, (uintptr_t)fv_test_landmark - bias + (uint64_t)fv_test_landmark(0));
    fvr_cell(&file[0], 0, node, 1, 1, ticks, 1, 1, 0);
    fv_elf_close(&object);
    build(true);
    fv_path_of(&path, &symbols, model.sites[0].node);
    assert_int_equal(path.count, 1);
    assert_string_equal(fv_frame_label(&path.frames[0], &symbols, frame, sizeof(frame)), "fv_test_landmark");
    fv_path_release(&path);
    bool said = false; /* the other module is gone */
    for (size_t i = 0; i < model.module_problems.count; i++)
        said = said || strstr(model.module_problems.items[i].text, "missing or not readable");
    assert_true(said);
}

/* The program is gone, and its debug file is in the last of three directories. */
static void debug_path_is_a_list(void **state)
{
    char self[4096] = "", copy[9000], directory[] = "/tmp/fvmpi-unit-XXXXXX", list[200], file_name[200], frame[300];
    const uint64_t ticks[] = { 50 * MS };
    struct fv_elf object;
    struct fv_path path = { 0 };
    size_t n;
    (void)state;

    assert_that(readlink("/proc/self/exe", self, sizeof(self) - 1), >, 0);
    dl_iterate_phdr(find_bias, NULL);
    assert_int_equal(fv_elf_open(&object, self), 0);
    if (object.build_id_bytes != 20) {
        fv_elf_close(&object);
        build(false);
        skip(); /* a linker that writes none */
    }
    assert_non_null(mkdtemp(directory));
    n = (size_t)snprintf(file_name, sizeof(file_name), "%s/.build-id/%02x/", directory, object.build_id[0]);
    snprintf(copy, sizeof(copy), "mkdir -p %s", file_name);
    assert_int_equal(system(copy), 0);
    for (unsigned i = 1; i < 20; i++)
        n += (size_t)snprintf(file_name + n, sizeof(file_name) - n, "%02x", object.build_id[i]);
    snprintf(copy, sizeof(copy), "cp '%s' %s.debug", self, file_name);
    assert_int_equal(system(copy), 0);
    char id[21] = "";
    memcpy(id, object.build_id, 20);
    fv_elf_close(&object);
    uint32_t module = fvr_module(&file[0], "/no/such/program", bias, id);
    uint32_t node = fvr_path(&file[0], 0, module, (uintptr_t)fv_test_landmark - bias + (uint64_t)fv_test_landmark(0));
    fvr_cell(&file[0], 0, node, 1, 1, ticks, 1, 1, 0);
    snprintf(list, sizeof(list), "/no/such:%s/empty::%s", directory, directory);
    setenv("FVMPI_DEBUG_PATH", list, 1);
    build(true);
    unsetenv("FVMPI_DEBUG_PATH");
    fv_path_of(&path, &symbols, model.sites[0].node);
    assert_string_equal(fv_frame_label(&path.frames[0], &symbols, frame, sizeof(frame)), "fv_test_landmark");
    fv_path_release(&path);
    snprintf(copy, sizeof(copy), "rm -r %s", directory);
    assert_int_equal(system(copy), 0);
}

/* ---- call sites that look the same ---- */

static uint64_t calls_from[3];
static unsigned noted;
__attribute__((noinline)) void fv_test_note(void);
__attribute__((noinline)) void fv_test_note(void)
{
    calls_from[noted++] = (uintptr_t)__builtin_return_address(0);
    __asm__ volatile("");
}

/* As a compiler makes them of a loop: two calls on one line, and a third on another. */
__attribute__((noinline)) void fv_test_unrolled(void);
__attribute__((noinline)) void fv_test_unrolled(void)
{
    noted = 0;
    fv_test_note(), fv_test_note();
    fv_test_note();
    __asm__ volatile("");
}

/* Paths of the three calls in this program, and in a copy of it under another name. */
static void add_calls(struct fvr *f, const char *path, const char *id, uint32_t nodes[3])
{
    uint32_t module = fvr_module(f, path, bias, id);

    for (unsigned i = 0; i < 3; i++)
        nodes[i] = fvr_path(f, 0, module, calls_from[i] - bias);
}

static unsigned sites_of(const char *module, uint32_t *first)
{
    struct fv_path path = { 0 };
    unsigned count = 0;

    for (uint32_t i = 0; i < model.site_count; i++) {
        fv_path_of(&path, &symbols, model.sites[i].node);
        const struct fv_frame *f = &path.frames[0];
        if (!path.count || !f->function || strcmp(f->function, "fv_test_unrolled") ||
            strcmp(model.tree.modules[f->module].path, module))
            continue;
        if (!count++)
            *first = i;
        if (!f->line)
            count = 99; /* built without -g */
    }
    fv_path_release(&path);
    return count;
}

/* The sites of its function are those that the function tells. */
static void expect_all_of_function(const struct fv_site *s)
{
    uint64_t calls = 0, of_function = 0;

    for (size_t i = 0; i < model.site_count; i++) {
        calls += model.sites[i].function == s->function ? model.sites[i].stat.calls : 0;
        of_function += model.sites[i].function == s->function;
    }
    assert_int_equal(calls, model.functions[s->function].stat.calls);
    assert_int_equal(of_function, model.functions[s->function].sites);
}

static void same_line_is_one_site(void **state)
{
    char self[4096] = "", directory[] = "/tmp/fvmpi-unit-XXXXXX", copy[64], command[4300];
    const uint64_t ticks[] = { 10 * MS, 30 * MS, 1 * MS };
    struct fv_elf object;
    uint32_t nodes[3], first = 0, first_of_copy = 0;
    (void)state;

    assert_that(readlink("/proc/self/exe", self, sizeof(self) - 1), >, 0);
    assert_non_null(mkdtemp(directory));
    snprintf(copy, sizeof(copy), "%s/copy", directory);
    snprintf(command, sizeof(command), "cp '%s' %s", self, copy);
    assert_int_equal(system(command), 0);
    dl_iterate_phdr(find_bias, NULL);
    fv_test_unrolled();
    assert_int_equal(fv_elf_open(&object, self), 0);
    char id[21] = "";
    memcpy(id, object.build_id, 20);
    const char *known = object.build_id_bytes == 20 ? id : NULL;
    fv_elf_close(&object);
    add_calls(&file[0], self, known, nodes);
    fvr_cell(&file[0], 0, nodes[0], 1, 1, ticks, 1, 100, 0);
    fvr_cell(&file[0], 0, nodes[1], 1, 1, ticks + 1, 1, 50, 0);
    fvr_cell(&file[0], 0, nodes[2], 1, 1, ticks + 2, 1, 0, 0);
    fvr_cell(&file[0], 0, nodes[1], 1, 2, ticks, 1, 0, 0); /* another function on the same line */
    add_calls(&file[1], self, known, nodes);
    fvr_cell(&file[1], 0, nodes[0], 1, 1, ticks, 2, 7, 0);
    const struct fv_in_call in = { .begin = 1500 * MS, .function = 1, .path = nodes[0], .peer = FV_NO_PEER };
    fvr_thread(&file[1], 3, false, 1, 1 * MS, &in);
    add_calls(&file[1], copy, known, nodes);
    fvr_cell(&file[1], 0, nodes[1], 1, 1, ticks, 1, 7, 0);
    build(true);
    snprintf(command, sizeof(command), "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    unsigned count = sites_of(self, &first);
    if (count >= 99)
        skip();
    assert_int_equal(count, 3);
    assert_int_equal(sites_of(copy, &first_of_copy), 1);
    const struct fv_site *s = &model.sites[first];
    assert_string_equal(model.functions[s->function].name, "MPI_Send");
    assert_int_equal(s->stat.calls, 4);
    assert_int_equal(s->stat.bytes_sent, 164);
    assert_int_equal(s->ranks, 2);
    assert_true(fabs(s->stat.sum_s - 0.080) < 1e-9 && fabs(s->stat.max_s - 0.030) < 1e-9);
    assert_true(fabs(s->rank_mean - 0.040) < 1e-9 && fabs(s->cov) < 1e-9); /* 10 + 30 and 10 + 30 */
    assert_int_equal(model.site_ranks[s->first].rank, 0);
    assert_int_equal(model.site_ranks[s->first].stat.calls, 2);
    assert_int_equal(model.site_ranks[s->first + 1].stat.bytes_sent, 14);
    assert_int_equal(model.threads[model.thread_count - 1].in_call.node, s->node);
    expect_all_of_function(s);
}

/* Nothing but the offset tells calls apart whose line is not known. */
static void unknown_lines_stay_apart(void **state)
{
    const uint64_t ticks[] = { 10 * MS };
    uint32_t nodes[3];
    (void)state;

    fv_test_unrolled();
    add_calls(&file[0], "/no/such/program", NULL, nodes);
    add_calls(&file[1], "/no/such/program", NULL, nodes);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 2; k++)
            fvr_cell(&file[k], 0, nodes[i], 1, 1, ticks, 1, 0, 0);
    build(true);
    assert_int_equal(model.site_count, 43);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names),
        TEST(own_symbols),
        TEST(debug_path_is_a_list),
        TEST(same_line_is_one_site),
        TEST(unknown_lines_stay_apart),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
