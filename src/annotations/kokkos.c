/* SPDX-License-Identifier: BSD-3-Clause */
/* See annotations.h. Kokkos Tools: Kokkos looks for functions of these names in the library, and calls those that are
 * there. Not its fences: there are many, and short ones. Kernels on a device: from launch to return of the launch. */
#include "annotations/annotations.h"

#include <string.h>

/* What the library and Kokkos have in common: interface version 20150628 and later. */
struct space {
    char name[64];
};

static const char kernels, regions, copies; /* domains */
static uint64_t last_id;

static void begin_kernel(const char *name, uint64_t *id)
{
    *id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    fv_annotation_begin(&kernels, *id, name);
}

FV_FOUND_BY_NAME(void, kokkosp_init_library, int sequence, uint64_t version, uint32_t devices, void *info)
{
    (void)sequence, (void)version, (void)devices, (void)info;
}

FV_FOUND_BY_NAME(void, kokkosp_finalize_library, void) {}

/* Without that, Kokkos waits for the device before and after each kernel. */
FV_FOUND_BY_NAME(void, kokkosp_request_tool_settings, uint32_t count, bool *fences)
{
    if (count)
        *fences = false;
}

#define KERNEL(kind)                                                                                       \
    FV_FOUND_BY_NAME(void, kokkosp_begin_parallel_##kind, const char *name, uint32_t device, uint64_t *id) \
    {                                                                                                      \
        (void)device;                                                                                      \
        begin_kernel(name, id);                                                                            \
    }                                                                                                      \
    FV_FOUND_BY_NAME(void, kokkosp_end_parallel_##kind, uint64_t id)                                       \
    {                                                                                                      \
        fv_annotation_end(&kernels, id);                                                                   \
    }
KERNEL(for)
KERNEL(reduce)
KERNEL(scan)

FV_FOUND_BY_NAME(void, kokkosp_push_profile_region, const char *name)
{
    fv_annotation_begin(&regions, 0, name);
}

FV_FOUND_BY_NAME(void, kokkosp_pop_profile_region, void)
{
    fv_annotation_end(&regions, 0);
}

/* Appends 24 bytes at most; `used` of the 64 in `out`. */
static size_t append(char *out, size_t used, const char *text)
{
    size_t length = strnlen(text, 24);

    memcpy(out + used, text, length);
    return used + length;
}

FV_FOUND_BY_NAME(void, kokkosp_begin_deep_copy, struct space to, const char *to_label, const void *to_address,
                 struct space from, const char *from_label, const void *from_address, uint64_t bytes)
{
    char name[64];
    size_t used = append(name, 0, "deep copy ");

    (void)to_label, (void)to_address, (void)from_label, (void)from_address, (void)bytes;
    used = append(name, used, from.name);
    used = append(name, used, " to ");
    name[append(name, used, to.name)] = '\0';
    fv_annotation_begin(&copies, 0, name);
}

FV_FOUND_BY_NAME(void, kokkosp_end_deep_copy, void)
{
    fv_annotation_end(&copies, 0);
}

/* ---- sections that may overlap ---- */

enum { SECTIONS = 256 };
static char section_names[SECTIONS][64];
static uint32_t section_count;
static const char sections;

FV_FOUND_BY_NAME(void, kokkosp_create_profile_section, const char *name, uint32_t *id)
{
    *id = __atomic_fetch_add(&section_count, 1, __ATOMIC_RELAXED);
    if (*id < SECTIONS && name)
        strncpy(section_names[*id], name, sizeof(section_names[*id]) - 1);
}

FV_FOUND_BY_NAME(void, kokkosp_start_profile_section, uint32_t id)
{
    fv_annotation_begin(&sections, id + 1u, id < SECTIONS ? section_names[id] : "(one of many sections)");
}

FV_FOUND_BY_NAME(void, kokkosp_stop_profile_section, uint32_t id)
{
    fv_annotation_end(&sections, id + 1u);
}

FV_FOUND_BY_NAME(void, kokkosp_destroy_profile_section, uint32_t id)
{
    (void)id;
}
