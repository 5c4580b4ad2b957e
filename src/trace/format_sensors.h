/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: what src/monitor writes into the rank file of one rank of each node, the machine's sensors
 * (--sensors). */
#ifndef FV_FORMAT_SENSORS_H
#define FV_FORMAT_SENSORS_H

#include <stdint.h>

enum fv_sensor_flags {
    FV_SENSOR_GAUGE = 1,  /* its values are what it is; of a counter they are what was added since the first sample */
    FV_SENSOR_MEAN = 2,   /* of several sources it is the mean, not the sum */
    FV_SENSOR_SOURCE = 4, /* of one source, which the label names behind an @ */
};

/* One event that is recorded. Its values are in the samples at its index in this list. */
struct fv_sensor_series {
    uint32_t bytes; /* of this record, a multiple of 8 */
    uint32_t flags; /* [enum fv_sensor_flags] */
    uint32_t every; /* so many samples: it is read by the first of them, because it changes no faster, or costs too
                     * much; before they were thinned */
    uint32_t label_bytes; /* without the final NUL, which is there */
    char unit[16];        /* of its values; "": so many */
    char label[];         /* [count label_bytes] "net.rx_bytes@eth0"; behind its NUL what it counts, in a sentence, with
                           * a NUL */
};
_Static_assert(sizeof(struct fv_sensor_series) == 32, "on-disk size");

struct fv_sensor_sample {
    uint32_t bytes;       /* of this record */
    uint32_t section_set; /* SECTION_SETS: that was open in the thread that began the recording: 0 none */
    uint64_t ticks;       /* when its first sensor was read; grows from sample to sample: where it does not, the record
                           * is an old one */
    uint64_t late_ns;     /* after its time */
    double values[];      /* [count rest] of each series; NAN: not read by this sample, or not known */
};
_Static_assert(sizeof(struct fv_sensor_sample) == 24, "on-disk size");

enum fv_sensor_place_kind {
    FV_SENSOR_ANYWHERE = 0,       /* no thread of the job is pinned */
    FV_SENSOR_FREE_CORE = 1,      /* cores to which none is pinned */
    FV_SENSOR_FREE_PROCESSOR = 2, /* processors to which none is pinned, but whose core has such a thread */
    FV_SENSOR_NONE_FREE = 3       /* threads are pinned to every processor */
};

/* Where the thread that reads sensors may run. Of processors from 1024 on nothing is known. */
struct fv_sensor_place {
    uint32_t kind; /* [enum fv_sensor_place_kind] */
    uint32_t pad;
    uint64_t processors[16]; /* [hex] bit i of word j is processor 64 j + i; 0s: not known */
};
_Static_assert(sizeof(struct fv_sensor_place) == 136, "on-disk size");

struct fv_sensor_process {
    uint64_t interval_ns;
    uint64_t samples, late; /* taken; of them more than a tenth of the interval after their time */
    uint64_t missed;        /* times that passed before the sample was taken */
    uint64_t thinned;       /* of samples one in 2^thinned is in the file: there is no room for more */
    uint64_t left_out;      /* events that there was no room for */
    uint64_t not_found;     /* names that the list asks for and this machine has not, or nobody knows */
    uint64_t cpu_ns;        /* of the thread that reads them */
    uint64_t of_process;    /* 1: what it recorded is its own, of an archive: other ranks of the node have theirs */
    uint64_t reserved[3];
};
_Static_assert(sizeof(struct fv_sensor_process) == 96, "on-disk size");

#endif
