/* Names of the functions that a process calls, written into its rank file when first used, so that a
 * reader of any version knows what a function id means. */
#include "rt/runtime.h"

#include <string.h>

static struct fv_lock lock;
static uint8_t written[(FV_FUNCTION_REST + 1) / 8];
static struct fv_chunk_header *chunk;

static void write_record(unsigned function)
{
    static const struct fv_function rest = { "(other functions)", FV_CLASS_OTHER, FV_WAIT_NONE };
    const struct fv_function *f = function < fv_function_count ? &fv_functions[function] : &rest;

    if (!chunk || fv_chunk_room(chunk) < sizeof(struct fv_function_record))
        chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_FUNCTIONS, FV_NO_THREAD, 0,
                                FV_PAGE - sizeof(*chunk));
    if (!chunk)
        return;
    struct fv_function_record *r = fv_chunk_next(chunk);
    r->id = (uint16_t)function;
    r->class = f->class;
    r->wait = f->wait;
    strncpy(r->name, f->name, sizeof(r->name) - 1);
    fv_chunk_commit(chunk, sizeof(*r));
}

void fv_function_used(unsigned function)
{
    uint8_t *byte = &written[function / 8], bit = (uint8_t)(1u << function % 8);

    fv_lock(&lock);
    if (!(*byte & bit)) {
        *byte |= bit;
        write_record(function);
    }
    fv_unlock(&lock);
}
