/* SPDX-License-Identifier: BSD-3-Clause */
/* See fatal.h. */
#include "profile/fatal.h"

#include "profile/hang/hang.h"
#include "tool/words.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *fv_signal_name(uint32_t signal, char buffer[24])
{
    static const struct {
        uint32_t signal;
        const char *name;
    } names[] = {
        { SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" }, { SIGFPE, "SIGFPE" },   { SIGILL, "SIGILL" },
        { SIGABRT, "SIGABRT" }, { SIGSYS, "SIGSYS" }, { SIGTERM, "SIGTERM" }, { SIGXCPU, "SIGXCPU" },
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i].signal == signal)
            return names[i].name;
    snprintf(buffer, 24, "signal %u", signal);
    return buffer;
}

char *fv_signal_words(const struct fv_signal_view *signal, char *out, size_t bytes)
{
    char name[24];

    snprintf(out, bytes, "%s", fv_signal_name(signal->number, name));
    if (signal->is_fault)
        fv_words_add(out, bytes, " (address 0x%llx)", (unsigned long long)signal->address);
    else if (signal->sender && signal->number != SIGABRT)
        fv_words_add(out, bytes, " (sent by process %u)", signal->sender);
    return out;
}

/* The first by time; NULL: none. */
static const struct fv_rank *first_of(const struct fv_model *m)
{
    const struct fv_rank *first = NULL;

    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].signal.number && (!first || m->ranks[i].signal.at_s < first->signal.at_s))
            first = &m->ranks[i];
    return first;
}

bool fv_signal_is_request(const struct fv_signal_view *signal)
{
    return signal->number == SIGTERM || signal->number == SIGXCPU;
}

bool fv_signal_has_place(const struct fv_signal_view *signal)
{
    return signal->node && !fv_signal_is_request(signal);
}

bool fv_fatal_is_own(const struct fv_model *m)
{
    const struct fv_rank *first = first_of(m);

    return first && !fv_signal_is_request(&first->signal);
}

static bool is_aborted(const struct fv_model *m)
{
    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].aborted)
            return true;
    return false;
}

/* Launchers end all ranks where one was killed: that one, which could note nothing, comes first. */
static void add_killed(const struct fv_model *m, char *out, size_t bytes)
{
    struct fv_rank_list list = FV_RANK_LIST_INIT;
    unsigned count = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].state == FV_RANK_KILLED && !m->ranks[i].signal.number) {
            fv_rank_list_add(&list, m->ranks[i].world_rank);
            count++;
        }
    if (count && !is_aborted(m))
        fv_words_add(out, bytes, "rank%s %s %s killed without a signal that fvmpi can see, as by SIGKILL; ",
                     fv_words_s(count), fv_rank_list_text(&list), count > 1 ? "were" : "was");
}

char *fv_fatal_words(const struct fv_profile *v, char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    const struct fv_rank *r = first_of(m);
    char words[80], after[FV_WORD], path[1200];
    unsigned alike = 0;

    out[0] = '\0';
    if (!r)
        return out;
    if (fv_signal_is_request(&r->signal))
        add_killed(m, out, bytes);
    fv_words_seconds(r->signal.at_s, after);
    for (size_t i = 0; i < m->rank_count; i++)
        alike += m->ranks[i].signal.number == r->signal.number;
    if (alike > 1 && fv_signal_is_request(&r->signal)) {
        fv_words_add(out, bytes, "%u ranks were ended by %s, the first after %s", alike,
                     fv_signal_name(r->signal.number, words), after);
        return out;
    }
    if (m->world_size > 1)
        fv_words_add(out, bytes, "rank %d was ", r->world_rank);
    fv_words_add(out, bytes, "ended by %s after %s", fv_signal_words(&r->signal, words, sizeof(words)), after);
    if (fv_signal_has_place(&r->signal))
        fv_words_add(out, bytes, ", in %s", fv_path_words(v->symbols, r->signal.node, 3, path, sizeof(path)));
    return out;
}

/* Other libraries that print a backtrace show the handler that noted the signal, above the program's functions. */
static bool is_programs(const struct fv_model *m)
{
    const struct fv_rank *first = first_of(m);

    return first && fv_signal_has_place(&first->signal) &&
           !fv_module_is_fvmpi(&m->tree.modules[m->tree.nodes[first->signal.node].module]);
}

/* Launchers end the other ranks where one aborts: that one comes first. */
char *fv_end_words(const struct fv_profile *v, char *out, size_t bytes)
{
    const bool is_own = fv_fatal_is_own(v->model), abort_first = !is_own && is_aborted(v->model);
    char hang[1500] = "", fatal[1500];

    fv_fatal_words(v, fatal, sizeof(fatal));
    *fatal = (char)toupper((unsigned char)*fatal);
    if (!is_own)
        fv_hang_headline(v->model, hang, sizeof(hang));
    snprintf(out, bytes, "%s", abort_first ? hang : fatal);
    if (is_programs(v->model))
        fv_words_add(out, bytes,
                     "\nThe signal came in the program, not in fvmpi. A frame of libfvmpi in a backtrace of others is "
                     "the handler that noted it.");
    const char *second = abort_first ? fatal : hang;
    if (*second)
        fv_words_add(out, bytes, "%s%s", *out ? "\n" : "", second);
    return out;
}
