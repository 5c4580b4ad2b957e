/* SPDX-License-Identifier: BSD-3-Clause */
/* See newer.h. */
#include "cmd/newer.h"
#include "base/shell.h"
#include "experiment/experiment.h"
#include "trace/reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* When the run began, by its first rank file; 0: there is none. */
static int64_t begin_ns(const char *directory)
{
    struct fv_rank_files files;
    struct fv_reader *reader = NULL;
    char why[256];
    int64_t begin = 0;

    if (!fv_rank_files_list(&files, directory) && files.count &&
        !fv_reader_open(files.paths[0], &reader, why, sizeof(why)))
        begin = fv_reader_header(reader)->first.realtime_ns;
    fv_reader_free(reader);
    fv_rank_files_release(&files);
    return begin;
}

void fv_newer_say(const char *directory)
{
    int length = (int)strlen(directory);
    char path[PATH_MAX], first[PATH_MAX] = "", last[PATH_MAX] = "";
    unsigned count = 0;
    struct stat st;

    while (length > 1 && directory[length - 1] == '/')
        length--;
    const int64_t begin = begin_ns(directory);
    for (unsigned i = 2;
         begin && snprintf(path, sizeof(path), "%.*s-%u", length, directory, i) < (int)sizeof(path) && !stat(path, &st);
         i++)
        if (begin_ns(path) > begin) {
            strcpy(*first ? last : first, path);
            count++;
        }
    if (count)
        fv_log("%s: %u newer run%s beside it: %s%s%s; %s", directory, count, count == 1 ? " is" : "s are", first,
               count > 2   ? " ... "
               : count > 1 ? ", "
                           : "",
               last, FV_COMMAND("fvmpi", "report", count > 1 ? last : first));
}
