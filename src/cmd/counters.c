/* SPDX-License-Identifier: BSD-3-Clause */
/* See counters.h. */
#include "cmd/counters.h"
#include "base/options.h"
#include "base/perf_fd.h"
#include "cmd/events.h"
#include "counters/counters.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct counter {
    struct fv_perf_event event;
    uint32_t refusal; /* errno; 0: it can be counted here */
};

enum { MOST = 128 }; /* of a list; of a pass FV_COUNTERS_MOST */

struct counters {
    enum fv_processor_kind kind;
    struct counter items[MOST];
    size_t count;
};

static bool is_known(const char *name)
{
    return fv_processor_named(name) != FV_ANY_PROCESSOR;
}

static enum fv_processor_kind processor_here(void)
{
    const char *name = fv_event_pmu(is_known);

    return name ? fv_processor_named(name) : FV_ANY_PROCESSOR;
}

/* By libpfm4 or, of the kernel's own names, without. User mode, unless the name says otherwise; what happens in the
 * kernel counts there. NULL, or why not. */
static const char *find_event(const char *word, size_t length, struct fv_perf_event *event)
{
    int err = fv_perf_event_parse(word, length, event);

    if (err == -FV_EINVAL)
        return "not a name";
    if (err)
        return fv_event_encode(event, true);
    fv_perf_event_choose_mode(event);
    return NULL;
}

static bool has(const struct counters *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (!strcasecmp(c->items[i].event.name, name))
            return true;
    return false;
}

static int say_too_long(void)
{
    fv_log("run: --counters: more than %d events; name fewer, or run the program several times with --passes",
           FV_COUNTERS_MOST);
    return -FV_EINVAL;
}

static int add(struct counters *c, const char *word, size_t length)
{
    struct fv_perf_event event;
    const char *why = find_event(word, length, &event);

    if (why)
        return fv_event_say_unknown("run: --counters", &event, why);
    if (has(c, event.name))
        return 0;
    if (c->count == MOST)
        return say_too_long();
    c->items[c->count++].event = event;
    return 0;
}

/* The next of a group's quantities that an event counts here; NULL: there is none. */
static const char *next_event(const char **quantities, enum fv_processor_kind kind, const struct fv_quantity **quantity)
{
    while (**quantities) {
        size_t length = strcspn(*quantities, " ");

        *quantity = fv_quantity_named(*quantities, length);
        *quantities += length + ((*quantities)[length] == ' ');
        const char *event = *quantity ? fv_quantity_event(*quantity, kind) : NULL;
        if (event)
            return event;
    }
    return NULL;
}

/* A name that libpfm4 does not know, because it is another version, is left out: the group has what remains. */
static int add_group(struct counters *c, const struct fv_counter_group *group)
{
    const char *at = group->quantities, *event;
    const struct fv_quantity *quantity;
    struct fv_perf_event found;
    int err = 0;

    while (!err && (event = next_event(&at, c->kind, &quantity)))
        if (!find_event(event, strlen(event), &found))
            err = add(c, event, strlen(event));
    return err;
}

/* As the library does it, of copies: modes are its business. */
static void try_all(struct counters *c)
{
    struct fv_perf_trial trials[MOST];
    struct fv_perf_event events[MOST];

    for (size_t i = 0; i < c->count; i++) {
        events[i] = c->items[i].event;
        trials[i] = (struct fv_perf_trial){ .event = &events[i] };
    }
    fv_perf_try_all(trials, c->count, false);
    for (size_t i = 0; i < c->count; i++)
        c->items[i].refusal = trials[i].refusal;
}

static int say_too_many(const struct counters *c)
{
    char names[1200] = "";
    size_t used = 0;

    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].refusal == FV_PERF_NO_REGISTER && used < sizeof(names))
            used +=
                (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? "," : "", c->items[i].event.name);
    if (!used)
        return 0;
    fv_log("run: --counters: this processor has no register left for %s; leave %s out, let events take turns "
           "(--counters-shared), or run the program several times (--passes)",
           names, strchr(names, ',') ? "these" : "it");
    return -FV_EINVAL;
}

static char *print(const struct counters *c)
{
    char *text = NULL, event[FV_PERF_EVENT_TEXT];
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return NULL;
    fprintf(out, "@%s", fv_processor_rows[c->kind].name);
    for (size_t i = 0; i < c->count; i++) {
        fv_perf_event_print(&c->items[i].event, event);
        fprintf(out, ",%s", event);
    }
    if (fclose(out)) {
        free(text);
        text = NULL;
    }
    return text;
}

static bool is_sheet(const char *word, size_t length)
{
    return length == strlen(FV_COUNTER_SHEET) && !strncasecmp(word, FV_COUNTER_SHEET, length);
}

static int add_word(struct counters *c, const char *word, size_t length)
{
    const struct fv_counter_group *group = fv_counter_group_named(word, length);
    int err = 0;

    if (*word == '@') /* `fvmpi run` under `fvmpi run` */
        return 0;
    if (!is_sheet(word, length))
        return group ? add_group(c, group) : add(c, word, length);
    for (size_t i = 0; !err && i < fv_counter_group_count; i++)
        err = add_group(c, &fv_counter_groups[i]);
    return err;
}

static int take_list(struct counters *c, const char *list)
{
    const char *word;
    size_t length;
    int err = 0;

    c->kind = processor_here();
    c->count = 0;
    while (!err && fv_perf_event_word(&list, &word, &length))
        err = add_word(c, word, length);
    return err;
}

/* ---- passes ---- */

/* What each run counts: what others are told by, and what needs no register. */
static bool is_in_each(const struct counter *c)
{
    const struct fv_quantity *q = fv_quantity_of_event(FV_ANY_PROCESSOR, c->event.name);

    return c->event.type == PERF_TYPE_SOFTWARE ||
           (q && (!strcmp(q->name, "instructions") || !strcmp(q->name, "cycles")));
}

/* The events of a pass, counted from 0: neighbours stay together, because metrics are made of them. */
static void choose(struct counters *out, const struct counters *all, size_t pass, size_t passes)
{
    size_t others = 0, at = 0;

    *out = (struct counters){ .kind = all->kind };
    for (size_t i = 0; i < all->count; i++)
        others += !is_in_each(&all->items[i]);
    for (size_t i = 0; i < all->count; i++) {
        bool is_fixed = is_in_each(&all->items[i]);

        if (is_fixed || at * passes / others == pass)
            out->items[out->count++] = all->items[i];
        at += !is_fixed;
    }
}

static bool fits(const struct counters *all, size_t passes)
{
    struct counters one;
    bool good = true;

    for (size_t pass = 0; pass < passes && good; pass++) {
        choose(&one, all, pass, passes);
        try_all(&one);
        good = one.count <= FV_COUNTERS_MOST;
        for (size_t i = 0; i < one.count; i++)
            good = good && one.items[i].refusal != FV_PERF_NO_REGISTER;
    }
    return good;
}

unsigned fv_counters_passes(const char *list)
{
    struct counters all;
    unsigned passes = 1;

    if (take_list(&all, list))
        return 0;
    while (passes < 64 && passes < all.count && !fits(&all, passes))
        passes++;
    return passes;
}

int fv_counters_encode(const char *list, bool is_shared, const char *pass, char **out)
{
    struct counters all, c;
    char *end;
    unsigned long number = strtoul(pass, &end, 10), passes = *end == '/' ? strtoul(end + 1, NULL, 10) : 0;
    int err = take_list(&all, list);

    if (err)
        return err;
    choose(&c, &all, passes ? number - 1 : 0, passes ? passes : 1);
    if (c.count > FV_COUNTERS_MOST)
        return say_too_long();
    try_all(&c);
    if (!is_shared)
        err = say_too_many(&c);
    if (!err && !(*out = print(&c)))
        err = -FV_ENOMEM;
    return err;
}

/* ---- help ---- */

static const char *why_not(const struct fv_perf_event *e)
{
    struct fv_perf_event event = *e;
    struct fv_event_fd opened = { .fd = -1 };
    uint32_t refusal = fv_perf_event_account(e) ? 0 : fv_perf_try_counter(&opened, &event, -1);

    fv_perf_close(&opened);
    return refusal ? fv_perf_event_refusal(refusal, event.flags & FV_PERF_NO_KERNEL) : NULL;
}

/* A quantity that has an event here; a number that is known of the processor. */
static double countable(const void *context, const char *name, size_t length)
{
    const enum fv_processor_kind *kind = context;
    const struct fv_quantity *q = fv_quantity_named(name, length);
    double number;

    if (q)
        return fv_quantity_event(q, *kind) ? 1 : NAN;
    return fv_processor_number(*kind, name, length, &number) ? number : 1; /* time */
}

static void print_metrics(const struct fv_counter_group *group, enum fv_processor_kind kind, bool good,
                          const char *head)
{
    const char *before = head;

    for (size_t i = 0; i < fv_metric_row_count; i++) {
        const struct fv_metric_row *row = &fv_metric_rows[i];

        if (strcmp(row->group, group->name) != 0 ||
            isnan(fv_formulas_value(row->formulas, countable, &kind, NULL)) == good)
            continue;
        printf("%s %s", before, row->name);
        before = "";
    }
    if (!*before)
        putchar('\n');
}

static void print_group(const struct fv_counter_group *group, enum fv_processor_kind kind)
{
    const char *at = group->quantities, *event;
    const struct fv_quantity *quantity;

    printf("\n%s: %s\n", group->name, group->doc);
    while ((event = next_event(&at, kind, &quantity))) {
        struct fv_perf_event found;
        const char *unknown = find_event(event, strlen(event), &found),
                   *why = unknown ? "this libpfm4 does not know it" : why_not(&found);

        printf("  %-38s  %s%s%s\n", event, quantity->doc, why ? "; not here: " : "", why ? why : "");
    }
    print_metrics(group, kind, true, "  metrics:");
    print_metrics(group, kind, false, "  this processor has no events for:");
}

void fv_counters_help(void)
{
    enum fv_processor_kind kind = processor_here();

    printf("fvmpi run --counters LIST: groups and names of events, separated by commas. Events count in user mode, "
           "unless the name ends with :k or :u:k.\n"
           "This processor is known as: %s (%s).\n",
           fv_processor_rows[kind].name, fv_processor_rows[kind].doc);
    puts("\n" FV_COUNTER_SHEET ": all groups, for the sheet of a section; with --passes");
    for (size_t i = 0; i < fv_counter_group_count; i++)
        print_group(&fv_counter_groups[i], kind);
    puts("\nOther names: libpfm4's (its tool showevtinfo lists them), the kernel's generic ones (perf list), raw codes "
         "as rHEX.");
}
