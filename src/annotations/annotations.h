/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions that programs and libraries mark for other tools already, without a change: kernels and regions of Kokkos
 * (kokkos.c), NVTX (nvtx.c), ITT (itt.c), Caliper and LIKWID (in_front.c). Each becomes a section (rt/sections.h) of
 * the thread that marks it, by its name, unless --annotations=off.
 *
 * The first three ask the environment for the library that wants to know. The one that is preloaded, or linked with, is
 * loaded already, and names itself there, where no other tool is named (annotations.c). Rejected: PerfStubs, which says
 * on the program's own output that it found a tool. */
#ifndef FV_ANNOTATIONS_H
#define FV_ANNOTATIONS_H

#include "base/base.h"

/* A region begins and ends on the calling thread. Of those of one `domain`, any address, the end is that of the
 * innermost, or of the one with that id, which is not 0. The name is copied, 63 bytes of it; NULL: "". An end without a
 * begin is none. */
void fv_annotation_begin(const void *domain, uint64_t id, const char *name);
void fv_annotation_end(const void *domain, uint64_t id);

/* A function that others look up by its name alone: no header declares it. */
#define FV_FOUND_BY_NAME(type, name, ...) \
    FV_PUBLIC type name(__VA_ARGS__);     \
    FV_PUBLIC type name(__VA_ARGS__)

#endif
