/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's live bytes: threads add to them now and then (front/memory.h), and so the peak is known to within what
 * they hold back. */
#include "memory/memory.h"
#include "rt/usage.h"
#include "rt/clock.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#define FIRST_WIDTH (UINT64_C(1) << 21) /* about a millisecond */

struct fv_memory_process *fv_memory_process;
static struct fv_memory_series *series; /* NULL: no room */
static struct fv_lock series_lock;

/* ---- along time ---- */

static struct fv_memory_bin add_bins(const struct fv_memory_bin *a, const struct fv_memory_bin *b)
{
    if (!a->changes || !b->changes)
        return a->changes ? *a : *b;
    return (struct fv_memory_bin){ a->most > b->most ? a->most : b->most, b->last, a->changes + b->changes };
}

/* Into the other bank, which then is in effect by one store: a kill loses nothing. */
static FV_COLD void fold(void)
{
    const struct fv_memory_bank *from = &series->bank[series->active];
    struct fv_memory_bank *to = &series->bank[!series->active];

    to->origin = from->origin;
    to->width = from->width * 2;
    for (unsigned i = 0; i < FV_MEMORY_BINS / 2; i++)
        to->bin[i] = add_bins(&from->bin[2 * i], &from->bin[2 * i + 1]);
    memset(to->bin + FV_MEMORY_BINS / 2, 0, sizeof(to->bin) / 2);
    __atomic_store_n(&series->active, !series->active, __ATOMIC_RELEASE);
}

/* Who comes while another one is here is left out: what it would say is as good as told. */
static void note(int64_t live)
{
    uint64_t now = fv_ticks();

    fv_usage_watch_memory(now);
    if (!series || !fv_try_lock(&series_lock))
        return;
    const struct fv_memory_bank *bank = &series->bank[series->active];
    uint64_t since = now > bank->origin ? now - bank->origin : 0;
    while (since / series->bank[series->active].width >= FV_MEMORY_BINS)
        fold();
    struct fv_memory_bank *into = &series->bank[series->active];
    struct fv_memory_bin *bin = &into->bin[since / into->width];
    bin->most = !bin->changes || live > bin->most ? live : bin->most;
    bin->last = live;
    bin->changes++;
    fv_unlock(&series_lock);
}

/* ---- the process ---- */

void fv_memory_sums_init(struct fv_memory_sums *sums)
{
    for (unsigned i = 0; i < FV_MEMORY_FUNCTIONS; i++)
        sums->of[i].least = sums->of[i].least_ticks = sums->earlier[i].least = sums->earlier[i].least_ticks =
            UINT64_MAX;
}

static bool open_records(void)
{
    struct fv_chunk_header *chunk =
        fv_writer_chunk(&fv_rt.writer, FV_CHUNK_MEMORY_PROCESS, FV_NO_THREAD, 0, sizeof(*fv_memory_process));

    if (!chunk)
        return false;
    fv_memory_process = fv_chunk_records(chunk);
    fv_memory_sums_init(&fv_memory_process->rest);
    fv_chunk_commit(chunk, sizeof(*fv_memory_process));
    if (!(chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_MEMORY_SERIES, FV_NO_THREAD, 0, sizeof(*series))))
        return true;
    series = fv_chunk_records(chunk);
    series->bank[0].origin = fv_rt.writer.header->begin_ticks;
    series->bank[0].width = FIRST_WIDTH;
    fv_chunk_commit(chunk, sizeof(*series));
    return true;
}

/* An executable at a fixed address has the name for its own calls alone, which are led to the function that others
 * call, too. */
static bool leads_on(void *address)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    return dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol && symbol->st_shndx == SHN_UNDEF;
}

/* Whose malloc() it is, and whether all calls of it come to us. */
static void describe_allocator(void)
{
    void *used = dlsym(RTLD_DEFAULT, "malloc"), *operator_new = dlsym(RTLD_DEFAULT, "_Znwm"), *next;
    Dl_info of_used, of_new;
    bool ours = used == (void *)fvmpi_memory_v1.own_malloc || leads_on(used);

    memcpy(&next, &fvmpi_memory_v1.malloc, sizeof(next));
    if (!ours)
        fv_memory_process->flags |= FV_MEMORY_NOT_OURS;
    if (ours && fvmpi_memory_v1.is_glibc)
        fv_memory_process->flags |= FV_MEMORY_GLIBC;
    if (!dladdr(ours ? next : used, &of_used))
        return;
    snprintf(fv_memory_process->allocator, sizeof(fv_memory_process->allocator), "%s", of_used.dli_fname);
    if (ours && operator_new && dladdr(operator_new, &of_new) && of_new.dli_fbase == of_used.dli_fbase)
        fv_memory_process->flags |= FV_MEMORY_NEW_UNSEEN;
}

bool fv_memory_process_new(void)
{
    if (!open_records())
        return false;
    fv_memory_process->mode = fv_rt.options.memory == FV_MEMORY_CHOICE_ON ? FV_MEMORY_SAMPLED : FV_MEMORY_EXACT;
    fv_memory_process->before = fv_memory_process->live = fv_memory_process->peak =
        __atomic_load_n(&fvmpi_memory_v1.before, __ATOMIC_RELAXED);
    fv_memory_process->peak_ticks = fv_ticks();
    describe_allocator();
    fv_memory_heap_find();
    fv_memory_state_read(&fv_memory_process->begin, fv_memory_live(0));
    return true;
}

/* What is held of one that several threads share may be taken by any of them. */
static int64_t take_held(struct fv_memory_sums *sums, bool is_shared)
{
    int64_t held = sums->held;

    if (is_shared)
        return __atomic_exchange_n(&sums->held, 0, __ATOMIC_RELAXED);
    sums->held = 0;
    return held;
}

void fv_memory_publish(struct fv_memory_sums *sums, bool is_shared)
{
    struct fv_memory_process *p = fv_memory_process;
    int64_t live = __atomic_add_fetch(&p->live, take_held(sums, is_shared), __ATOMIC_RELAXED),
            peak = __atomic_load_n(&p->peak, __ATOMIC_RELAXED);

    while (live > peak)
        if (__atomic_compare_exchange_n(&p->peak, &peak, live, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            __atomic_store_n(&p->peak_ticks, fv_ticks(), __ATOMIC_RELAXED);
            __atomic_fetch_add(&p->peak_number, 1, __ATOMIC_RELAXED);
            break;
        }
    note(live);
}
