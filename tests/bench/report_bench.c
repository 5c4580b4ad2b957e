/* How long a report takes: 64 ranks with 10,000 call paths each (or as the arguments say; with samples of as many threads),
 * made in a temporary directory, then read, unified and written as JSON and text to /dev/null; with the memory that took.
 * Symbols are not looked up: there is no program. Prints seconds; no test gates on them. */
#include "base/experiment.h"
#include "views/views.h"
#include "tests/unit/fvr_builder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define MEASURED 20 /* functions of a thread whose calls were measured, ... */
#define CALLS    30 /* ... each so many */

/* Samples of a thread at paths of its own tree, and calls of functions. */
static void make_samples(struct fvr *f, uint32_t thread, int rank, uint32_t paths)
{
    uint64_t ns[CALLS];
    uint32_t parent = 0;

    fvr_sampler(f, thread, 100, 1000000 * (uint64_t)paths);
    for (uint32_t i = 0; i < 6; i++)
        parent = fvr_sample_path(f, thread, parent, 1, 0x100000 + i);
    for (uint32_t i = 0; i < CALLS; i++)
        ns[i] = 1000 * (1 + (i * 7919 + thread + (uint32_t)rank) % CALLS);
    for (uint32_t i = 0; i < paths; i++) {
        const uint32_t k = (i * 7919 + thread * 17 + (uint32_t)rank * 31) % paths;
        const uint32_t leaf = fvr_sample_path(f, thread, parent, 1, 0x200000 + 16 * k);

        fvr_cost(f, thread, leaf, 1 + k % 50, k % 3);
        if (i < MEASURED)
            fvr_instances(f, thread, leaf, ns, CALLS, CALLS, NULL);
    }
}

/* Paths of depth 8 that share their outer frames, in another order on each rank. */
static void make_rank(struct fvr *f, int rank, int ranks, uint32_t paths, uint32_t threads, uint32_t sampled)
{
    const uint64_t ticks[] = { 1000 + (uint64_t)rank, 3000, 5000 };
    uint32_t parent = 0;

    fvr_init(f, rank, ranks);
    f->chunk_payload = 60 * 4096;
    fvr_function(f, 1, FV_CLASS_COLLECTIVE, FV_RULE_BARRIER, "MPI_Barrier");
    fvr_function(f, 2, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Send");
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
    for (uint32_t thread = 0; thread < threads; thread++) {
        if (thread)
            fvr_thread(f, thread, false, 0, 0, NULL);
        make_samples(f, thread, rank, sampled);
    }
}

static bool make_all(const char *directory, int ranks, uint32_t paths, uint32_t threads, uint32_t sampled)
{
    int folder = open(directory, O_RDONLY | O_DIRECTORY);
    char name[48];
    struct fvr f;

    for (int i = 0; i < ranks; i++) {
        close(fv_experiment_rank_folder(folder, i, ranks));
        make_rank(&f, i, ranks, paths, threads, sampled);
        fv_experiment_rank_file(name, i, ranks);
        fvr_write(&f, directory, name);
        fvr_release(&f);
    }
    close(folder);
    return true;
}

static double measure(const char *what, double since)
{
    struct rusage usage;
    double now = now_s();

    getrusage(RUSAGE_SELF, &usage);
    printf("%-8s %7.2f s, %6ld MiB at most so far\n", what, now - since, usage.ru_maxrss >> 10);
    return now_s();
}

static int show(const char *directory)
{
    struct fv_profile *profile;
    FILE *null = fopen("/dev/null", "w");
    double at = now_s();

    if (!null || fv_profile_open(&(char *){ (char *)directory }, 1, &(struct fv_profile_options){ .no_symbols = true }, &profile))
        return 1;
    at = measure("profile", at);
    fv_view_json(profile, fv_json_ranks_default(profile), null);
    at = measure("JSON", at);
    fv_view_text(profile, &(struct fv_text_options){ .width = 100, .top = 20 }, null);
    at = measure("text", at);
    fv_view_page(profile, &(struct fv_page_options){ .no_source = true }, null);
    measure("page", at);
    printf("%zu call sites, waiting %.6f s on rank 0\n", profile->model->site_count,
           profile->model->ranks[0].wait_time_s);
    fv_profile_close(profile);
    fclose(null);
    return 0;
}

/* report_bench [RANKS PATHS [DIRECTORY [THREADS SAMPLED]]]: makes the rank files in DIRECTORY and leaves them there, to be
 * measured as often as one likes by any fvmpi: /usr/bin/time -v fvmpi report DIRECTORY --no-symbols --json /dev/null. With
 * THREADS each rank has so many, with samples at so many paths each, and measured calls. */
int main(int argc, char **argv)
{
    int ranks = argc > 1 ? atoi(argv[1]) : 64;
    uint32_t paths = argc > 2 ? (uint32_t)atoi(argv[2]) : 10000;
    const uint32_t threads = argc > 5 ? (uint32_t)atoi(argv[4]) : 0, sampled = argc > 5 ? (uint32_t)atoi(argv[5]) : 0;
    char directory[] = "/tmp/fvmpi-bench-XXXXXX", command[64];

    if (ranks < 1 || paths < 1)
        return 1;
    if (argc > 3)
        return mkdir(argv[3], 0777) || !make_all(argv[3], ranks, paths, threads, sampled);
    if (!mkdtemp(directory) || !make_all(directory, ranks, paths, 0, 0))
        return 1;
    printf("report of %d ranks x %u call paths\n", ranks, paths);
    int status = show(directory);
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command) || status;
}
