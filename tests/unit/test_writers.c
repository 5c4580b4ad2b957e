/* JSON and CSV as they are written, against jansson's parser and what it writes itself; and result files,
 * which are whole or not there. */
#include "tool/csv_stream.h"
#include "tool/json_stream.h"
#include "tool/vec.h"
#include "tool/whole_file.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *output;
static size_t output_bytes;
static struct fv_json json;
static struct fv_csv csv;

static int set_up(void **state)
{
    (void)state;
    output = NULL;
    json = (struct fv_json){ .out = open_memstream(&output, &output_bytes) };
    csv = (struct fv_csv){ .out = json.out };
    return json.out ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    if (json.out)
        fclose(json.out);
    free(output);
    return 0;
}

/* What was written. */
static const char *text(void)
{
    fclose(json.out);
    json.out = NULL;
    return output;
}

static json_t *parsed(void)
{
    json_error_t error;
    json_t *value = json_loads(text(), JSON_REJECT_DUPLICATES, &error);

    if (!value)
        fail_msg("line %d column %d: %s", error.line, error.column, error.text);
    return value;
}

/* ---- JSON ---- */

static void layout(void **state)
{
    (void)state;
    fv_json_object(&json, NULL);
    fv_json_array(&json, "none");
    fv_json_end(&json);
    fv_json_array(&json, "items");
    for (unsigned i = 0; i < 2; i++) {
        fv_json_object(&json, NULL);
        fv_json_unsigned(&json, "i", i);
        fv_json_array(&json, "list");
        fv_json_bool(&json, NULL, i);
        fv_json_null(&json, NULL);
        fv_json_end(&json);
        fv_json_end(&json);
    }
    fv_json_end(&json);
    fv_json_object(&json, "one");
    fv_json_array(&json, "two");
    fv_json_signed(&json, NULL, -1);
    fv_json_end(&json);
    fv_json_end(&json);
    fv_json_real(&json, "real", 1);
    fv_json_end(&json);
    assert_false(json.failed);
    assert_string_equal(text(), "{\n\"none\":[],\n\"items\":[\n{\"i\":0,\"list\":[false,null]},\n"
                                "{\"i\":1,\"list\":[true,null]}\n],\n\"one\":{\"two\":[-1]},\n\"real\":1.0\n}\n");
}

static void empty_object(void **state)
{
    (void)state;
    fv_json_object(&json, NULL);
    fv_json_end(&json);
    assert_false(json.failed);
    assert_string_equal(text(), "{\n}\n");
}

/* More than the stream's own buffer takes, in one piece and in many. */
static void long_text(void **state)
{
    size_t bytes = 3 * sizeof(json.buffer);
    char *word = malloc(bytes + 1);
    (void)state;

    memset(word, 'x', bytes);
    word[bytes] = '\0';
    word[7] = '"';
    fv_json_object(&json, NULL);
    fv_json_string(&json, "long", word);
    fv_json_array(&json, "numbers");
    for (unsigned i = 0; i < 5000; i++)
        fv_json_unsigned(&json, NULL, i);
    fv_json_end(&json);
    fv_json_end(&json);
    json_t *read = parsed();
    assert_string_equal(json_string_value(json_object_get(read, "long")), word);
    assert_int_equal(json_array_size(json_object_get(read, "numbers")), 5000);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(read, "numbers"), 4999)), 4999);
    json_decref(read);
    free(word);
}

/* What a terminal may not get is the same text in JSON and in CSV. */
static void strings(void **state)
{
    static const char *const plain[] = { "", "a", "\"quoted\\\"", "/", "\xc3\xa9", "\xf0\x9f\x98\x80" };
    static const struct {
        const char *is, *stands;
    } others[] = {
        { "\b\f\n\r\t\x01\x1f\x7f", "\\x08\\x0c\\x0a\\x0d\\x09\\x01\\x1f\\x7f" },
        { "\xc2\x80", "\\xc2\\x80" },
        { "a\xff\n\xed\xa0\x80", "a\\xff\\x0a\\xed\\xa0\\x80" },
    };
    const unsigned count = sizeof(plain) / sizeof(*plain);
    (void)state;

    fv_json_object(&json, NULL);
    fv_json_array(&json, "strings");
    for (unsigned i = 0; i < count; i++)
        fv_json_string(&json, NULL, plain[i]);
    for (unsigned i = 0; i < 3; i++)
        fv_json_string(&json, NULL, others[i].is);
    fv_json_string(&json, NULL, NULL);
    fv_json_end(&json);
    fv_json_bool(&json, "a \"key\"", true);
    fv_json_end(&json);
    json_t *read = parsed(), *list = json_object_get(read, "strings");
    for (unsigned i = 0; i < count; i++)
        assert_string_equal(json_string_value(json_array_get(list, i)), plain[i]);
    for (unsigned i = 0; i < 3; i++)
        assert_string_equal(json_string_value(json_array_get(list, count + i)), others[i].stands);
    assert_true(json_is_null(json_array_get(list, count + 3)));
    assert_true(json_is_true(json_object_get(read, "a \"key\"")));
    json_decref(read);
    free(output);
    output = NULL;
    csv = (struct fv_csv){ .out = open_memstream(&output, &output_bytes) };
    for (unsigned i = 0; i < 3; i++) {
        fv_csv_text(&csv, others[i].is);
        fflush(csv.out);
        assert_non_null(strstr(output, others[i].stands));
    }
    json.out = csv.out;
}

static void whole_numbers(void **state)
{
    static const int64_t numbers[] = { 0, 9, 10, 99, 100, 101, 12345678901, INT64_MAX, INT64_MIN, -1, -100 };
    (void)state;

    fv_json_object(&json, NULL);
    fv_json_array(&json, "numbers");
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        fv_json_signed(&json, NULL, numbers[i]);
    fv_json_unsigned(&json, NULL, UINT64_MAX);
    fv_json_end(&json);
    fv_json_end(&json);
    json_t *read = parsed(), *list = json_object_get(read, "numbers");
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        assert_that(json_integer_value(json_array_get(list, i)), ==, numbers[i]);
    assert_non_null(strstr(output, "1.84467440737e19"));
    json_decref(read);
}

/* One as this writer has it, and as jansson, which prints it, has it. */
static void expect_real(double value)
{
    if (!isfinite(value))
        return;
    json_t *other = json_real(value);
    char *wanted = json_dumps(other, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));

    json.used = 0;
    json.depth = 1;
    json.arrays = 2;
    json.any = 0;
    fv_json_real(&json, NULL, value);
    json.buffer[json.used] = '\0';
    if (strcmp(json.buffer + 1, wanted)) /* behind the end of the line */
        fail_msg("%a is %s, not %s", value, json.buffer + 1, wanted);
    json.used = 0;
    free(wanted);
    json_decref(other);
}

static uint64_t next_random(void)
{
    static uint64_t state = 1;

    return fv_mix(state++);
}

static const double some_reals[] = { 0.,
                                     -0.,
                                     1,
                                     -1,
                                     0.5,
                                     0.1,
                                     1e-5,
                                     1e-4,
                                     123456789012.,
                                     1e11,
                                     1e12,
                                     9.5e11,
                                     1e15,
                                     1e16,
                                     1e22,
                                     1e23,
                                     1e-11,
                                     1e-12,
                                     1e-300,
                                     1e300,
                                     0x1p-1074,
                                     0x1.fffffffffffffp1023,
                                     99999999999.95,
                                     999999999999.5,
                                     0.125,
                                     2.5,
                                     1234567890.125,
                                     123456789012.5,
                                     12345678901.25,
                                     1e-9 };

static void reals(void **state)
{
    (void)state;

    for (unsigned i = 0; i < sizeof(some_reals) / sizeof(*some_reals); i++)
        expect_real(some_reals[i]);
    for (int i = -330; i <= 308; i++) {
        double ten = pow(10, i);

        expect_real(ten);
        expect_real(nextafter(ten, 0));
        expect_real(nextafter(ten, INFINITY));
        expect_real(ten * 5);
    }
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t bits = next_random();
        double value;

        memcpy(&value, &bits, sizeof(value));
        expect_real(value);
        expect_real((double)(bits >> 11) * 0x1p-53);                  /* below 1 */
        expect_real((double)(bits >> 30) * 1e-9);                     /* seconds */
        expect_real(((double)(bits >> 20 & 0xffffff) + 0.5) * 1e-12); /* near to the middle of two */
        expect_real((double)(bits >> 24) + 0.5);
    }
}

static void no_numbers(void **state)
{
    (void)state;
    fv_json_object(&json, NULL);
    fv_json_real(&json, "a", NAN);
    fv_json_real(&json, "b", -INFINITY);
    fv_json_end(&json);
    assert_string_equal(text(), "{\n\"a\":null,\n\"b\":null\n}\n");
}

static void depth(void **state)
{
    (void)state;
    fv_json_object(&json, NULL);
    for (unsigned i = 1; i < FV_JSON_DEPTH - 1; i++)
        fv_json_array(&json, i == 1 ? "a" : NULL);
    fv_json_null(&json, NULL);
    for (unsigned i = 0; i < FV_JSON_DEPTH - 1; i++)
        fv_json_end(&json);
    assert_false(json.failed);
    json_decref(parsed());
}

static void too_deep(void **state)
{
    (void)state;
    fv_json_object(&json, NULL);
    for (unsigned i = 1; i < 3 * FV_JSON_DEPTH; i++)
        fv_json_array(&json, i == 1 ? "a" : NULL);
    fv_json_null(&json, NULL);
    assert_true(json.failed);
    for (unsigned i = 0; i < 3 * FV_JSON_DEPTH + 5; i++)
        fv_json_end(&json);
    assert_int_equal(json.depth, 0);
    assert_true(json.failed);
}

static void wrong_keys(void **state)
{
    (void)state;
    fv_json_object(&json, NULL);
    fv_json_null(&json, NULL);
    assert_true(json.failed);
    json.failed = false;
    fv_json_array(&json, "a");
    assert_false(json.failed);
    fv_json_null(&json, "key");
    assert_true(json.failed);
}

static void full_disk(void **state)
{
    struct fv_json j = { .out = fopen("/dev/full", "w") };
    (void)state;

    if (!j.out)
        skip();
    setvbuf(j.out, NULL, _IONBF, 0);
    fv_json_object(&j, NULL);
    fv_json_end(&j);
    assert_true(j.failed);
    fclose(j.out);
}

/* ---- CSV ---- */

static void fields(void **state)
{
    static const char *const formulas[] = { "=1+1", "@SUM(A1)", "-x", "+1e", "=a,b", "-5", "+1e3", "-", "a=b" };

    (void)state;
    fv_csv_text(&csv, "a");
    fv_csv_text(&csv, NULL);
    fv_csv_text(&csv, "a,b");
    fv_csv_text(&csv, "say \"x\"");
    fv_csv_text(&csv, " a");
    fv_csv_text(&csv, "\xc3\xa9\xff\r\n\x7f");
    fv_csv_whole(&csv, UINT64_MAX);
    fv_csv_whole(&csv, 0);
    fv_csv_number(&csv, INT64_MIN);
    fv_csv_number(&csv, INT64_MAX);
    fv_csv_real(&csv, 0.5);
    fv_csv_real(&csv, NAN);
    fv_csv_line(&csv);
    fv_csv_text(&csv, "b");
    fv_csv_line(&csv);
    for (unsigned i = 0; i < sizeof(formulas) / sizeof(*formulas); i++)
        fv_csv_text(&csv, formulas[i]);
    fv_csv_line(&csv);
    assert_string_equal(
        text(),
        "a,,\"a,b\",\"say \"\"x\"\"\",\" a\",\xc3\xa9\\xff\\x0d\\x0a\\x7f,18446744073709551615,0,"
        "-9223372036854775808,9223372036854775807,0.5,\r\nb\r\n'=1+1,'@SUM(A1),'-x,'+1e,\"'=a,b\",-5,+1e3,-,a=b\r\n");
}

/* However long it is. */
static void long_field(void **state)
{
    char *word = malloc(20001);
    (void)state;

    memset(word, 'x', 20000);
    word[20000] = '\0';
    fv_csv_text(&csv, word);
    fv_csv_line(&csv);
    assert_int_equal(strlen(text()), 20002);
    free(word);
}

/* ---- whole files ---- */

static char directory[64], name[128];

static void expect_file(const char *wanted)
{
    char read[100] = "";
    FILE *in = fopen(name, "r");

    assert_non_null(in);
    size_t n = fread(read, 1, sizeof(read) - 1, in);
    fclose(in);
    read[n] = '\0';
    assert_string_equal(read, wanted);
}

static void write_file(const char *what, int err, int wanted)
{
    struct fv_whole_file file;

    assert_int_equal(fv_whole_file_open(&file, name), 0);
    fputs(what, file.stream);
    assert_int_equal(fv_whole_file_close(&file, err), wanted);
}

static unsigned files_there(void)
{
    DIR *d = opendir(directory);
    unsigned count = 0;

    for (struct dirent *e; (e = readdir(d));)
        count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return count;
}

static int set_up_directory(void **state)
{
    strcpy(directory, "/tmp/fvmpi-unit-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(name, sizeof(name), "%s/result", directory);
    return set_up(state);
}

static int tear_down_directory(void **state)
{
    char command[100];

    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command) | tear_down(state);
}

static void failed_write_keeps_the_old(void **state)
{
    (void)state;
    write_file("old", 0, 0);
    assert_int_equal(chmod(name, 0640), 0);
    write_file("half of the new", -FV_EIO, -FV_EIO);
    expect_file("old");
    assert_int_equal(files_there(), 1);
    write_file("new", 0, 0);
    expect_file("new");
    struct stat st;
    assert_int_equal(stat(name, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(files_there(), 1);
}

/* The limit of a file's size is an error, and no signal that ends the tool. */
static void full_file(void **state)
{
    struct rlimit limit, was;
    struct fv_whole_file file;
    char zeros[4096] = { 0 };
    (void)state;

    write_file("old", 0, 0);
    getrlimit(RLIMIT_FSIZE, &was);
    limit = was;
    limit.rlim_cur = 8192;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(fv_whole_file_open(&file, name), 0);
    for (unsigned i = 0; i < 4; i++)
        fwrite(zeros, 1, sizeof(zeros), file.stream);
    int err = fv_whole_file_close(&file, 0), why = errno;
    setrlimit(RLIMIT_FSIZE, &was);
    assert_int_equal(err, -FV_EIO);
    assert_int_equal(why, EFBIG);
    expect_file("old");
    assert_int_equal(files_there(), 1);
}

/* Ctrl-C in the middle. */
static void interrupted(void **state)
{
    int status;
    (void)state;

    write_file("old", 0, 0);
    pid_t child = fork();
    if (!child) {
        struct fv_whole_file file;

        if (fv_whole_file_open(&file, name) || fputs("new", file.stream) < 0 || fflush(file.stream) ||
            files_there() != 2)
            _exit(1);
        raise(SIGINT);
        _exit(2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
    expect_file("old");
    assert_int_equal(files_there(), 1);
}

/* By renaming it could be replaced: its directory can be written to. */
static void read_only_files_stay(void **state)
{
    int status;
    (void)state;

    write_file("old", 0, 0);
    assert_int_equal(chmod(name, 0444), 0);
    assert_int_equal(chmod(directory, 0777), 0);
    pid_t child = fork();
    if (!child) {
        struct fv_whole_file file;

        if (geteuid() == 0 && setuid(65534)) /* root may write to any */
            _exit(1);
        _exit(fv_whole_file_open(&file, name) == -FV_EIO && errno == EACCES ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    expect_file("old");
    assert_int_equal(files_there(), 1);
}

/* Neither under the result's name nor under that of its part. */
static void links_are_not_followed(void **state)
{
    char victim[128], part[200];
    (void)state;

    write_file("precious", 0, 0);
    snprintf(victim, sizeof(victim), "%s/victim", directory);
    assert_int_equal(rename(name, victim), 0);
    snprintf(part, sizeof(part), "%s/.result.%ld.part", directory, (long)getpid());
    assert_int_equal(symlink(victim, part), 0);
    if (geteuid() == 0) {
        assert_int_equal(symlink(victim, name), 0);
        assert_int_equal(lchown(name, 12345, 12345), 0);
    }
    write_file("new", 0, 0);
    expect_file("new");
    strcpy(name, victim);
    expect_file("precious");
    snprintf(name, sizeof(name), "%s/dangling", directory);
    assert_int_equal(symlink("nowhere", name), 0);
    write_file("new", 0, 0);
    expect_file("new");
}

/* One of the user's own is meant: it leads to where the file is to be. */
static void own_links(void **state)
{
    char file[128];
    struct stat st;
    (void)state;

    write_file("old", 0, 0);
    strcpy(file, name);
    snprintf(name, sizeof(name), "%s/link", directory);
    assert_int_equal(symlink(file, name), 0);
    write_file("new", 0, 0);
    assert_int_equal(lstat(name, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    strcpy(name, file);
    expect_file("new");
}

/* A pipe of the user's own is written to, and stays. */
static void pipes(void **state)
{
    char read_bytes[10] = "";
    struct stat st;
    (void)state;

    assert_int_equal(mkfifo(name, 0600), 0);
    int fd = open(name, O_RDONLY | O_NONBLOCK);
    write_file("whole", 0, 0);
    assert_int_equal(read(fd, read_bytes, sizeof(read_bytes)), 5);
    assert_string_equal(read_bytes, "whole");
    close(fd);
    assert_int_equal(lstat(name, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    if (geteuid())
        return;
    assert_int_equal(chown(name, 12345, 12345), 0);
    assert_int_equal(fv_whole_file_open(&(struct fv_whole_file){ 0 }, name), -FV_EIO);
    assert_int_equal(errno, EPERM);
}

static void no_place(void **state)
{
    struct fv_whole_file file;
    (void)state;

    strcat(name, "/none");
    assert_int_equal(fv_whole_file_open(&file, name), -FV_EIO);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(fv_whole_file_open(&file, directory), -FV_EIO);
    assert_int_equal(errno, EISDIR);
}

#define IN_DIRECTORY(name) cmocka_unit_test_setup_teardown(name, set_up_directory, tear_down_directory)
#define TEST(name)         cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(layout),
        TEST(empty_object),
        TEST(long_text),
        TEST(strings),
        TEST(whole_numbers),
        TEST(reals),
        TEST(no_numbers),
        TEST(depth),
        TEST(too_deep),
        TEST(wrong_keys),
        TEST(full_disk),
        TEST(fields),
        TEST(long_field),
        IN_DIRECTORY(failed_write_keeps_the_old),
        IN_DIRECTORY(full_file),
        IN_DIRECTORY(interrupted),
        IN_DIRECTORY(read_only_files_stay),
        IN_DIRECTORY(links_are_not_followed),
        IN_DIRECTORY(own_links),
        IN_DIRECTORY(pipes),
        IN_DIRECTORY(no_place),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
