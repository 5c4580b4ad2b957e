/* Printers of fvmpi dump whose records have a file of their own, by subject; those of all others, and the table, are in dump.c.
 * Each prints one record as `type key=value ...` to standard output, without the end of the line. `record` is the one that the cursor returned last. */
#ifndef FV_DUMP_H
#define FV_DUMP_H

#include "experiment/experiment.h"

void fv_dump_io_file(const struct fv_cursor *c, const void *record);
void fv_dump_io(const struct fv_cursor *c, const void *record);
void fv_dump_io_thread(const struct fv_cursor *c, const void *record);
void fv_dump_io_region(const struct fv_cursor *c, const void *record);
void fv_dump_io_process(const struct fv_cursor *c, const void *record);
void fv_dump_io_handle(const struct fv_cursor *c, const void *record);

void fv_dump_counter(const struct fv_cursor *c, const void *record);
void fv_dump_counter_values(const struct fv_cursor *c, const void *record);
void fv_dump_counter_phase(const struct fv_cursor *c, const void *record);
void fv_dump_memory(const struct fv_cursor *c, const void *record);
void fv_dump_memory_sums(const struct fv_cursor *c, const void *record);
void fv_dump_memory_site(const struct fv_cursor *c, const void *record);
void fv_dump_memory_path(const struct fv_cursor *c, const void *record);
void fv_dump_memory_series(const struct fv_cursor *c, const void *record);

/* " key=", and the text in quotes, escaped. */
void fv_dump_text(const char *key, const char *text, size_t bytes);

void fv_dump_fact(const struct fv_cursor *c, const void *record);
void fv_dump_affinity(const struct fv_cursor *c, const void *record);

void fv_dump_label(const struct fv_cursor *c, const void *record);
void fv_dump_sensors(const struct fv_cursor *c, const void *record);
void fv_dump_sensor_series(const struct fv_cursor *c, const void *record);
void fv_dump_sensor_sample(const struct fv_cursor *c, const void *record);

#endif
