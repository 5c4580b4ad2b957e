/* Any bytes as an ELF file and as the loader's cache: no crash, no read outside of them. */
#include "cmd/dynamic.h"
#include "cmd/loader.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_cache(const uint8_t *data, size_t size)
{
    struct fv_loader_cache cache = { .bytes = malloc(size + 1), .size = size };

    if (!cache.bytes)
        return;
    memcpy(cache.bytes, data, size);
    cache.bytes[size] = '\0';
    if (fv_loader_cache_check(&cache))
        for (unsigned i = 0; i < 3; i++)
            fv_loader_cache_find(&cache, "libmpi.so.40", i);
    free(cache.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fv_source source = fv_source_of_memory(data, size);
    struct fv_dynamic dynamic;

    if (!fv_dynamic_read(&source, &dynamic)) {
        volatile size_t length = 0;
        for (size_t i = 0; i < dynamic.needed_count; i++)
            length += strlen(dynamic.needed[i]);
        length += dynamic.runpath ? strlen(dynamic.runpath) : 0;
        fv_dynamic_release(&dynamic);
    }
    try_cache(data, size);
    return 0;
}
