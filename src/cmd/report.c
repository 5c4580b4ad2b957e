/* fvmpi report: reads an experiment once, computes its profile once, and shows it as asked. */
#include "cmd/cmd.h"
#include "report/views.h"
#include "trace/format.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

struct options {
    const char *directory, *json, *csv;
    bool text, symbols;
    struct fv_text_options view;
};

static const char usage[] =
    "usage: fvmpi report DIR [options]\n"
    "Says where the MPI time of a recorded run went. DIR is the experiment directory that fvmpi named when\n"
    "the program ran (a single rank file will do). Without --json and --csv the report is text on stdout.\n"
    "\n"
    "  --json FILE    the whole profile as JSON, schema fvmpi-profile-1; - is stdout\n"
    "  --csv DIR      one file for each table\n"
    "  --text         text too, beside --json or --csv\n"
    "  --top N        rows in each table of the text (10)\n"
    "  --all          all rows\n"
    "  --width N      columns of the text (the terminal's; 100 where there is none)\n"
    "  --color WHEN   auto, always or never (auto: on a terminal, unless NO_COLOR is set)\n"
    "  --no-symbols   show call paths as module+offset: quick, and needs none of the program's files\n"
    "  -h, --help     this text\n"
    "\n"
    "FVMPI_DEBUG_PATH names a directory with debug files by build-id (DIR/.build-id/xx/yyyy.debug), "
    "searched\n"
    "before /usr/lib/debug. Exit status: 0 reported (also if parts are missing, which the report then "
    "says),\n"
    "1 nothing could be reported, 2 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
    fv_log("report: %s: %s; see fvmpi report --help", what, why);
    return FV_EXIT_USAGE;
}

static bool parse_number(const char *text, size_t least, size_t *out)
{
    char *end;

    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || value < least)
        return false;
    *out = value;
    return true;
}

static bool is_utf8(void)
{
    const char *names[] = { getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG") };

    for (unsigned i = 0; i < 3; i++)
        if (names[i] && *names[i])
            return strstr(names[i], "UTF-8") || strstr(names[i], "utf-8") || strstr(names[i], "utf8") ||
                   strstr(names[i], "UTF8");
    return false;
}

static size_t terminal_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    size_t width;

    if (columns && parse_number(columns, 20, &width))
        return width;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= 20)
        return size.ws_col;
    return 100;
}

static bool color_by_default(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM"); /* https://no-color.org */

    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb");
}

enum { OPT_JSON = 256, OPT_CSV, OPT_TEXT, OPT_TOP, OPT_ALL, OPT_WIDTH, OPT_COLOR, OPT_NO_SYMBOLS };

/* One option; -1: go on, else the exit status. */
static int take_option(struct options *o, int option)
{
    switch (option) {
    case OPT_JSON: o->json = optarg; return -1;
    case OPT_CSV: o->csv = optarg; return -1;
    case OPT_TEXT: o->text = true; return -1;
    case OPT_ALL: o->view.top = SIZE_MAX; return -1;
    case OPT_NO_SYMBOLS: o->symbols = false; return -1;
    case OPT_TOP:
        return parse_number(optarg, 1, &o->view.top) ? -1 : wrong(optarg, "--top takes a number from 1");
    case OPT_WIDTH:
        return parse_number(optarg, 20, &o->view.width) ? -1
                                                        : wrong(optarg, "--width takes a number from 20");
    case OPT_COLOR:
        if (!strcmp(optarg, "auto"))
            o->view.color = color_by_default();
        else if (!strcmp(optarg, "always") || !strcmp(optarg, "never"))
            o->view.color = *optarg == 'a';
        else
            return wrong(optarg, "--color takes auto, always or never");
        return -1;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    return -2;
}

/* Is it a file that the run left, which nothing brings back? */
static bool is_recorded(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char magic[sizeof(((struct fv_file_header *)NULL)->magic)], claim[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a pipe */
    bool is_rank_file = fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
                        !memcmp(magic, FV_FILE_MAGIC, sizeof(magic));
    struct stat st;

    if (fd >= 0)
        close(fd);
    snprintf(claim, sizeof(claim), "%.*s.job", (int)(name - path), path);
    return is_rank_file || ((!strcmp(name, "run.json") || !strcmp(name, ".job")) && !lstat(claim, &st));
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        { "json", required_argument, NULL, OPT_JSON },
        { "csv", required_argument, NULL, OPT_CSV },
        { "text", no_argument, NULL, OPT_TEXT },
        { "top", required_argument, NULL, OPT_TOP },
        { "all", no_argument, NULL, OPT_ALL },
        { "width", required_argument, NULL, OPT_WIDTH },
        { "color", required_argument, NULL, OPT_COLOR },
        { "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    int option;

    *o = (struct options){ .symbols = true };
    o->view = (struct fv_text_options){
        .width = terminal_width(), .top = 10, .color = color_by_default(), .utf8 = is_utf8()
    };
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", table, NULL)) != -1) {
        int status = take_option(o, option);

        if (status == -2)
            return wrong(argv[optind - 1], "no such option, or its value is missing or too much");
        if (status >= 0)
            return status;
    }
    if (optind == argc)
        return wrong("no experiment directory", "one is needed");
    if (optind + 1 < argc)
        return wrong(argv[optind + 1], "one experiment directory at a time");
    o->directory = argv[optind];
    o->text = o->text || (!o->json && !o->csv);
    if (o->json && is_recorded(o->json))
        return wrong(o->json, "--json would write over a file of a recorded run; name another");
    if (o->text && o->json && !strcmp(o->json, "-"))
        return wrong("--text", "stdout holds the JSON already");
    return -1;
}

static int write_json(const struct fv_view *view, const char *path)
{
    bool to_stdout = !strcmp(path, "-");
    FILE *out = to_stdout ? stdout : fopen(path, "we");
    int err = out ? fv_view_json(view, out) : -FV_EIO;

    if (out && !to_stdout && fclose(out))
        err = -FV_EIO;
    if (err)
        fv_log("%s: %s; choose another place for --json", path, strerror(errno));
    return err;
}

int fv_cmd_report(int argc, char **argv)
{
    struct fv_symbols symbols;
    struct options options;
    struct fv_model model;
    int status = parse(argc, argv, &options), err = 0;

    if (status >= 0)
        return status;
    if (fv_model_load(&model, options.directory))
        return FV_EXIT_FAILED;
    fv_symbols_resolve(&symbols, &model, options.symbols);
    fv_sites_merge(&model, &symbols);
    struct fv_view view = { &model, &symbols };
    if (options.csv)
        err = fv_view_csv(&view, options.csv);
    if (!err && options.json)
        err = write_json(&view, options.json);
    if (!err && options.text && (err = fv_view_text(&view, &options.view, stdout)))
        fv_log("stdout: %s; the report is cut", strerror(errno));
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    return err ? FV_EXIT_FAILED : FV_EXIT_OK;
}
