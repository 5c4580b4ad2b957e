/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the program allocates: what makes the peak, what is live at the end, and what each rank had. */
#include "views/text/text.h"
#include "profile/memory/memory.h"

#include <stdlib.h>
#include <string.h>

static void put_peak(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_allocations *all = fv_model_memory(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "memory");
    for (size_t i = 0; i < all->place_count; i++)
        if (all->places[i].sum.at_peak > 0)
            fv_text_table_add(&t, &all->places[i], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_text_title(p, "What makes the peak",
                      "live when the process had most, by the call path of the allocation, largest first");
    fv_text_table_end(&t, "call path", "");
}

static void put_live(const struct fv_page *p, const struct fv_profile *v)
{
    struct fv_text_table t;
    size_t count;

    fv_text_table_begin(&t, p, v, "memory");
    const void **rows = fv_text_table_sorted(&t, NULL, "live_bytes", &count);
    for (size_t i = 0; i < count; i++)
        if (fv_allocation_live(&((const struct fv_allocation_place *)rows[i])->sum) > 0)
            fv_text_table_add(&t, rows[i], FV_PLAIN);
    free(rows);
    if (t.sheet.table.rows)
        fv_text_title(p, "Live at the end",
                      "never freed, largest first: leaks, and memory that is kept on purpose until the process ends");
    fv_text_table_end(&t, "call path", "");
}

static void put_ranks(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_allocations *all = fv_model_memory(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "memory_ranks");
    for (size_t i = 0; i < all->rank_count; i++)
        fv_text_table_add(&t, &all->ranks[i], FV_PLAIN);
    fv_text_table_end(&t, "rank", "");
}

static void put_losses(const struct fv_page *p, const struct fv_allocations *all)
{
    struct fv_allocation_rank sum = { 0 };

    for (size_t i = 0; i < all->rank_count; i++) {
        sum.failed += all->ranks[i].failed;
        sum.unseen += all->ranks[i].unseen;
        sum.objects_lost += all->ranks[i].objects_lost;
        sum.paths_lost += all->ranks[i].paths_lost;
    }
    const struct fv_text_loss rows[] = {
        { sum.failed, "call", "that got no memory" },
        { sum.objects_lost, "allocation", "in no call path, for lack of room" },
        { sum.paths_lost, "allocation or free", "without call path: raise FVMPI_PROFILE_MAX" },
    };
    fv_text_losses(p, "", rows, sizeof(rows) / sizeof(*rows));
}

static bool is_sampled(const struct fv_allocations *all)
{
    for (size_t i = 0; i < all->rank_count; i++)
        if (all->ranks[i].mode != FV_MEMORY_EXACT)
            return true;
    return false;
}

/* What is not seen of an allocator that is none of the C library's. */
static void put_allocators(const struct fv_page *p, const struct fv_allocations *all)
{
    const struct fv_allocation_rank *other = NULL;

    for (size_t i = 0; i < all->rank_count && !other; i++)
        other = all->ranks[i].flags & (FV_MEMORY_NOT_OURS | FV_MEMORY_NEW_UNSEEN) ? &all->ranks[i] : NULL;
    if (!other)
        return;
    if (other->flags & FV_MEMORY_NOT_OURS)
        fv_text_note(p, FV_RED,
                     "the program calls malloc() of %s, which comes before that of fvmpi. These allocations are not "
                     "recorded",
                     other->allocator ? other->allocator : "another object");
    else
        fv_text_note(p, FV_YELLOW,
                     "%s also has C++'s operator new. Its allocations are not seen, and some of its frees are, so live "
                     "bytes may be too low",
                     other->allocator ? other->allocator : "the allocator");
}

FV_TEXT_SECTION(memory)
{
    const struct fv_allocations *all = fv_model_memory(v->model);

    if (!all->rank_count)
        return;
    fv_page_heading(p, "Memory",
                    is_sampled(all) ? "allocations of the program: exact from 4 KiB on, smaller ones estimated from "
                                      "samples (+-: standard error); --memory=exact records all"
                                    : "all allocations of the program");
    put_ranks(p, v);
    put_peak(p, v);
    put_live(p, v);
    fv_text_relation(p, v, "memory_libraries", "library", "by the program or library that called the allocator");
    fv_text_relation(p, v, "memory_functions", "function", "exact counts and sizes; times are estimates");
    fv_text_relation(p, v, "memory_sections", "section",
                     "by section and thread; with all threads of the process: live, heap");
    fv_text_relation(p, v, "memory_system", "rank", "the heap, objects with mappings of their own, and glibc's arenas");
    fv_text_relation(p, v, "memory_places", "thread", "each thread's stack, and its process's heap as seen from it");
    put_allocators(p, all);
    put_losses(p, all);
}
