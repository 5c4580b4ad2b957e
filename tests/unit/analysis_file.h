/* The analysis of a run of two ranks as fvunify writes it, its rank files, and what becomes of it with one change. */
#ifndef ANALYSIS_FILE_H
#define ANALYSIS_FILE_H

#include "fvr_builder.h"
#include "profile/profile.h"
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define PART(rank, count, time, wait, before, caused, delay, critical)                                         \
    "{\"rank\":" #rank ",\"count\":" #count ",\"time_s\":" #time ",\"wait_s\":" #wait ",\"before_s\":" #before \
    ",\"caused_s\":" #caused ",\"withheld_s\":0,\"kinds\":{},\"delay_s\":{\"computing\":" #delay               \
    ",\"mpi\":0.001},\"critical_s\":{\"computing\":" #critical ",\"mpi\":0}}"
#define RANK(rank, caused, delay, critical)                                                                          \
    "{\"rank\":" #rank ",\"process\":\"%016llx\",\"traced_calls\":%llu,\"caused_s\":" #caused ",\"delay_s\":" #delay \
    ",\"critical_s\":" #critical "}"

/* Two ranks; rank 1 was late for the Recv's Send. Keys and what the rank files are known by are put in. */
static const char pattern[] =
    "{\n\"schema\":\"fvmpi-analysis-1\",\n"
    "\"run\":{\"ranks\":2,\"elapsed_s\":1.0,\"clock\":\"one\",\"clock_error_s\":0.0,\"complete\":true},\n"
    "\"ranks\":[" RANK(0, 0, 0.0, 0) "," RANK(
        1, 0.03, 0.03,
        0.5) "],\n"
             "\"new\":[1,[2,null],{\"a\":\"b\"}], \"newer\":null, \"newest\":-1.5e3,\n"
             "\"kinds\":[{\"kind\":\"late_sender\",\"count\":3,\"wait_s\":0.03},"
             "{\"kind\":\"barrier_completion\",\"count\":1,\"wait_s\":0.002}],\n"
             "\"waiting_over_time\":{\"bin_s\":0.25,\"ranks\":[{\"rank\":0,\"wait_s\":[0,0.03]},{\"rank\":1,\"wait_s\":"
             "[]}]},\"stretch\":null,\n"
             "\"callsites\":[{\"id\":7,\"key\":\"%016llx\",\"function\":\"MPI_Recv\",\"path\":[],"
             "\"per_rank\":[" PART(
                 0, 3, 0.04, 0.03, 0.01, 0, 0,
                 0) "]},"
                    "{\"id\":9,\"key\":\"%016llx\",\"function\":\"MPI_Send\",\"path\":[{\"function\":"
                    "\"inner\"}],"
                    "\"per_rank\":[" PART(
                        1, 3, 0.006, 0, 0.4, 0.03, 0.028,
                        0.4) "]},"
                             "{\"id\":0,\"key\":null,\"function\":null,\"path\":[],\"per_rank\":[]}],\n"
                             "\"delays\":[{\"rank\":1,\"callsite\":9,\"where\":\"computing\",\"cost_s\":0."
                             "028,\"direct_s\":0.02,"
                             "\"propagated_s\":0.008}],\n"
                             "\"samples\":{\"count\":3,\"procedures\":[{\"rank\":1,\"callsite\":9,\"function\":"
                             "\"react\",\"file\":\"a.c\","
                             "\"total\":{\"cpu_s\":0.03,\"delay_s\":0.027,\"critical_s\":0.01}}],"
                             "\"lost\":0,\"damaged\":0,\"regions\":[{\"rank\":1,\"from_callsite\":0,\"callsite\":9,"
                             "\"function\":\"begin\","
                             "\"file\":null,\"count\":1,\"cpu_s\":0.01},{\"rank\":1,\"from_callsite\":9,\"callsite\":9,"
                             "\"function\":\"react\","
                             "\"file\":\"a.c\",\"count\":2,\"cpu_s\":0.02}]},\n"
                             "\"threads\":{\"wait_s\":0.1,\"mpi_wait_s\":0.007},\n"
                             "\"unexplained_s\":0.001,\n\"critical_path\":{\"length_s\":0.9,\"switches\":2},"
                             "\n"
                             "\"efficiency\":{\"parallel\":0.5,\"serialization\":0.8,\"ideal_s\":0.999}\n}\n";
static char good[sizeof(pattern) + 100];

static struct fvr file[2];
static char directory[64];

static inline struct fv_file_identity identity_of(struct fvr *f)
{
    struct fv_reader *reader;
    char why[200];

    fvr_finish(f);
    assert_int_equal(fv_reader_open_memory(f->bytes, f->size, &reader, why, sizeof(why)), 0);
    struct fv_file_identity identity = fv_file_identity(reader);
    fv_reader_free(reader);
    return identity;
}

static inline unsigned long long key_of(const char *function, uint64_t outer, uint64_t inner)
{
    uint64_t app = fv_key_module(NULL, 0, "/elsewhere/app");

    return fv_key_call(fv_key_frame(fv_key_frame(FV_KEY_ROOT, app, outer), app, inner), fv_key_function(function));
}

/* The analysis of the rank files as they are. */
static inline void make_good(void)
{
    struct fv_file_identity i[] = { identity_of(&file[0]), identity_of(&file[1]) };

    snprintf(good, sizeof(good), pattern, (unsigned long long)i[0].process, (unsigned long long)i[0].traced_calls,
             (unsigned long long)i[1].process, (unsigned long long)i[1].traced_calls, key_of("MPI_Recv", 32, 16),
             key_of("MPI_Send", 99, 48));
}

static inline int set_up(void **state)
{
    const uint64_t receives[] = { 10 * MS, 10 * MS, 20 * MS }, sends[] = { 2 * MS, 2 * MS, 2 * MS };
    (void)state;

    for (int i = 0; i < 2; i++) {
        fvr_init(&file[i], i, 2);
        fvr_function(&file[i], 1, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Send");
        fvr_function(&file[i], 2, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Recv");
        uint32_t app = fvr_module(&file[i], "/bin/app", 0, NULL);
        fvr_comm(&file[i], 1, FV_COMM_WORLD, i, 2);
        uint32_t start = fvr_path(&file[i], 0, app, 99), outer = fvr_path(&file[i], 0, app, 32);
        uint32_t send = fvr_path(&file[i], start, app, 48), receive = fvr_path(&file[i], outer, app, 16);
        struct fv_region_record before = { .from = FV_FROM_SEVERAL, .count = 3, .ticks = i ? 400 * MS : 10 * MS };
        before.cell = fvr_cell(&file[i], 0, i ? send : receive, 1, i ? 1 : 2, i ? sends : receives, 3, 8, 0);
        fvr_add(&file[i], FV_CHUNK_REGIONS, 0, &before, sizeof(before));
        fvr_thread(&file[i], 0, true, 3, i ? 6 * MS : 40 * MS, NULL);
        file[i].header.traced = 1;
    }
    make_good();
    strcpy(directory, "/tmp/fvmpi-analysis.XXXXXX");
    assert_non_null(mkdtemp(directory));
    return 0;
}

static inline int tear_down(void **state)
{
    char name[100];
    (void)state;

    snprintf(name, sizeof(name), "%s/analysis.json", directory);
    if (unlink(name))
        rmdir(name);
    rmdir(directory);
    fvr_release(&file[0]);
    fvr_release(&file[1]);
    return 0;
}

/* What reading it says; NULL: it was taken. */
static inline const char *read_text(const char *text, size_t bytes, struct fv_analysis_result *out)
{
    static char why[FV_ANALYSIS_WHY];
    char name[100];

    snprintf(name, sizeof(name), "%s/analysis.json", directory);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fwrite(text, 1, bytes, f);
    fclose(f);
    int err = fv_analysis_result_read(out, name, why);
    assert_true(err == 0 || err == -FV_EFORMAT);
    assert_int_equal(err != 0, why[0] != '\0');
    return err ? why : NULL;
}

/* `good` with one change. */
__attribute__((noinline, unused)) static char *changed(const char *from, const char *to)
{
    const char *at = strstr(good, from);
    char *text = NULL;

    assert_non_null(at);
    assert_that(asprintf(&text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from)), >, 0);
    return text;
}

static inline void expect_refused(const char *from, const char *to, const char *why)
{
    struct fv_analysis_result a;
    char *text = changed(from, to);
    const char *said = read_text(text, strlen(text), &a);

    if (!said || !strstr(said, why))
        fail_msg("%s -> %s: %s", from, to, said ? said : "taken");
    fv_analysis_result_release(&a);
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
