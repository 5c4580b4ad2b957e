/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi mcp: the Model Context Protocol over stdin and stdout (https://modelcontextprotocol.io/specification), so that
 * an assistant can ask what a run lost time by. Each message is JSON-RPC 2.0 in a line. A tool is one of fvmpi's own
 * commands, which runs as a child: it reads experiments below the directories that were named, and nothing else. */
#include "base/base.h"
#include "base/now.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/install.h"
#include "cmd/mcp_runs.h"
#include "fvmpi.h"
#include "tool/vec.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: fvmpi mcp DIR...\n"
    "Answers an assistant that speaks the Model Context Protocol on stdin and stdout. It may ask for the reports of\n"
    "runs that are below the directories DIR: findings, what is behind them, tables, differences of two runs.\n"
    "Tables can be asked by SQL. Nothing of the runs is changed, and nothing else is read. For a trace, the file of\n"
    "fvmpi view is made if there is none. share/doc/assistants.md says how assistants are set up.\n"
    "\n"
    "  -h, --help    print this help\n"
    "\n"
    "Exit status: 0 stdin ended, 1 failed, 2 wrong usage.\n";

#define PROTOCOL     "2025-06-18"
#define MESSAGE_MOST ((size_t)1 << 20) /* bytes of a message to us ... */
#define ANSWER_MOST  ((size_t)1 << 16) /* ... and of what a tool says */
#define LIMIT_S      60                /* of a tool */
#define WORDS_MOST   40                /* of a command */

/* Codes of JSON-RPC. */
enum { NO_JSON = -32700, NO_REQUEST = -32600, NO_METHOD = -32601, WRONG_PARAMETERS = -32602 };

struct server {
    char **roots; /* real paths */
    size_t root_count;
    char self[PATH_MAX];
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi mcp", what, why);
}

/* ---- tools ---- */

enum kind { RUN, WORD, WORDS, STATEMENT }; /* RUN: an experiment directory; STATEMENT: of SQL, behind -- */
struct parameter {
    const char *name, *about;
    enum kind kind;
    bool is_optional;
    const char *option; /* NULL: an operand, in the order of the parameters */
};
#define PARAMETERS 5
static const struct tool {
    const char *name, *about;
    const char *command[6]; /* fvmpi's words; NULL behind the last; none: the runs are listed */
    struct parameter parameters[PARAMETERS];
} tools[] = {
    { "runs",
      "Paths of the runs that there are: experiment directories, and OTF2 archives of any tool. The newest first.",
      { NULL },
      { { 0 } } },
    { "brief",
      "What a run lost most time by: verdict, findings with evidence, lost seconds, place and next step, and what was "
      "not judged or not recorded. Begin here, with a run that `runs` names.",
      { "report", "--brief", "--json=-" },
      { { "experiment", "path of the run, as `runs` has it", RUN, false, NULL } } },
    { "explain",
      "How a finding was concluded: what it means, how its seconds are counted, and the rows of the tables behind it.",
      { "explain" },
      { { "finding", "id of the finding, as `brief` has it", WORD, false, NULL },
        { "experiment", "path of the run, as `runs` has it", RUN, false, NULL } } },
    { "report",
      "The whole report of a run as text: findings, efficiencies, waiting, functions, call sites, message sizes.",
      { "report", "--width=100" },
      { { "experiment", "path of the run, as `runs` has it", RUN, false, NULL } } },
    { "tables", "The tables that `table` can show, with what they hold.", { "report", "--columns" }, { { 0 } } },
    { "columns",
      "The columns of a table: keys, units, meanings.",
      { "report", "--columns" },
      { { "table", "name of the table, as `tables` has it", WORD, false, "--table=" } } },
    { "table",
      "Rows of one table of a run, as JSON.",
      { "report", "--json=-" },
      { { "experiment", "path of the run, as `runs` has it", RUN, false, NULL },
        { "table", "name of the table, as `tables` has it", WORD, false, "--table=" },
        { "columns", "keys of columns with commas between them (default: all)", WORD, true, "--columns=" },
        { "where", "conditions that rows must meet, such as rank=3 or lost_s>0.1", WORDS, true, "--where=" },
        { "sort", "column to sort by; with - before it the largest first", WORD, true, "--sort=" } } },
    { "query",
      "Rows that a SELECT gives over all tables of a run, and of its trace, as JSON. SQLite's SQL. `about_tables` and "
      "`about_columns` describe the tables.",
      { "query", "--json", "--timeout=30", "--" },
      { { "experiment", "path of the run, as `runs` has it", RUN, false, NULL },
        { "select", "one SELECT, with a LIMIT where rows are many", STATEMENT, false, NULL } } },
    { "diff",
      "What differs between two runs of a program, and what is beyond chance.",
      { "diff", "--width=100" },
      { { "a", "path of the first run", RUN, false, NULL }, { "b", "path of the second run", RUN, false, NULL } } },
};
enum { TOOLS = sizeof(tools) / sizeof(*tools) };

static json_t *schema_of(const struct tool *t)
{
    json_t *properties = json_object(), *required = json_array();

    for (size_t i = 0; i < PARAMETERS && t->parameters[i].name; i++) {
        const struct parameter *p = &t->parameters[i];
        json_t *type = p->kind == WORDS ? json_pack("{s:s, s:{s:s}, s:s}", "type", "array", "items", "type", "string",
                                                    "description", p->about)
                                        : json_pack("{s:s, s:s}", "type", "string", "description", p->about);

        json_object_set_new(properties, p->name, type);
        if (!p->is_optional)
            json_array_append_new(required, json_string(p->name));
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required", required,
                     "additionalProperties", 0);
}

static json_t *list_tools(void)
{
    json_t *list = json_array();

    for (size_t i = 0; i < TOOLS; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:{s:b}}", "name", tools[i].name, "description",
                                              tools[i].about, "inputSchema", schema_of(&tools[i]), "annotations",
                                              "readOnlyHint", 1));
    return json_pack("{s:o}", "tools", list);
}

/* ---- running one ---- */

struct call {
    const struct server *server;
    char *words[WORDS_MOST + 1]; /* to be freed */
    size_t count;
    char why[400]; /* it cannot be made; "": it can */
};

static void add_word(struct call *c, const char *option, const char *text)
{
    char *word = NULL;

    if (c->count == WORDS_MOST)
        snprintf(c->why, sizeof(c->why), "too many words");
    else if (asprintf(&word, "%s%s", option ? option : "", text) >= 0)
        c->words[c->count++] = word;
}

/* A path below one of the directories; relative ones begin there. */
static bool find_run(const struct server *s, const char *path, char out[PATH_MAX])
{
    for (size_t i = 0; i < s->root_count; i++) {
        const size_t length = strlen(s->roots[i]);
        char whole[2 * PATH_MAX], real[PATH_MAX];

        snprintf(whole, sizeof(whole), "%s%s%s", *path == '/' ? "" : s->roots[i], *path == '/' ? "" : "/", path);
        if (realpath(whole, real) && !strncmp(real, s->roots[i], length) && (!real[length] || real[length] == '/')) {
            strcpy(out, real);
            return true;
        }
    }
    return false;
}

static void take_text(struct call *c, const struct parameter *p, const char *text)
{
    char path[PATH_MAX];

    if (p->kind == RUN && !find_run(c->server, text, path))
        snprintf(c->why, sizeof(c->why), "%s: not below the directories that fvmpi mcp was started with", p->name);
    else if (!p->option && p->kind != STATEMENT && *text == '-')
        snprintf(c->why, sizeof(c->why), "%s: no option can be given", p->name);
    else
        add_word(c, p->option, p->kind == RUN ? path : text);
}

static void take_parameter(struct call *c, const struct parameter *p, const json_t *arguments)
{
    const json_t *value = json_object_get(arguments, p->name), *item;
    size_t i;

    if (!value && p->is_optional)
        return;
    if (p->kind == WORDS && json_is_array(value)) {
        json_array_foreach(value, i, item)
        {
            if (!json_is_string(item))
                snprintf(c->why, sizeof(c->why), "%s: wanted strings", p->name);
            else
                take_text(c, p, json_string_value(item));
        }
    } else if (json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value)) {
        take_text(c, p, json_string_value(value));
    } else {
        snprintf(c->why, sizeof(c->why), "%s: wanted %s", p->name, p->kind == WORDS ? "a list of strings" : "a string");
    }
}

static bool is_parameter(const struct tool *t, const char *name)
{
    for (size_t i = 0; i < PARAMETERS && t->parameters[i].name; i++)
        if (!strcmp(t->parameters[i].name, name))
            return true;
    return false;
}

static void build(struct call *c, const struct tool *t, const json_t *arguments)
{
    const char *key;
    json_t *value;

    add_word(c, NULL, c->server->self);
    for (size_t i = 0; t->command[i]; i++)
        add_word(c, NULL, t->command[i]);
    for (size_t i = 0; i < PARAMETERS && t->parameters[i].name && !*c->why; i++)
        take_parameter(c, &t->parameters[i], arguments);
    json_object_foreach((json_t *)(size_t)arguments, key, value)
    {
        if (!is_parameter(t, key))
            snprintf(c->why, sizeof(c->why), "%.100s: no such parameter", key);
    }
}

/* Both streams of the child are one. */
static pid_t begin(char **words, int *from)
{
    int ends[2];

    if (pipe(ends))
        return -1;
    pid_t pid = fork();
    if (!pid) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(words[0], words);
        _exit(FV_EXIT_NOT_FOUND);
    }
    close(ends[1]);
    *from = ends[0];
    if (pid < 0)
        close(ends[0]);
    return pid;
}

/* What it says, as far as there is room; NULL: it took too long. */
static char *listen_to(int from, pid_t pid)
{
    char *text = fv_xcalloc(ANSWER_MOST + 100, 1), rest[4096];
    const double end_s = fv_now_s() + LIMIT_S;
    size_t used = 0;
    ssize_t n = 1;

    while (n > 0) {
        struct pollfd wait = { .fd = from, .events = POLLIN };
        const double left_s = end_s - fv_now_s();

        if (left_s <= 0 || poll(&wait, 1, (int)(left_s * 1e3) + 1) == 0) {
            kill(pid, SIGKILL);
            free(text);
            return NULL;
        }
        n = used < ANSWER_MOST ? read(from, text + used, ANSWER_MOST - used) : read(from, rest, sizeof(rest));
        used += n > 0 && used < ANSWER_MOST ? (size_t)n : 0;
        n = n < 0 && errno == EINTR ? 1 : n;
    }
    if (used == ANSWER_MOST)
        strcpy(text + used, "\n... cut: ask for fewer rows or columns\n");
    return text;
}

static json_t *said(const char *text, bool is_error)
{
    json_t *string = json_string(text);

    if (!string) /* bytes that are no UTF-8 */
        string = json_string("the answer is no UTF-8 text");
    return json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text", string, "isError", is_error);
}

static json_t *run(struct call *c)
{
    int from, status = 0;
    pid_t pid = begin(c->words, &from);
    char *text;
    json_t *answer;

    if (pid < 0)
        return said(strerror(errno), true);
    text = listen_to(from, pid);
    close(from);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    answer = said(text ? text : "it took longer than a minute", !text || status);
    free(text);
    return answer;
}

static json_t *list_runs(const struct server *s)
{
    char *text = fv_mcp_runs(s->roots, s->root_count);
    json_t *answer = said(text ? text : strerror(errno), !text);

    free(text);
    return answer;
}

/* NULL: its arguments are wrong, and `why` says how. */
static json_t *call_tool(const struct server *s, const json_t *parameters, char why[400])
{
    const char *name = json_string_value(json_object_get(parameters, "name"));
    const json_t *arguments = json_object_get(parameters, "arguments");
    const struct tool *tool = NULL;
    struct call c = { .server = s };
    json_t *answer = NULL;

    for (size_t i = 0; name && i < TOOLS; i++)
        tool = strcmp(tools[i].name, name) ? tool : &tools[i];
    if (!tool || (arguments && !json_is_object(arguments))) {
        snprintf(why, 400, "%s", tool ? "arguments: wanted an object" : "name: no such tool");
        return NULL;
    }
    build(&c, tool, arguments);
    if (*c.why)
        snprintf(why, 400, "%s", c.why);
    else
        answer = *tool->command ? run(&c) : list_runs(s);
    for (size_t i = 0; i < c.count; i++)
        free(c.words[i]);
    return answer;
}

/* ---- messages ---- */

static void reply(const json_t *id, const char *key, json_t *value)
{
    json_t *message = json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id ? id : json_null(), key, value);

    if (message) {
        json_dumpf(message, stdout, JSON_COMPACT);
        putchar('\n');
        fflush(stdout);
    }
    json_decref(message);
}

static void refuse(const json_t *id, int code, const char *why)
{
    reply(id, "error", json_pack("{s:i, s:s}", "code", code, "message", why));
}

/* Clients name the version that they want; one that we do not know gets ours. */
static json_t *introduce(const json_t *parameters)
{
    static const char *const known[] = { "2024-11-05", "2025-03-26", PROTOCOL };
    const char *wanted = json_string_value(json_object_get(parameters, "protocolVersion")), *version = PROTOCOL;

    for (size_t i = 0; wanted && i < sizeof(known) / sizeof(*known); i++)
        version = strcmp(known[i], wanted) ? version : known[i];
    return json_pack("{s:s, s:{s:{}}, s:{s:s, s:s}, s:s}", "protocolVersion", version, "capabilities", "tools",
                     "serverInfo", "name", "fvmpi", "version", FVMPI_VERSION, "instructions",
                     "Performance of MPI programs, recorded by fvmpi run. Begin with the tools runs and brief.");
}

static void answer(const struct server *s, const json_t *message)
{
    const json_t *id = json_object_get(message, "id"), *parameters = json_object_get(message, "params");
    const char *method = json_string_value(json_object_get(message, "method"));
    char why[400] = "";

    if (!method) {
        if (!json_object_get(message, "result") && !json_object_get(message, "error")) /* we ask nothing */
            refuse(id, NO_REQUEST, "wanted a method");
    } else if (!id) {
        return; /* a notification */
    } else if (!strcmp(method, "initialize")) {
        reply(id, "result", introduce(parameters));
    } else if (!strcmp(method, "ping")) {
        reply(id, "result", json_object());
    } else if (!strcmp(method, "tools/list")) {
        reply(id, "result", list_tools());
    } else if (!strcmp(method, "tools/call")) {
        json_t *result = call_tool(s, parameters, why);

        if (result)
            reply(id, "result", result);
        else
            refuse(id, WRONG_PARAMETERS, why);
    } else {
        refuse(id, NO_METHOD, "no such method");
    }
}

static void take_line(const struct server *s, const char *line, size_t bytes)
{
    json_error_t error;
    json_t *message = json_loadb(line, bytes, 0, &error);

    if (!message)
        refuse(NULL, NO_JSON, error.text);
    else if (!json_is_object(message))
        refuse(NULL, NO_REQUEST, "wanted an object");
    else
        answer(s, message);
    json_decref(message);
}

/* Line by line; of one that is too long nothing is kept. */
static void serve(const struct server *s)
{
    char *line = fv_xcalloc(MESSAGE_MOST, 1);
    size_t used = 0;

    for (int c; (c = getchar()) != EOF;) {
        if (c != '\n') {
            if (used < MESSAGE_MOST)
                line[used] = (char)c;
            used += used <= MESSAGE_MOST;
            continue;
        }
        if (used > MESSAGE_MOST)
            refuse(NULL, NO_REQUEST, "the message is too long");
        else if (used)
            take_line(s, line, used);
        used = 0;
    }
    free(line);
}

/* ---- the command ---- */

static int take_option(void *options, int option)
{
    (void)options;
    if (option != 'h')
        return FV_UNKNOWN_OPTION;
    fputs(usage, stdout);
    return FV_EXIT_OK;
}

int fv_cmd_mcp(int argc, char **argv)
{
    static const struct option table[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, "directory of experiments", false };
    struct fv_operands operands;
    struct server s = { 0 };
    int status = fv_arguments_take(&arguments, argc, argv, NULL, &operands);

    if (status != FV_GO_ON)
        return status;
    if (!fv_install_beside("fvmpi", s.self, sizeof(s.self))) {
        fv_log("mcp: cannot find fvmpi itself");
        return FV_EXIT_FAILED;
    }
    s.roots = fv_xcalloc(operands.count + 1, sizeof(*s.roots));
    for (size_t i = 0; i < operands.count; i++) {
        s.roots[i] = realpath(operands.items[i], NULL);
        if (!s.roots[i]) {
            fv_log("mcp: %s: %s", operands.items[i], strerror(errno));
            return FV_EXIT_FAILED;
        }
        s.root_count++;
    }
    signal(SIGPIPE, SIG_IGN);
    serve(&s);
    for (size_t i = 0; i < s.root_count; i++)
        free(s.roots[i]);
    free(s.roots);
    return FV_EXIT_OK;
}
