/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of processes: may each thread use a processor of its own, and is its memory near? */
#include "doctor/files.h"
#include "doctor/looks.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>

/* "ranks 0, 2, 3": the first few. */
struct names {
    struct fv_string text;
    size_t count;
};
enum { NAMED = 6 };

static void add_name(struct names *n, const struct fv_doctor_process *p)
{
    if (n->count++ >= NAMED)
        return;
    fv_string_add(&n->text, n->count > 1 ? ", " : "");
    if (p->rank >= 0)
        fv_string_add(&n->text, "rank %d", p->rank);
    else
        fv_string_add(&n->text, "process %d", p->pid);
}

static const char *text_of_names(struct names *n)
{
    fv_string_add(&n->text, n->count > NAMED ? ", ..." : "");
    return n->text.text;
}

/* Those that share the core with processors of the set, themselves included. */
static struct fv_cpus cores_of(struct fv_doctor *d, const struct fv_cpus *cpus)
{
    struct fv_cpus all = *cpus, core;

    for (size_t i = 0; i < FV_CPUS_MOST; i++) {
        const char *list = fv_cpus_has(cpus, i)
                               ? fv_doctor_value(d, "sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list", i)
                               : NULL;

        if (list && fv_cpus_from_list(list, &core))
            fv_cpus_add(&all, &core);
    }
    return all;
}

/* Is it all within one core? */
static bool is_one_core(struct fv_doctor *d, const struct fv_cpus *cpus)
{
    struct fv_cpus first = { 0 };

    if (fv_cpus_count(cpus) < 2)
        return true;
    fv_cpus_set(&first, fv_cpus_first(cpus));
    first = cores_of(d, &first);
    return fv_cpus_within(cpus, &first);
}

static bool is_everywhere(const struct fv_doctor *d, const struct fv_cpus *cpus)
{
    return fv_cpus_count(&d->online) > 1 && fv_cpus_within(&d->online, cpus);
}

/* True, and it is said: nothing can be judged. */
static bool cannot_judge(struct fv_doctor *d, struct fv_doctor_result *r)
{
    if (!fv_cpus_count(&d->online))
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /sys/devices/system/cpu/online");
    else if (d->not_seen)
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN,
                      "%zu rank%s of this node not found: is another process between them and the launcher?",
                      d->not_seen, fv_words_s(d->not_seen));
    else
        for (size_t i = 0; i < d->process_count; i++)
            if (!d->processes[i].thread_count)
                fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "masks of process %d cannot be read", d->processes[i].pid);
    return r->found;
}

void fv_doctor_look_pinning(struct fv_doctor *d, struct fv_doctor_result *r)
{
    struct names loose = { 0 }, wide = { 0 };

    if (cannot_judge(d, r))
        return;
    for (size_t i = 0; i < d->process_count; i++) {
        const struct fv_doctor_process *p = &d->processes[i];
        bool is_loose = false, is_wide = false;

        for (uint32_t t = 0; t < p->thread_count; t++) {
            const struct fv_doctor_thread *thread = &d->threads[p->first_thread + t];

            is_loose = is_loose || (thread->counts && is_everywhere(d, &thread->cpus));
            is_wide = is_wide || (thread->counts && !is_one_core(d, &thread->cpus));
        }
        if (is_loose)
            add_name(&loose, p);
        else if (is_wide)
            add_name(&wide, p);
    }
    if (loose.count)
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "%zu of %zu processes may run on every processor: %s", loose.count,
                      d->process_count, text_of_names(&loose));
    else if (wide.count)
        fv_doctor_say(d, r, FV_DOCTOR_NOTE, "threads of %zu of %zu processes may move between several cores: %s",
                      wide.count, d->process_count, text_of_names(&wide));
    else
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "each thread has one core");
    fv_string_release(&loose.text);
    fv_string_release(&wide.text);
}

/* ---- of several ---- */

/* What two processes share, from what disturbs least to what disturbs most. ALIKE: one wide mask, as ranks bound to a
 * socket have it. */
enum sharing { APART, ALIKE, ONE_CORE, PROCESSORS };

/* Those that may run everywhere are told by `pinning`. */
static enum sharing sharing_of(const struct fv_doctor *d, const struct fv_doctor_process *a,
                               const struct fv_cpus *cores_of_a, const struct fv_doctor_process *b)
{
    if (is_everywhere(d, &a->cpus) || is_everywhere(d, &b->cpus) || !fv_cpus_meet(cores_of_a, &b->cpus))
        return APART;
    if (!fv_cpus_meet(&a->cpus, &b->cpus))
        return ONE_CORE;
    return fv_cpus_same(&a->cpus, &b->cpus) && fv_cpus_count(&a->cpus) > 1 ? ALIKE : PROCESSORS;
}

void fv_doctor_look_overlap(struct fv_doctor *d, struct fv_doctor_result *r)
{
    static const char *const words[] = { [ALIKE] = "may use the same processors:",
                                         [ONE_CORE] = "share a core: processors",
                                         [PROCESSORS] = "have processors in common:" };
    const struct fv_doctor_process *x = NULL, *y = NULL;
    enum sharing worst = APART;
    struct names pair = { 0 };

    if (cannot_judge(d, r))
        return;
    for (size_t i = 0; i < d->process_count; i++) {
        struct fv_cpus cores = cores_of(d, &d->processes[i].cpus);

        for (size_t k = i + 1; k < d->process_count; k++) {
            enum sharing sharing = sharing_of(d, &d->processes[i], &cores, &d->processes[k]);

            if (sharing <= worst)
                continue;
            worst = sharing;
            x = &d->processes[i];
            y = &d->processes[k];
        }
    }
    if (worst == APART) {
        fv_doctor_say(d, r, FV_DOCTOR_GOOD,
                      d->process_count > 1 ? "no two processes are bound to the same core" : "one process alone");
        return;
    }
    add_name(&pair, x);
    add_name(&pair, y);
    fv_doctor_say(d, r, worst == ALIKE ? FV_DOCTOR_NOTE : FV_DOCTOR_BAD, "%s %s %.40s and %.40s", text_of_names(&pair),
                  words[worst], x->processors, y->processors);
    fv_string_release(&pair.text);
}

/* Masks that threads have, each once, and how many have it. */
struct masks {
    struct {
        struct fv_cpus cpus;
        size_t threads;
    } * items;
    size_t count, room, threads;
};

static void add_mask(struct masks *m, const struct fv_cpus *cpus)
{
    size_t i = 0;

    while (i < m->count && !fv_cpus_same(&m->items[i].cpus, cpus))
        i++;
    if (i == m->count) {
        FV_GROW(m->items, m->room, m->count + 1);
        m->items[m->count].cpus = *cpus;
        m->items[m->count++].threads = 0;
    }
    m->items[i].threads++;
    m->threads++;
}

/* Each thread has a processor if no mask has more threads within it than processors: masks of ranks are alike, apart,
 * or within each other. */
void fv_doctor_look_too_many(struct fv_doctor *d, struct fv_doctor_result *r)
{
    struct masks masks = { 0 };
    size_t worst = 0, most = 0;

    if (cannot_judge(d, r))
        return;
    for (size_t i = 0; i < d->thread_count; i++)
        if (d->threads[i].counts)
            add_mask(&masks, &d->threads[i].cpus);
    for (size_t i = 0; i < masks.count; i++) {
        size_t within = 0;

        for (size_t k = 0; k < masks.count; k++)
            within += fv_cpus_within(&masks.items[k].cpus, &masks.items[i].cpus) ? masks.items[k].threads : 0;
        if (within > fv_cpus_count(&masks.items[i].cpus) && within > most) {
            worst = i;
            most = within;
        }
    }
    if (most)
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "%zu computing threads share %zu processor%s: %.60s", most,
                      fv_cpus_count(&masks.items[worst].cpus), fv_words_s(fv_cpus_count(&masks.items[worst].cpus)),
                      fv_cpus_list(&masks.items[worst].cpus, &d->arena));
    else
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "%zu thread%s, %zu processor%s", masks.threads,
                      masks.threads == 1 ? " that computes" : "s that compute", fv_cpus_count(&d->online),
                      fv_words_s(fv_cpus_count(&d->online)));
    free(masks.items);
}

/* ---- memory ---- */

#define REMOTE 0.1

void fv_doctor_look_placement(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *const *nodes = fv_doctor_glob(d, "sys/devices/system/node/node*");
    struct names far = { 0 };
    size_t known = 0;
    double most = 0;

    if (!nodes[0] || !nodes[1]) {
        fv_doctor_say(d, r, nodes[0] ? FV_DOCTOR_GOOD : FV_DOCTOR_UNKNOWN,
                      nodes[0] ? "one NUMA node" : "cannot read /sys/devices/system/node");
        return;
    }
    for (size_t i = 0; i < d->process_count; i++) {
        const struct fv_doctor_process *p = &d->processes[i];

        known += isfinite(p->remote_share);
        most = p->remote_share > most ? p->remote_share : most;
        if (p->remote_share > REMOTE)
            add_name(&far, p);
    }
    if (far.count)
        fv_doctor_say(d, r, FV_DOCTOR_BAD,
                      "up to %.0f %% of the memory of %s is on another NUMA node than its processors", 100 * most,
                      text_of_names(&far));
    else if (known < d->process_count)
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "numa_maps of %zu processes cannot be read", d->process_count - known);
    else
        fv_doctor_say(d, r, FV_DOCTOR_GOOD,
                      "at most %.0f %% of a process's memory is on other NUMA nodes than its processors", 100 * most);
    fv_string_release(&far.text);
}
