/* See run_stacks.h. Each run is a `fvmpi run` of its own, with OMP_NUM_THREADS, and {N} in the command's words replaced. One thread comes first and last: where the two
 * differ, the machine changed meanwhile, or the program varies. */
#include "cmd/run_stacks.h"
#include "base/base.h"
#include "base/experiment.h"
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/stacks.h"
#include "tool/words.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { COUNTS = 64, THREADS_MOST = 4096, OWN_WORDS = 8 };

struct stacks_run {
    const struct fv_config *config;
    char **argv;
    int argc, rest;
    size_t counts[COUNTS], count; /* of threads, a run each */
    char directory[PATH_MAX];
    bool is_quiet, is_replaced; /* replaced: the command has {N} */
};

/* ---- how many threads ---- */

static bool add(struct stacks_run *r, size_t threads)
{
    if (r->count == COUNTS)
        return false;
    r->counts[r->count++] = threads;
    return true;
}

/* 1, 2, 4 ... and as many as there are processors. */
static void add_powers(struct stacks_run *r)
{
    cpu_set_t set;
    size_t all = sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);

    for (size_t n = 2; n < all && n < THREADS_MOST; n *= 2)
        add(r, n);
    if (all > 1)
        add(r, all);
}

/* False: it is no list of numbers. What is asked for twice is run twice. */
static bool add_list(struct stacks_run *r, const char *text)
{
    for (char *end; *text; text = *end ? end + 1 : end) {
        unsigned long threads = strtoul(text, &end, 10);

        if (end == text || *text == '-' || (*end && *end != ',') || (*end && !end[1]) || !threads || threads > THREADS_MOST)
            return false;
        if (threads > 1 && !add(r, threads))
            return false;
    }
    return true;
}

/* ---- a run ---- */

/* A word with the number in the place of each {N}; NULL: it has none. */
static char *replaced(const char *word, size_t threads)
{
    char number[24], *out = NULL;
    const char *at = strstr(word, "{N}");
    size_t bytes;
    FILE *stream;

    if (!at || !(stream = open_memstream(&out, &bytes)))
        return NULL;
    snprintf(number, sizeof(number), "%zu", threads);
    for (; at; at = strstr(word, "{N}")) {
        fprintf(stream, "%.*s%s", (int)(at - word), word, number);
        word = at + 3;
    }
    fputs(word, stream);
    fclose(stream);
    return out;
}

static void name_directory(const struct stacks_run *r, size_t run, char out[PATH_MAX + 32])
{
    size_t before = 0;

    for (size_t i = 0; i < run; i++)
        before += r->counts[i] == r->counts[run];
    snprintf(out, PATH_MAX + 32, before ? "%s/threads-%zu.%zu" : "%s/threads-%zu", r->directory, r->counts[run], before + 1);
}

/* Its exit status. Options that stand behind others count. */
static int run_once(struct stacks_run *r, size_t run)
{
    static char self[] = "/proc/self/exe", name[] = "run", off[] = "--stacks=0", threads[] = "--threads", quiet[] = "--quiet", output[] = "-o", end[] = "--";
    char directory[PATH_MAX + 32], number[24], **words = calloc((size_t)r->argc + OWN_WORDS + 2, sizeof(*words)), **owned = calloc((size_t)r->argc + 1, sizeof(*owned));
    bool has_threads = strcmp(fv_config_get(r->config, "--threads"), "0") != 0;
    char *const own[OWN_WORDS] = { off, quiet, output, directory, has_threads ? end : threads, has_threads ? NULL : end };
    size_t used = 0, mine = 0;
    int options = r->rest > 1 && !strcmp(r->argv[r->rest - 1], "--") ? r->rest - 1 : r->rest, status = FV_EXIT_FAILED;

    name_directory(r, run, directory);
    snprintf(number, sizeof(number), "%zu", r->counts[run]);
    setenv("OMP_NUM_THREADS", number, 1);
    if (words && owned) {
        words[used++] = self;
        words[used++] = name;
        for (int i = 1; i < options; i++)
            words[used++] = r->argv[i];
        for (size_t i = 0; own[i]; i++)
            words[used++] = own[i];
        for (int i = r->rest; i < r->argc; i++) {
            char *other = replaced(r->argv[i], r->counts[run]);

            words[used++] = other ? (owned[mine++] = other) : r->argv[i];
        }
        r->is_replaced = mine > 0;
        if (!r->is_quiet)
            fv_log("stacks: %zu thread%s, run %zu of %zu", r->counts[run], fv_words_s(r->counts[run]), run + 1, r->count);
        status = fv_spawn(words, NULL);
    }
    while (mine)
        free(owned[--mine]);
    free(owned);
    free(words);
    return status;
}

/* ---- what came of it ---- */

static int show(const struct stacks_run *r)
{
    char(*names)[PATH_MAX + 32] = calloc(r->count, sizeof(*names)), *directories[COUNTS];
    int status = FV_EXIT_FAILED;

    for (size_t i = 0; names && i < r->count; i++) {
        name_directory(r, i, names[i]);
        directories[i] = names[i];
    }
    if (names)
        status = fv_stacks_of_runs(&(struct fv_operands){ directories, r->count }, r->counts, r->is_replaced, r->is_quiet ? NULL : stderr);
    if (status == FV_EXIT_OK && !r->is_quiet)
        fprintf(stderr, "\nas a page: fvmpi stacks %s/threads-* --html stacks.html\n", r->directory);
    else if (status != FV_EXIT_OK)
        fv_log("stacks: what was recorded is in %s", r->directory);
    free(names);
    return status;
}

/* ---- all ---- */

/* What is there already is somebody's: another name is taken. False: it has said why not. */
static bool make_directory(struct stacks_run *r)
{
    const char *wanted = r->config->output;
    char name[512];

    if (!wanted && fv_experiment_name_at(name, sizeof(name), r->argv[r->rest], 1, time(NULL)))
        return false;
    for (int i = 1; i < 1000; i++) {
        int length = i == 1 ? snprintf(r->directory, sizeof(r->directory), wanted ? "%s" : "%s-stacks", wanted ? wanted : name)
                            : snprintf(r->directory, sizeof(r->directory), wanted ? "%s-%d" : "%s-stacks-%d", wanted ? wanted : name, i);

        if ((size_t)length >= sizeof(r->directory) || !mkdir(r->directory, 0777))
            break;
        if (errno != EEXIST || wanted) {
            fv_log("run: %s: %s%s", r->directory, strerror(errno), errno == EEXIST ? "; name another directory for --stacks" : "");
            return false;
        }
    }
    return true;
}

int fv_run_stacks(struct fv_config *config, int argc, char **argv, int rest)
{
    const char *list = fv_config_get(config, "--stacks");
    struct stacks_run r = { .config = config, .argv = argv, .argc = argc, .rest = rest, .is_quiet = fv_config_is(config, "--quiet") };
    int status = FV_EXIT_OK;

    add(&r, 1);
    if (list[strspn(list, "0123456789,")] || !strcmp(list, "1")) /* on */
        add_powers(&r);
    else if (!add_list(&r, list))
        status = FV_EXIT_USAGE;
    if (status || r.count == COUNTS) {
        fv_log("run: --stacks %s: numbers of threads, such as 1,2,4, at most %d of them, each up to %d", list, COUNTS - 2, THREADS_MOST);
        return FV_EXIT_USAGE;
    }
    add(&r, 1);
    if (fv_config_resolve(config) || !make_directory(&r))
        return FV_EXIT_FAILED;
    for (size_t i = 0; i < r.count && !status; i++)
        status = run_once(&r, i);
    if (status)
        fv_log("stacks: that run ended with status %d: no further ones are made; what was recorded is in %s", status, r.directory);
    return status ? status : show(&r);
}
