/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for places of a program, and for rank files, that are made of what they are: 64 bits that are the
 * same in each report of the same program, whatever run, rank or process met them first. So are the profile
 * and fvunify's analysis joined, and what is remembered about a call site holds for the next run. Changing
 * anything here makes new keys of all.
 *
 * A module is its build-id and base name (its directory may differ by host; a copy under another name is
 * another program), or the name alone where it has no build-id. A call path is its frames, each (module,
 * offset), with all outside of them. Addresses in no module differ from run to run: they are all alike, so
 * that call sites in code made at run time share a key. */
#ifndef FV_KEYS_H
#define FV_KEYS_H

#include "trace/reader.h"

#define FV_KEY_ROOT UINT64_C(0) /* outside of all frames; paths that were not recorded */

uint64_t fv_key_module(const uint8_t *build_id, size_t build_id_bytes, const char *path);
/* `kind`: which of the modules that are none (FV_MODEL_NO_MODULE, ...). */
static inline uint64_t fv_key_no_module(unsigned kind)
{
    return kind + 1;
}
static inline bool fv_key_is_no_module(uint64_t module)
{
    return module <= 16;
}

/* The path that goes on from `caller` by a frame. */
static inline uint64_t fv_key_frame(uint64_t caller, uint64_t module, uint64_t offset)
{
    return fv_mix2(fv_mix2(caller, module), fv_key_is_no_module(module) ? 0 : offset);
}

uint64_t fv_key_function(const char *name);
/* The calls of a function at a path. */
static inline uint64_t fv_key_call(uint64_t path, uint64_t function)
{
    return fv_mix2(path, function);
}

/* Which process wrote a rank file, and how far it had come with its trace: calls that are in it. Both as far
 * as the file is readable. */
struct fv_file_identity {
    uint64_t process, traced_calls;
};
struct fv_file_identity fv_file_identity(const struct fv_reader *reader);
/* fv_file_identity.process, of what does not change while the process runs. */
uint64_t fv_key_process(const struct fv_file_header *header);

#endif
