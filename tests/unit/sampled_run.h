/* Samples of a synthetic run of three ranks, and what debug information says of its addresses. */
#ifndef SAMPLED_RUN_H
#define SAMPLED_RUN_H

#include "fvr_builder.h"
#include "profile/samples/cost_profile.h"
#include "profile/samples/samples.h"
#include "views/views.h"
#include "unit.h"

#include <unistd.h>

#define ID "0123456789abcdef0123"
enum {
    MAIN = 0x100,
    CALLS_F = 0x110,
    CALLS_G = 0x210,
    IN_F = 0x220,
    IN_F2 = 0x221,
    CALLS_F_AGAIN = 0x230,
    IN_G = 0x310,
    LOCK = 0x50
};

static struct fvr file[3];
static struct fv_experiment experiment;
static struct fv_model model;
static const struct fv_findings no_findings;
static struct fv_symbols symbols;
static struct fv_cost_profile profile;
static char directory[64];

/* What debug information would say of these addresses. */
static const struct {
    uint64_t offset;
    const char *module, *function, *file;
    uint32_t line;
} known[] = {
    { MAIN, "app", "main", "/src/app/main.c", 3 },  { CALLS_F, "app", "main", "/src/app/main.c", 4 },
    { CALLS_G, "app", "f", "/src/app/work.c", 10 }, { IN_F, "app", "f", "/src/app/work.c", 11 },
    { IN_F2, "app", "f", "/src/app/work.c", 11 },   { CALLS_F_AGAIN, "app", "f", "/src/app/work.c", 12 },
    { IN_G, "app", "g;h", "/src/lib/work.c", 20 },  { LOCK, "libc.so.6", "pthread_mutex_lock", NULL, 0 },
};

static inline int set_up(void **state)
{
    (void)state;
    experiment = (struct fv_experiment){ 0 };
    model = (struct fv_model){ 0 };
    symbols = (struct fv_symbols){ 0 };
    profile = (struct fv_cost_profile){ 0 };
    for (int i = 0; i < 3; i++) {
        fvr_init(&file[i], i, 3);
        if (i == 1) /* ids of modules differ from rank to rank */
            fvr_module(&file[i], "/lib/libc.so.6", 0x700000, NULL);
        fvr_module(&file[i], "/usr/bin/app", (uint64_t)i << 20, ID);
        if (i != 1)
            fvr_module(&file[i], "/lib/libc.so.6", 0x900000, NULL);
        fvr_thread(&file[i], 0, true, 0, 0, NULL);
    }
    strcpy(directory, "/tmp/fvmpi-samples-XXXXXX");
    assert_non_null(mkdtemp(directory));
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    fv_cost_profile_release(&profile);
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    for (int i = 0; i < 3; i++)
        fvr_release(&file[i]);
    char command[100];
    snprintf(command, sizeof(command), "rm -r '%s'", directory);
    return system(command);
}

static inline uint32_t app(int rank)
{
    return rank == 1 ? 2 : 1;
}

static inline void name_frames(void)
{
    for (size_t i = 0; i < symbols.frame_count; i++)
        for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
            if (symbols.frames[i].offset == known[k].offset &&
                !strcmp(model.tree.modules[symbols.frames[i].module].name, known[k].module)) {
                symbols.frames[i].function = known[k].function;
                symbols.frames[i].file = known[k].file;
                symbols.frames[i].line = known[k].line;
            }
}

/* Functions begin at each 0x100. */
static inline void bound_functions(void)
{
    for (size_t i = 1; i < model.tree.node_count; i++) {
        symbols.of_node[i].begin = model.tree.nodes[i].offset & ~(uint64_t)0xff;
        symbols.of_node[i].size = 0x100;
    }
}

static inline void build(int ranks)
{
    for (int i = 0; i < ranks; i++)
        fvr_join(&file[i], &experiment);
    fv_experiment_choose(&experiment);
    fv_model_build(&model, &symbols, &experiment, false);
    name_frames();
    bound_functions();
    fv_samples_judge(&model, &symbols, &(struct fv_cost_profile){ 0 });
}

static inline void make_profile(uint32_t rank)
{
    fv_cost_profile_init(&profile, &model, &symbols, rank);
}

static inline const struct fv_cost_procedure *procedure(const char *name)
{
    for (size_t i = 0; i < profile.procedure_count; i++)
        if (!strcmp(profile.procedures[i].name, name))
            return &profile.procedures[i];
    fail_msg("no procedure %s", name);
    return NULL;
}

static inline void expect_sum(const struct fv_cost_sum *s, unsigned ticks, unsigned in_mpi, unsigned in_sync)
{
    assert_int_equal(s->ticks, ticks);
    assert_int_equal(s->in_mpi, in_mpi);
    assert_int_equal(s->in_sync, in_sync);
}

static inline int json_view(const struct fv_profile *v, FILE *out)
{
    return fv_view_json(v, FV_JSON_RANKS_ALL, out);
}

static inline char *shown(int (*view)(const struct fv_profile *, FILE *))
{
    struct fv_cost_profile costs;
    const struct fv_profile v = { &model, &symbols, &costs, &no_findings, 0 };
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fv_cost_profile_init(&costs, &model, &symbols, FV_COST_ALL_RANKS);
    assert_int_equal(view(&v, out), 0);
    fclose(out);
    fv_cost_profile_release(&costs);
    return text;
}

static inline int text_view(const struct fv_profile *v, FILE *out)
{
    const struct fv_text_options options = { .width = 120, .top = 10 };

    return fv_view_text(v, &options, out);
}

static inline int wide_view(const struct fv_profile *v, FILE *out)
{
    const struct fv_text_options options = { .width = 1000, .top = 10 };

    return fv_view_text(v, &options, out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
