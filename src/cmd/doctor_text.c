/* SPDX-License-Identifier: BSD-3-Clause */
/* See doctor_text.h. */
#include "cmd/doctor_text.h"
#include "doctor/doctor_relations.h"
#include "sensors/sensors.h"
#include "views/text/text.h"

static const enum fv_color colors[] = {
    [FV_DOCTOR_GOOD] = FV_GREEN, [FV_DOCTOR_NOTE] = FV_PLAIN, [FV_DOCTOR_UNKNOWN] = FV_YELLOW, [FV_DOCTOR_BAD] = FV_RED
};

static void put_heading(const struct fv_page *p, const struct fv_doctor *d)
{
    char words[600], clean[sizeof(words)];

    snprintf(words, sizeof(words), "%.64s, Linux %.64s, processors %.100s", d->host ? d->host : "?",
             d->kernel ? d->kernel : "?", d->processors ? d->processors : "?");
    fprintf(p->out, "%s%s: %zu bad, %zu unknown, %zu note%s, %zu good%s\n", fv_page_on(p, FV_BOLD),
            fv_words_clean(words, clean, sizeof(clean)), fv_doctor_count(d, FV_DOCTOR_BAD),
            fv_doctor_count(d, FV_DOCTOR_UNKNOWN), fv_doctor_count(d, FV_DOCTOR_NOTE),
            fv_words_s(fv_doctor_count(d, FV_DOCTOR_NOTE)), fv_doctor_count(d, FV_DOCTOR_GOOD), fv_page_off(p));
    if (*fv_sensors_root())
        fprintf(p->out, "read below %s/\n", fv_sensors_root());
}

static void put_fix(struct fv_sheet *sheet, const char *what, const char *fix)
{
    struct fv_string text = { 0 };

    if (!fix)
        return;
    fv_string_add(&text, "%s%s", what, fix);
    fv_sheet_remark(sheet, text.text);
    fv_string_release(&text);
}

static void put_remarks(struct fv_sheet *sheet, const struct fv_doctor_result *r)
{
    struct fv_string text = { 0 };

    if (r->state == FV_DOCTOR_GOOD)
        return;
    fv_string_add(&text, r->state == FV_DOCTOR_BAD ? "effect: %s" : "effect if bad: %s", r->check->effect);
    fv_sheet_remark(sheet, text.text);
    put_fix(sheet, "-> ", r->fix);
    put_fix(sheet, "-> at boot: ", r->boot);
    fv_string_release(&text);
}

/* The worst first. */
static void put_checks(const struct fv_page *p, struct fv_doctor *d, enum fv_doctor_state least)
{
    struct fv_page whole = *p;
    struct fv_sheet sheet;

    whole.top = SIZE_MAX; /* none is left out */
    fv_sheet_init(&sheet, &whole, &fv_doctor_results, NULL, d);
    for (int state = FV_DOCTOR_BAD; state >= (int)least; state--)
        for (size_t i = 0; i < d->result_count; i++) {
            const struct fv_doctor_result *r = &d->results[i];

            if (r->state == (enum fv_doctor_state)state && fv_sheet_add(&sheet, NULL, r, colors[state]))
                put_remarks(&sheet, r);
        }
    if (sheet.shown_rows)
        putc('\n', p->out);
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
}

/* "good: governor, swap" */
static void put_names(const struct fv_page *p, const struct fv_doctor *d, enum fv_doctor_state state)
{
    struct fv_string names = { 0 };

    for (size_t i = 0; i < d->result_count; i++)
        if (d->results[i].state == state)
            fv_string_add(&names, "%s%s", names.used ? ", " : "", d->results[i].check->name);
    if (names.used)
        fv_page_item(p, FV_PLAIN, 0, "%s: %s (--all)", fv_doctor_states[state], names.text);
    fv_string_release(&names);
}

static void put_processes(const struct fv_page *p, struct fv_doctor *d)
{
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_doctor_processes, NULL, d);
    for (size_t i = 0; i < d->process_count; i++)
        fv_sheet_add(&sheet, NULL, &d->processes[i], FV_PLAIN);
    if (sheet.all_rows) {
        fv_page_heading(p, "Processes",
                        "processors: those that computing threads may use; remote: memory on other NUMA nodes");
        fv_sheet_print(&sheet);
        fv_sheet_cut(&sheet, "process", "");
    }
    fv_sheet_release(&sheet);
}

/* Those that may disturb have most of it: a table of its head. */
static void put_services(const struct fv_page *p, struct fv_doctor *d)
{
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_doctor_services, NULL, d);
    for (size_t i = 0; i < d->service_count; i++)
        fv_sheet_add(&sheet, NULL, &d->services[i], d->services[i].task ? FV_YELLOW : FV_PLAIN);
    if (sheet.all_rows) {
        fv_page_heading(p, "Services", "of a processor: CPU time over the time since the service began");
        fv_sheet_print(&sheet);
        fv_sheet_cut(&sheet, "service", "");
    }
    fv_sheet_release(&sheet);
}

int fv_doctor_print(struct fv_doctor *d, bool all, const struct fv_text_options *options, FILE *out)
{
    const struct fv_page page = fv_text_page(options, out);

    if (!d->result_count && d->measured) { /* --measure=only */
        fv_doctor_print_measurement(&page, d);
        return fflush(out) || ferror(out) ? -FV_EIO : 0;
    }
    put_heading(&page, d);
    put_checks(&page, d, all ? FV_DOCTOR_GOOD : FV_DOCTOR_UNKNOWN);
    if (!all) {
        putc('\n', out);
        put_names(&page, d, FV_DOCTOR_NOTE);
        put_names(&page, d, FV_DOCTOR_GOOD);
    }
    put_services(&page, d);
    put_processes(&page, d);
    fv_doctor_print_measurement(&page, d);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
