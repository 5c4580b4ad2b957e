/* Files in a container: what was put in is what is read, whatever a crash or damage left. */
#include "base/base.h"
#include "trace/container.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/fvmpi-container-XXXXXX", path[64];
static int folder;

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/fvmpi-container-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/ranks-n1.fvc", directory);
    folder = open(directory, O_RDONLY | O_DIRECTORY);
    return folder < 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    close(folder);
    return rmdir(directory);
}

/* A file of so many bytes, each of which tells which file it is. */
static int made(size_t bytes, char letter)
{
    FILE *file = tmpfile();
    int fd;

    for (size_t i = 0; i < bytes; i++)
        fputc(letter + (int)(i % 7), file);
    fflush(file);
    fd = dup(fileno(file));
    fclose(file);
    return fd;
}

static int put(const char *name, size_t bytes, char letter)
{
    int from = made(bytes, letter), err = fv_container_append(folder, "ranks-n1.fvc", from, name);

    close(from);
    return err ? errno : 0;
}

static void expect(const char *name, size_t bytes, char letter)
{
    struct fv_file_part part;
    char whole[128];

    snprintf(whole, sizeof(whole), "%s/%s", path, name);
    assert_int_equal(fv_file_part_open(whole, &part), 0);
    assert_that(part.bytes, ==, bytes);
    assert_that(part.begin % FV_CONTAINER_ALIGN, ==, 0);
    assert_false(part.is_whole);
    for (size_t i = 0; i < bytes; i++) {
        char c = 0;

        assert_int_equal(pread(part.fd, &c, 1, (off_t)(part.begin + i)), 1);
        assert_int_equal(c, letter + (int)(i % 7));
    }
    close(part.fd);
}

static bool add_name(void *context, const struct fv_container_entry *entry)
{
    strcat(context, entry->name);
    return true;
}

static void expect_names(const char *wanted)
{
    char names[200] = "";
    int fd = open(path, O_RDONLY);

    fv_container_each(fd, add_name, names);
    close(fd);
    assert_string_equal(names, wanted);
}

static void test_files(void **state)
{
    (void)state;
    assert_int_equal(put("a", 100, 'A'), 0);
    assert_int_equal(put("b", 0, 'B'), 0);
    assert_int_equal(put("c", 70000, 'C'), 0);
    expect_names("abc");
    expect("a", 100, 'A');
    expect("b", 0, 'B');
    expect("c", 70000, 'C');
}

static void test_same_and_another(void **state)
{
    (void)state;
    assert_int_equal(put("a", 5000, 'A'), 0);
    assert_int_equal(put("a", 5000, 'A'), 0);
    assert_int_equal(put("a", 5000, 'B'), EEXIST);
    assert_int_equal(put("a", 5001, 'A'), EEXIST);
    expect_names("a");
    expect("a", 5000, 'A');
}

/* At each length to which the container may be cut, the files before are there, and the next one finds its place. */
static void test_cut(void **state)
{
    struct stat st;
    (void)state;

    assert_int_equal(put("a", 300, 'A'), 0);
    assert_int_equal(stat(path, &st), 0);
    off_t first = st.st_size;
    assert_int_equal(put("b", 9000, 'B'), 0);
    assert_int_equal(stat(path, &st), 0);
    for (off_t length = first; length < st.st_size; length += 997) {
        assert_int_equal(truncate(path, length), 0);
        expect_names("a");
        assert_int_equal(put("c", 10, 'C'), 0);
        expect_names("ac");
        expect("a", 300, 'A');
        expect("c", 10, 'C');
        assert_int_equal(truncate(path, first), 0);
        assert_int_equal(put("b", 9000, 'B'), 0);
    }
}

static void test_damage_costs_one_file(void **state)
{
    (void)state;
    assert_int_equal(put("a", 300, 'A'), 0);
    assert_int_equal(put("b", 9000, 'B'), 0);
    assert_int_equal(put("c", 10, 'C'), 0);
    int fd = open(path, O_RDWR);
    for (off_t at = 0; at < (off_t)sizeof(struct fv_container_entry); at++) {
        char was, is;

        assert_int_equal(pread(fd, &was, 1, at), 1);
        is = (char)~was;
        assert_int_equal(pwrite(fd, &is, 1, at), 1);
        if (at < 24 + 2 || at >= 24 + 96) /* behind its end, the name has letters that do not count */
            expect_names("bc");
        assert_int_equal(pwrite(fd, &was, 1, at), 1);
    }
    close(fd);
    expect_names("abc");
}

static void test_not_ours(void **state)
{
    struct fv_file_part part;
    char whole[128];
    (void)state;

    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(put("a", 1, 'A'), EEXIST);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(put("a", 1, 'A'), EEXIST);
    unlink(path);
    assert_int_equal(put("a", 1, 'A'), 0);
    snprintf(whole, sizeof(whole), "%s/x", path);
    assert_int_equal(fv_file_part_open(whole, &part), -FV_EIO);
    assert_int_equal(errno, ENOENT);
    snprintf(whole, sizeof(whole), "%s/a/b", path);
    assert_int_equal(fv_file_part_open(whole, &part), -FV_EIO);
    assert_int_equal(fv_file_part_open(directory, &part), -FV_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_and_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage_costs_one_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_ours, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
