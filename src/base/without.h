/* SPDX-License-Identifier: BSD-3-Clause */
/* What the system has and is to be taken as missing, for tests and to look into troubles: FVMPI_WITHOUT=NAME,NAME...
 *     find_object   the C library's _dl_find_object() (rt/loaded_objects.h)
 *     sigtrap       events that signal as SIGTRAP by themselves (sampler/perf.h)
 *     clock_event   an event of the CPU time as the clock of samples (sampler/clock.c)
 *     breakpoints   debug registers
 *     watchpoints   those that watch data (sampler/sampler.c)
 *     wipe          memory that is wiped in children (rt/process.h)
 *     libdw         elfutils' library that reads debug information (symbols/lines.c)
 *     usr_lib_debug debug files of the system's own objects (symbols/module_files.c) */
#ifndef FV_WITHOUT_H
#define FV_WITHOUT_H

#include "base/base.h"

/* Reads the environment. Not from a signal handler. */
bool fv_without(const char *name);

#endif
