/* Functions that somebody in front of us defines: a program or a library with its own MPI_Send. Found before main, by one
 * thread; told once, and written into the rank file at the start. */
#include "rt/process.h"
#include "rt/rt.h"

#include "base/experiment.h"

#include <string.h>

#define OBJECTS 4 /* more are counted as the last one's */

static struct fv_shadow_record shadows[OBJECTS];
static unsigned count;

static bool is_of(const struct fv_shadow_record *s, const char *object)
{
    return !strncmp(s->object, object, sizeof(s->object) - 1);
}

void fv_shadow_add(const char *object, const char *function)
{
    struct fv_shadow_record *s = shadows;

    while (s < shadows + count && !is_of(s, object))
        s++;
    if (s == shadows + OBJECTS)
        s--;
    if (s == shadows + count) {
        strncpy(s->object, object, sizeof(s->object) - 1);
        count++;
    }
    size_t used = strlen(s->names), length = strlen(function);
    if (used + length + 2 < sizeof(s->names)) {
        if (used)
            s->names[used++] = ' ';
        memcpy(s->names + used, function, length + 1);
        s->named++;
    }
    s->functions++;
    s->finalize |= !strcmp(function, "MPI_Finalize");
}

void fv_shadow_tell(void)
{
    struct fv_options options;

    if (!count || !fv_first_rank())
        return;
    fv_options_from_env(&options);
    for (unsigned i = 0; i < count && !options.disable; i++) {
        const struct fv_shadow_record *s = &shadows[i];

        fv_log("%s defines %u MPI function%s itself, in front of fvmpi: calls of %s%s are not recorded", s->object,
               s->functions, s->functions == 1 ? "" : "s", s->names, s->named < s->functions ? " ..." : "");
    }
}

void fv_shadow_write(struct fv_writer *writer)
{
    size_t bytes = count * sizeof(*shadows);
    struct fv_chunk_header *chunk =
        count ? fv_writer_chunk(writer, FV_CHUNK_SHADOWS, FV_NO_THREAD, 0, bytes) : NULL;

    if (!chunk)
        return;
    memcpy(fv_chunk_records(chunk), shadows, bytes);
    fv_chunk_commit(chunk, bytes);
}
