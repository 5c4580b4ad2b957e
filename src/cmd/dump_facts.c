/* See dump.h: what each run tells of its machine, its environment and its threads' processors. */
#include "cmd/dump.h"
#include "trace/format.h"

#include <inttypes.h>
#include <stdio.h>

void fv_dump_fact(const struct fv_cursor *c, const void *record)
{
    const struct fv_fact *f = record;
    (void)c;

    printf("fact key=%s index=%u cut=%d", fv_fact_name(f->key), f->index, (f->flags & FV_FACT_CUT) != 0);
    fv_dump_text("value", f->value, f->value_bytes);
}

/* Hexadecimal, without the zeros before it. */
static void print_mask(const char *key, const uint64_t *mask)
{
    size_t words = FV_MASK_WORDS;

    while (words > 1 && !mask[words - 1])
        words--;
    printf(" %s=0x%" PRIx64, key, mask[words - 1]);
    while (--words)
        printf("%016" PRIx64, mask[words - 1]);
}

void fv_dump_affinity(const struct fv_cursor *c, const void *record)
{
    const struct fv_affinity *a = record;
    (void)c;

    printf("affinity thread=%u tid=%u cpu=%d node=%d", a->thread, a->tid, (int)a->cpu, (int)a->node);
    print_mask("first", a->first);
    print_mask("last", a->last);
}
