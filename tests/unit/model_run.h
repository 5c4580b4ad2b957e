/* A synthetic run of four ranks, its functions, and what its model says of them. */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include "fvr_builder.h"
#include "profile/profile.h"
#include "unit.h"

#define MS    UINT64_C(1000000)
#define START UINT64_C(1000000000)
enum { F_SEND = 3, F_BARRIER, F_ALLREDUCE, F_BCAST, F_REDUCE, F_SCAN, F_RECV, F_GETNAME };

static struct fvr file[4];
static struct fv_experiment experiment;
static struct fv_model model;

static inline void name_functions(struct fvr *f, int shift)
{
    fvr_function(f, (uint16_t)(F_SEND + shift), FV_CLASS_P2P, FV_RULE_P2P, "MPI_Send");
    fvr_function(f, (uint16_t)(F_BARRIER + shift), FV_CLASS_COLLECTIVE, FV_RULE_BARRIER, "MPI_Barrier");
    fvr_function(f, (uint16_t)(F_ALLREDUCE + shift), FV_CLASS_COLLECTIVE, FV_RULE_NXN, "MPI_Allreduce");
    fvr_function(f, (uint16_t)(F_BCAST + shift), FV_CLASS_COLLECTIVE, FV_RULE_FROM_ROOT, "MPI_Bcast");
    fvr_function(f, (uint16_t)(F_REDUCE + shift), FV_CLASS_COLLECTIVE, FV_RULE_TO_ROOT, "MPI_Reduce");
    fvr_function(f, (uint16_t)(F_SCAN + shift), FV_CLASS_COLLECTIVE, FV_RULE_SCAN, "MPI_Scan");
    fvr_function(f, (uint16_t)(F_RECV + shift), FV_CLASS_P2P, FV_RULE_P2P, "MPI_Recv");
    fvr_function(f, (uint16_t)(F_GETNAME + shift), FV_CLASS_OTHER, FV_RULE_NONE, "MPI_Get_processor_name");
}

static inline int set_up(void **state)
{
    (void)state;
    experiment = (struct fv_experiment){ 0 };
    model = (struct fv_model){ 0 };
    for (int i = 0; i < 4; i++) {
        fvr_init(&file[i], i, 4);
        name_functions(&file[i], 0);
        fvr_comm(&file[i], 1, FV_COMM_WORLD, i, 4);
        fvr_module(&file[i], "/usr/bin/app", (uint64_t)i << 20, "0123456789abcdef0123");
        fvr_path(&file[i], 0, 1, 0x100);
        fvr_path(&file[i], 1, 1, 0x200);
    }
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    for (int i = 0; i < 4; i++)
        fvr_release(&file[i]);
    return 0;
}

static inline void build(int ranks)
{
    for (int i = 0; i < ranks; i++)
        fvr_join(&file[i], &experiment);
    fv_experiment_choose(&experiment);
    fv_model_build(&model, NULL, &experiment, false);
}

static inline const struct fv_site *site(const char *function)
{
    const struct fv_site *found = NULL;

    for (size_t i = 0; i < model.site_count; i++)
        if (!strcmp(model.functions[model.sites[i].function].name, function)) {
            assert_null(found);
            found = &model.sites[i];
        }
    assert_non_null(found);
    return found;
}

static inline const struct fv_func *function(const char *name)
{
    for (size_t i = 0; i < model.function_count; i++)
        if (!strcmp(model.functions[i].name, name))
            return &model.functions[i];
    fail_msg("no function %s", name);
    return NULL;
}

static inline const struct fv_site_rank *on_rank(const struct fv_site *s, int rank)
{
    for (uint32_t i = 0; i < s->ranks; i++)
        if (model.ranks[model.site_ranks[s->first + i].rank].world_rank == rank)
            return &model.site_ranks[s->first + i];
    fail_msg("rank %d is not at the call site", rank);
    return NULL;
}

static inline bool has_problem(enum fv_problem_kind kind, const char *word)
{
    for (size_t i = 0; i < model.problems.count; i++) {
        const struct fv_problem *p = &model.problems.items[i];

        if (p->kind == kind && (strstr(p->text, word) || (p->file && strstr(p->file, word))))
            return true;
    }
    return false;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
