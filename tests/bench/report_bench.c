/* How long a report takes: 64 ranks with 10,000 call paths each (or as the arguments say), made in a
 * temporary directory, then read, unified and written as JSON and text to /dev/null. Symbols are not
 * looked up: there is no program. Prints seconds; no test gates on them. */
#include "report/views.h"
#include "unit/fvr_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Paths of depth 8 that share their outer frames, in another order on each rank. */
static void make_rank(struct fvr *f, int rank, int ranks, uint32_t paths)
{
    const uint64_t ticks[] = { 1000 + (uint64_t)rank, 3000, 5000 };
    uint32_t parent = 0;

    fvr_init(f, rank, ranks);
    f->chunk_payload = 60 * 4096;
    fvr_function(f, 1, FV_CLASS_COLLECTIVE, FV_WAIT_BARRIER, "MPI_Barrier");
    fvr_function(f, 2, FV_CLASS_P2P, FV_WAIT_P2P, "MPI_Send");
    fvr_comm(f, 1, FV_COMM_WORLD, rank, ranks);
    fvr_module(f, "/usr/bin/app", (uint64_t)rank << 24, "0123456789abcdef0123");
    fvr_thread(f, 0, true, 3 * (uint64_t)paths, 500000000, NULL);
    for (uint32_t i = 0; i < 6; i++)
        parent = fvr_path(f, parent, 1, 0x1000 + i);
    for (uint32_t i = 0; i < paths; i++) {
        uint32_t k = (i * 7919 + (uint32_t)rank * 31) % paths;
        uint32_t leaf = fvr_path(f, parent, 1, 0x2000 + k);
        uint32_t cell = fvr_cell(f, 0, leaf, 1, k % 2 ? 2 : 1, ticks, 3, k % 2 ? 1000 : 0, 0);

        if (k % 2 == 0)
            fvr_collective(f, 0, cell, k / 2, 0, 1000000000 + k * 10000ull + (uint64_t)rank,
                           1000000000 + k * 10000ull + 1000);
    }
}

int main(int argc, char **argv)
{
    int ranks = argc > 1 ? atoi(argv[1]) : 64;
    uint32_t paths = argc > 2 ? (uint32_t)atoi(argv[2]) : 10000;
    char directory[] = "/tmp/fvmpi-bench-XXXXXX", name[64];
    struct fv_symbols symbols;
    struct fv_model model;
    struct fvr f;

    if (ranks < 1 || paths < 1 || !mkdtemp(directory))
        return 1;
    for (int i = 0; i < ranks; i++) {
        make_rank(&f, i, ranks, paths);
        snprintf(name, sizeof(name), "rank-%06d.fvr", i);
        fvr_write(&f, directory, name);
        fvr_release(&f);
    }
    FILE *null = fopen("/dev/null", "w");
    double t0 = now_s();
    if (!null || fv_model_load(&model, directory))
        return 1;
    double t1 = now_s();
    fv_symbols_resolve(&symbols, &model, false);
    fv_sites_merge(&model, &symbols);
    struct fv_view view = { &model, &symbols };
    double t2 = now_s();
    fv_view_json(&view, null);
    double t3 = now_s();
    fv_view_text(&view, &(struct fv_text_options){ .width = 100, .top = 20 }, null);
    double t4 = now_s();
    printf("report of %d ranks x %u call paths: model %.2f s, call paths %.2f s, JSON %.2f s, text %.2f s, "
           "all %.2f s\n",
           ranks, paths, t1 - t0, t2 - t1, t3 - t2, t4 - t3, t4 - t0);
    printf("%zu call sites, waiting %.6f s\n", model.site_count, model.ranks[0].wait_time_s);
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    fclose(null);
    for (int i = 0; i < ranks; i++) {
        snprintf(name, sizeof(name), "%s/rank-%06d.fvr", directory, i);
        unlink(name);
    }
    return rmdir(directory);
}
