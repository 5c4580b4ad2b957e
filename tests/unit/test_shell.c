/* Commands that are printed: what a shell makes of them is what they were made of, and a terminal gets no control
 * character. Words that are secret. */
#include "base/secret.h"
#include "base/shell.h"
#include "unit.h"

static const char *const words[] = { "fvmpi",
                                     "exp",
                                     "a b",
                                     "",
                                     "it's",
                                     "\"",
                                     "$(touch pwned)",
                                     "`touch pwned`",
                                     "$HOME",
                                     "a\\b",
                                     "\\033[31m",
                                     "%s%n",
                                     "!x",
                                     "~",
                                     "*",
                                     "#",
                                     "a;b",
                                     "a&b",
                                     "a=b",
                                     "=ls",
                                     "\xc3\xa4rger",
                                     "\xff\xfe",
                                     "\033[31mred\033[0m",
                                     "\033]0;title\a",
                                     "two\nlines",
                                     "tab\there",
                                     "-\033",
                                     "%\033%",
                                     "it's \033 '",
                                     "$(touch pwned)\033",
                                     "\xc2\x9b"
                                     "31m",
                                     "\xe2\x80\xae"
                                     "desrever",
                                     "\177",
                                     "!!\033",
                                     "\\\033\\",
                                     "5\0339" };
enum { WORDS = sizeof(words) / sizeof(*words) };

static void assert_printable(const char *text)
{
    for (; *text; text++)
        assert_true((unsigned char)*text >= 0x20 && *text != 0x7f);
}

/* The words that a shell passes on, each with a NUL. */
static void assert_same(const char *shell, const char *command)
{
    char line[FV_SHELL_COMMAND + 64], got[8192], *at = got;

    snprintf(line, sizeof(line), "set -- %s; for word; do printf '%%s\\0' \"$word\"; done", command);
    assert_int_equal(setenv("LINE", line, 1), 0);
    snprintf(line, sizeof(line), "%s -c 'eval \"$LINE\"'", shell);
    FILE *out = popen(line, "r");
    assert_non_null(out);
    size_t n = fread(got, 1, sizeof(got) - 1, out);
    assert_int_equal(pclose(out), 0);
    for (unsigned i = 0; i < WORDS; i++) {
        assert_true(at < got + n);
        assert_string_equal(at, words[i]);
        at += strlen(at) + 1;
    }
    assert_ptr_equal(at, got + n);
}

static void test_words(void **state)
{
    char text[FV_SHELL_COMMAND] = "";
    size_t used = 0;
    (void)state;

    for (unsigned i = 0; i < WORDS; i++)
        assert_true(fv_shell_add(text, sizeof(text), &used, words[i]));
    assert_int_equal(used, strlen(text));
    assert_printable(text);
    assert_same("sh", text);
    if (!system("bash -c : 2>/dev/null"))
        assert_same("bash", text);
}

static void test_first(void **state)
{
    char text[64] = "";
    size_t used = 0;
    (void)state;

    fv_shell_add(text, sizeof(text), &used, "a=b");
    assert_string_equal(text, "'a=b'");
    assert_string_equal(FV_COMMAND("fvmpi", "report", "-x", "--sort=-a"), "fvmpi report ./-x --sort=-a");
}

static void test_too_long(void **state)
{
    char text[24], word[] = "'''''";
    (void)state;

    assert_string_equal(
        fv_shell_command(text, sizeof(text), (const char *const[]){ "fvmpi", "report", word, "x", NULL }),
        "fvmpi report ...");
    assert_string_equal(fv_shell_command(text, sizeof(text), (const char *const[]){ "fvmpi", "report", "dir", NULL }),
                        "fvmpi report dir");
}

static void test_secrets(void **state)
{
    static const char *const cases[][2] = {
        { "--password=hunter2", "--password=<blanked>" },
        { "--db-passwd=1234", "--db-passwd=<blanked>" },
        { "password=a b", "password=<blanked>" },
        { "--apiKey=x", "--apiKey=<blanked>" },
        { "--api_key=x", "--api_key=<blanked>" },
        { "AWS_SECRET_ACCESS_KEY=x/y", "AWS_SECRET_ACCESS_KEY=<blanked>" },
        { "--access-token=x", "--access-token=<blanked>" },
        { "accesstoken=x", "accesstoken=<blanked>" },
        { "Authorization: Bearer x", "Authorization: <blanked>" },
        { "https://me:pw@host:80/x?token=abc&n=3", "https://me:<blanked>@host:80/x?token=<blanked>&n=3" },
        { "url=mysql://me:p@ss@host/db", "url=mysql://me:<blanked>@host/db" },
        { "{\"password\": \"x\", \"n\": 3}", "{\"password\": \"<blanked>\", \"n\": 3}" },
        { "./app --token abc --n 3", "./app --token <blanked> --n 3" },
        { "--password-file=/etc/x", "--password-file=<blanked>" },
        { "--max-tokens=512", "--max-tokens=512" },
        { "--tokenizer=bert", "--tokenizer=bert" },
        { "--keyframes=10", "--keyframes=10" },
        { "--monkey=x", "--monkey=x" },
        { "--passes=3", "--passes=3" },
        { "--author=me", "--author=me" },
        { "--compass=x", "--compass=x" },
        { "http://host:80/a@b", "http://host:80/a@b" },
        { "key", "key" },
        { "in.secrets", "in.secrets" },
        { "8080:80", "8080:80" },
        { "", "" },
    };
    char out[256];
    (void)state;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int awaited = 0;

        assert_string_equal(fv_secret_word(cases[i][0], &awaited, out, sizeof(out)), cases[i][1]);
        assert_int_equal(awaited, 0);
    }
}

/* Words of one command line. */
static void test_values(void **state)
{
    static const char *const line[][2] = { { "app", "app" },
                                           { "--password", "--password" },
                                           { "12345", "<blanked>" },
                                           { "--max-tokens", "--max-tokens" },
                                           { "512", "512" },
                                           { "--token", "--token" },
                                           { "abc", "<blanked>" },
                                           { "abc", "abc" },
                                           { "--use-key", "--use-key" },
                                           { "--no", "--no" },
                                           { "no", "no" },
                                           { "-p", "-p" },
                                           { "80", "80" },
                                           { "--secret", "--secret" },
                                           { "it's", "<blanked>" },
                                           { "end", "end" } };
    char out[64];
    int awaited = 0;
    (void)state;

    for (unsigned i = 0; i < sizeof(line) / sizeof(*line); i++)
        assert_string_equal(fv_secret_word(line[i][0], &awaited, out, sizeof(out)), line[i][1]);
    assert_string_equal(fv_secret_word("--password=much", &awaited, out, 16), "--password=<bla");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),   cmocka_unit_test(test_first),  cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_secrets), cmocka_unit_test(test_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
