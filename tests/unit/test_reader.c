/* The reader of rank files: what it takes, what it refuses and why, and that damage costs one chunk. */
#include "fvr_builder.h"
#include "profile/model.h"
#include "unit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

static struct fvr file;

/* Three chunks of cells, 15 in each, and two of call paths. */
static int set_up(void **state)
{
    const uint64_t ticks[] = { 10, 20, 30 };
    (void)state;

    fvr_init(&file, 3, 8);
    file.chunk_payload = 15 * sizeof(struct fv_cell);
    fvr_function(&file, 5, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Send");
    uint32_t module = fvr_module(&file, "/usr/bin/app", 0x1000, "0123456789abcdef0123");
    for (int i = 0; i < 300; i++)
        fvr_path(&file, (uint32_t)i, module, 0x100 + (uint64_t)i);
    fvr_comm(&file, 1, FV_COMM_WORLD, 3, 8);
    fvr_thread(&file, 0, true, 45, 900, NULL);
    for (int i = 0; i < 45; i++)
        fvr_cell(&file, 0, 1 + (uint32_t)i, 1, 5, ticks, 3, 100, 0);
    fvr_finish(&file);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fvr_release(&file);
    return 0;
}

static int open_with(size_t bytes, struct fv_reader **out, char why[200])
{
    *out = NULL;
    return fv_reader_open_memory(file.bytes, bytes, out, why, 200);
}

static unsigned count(const struct fv_reader *r, enum fv_chunk_type type)
{
    struct fv_cursor c = fv_cursor(r, type);
    unsigned n = 0;

    while (fv_cursor_next(&c))
        n++;
    return n;
}

static uint64_t damages(const struct fv_reader *r, const char *word)
{
    size_t kept;
    uint64_t total;
    const struct fv_damage *d = fv_reader_damage(r, &kept, &total);

    for (size_t i = 0; i < kept && word; i++)
        if (strstr(d[i].why, word))
            return total;
    assert_true(!word);
    return total;
}

static size_t chunk_offset(unsigned type, unsigned number)
{
    for (size_t at = FV_PAGE; at < file.size;) {
        struct fv_chunk_header c;

        memcpy(&c, file.bytes + at, sizeof(c));
        if (c.type == type && number-- == 0)
            return at;
        at += c.bytes;
    }
    fail();
    return 0;
}

static void whole_file(void **state)
{
    struct fv_reader *r;
    char why[200];
    (void)state;

    assert_int_equal(open_with(file.size, &r, why), 0);
    assert_int_equal(damages(r, NULL), 0);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45);
    assert_int_equal(count(r, FV_CHUNK_PATHS), 300);
    assert_int_equal(count(r, FV_CHUNK_MODULES), 1);
    assert_int_equal(count(r, FV_CHUNK_COMMS), 1);
    assert_int_equal(fv_reader_header(r)->world_rank, 3);
    struct fv_cursor c = fv_cursor(r, FV_CHUNK_CELLS);
    for (uint64_t i = 0; i < 45; i++) {
        const struct fv_cell *cell = fv_cursor_next(&c);
        assert_int_equal(c.index, i);
        assert_int_equal(cell->path, i + 1);
        assert_int_equal(cell->time_sum, 60);
    }
    assert_null(fv_cursor_next(&c));
    assert_null(fv_cursor_next(&c));
    fv_reader_free(r);
}

/* Records that are missing may be as many as the file has room for: of one thread, or of all together. */
static void gaps(void **state)
{
    const struct fv_cell cell = { .calls = 1 };
    struct fv_reader *r;
    char why[200];
    (void)state;

    for (uint32_t i = 0; i < 10; i++)
        fvr_chunk(&file, FV_CHUNK_CELLS, 7 + i, 60, &cell, sizeof(cell));
    fvr_chunk(&file, FV_CHUNK_CELLS, 7, 63, &cell, sizeof(cell));
    fvr_finish(&file);
    uint64_t threads = 1 + (file.size - 62 * sizeof(cell)) / (60 * sizeof(cell)); /* 60 and 2 of thread 7 */
    assert_true(threads > 1 && threads < 10);
    assert_int_equal(open_with(file.size, &r, why), 0);
    assert_int_equal(damages(r, "cannot be number 60"), 10 - threads);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45 + threads + 1);
    fv_reader_free(r);
}

/* Memory for what a file holds, not for its square: where each page is a thread with as high a number of its
 * first cell as the file has room for, 100 MB more are enough for the profile of 8 MB; they would not be by
 * far. */
static void memory_of_gaps(void **state)
{
    enum { THREADS = 2000 };
    const struct fv_cell cell = { .calls = 1, .function = 5 };
    struct fv_experiment experiment = { 0 };
    struct fv_model model;
    int status;
    (void)state;

    for (uint32_t i = 0; i < THREADS; i++)
        fvr_chunk(&file, FV_CHUNK_CELLS, i + 1, THREADS * FV_PAGE / sizeof(cell), &cell, sizeof(cell));
    fvr_join(&file, &experiment);
    fv_experiment_choose(&experiment);
    pid_t child = fork();
    if (!child) {
#ifndef __SANITIZE_ADDRESS__ /* which reserves address space without end */
        unsigned long pages = 0;
        FILE *own = fopen("/proc/self/statm", "r");

        if (!own || fscanf(own, "%lu", &pages) != 1)
            _exit(2);
        rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + 100000000;
        if (setrlimit(RLIMIT_AS, &(struct rlimit){ most, most }))
            _exit(3);
#endif
        fv_model_build(&model, NULL, &experiment, false);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    fv_experiment_release(&experiment);
}

static void refuses(void **state)
{
    struct fv_reader *r;
    char why[200];
    (void)state;

    assert_int_equal(open_with(0, &r, why), -FV_EFORMAT);
    assert_non_null(strstr(why, "truncated"));
    assert_int_equal(open_with(4095, &r, why), -FV_EFORMAT);
    assert_non_null(strstr(why, "truncated"));
    file.bytes[0] = 'X';
    assert_int_equal(open_with(file.size, &r, why), -FV_EFORMAT);
    assert_non_null(strstr(why, "not a rank file"));
    assert_int_equal(open_with(100, &r, why), -FV_EFORMAT);
    assert_non_null(strstr(why, "not a rank file"));
    memset(file.bytes, 0, 8);
    assert_int_equal(open_with(file.size, &r, why), -FV_EFORMAT);
    assert_non_null(strstr(why, "empty"));
    file.header.version = FV_FILE_VERSION + 1;
    strcpy(file.header.fvmpi, "9.9");
    fvr_finish(&file);
    assert_int_equal(open_with(file.size, &r, why), -FV_EVERSION);
    assert_non_null(strstr(why, "recorded by another version"));
    assert_non_null(strstr(why, "9.9"));
    file.header.byte_order = __builtin_bswap32(FV_BYTE_ORDER);
    fvr_finish(&file);
    assert_int_equal(open_with(file.size, &r, why), -FV_EFORMAT);
    assert_non_null(strstr(why, "byte order"));
    assert_null(r);
}

static void bad_chunk_header_costs_that_chunk(void **state)
{
    struct fv_reader *r;
    char why[200];
    (void)state;

    file.bytes[chunk_offset(FV_CHUNK_CELLS, 1) + 8] ^= 0x40; /* its length */
    assert_int_equal(open_with(file.size, &r, why), 0);
    assert_int_equal(damages(r, "no valid chunk header"), 1);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 30);
    assert_int_equal(count(r, FV_CHUNK_PATHS), 300);
    struct fv_cursor c = fv_cursor(r, FV_CHUNK_CELLS);
    uint64_t last = 0;
    while (fv_cursor_next(&c))
        last = c.index;
    assert_int_equal(last, 44); /* numbers are kept */
    fv_reader_free(r);
}

static void bad_used(void **state)
{
    uint64_t used = UINT64_MAX;
    struct fv_reader *r;
    char why[200];
    (void)state;

    memcpy(file.bytes + chunk_offset(FV_CHUNK_CELLS, 0) + 16, &used, 8);
    used = 10 * sizeof(struct fv_cell) + 7;
    memcpy(file.bytes + chunk_offset(FV_CHUNK_CELLS, 1) + 16, &used, 8);
    assert_int_equal(open_with(file.size, &r, why), 0);
    assert_int_equal(damages(r, "above its room"), 2);
    assert_int_equal(damages(r, "within a record"), 2);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 25);
    fv_reader_free(r);
}

static void bad_variable_records(void **state)
{
    struct fv_reader *r;
    uint32_t huge = 0xfffffff8u;
    char why[200];
    (void)state;

    memcpy(file.bytes + chunk_offset(FV_CHUNK_MODULES, 0) + sizeof(struct fv_chunk_header), &huge, 4);
    memcpy(file.bytes + chunk_offset(FV_CHUNK_COMMS, 0) + sizeof(struct fv_chunk_header) +
               offsetof(struct fv_comm_record, runs),
           &huge, 4);
    assert_int_equal(open_with(file.size, &r, why), 0);
    assert_int_equal(damages(r, "is impossible"), 2);
    assert_int_equal(count(r, FV_CHUNK_MODULES), 0);
    assert_int_equal(count(r, FV_CHUNK_COMMS), 0);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45);
    fv_reader_free(r);
}

/* Of each type of records with a length of their own: what counts more than there is, and text without an end, is
 * refused. */
static void every_count(void **state)
{
    unsigned checked = 0;
    (void)state;

    for (const struct fv_chunk_kind *kind = fv_chunk_kinds; kind < fv_chunk_kinds + FV_CHUNK_KINDS; kind++) {
        uint64_t record[64] = { 0 };
        const struct fv_layout *of = kind->layout;

        if (!kind->varies)
            continue;
        assert_that(of->bytes + 16, <=, sizeof(record));
        assert_true(fv_record_is_whole(of, record, of->bytes + 16));
        assert_false(fv_record_is_whole(of, record, of->bytes - 8));
        for (const struct fv_elements *e = of->elements; e < of->elements + of->counts; e++) {
            if (e->by[0].bytes) {
                memset((char *)record + e->by[0].offset, 0xff, e->by[0].bytes);
                assert_false(fv_record_is_whole(of, record, of->bytes + 16));
                assert_that(fv_elements(e, record, of->bytes + 16), <=, of->bytes + 16);
                memset(record, 0, sizeof(record));
                checked++;
            }
            if (e->text) {
                memset((char *)record + e->offset, 'x', e->room ? e->room : 16);
                assert_false(fv_record_is_whole(of, record, of->bytes + 16));
                memset(record, 0, sizeof(record));
                checked++;
            }
        }
    }
    assert_that(checked, >=, 18);
}

static const struct fv_neighbours *neighbours_of(const struct fv_reader *r, uint32_t comm)
{
    struct fv_cursor c = fv_cursor(r, FV_CHUNK_NEIGHBOURS);
    const struct fv_neighbours *n;

    while ((n = fv_cursor_next(&c)) && n->comm != comm)
        ;
    return n;
}

static void neighbours(void **state)
{
    struct {
        struct fv_neighbours n;
        int32_t rank[4];
    } some = { { .bytes = sizeof(some), .comm = 5, .sources = 1, .destinations = 2, .listed = 3 }, { 7, 8, 9 } },
      untold = { { .bytes = sizeof(untold), .comm = 6, .sources = UINT32_MAX, .destinations = 1 }, { 0 } },
      wrong = some, longer = some;
    struct fv_reader *r;
    char why[200];
    (void)state;

    wrong.n.listed = 2;
    longer.n.destinations = 4, longer.n.listed = 5;
    fvr_add(&file, FV_CHUNK_NEIGHBOURS, FV_NO_THREAD, &some, sizeof(some));
    fvr_add(&file, FV_CHUNK_NEIGHBOURS, FV_NO_THREAD, &untold, sizeof(untold));
    fvr_finish(&file);
    assert_int_equal(open_with(file.size, &r, why), 0);
    assert_int_equal(damages(r, NULL), 0);
    const struct fv_neighbours *n = neighbours_of(r, 5);
    assert_int_equal(n->rank[0], 7);
    assert_int_equal(n->rank[n->sources + 1], 9);
    assert_int_equal(neighbours_of(r, 6)->listed, 0);
    assert_null(neighbours_of(r, 4));
    fv_reader_free(r);
    size_t at = chunk_offset(FV_CHUNK_NEIGHBOURS, 0) + sizeof(struct fv_chunk_header);
    for (int i = 0; i < 2; i++) {
        memcpy(file.bytes + at, i ? &longer : &wrong, sizeof(some));
        assert_int_equal(open_with(file.size, &r, why), 0);
        assert_int_equal(damages(r, "is impossible"), 1);
        assert_null(neighbours_of(r, 5));
        fv_reader_free(r);
    }
}

static void truncated_at_any_byte(void **state)
{
    size_t cells = chunk_offset(FV_CHUNK_CELLS, 0) + sizeof(struct fv_chunk_header);
    struct fv_reader *r;
    char why[200];
    (void)state;

    for (size_t bytes = FV_PAGE; bytes < file.size; bytes += 61) {
        uint8_t *copy = malloc(bytes); /* so that a sanitizer sees a read behind it */

        memcpy(copy, file.bytes, bytes);
        assert_int_equal(fv_reader_open_memory(copy, bytes, &r, why, sizeof(why)), 0);
        damages(r, "are missing");
        unsigned wanted = bytes < cells ? 0 : (unsigned)((bytes - cells) / sizeof(struct fv_cell));
        if (wanted <= 15)
            assert_int_equal(count(r, FV_CHUNK_CELLS), wanted);
        count(r, FV_CHUNK_MODULES);
        count(r, FV_CHUNK_COMMS);
        fv_reader_free(r);
        free(copy);
    }
}

static void reserved_space_is_no_damage(void **state)
{
    struct fv_reader *r;
    char why[200];
    (void)state;

    FV_GROW(file.bytes, file.size_room, file.size + 3 * FV_PAGE);
    memset(file.bytes + file.size, 0, 3 * FV_PAGE);
    assert_int_equal(open_with(file.size + 3 * FV_PAGE, &r, why), 0);
    assert_int_equal(damages(r, NULL), 0);
    fv_reader_free(r);
}

/* A page behind the file, with a cell in each of three small chunks. */
static size_t put_small_chunks(size_t at[3])
{
    size_t size = file.size + FV_PAGE;

    FV_GROW(file.bytes, file.size_room, size);
    memset(file.bytes + file.size, 0, FV_PAGE);
    for (uint32_t i = 0; i < 3; i++) {
        struct fv_chunk_header c = { .magic = FV_CHUNK_MAGIC,
                                     .type = FV_CHUNK_CELLS,
                                     .version = 1,
                                     .bytes = (i + 4) * FV_CHUNK_ALIGN,
                                     .used = sizeof(struct fv_cell),
                                     .thread = 5 + i };

        c.check = fv_chunk_check(&c);
        at[i] = i ? at[i - 1] + (i + 3) * FV_CHUNK_ALIGN : file.size;
        memcpy(file.bytes + at[i], &c, sizeof(c));
    }
    return size;
}

static void small_chunks_share_a_page(void **state)
{
    size_t at[3], size = put_small_chunks(at);
    struct fv_reader *r;
    char why[200];
    (void)state;

    assert_that(sizeof(struct fv_cell) + sizeof(struct fv_chunk_header), <=, 4 * FV_CHUNK_ALIGN);
    assert_int_equal(open_with(size, &r, why), 0);
    assert_int_equal(damages(r, NULL), 0);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45 + 3);
    fv_reader_free(r);
    memset(file.bytes + at[2], 0, 4); /* it was being made when the process was killed */
    assert_int_equal(open_with(size, &r, why), 0);
    assert_int_equal(damages(r, NULL), 0);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45 + 2);
    fv_reader_free(r);
    size = put_small_chunks(at);
    file.bytes[at[1] + 8] ^= 255; /* its length */
    assert_int_equal(open_with(size, &r, why), 0);
    assert_int_equal(damages(r, "no valid chunk header"), 1);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45 + 2);
    fv_reader_free(r);
    size = put_small_chunks(at);
    memset(file.bytes + at[1], 0, sizeof(struct fv_chunk_header)); /* not unused: there is one behind it */
    assert_int_equal(open_with(size, &r, why), 0);
    assert_int_equal(damages(r, "no valid chunk header"), 1);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45 + 2);
    fv_reader_free(r);
}

static void later_types_are_skipped(void **state)
{
    uint64_t word = 1;
    struct fv_reader *r;
    char why[200];
    (void)state;

    fvr_add(&file, 9999, 0, &word, sizeof(word));
    fvr_finish(&file);
    assert_int_equal(open_with(file.size, &r, why), 0);
    assert_int_equal(damages(r, NULL), 0);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45);
    fv_reader_free(r);
}

static void files(void **state)
{
    char directory[] = "/tmp/fvmpi-unit-XXXXXX", path[100], why[200];
    struct fv_reader *r = NULL;
    (void)state;

    assert_non_null(mkdtemp(directory));
    assert_int_equal(fv_reader_open(directory, &r, why, sizeof(why)), -FV_EFORMAT);
    snprintf(path, sizeof(path), "%s/rank-000003.fvr", directory);
    assert_int_equal(fv_reader_open(path, &r, why, sizeof(why)), -FV_EIO);
    assert_non_null(strstr(why, "No such file"));
    fvr_write(&file, directory, "rank-000003.fvr");
    assert_int_equal(fv_reader_open(path, &r, why, sizeof(why)), 0);
    assert_int_equal(fv_reader_bytes(r), file.size);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45);
    assert_that(count(r, FV_CHUNK_MODULES), >, 0);
    fv_reader_rest(r);
    fv_reader_rest(r);
    assert_int_equal(fv_reader_header(r)->world_rank, file.header.world_rank);
    assert_int_equal(fv_reader_wake(r), 0);
    assert_int_equal(fv_reader_wake(r), 0);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45);
    fv_reader_rest(r);
    assert_int_equal(truncate(path, 5000), 0); /* meanwhile: nothing behind its end is touched */
    assert_int_equal(fv_reader_wake(r), -FV_EIO);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45);
    assert_int_equal(count(r, FV_CHUNK_MODULES), 0); /* records that say their own length end there */
    fv_reader_rest(r);
    unlink(path);
    assert_int_equal(fv_reader_wake(r), -FV_EIO);
    fv_reader_free(r);
    fvr_write(&file, directory, "rank-000003.fvr");
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(fv_reader_open(path, &r, why, sizeof(why)), -FV_EFORMAT);
    unlink(path);
    rmdir(directory);
}

/* The file, and behind it nothing, but for a chunk header at `offset` that claims `used` bytes of cells. */
static void write_sparse(const char *path, uint64_t bytes, uint64_t offset, uint64_t used)
{
    struct fv_chunk_header chunk = { .magic = FV_CHUNK_MAGIC,
                                     .type = FV_CHUNK_CELLS,
                                     .version = 1,
                                     .thread = 7,
                                     .bytes = bytes - offset,
                                     .used = used };
    int fd = open(path, O_WRONLY);

    chunk.check = fv_chunk_check(&chunk);
    assert_that(fd, >=, 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    assert_int_equal(pwrite(fd, &chunk, sizeof(chunk), (off_t)offset), sizeof(chunk));
    close(fd);
}

static long faults(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt + usage.ru_majflt;
}

/* Neither looked through page by page nor believed to be records. */
static void holes(void **state)
{
    const uint64_t large = UINT64_C(16) << 30;
    char directory[] = "/tmp/fvmpi-unit-XXXXXX", path[100], why[200];
    const struct fv_damage *damage;
    struct fv_reader *r;
    size_t kept;
    uint64_t total;
    (void)state;

    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/rank-000003.fvr", directory);
    fvr_write(&file, directory, "rank-000003.fvr");
    write_sparse(path, large, large - 4096, 0);
    long before = faults();
    assert_int_equal(fv_reader_open(path, &r, why, sizeof(why)), 0);
    assert_true(getenv("FVMPI_TEST_EMULATED") || faults() - before < 10000); /* else the emulator's */
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45);
    damage = fv_reader_damage(r, &kept, &total);
    assert_int_equal(total, 1);
    assert_non_null(strstr(damage->why, "no valid chunk header"));
    fv_reader_free(r);

    fvr_write(&file, directory, "rank-000003.fvr");
    write_sparse(path, large, file.size, large / 2);
    assert_int_equal(fv_reader_open(path, &r, why, sizeof(why)), 0);
    assert_int_equal(count(r, FV_CHUNK_CELLS), 45);
    damage = fv_reader_damage(r, &kept, &total);
    assert_int_equal(total, 1);
    assert_non_null(strstr(damage->why, "more than the file has"));
    fv_reader_free(r);
    unlink(path);
    rmdir(directory);
}

/* A frame of a few kilobytes that is 64 MB of payload is of no writer. */
static void packed_to_no_end(void **state)
{
    enum { PAYLOAD = 64 << 20 };
    uint8_t *zeros = calloc(1, PAYLOAD), frame[32 << 10];
    struct fv_packed_events packed = { .used = PAYLOAD };
    struct fv_unpacked_events unpacked = { 0 };
    struct fv_reader *r;
    char why[200];
    size_t chunks;
    (void)state;

    packed.bytes = ZSTD_compress(frame + sizeof(packed), sizeof(frame) - sizeof(packed), zeros, PAYLOAD, 1);
    assert_false(ZSTD_isError(packed.bytes));
    memcpy(frame, &packed, sizeof(packed));
    fvr_chunk(&file, FV_CHUNK_PACKED, 0, 0, frame, sizeof(packed) + packed.bytes);
    fvr_finish(&file);
    assert_int_equal(open_with(file.size, &r, why), 0);
    const struct fv_chunk *chunk = fv_reader_chunks(r, &chunks);
    while (chunk->type != FV_CHUNK_PACKED)
        chunk++;
    assert_true(fv_reader_events(r, chunk, &unpacked).damaged);
    assert_int_equal(unpacked.room, 0);
    fv_unpacked_events_release(&unpacked);
    fv_reader_free(r);
    free(zeros);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whole_file),
        TEST(refuses),
        TEST(gaps),
        TEST(memory_of_gaps),
        TEST(bad_chunk_header_costs_that_chunk),
        TEST(bad_used),
        TEST(bad_variable_records),
        TEST(every_count),
        TEST(neighbours),
        TEST(truncated_at_any_byte),
        TEST(reserved_space_is_no_damage),
        TEST(small_chunks_share_a_page),
        TEST(later_types_are_skipped),
        TEST(files),
        TEST(holes),
        TEST(packed_to_no_end),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
