/* A synthetic run of two ranks with 40 call sites, its model, and what views look at. */
#ifndef VIEWED_RUN_H
#define VIEWED_RUN_H

#include "fvr_builder.h"
#include "views/views.h"
#include "unit.h"

#define MS UINT64_C(1000000)

static struct fvr file[2];
static struct fv_model model;
static struct fv_symbols symbols;
static char *output;

static inline void build(bool look_up)
{
    struct fv_experiment experiment = { 0 };

    fvr_join(&file[0], &experiment);
    fvr_join(&file[1], &experiment);
    fv_experiment_choose(&experiment);
    fv_model_build(&model, &symbols, &experiment, look_up);
    fv_experiment_release(&experiment);
}

static inline int set_up(void **state)
{
    const struct fv_in_call in = { .begin = 1500 * MS, .function = 2, .path = 2, .peer = FV_NO_PEER };
    const uint64_t ticks[] = { 3 * MS, 4 * MS };
    (void)state;

    for (int i = 0; i < 2; i++) {
        fvr_init(&file[i], i, 3); /* rank 2 has no file */
        fvr_function(&file[i], 1, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Send");
        fvr_function(&file[i], 2, FV_CLASS_OTHER, FV_RULE_NONE, "MPI_Get_count");
        fvr_module(&file[i], "/no/such/\xff\x1b[31mevil\"file", 0, "0123456789abcdef0123");
        fvr_comm(&file[i], 1, FV_COMM_WORLD, i, 3);
        for (uint32_t k = 0; k < 40; k++)
            fvr_path(&file[i], k, 1, 0x100 + k);
        for (uint32_t k = 1; k <= 40; k++)
            fvr_cell(&file[i], 0, k, 1, k % 2 + 1, ticks, 2, k * 100, 0);
        fvr_peer(&file[i], 0, 1 - i, 10, 1000);
        fvr_thread(&file[i], 0, true, 80, 200 * MS, i ? &in : NULL);
    }
    file[1].header.state = FV_STATE_RUNNING;
    file[1].header.end_ticks = 0;
    strcpy(file[0].header.command, "app \"quoted\" \xc3\xa9 \xff\x07");
    output = NULL;
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    fvr_release(&file[0]);
    fvr_release(&file[1]);
    free(output);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
