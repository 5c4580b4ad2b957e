/* See dump.h: what --memory records. */
#include "cmd/dump.h"
#include "trace/format.h"

#include <inttypes.h>
#include <stdio.h>

static void print_amount(const char *key, const struct fv_memory_amount *a)
{
    printf(" %s=%" PRIu64 "/%" PRIu64 "+%" PRIu64 "/%" PRIu64 "/%" PRIu64, key, a->count, a->bytes, a->samples, a->weight, a->sample_bytes);
}

void fv_dump_memory_sums(const struct fv_cursor *c, const void *record)
{
    const struct fv_memory_sums *s = record;

    printf("memory sums thread=%u malloc=%" PRIu64 " calloc=%" PRIu64 " realloc=%" PRIu64 " aligned=%" PRIu64 " bytes=%" PRIu64 " failed=%" PRIu64 " frees=%" PRIu64
           " held=%" PRId64 " unseen=%" PRIu64 " longs=%" PRIu64 "/%" PRIu64
           " timed=%" PRIu64 "/%" PRIu64 "/%" PRIu64,
           c->thread, s->calls[0], s->calls[1], s->calls[2], s->calls[3], s->bytes, s->failed, s->frees, s->held, s->unseen,
           s->time.longs, s->time.long_ticks, s->time.timed, s->time.ticks, s->time.squares);
}

void fv_dump_memory_site(const struct fv_cursor *c, const void *record)
{
    const struct fv_memory_site *s = record;

    printf("memory site thread=%u index=%" PRIu64 " path=%u", c->thread, c->index, s->path);
    print_amount("allocated", &s->allocated);
    print_amount("freed", &s->freed);
    print_amount("foreign", &s->foreign);
    printf(" at_peak=%" PRId64 " peak_number=%" PRIu64, s->at_peak, s->peak_number);
}

void fv_dump_memory_path(const struct fv_cursor *c, const void *record)
{
    const struct fv_memory_path *p = record;
    (void)c;

    printf("memory path path=%u live=%" PRId64 " peak=%" PRId64 " at=", p->path, p->live, p->peak);
    for (int i = 0; i < FV_MEMORY_OCTAVES; i++)
        printf("%s%" PRId64, i ? "," : "", p->at[i]);
}

void fv_dump_memory(const struct fv_cursor *c, const void *record)
{
    const struct fv_memory_process *p = record;
    (void)c;

    printf("memory mode=%u flags=%u before=%" PRId64 " live=%" PRId64 " peak=%" PRId64 " peak_number=%" PRIu64 " peak_ticks=%" PRIu64 " objects_lost=%" PRIu64
           " paths_lost=%" PRIu64 " allocator=%.*s",
           p->mode, p->flags, p->before, p->live, p->peak, p->peak_number, p->peak_ticks, p->objects_lost, p->paths_lost, (int)sizeof(p->allocator), p->allocator);
}

void fv_dump_memory_series(const struct fv_cursor *c, const void *record)
{
    const struct fv_memory_series *s = record;
    const struct fv_memory_bank *bank = &s->bank[s->active & 1];
    (void)c;

    printf("memory series active=%" PRIu64 " origin=%" PRIu64 " width=%" PRIu64 " bins=", s->active, bank->origin, bank->width);
    for (int i = 0; i < FV_MEMORY_BINS; i++)
        if (bank->bin[i].changes)
            printf("%d:%" PRId64 "/%" PRId64 ",", i, bank->bin[i].most, bank->bin[i].last);
}
