/* SPDX-License-Identifier: BSD-3-Clause */
/* The layers of the library in the application (rt/layers.h), in the order in which they are told. This file alone
 * knows them all. */
#include "rt/layers.h"

#include <stddef.h>

/* rt */
extern const struct fv_layer fv_python_layer, fv_exits_layer, fv_fatal_layer, fv_call_layer, fv_events_layer,
    fv_bus_layer, fv_signals_layer, fv_sections_layer, fv_switches_layer, fv_counters_layer, fv_counters_end_layer,
    fv_counters_others_layer, fv_usage_layer, fv_turns_layer, fv_look_layer;
extern const struct fv_layer fv_sampler_layer;                                                     /* sampler */
extern const struct fv_layer fv_threads_layer;                                                     /* threads */
extern const struct fv_layer fv_annotations_layer;                                                 /* annotations */
extern const struct fv_layer fv_functions_layer;                                                   /* functions */
extern const struct fv_layer fv_monitor_layer, fv_facts_layer, fv_affinity_layer, fv_others_layer; /* monitor */
extern const struct fv_layer fv_io_layer;                                                          /* io */
extern const struct fv_layer fv_memory_layer;                                                      /* memory */

const struct fv_layer *const fv_layers[] = {
    &fv_usage_layer,
    &fv_python_layer, /* its call paths are known before what a call costs is measured */
    &fv_exits_layer,
    &fv_fatal_layer,
    &fv_look_layer,
    &fv_call_layer, /* what a call costs is measured before there are samples */
    &fv_switches_layer,
    &fv_events_layer,
    &fv_bus_layer,
    &fv_sampler_layer,
    &fv_signals_layer,
    &fv_counters_layer,
    &fv_counters_others_layer,
    &fv_sections_layer,     /* a thread's last section ends before its last event */
    &fv_counters_end_layer, /* what it counted in sections is told by then */
    &fv_annotations_layer,
    &fv_functions_layer,
    &fv_monitor_layer,
    &fv_facts_layer,
    &fv_affinity_layer,
    &fv_others_layer,
    &fv_io_layer,
    &fv_threads_layer,
    &fv_memory_layer, /* behind the others: what these do at their start is none of the program's */
    &fv_turns_layer,  /* it waits */
    NULL,
};
