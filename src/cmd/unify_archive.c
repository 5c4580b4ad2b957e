/* SPDX-License-Identifier: BSD-3-Clause */
/* See unify.h: where an archive of another tool becomes an experiment. */
#include "analysis/analysis.h"
#include "cmd/archives.h"
#include "cmd/unify.h"
#include "tool/new_file.h"
#include "experiment/experiment.h"
#include "fvmpi.h"
#include "tool/json_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char made_of[] = "archive"; /* first key of run.json in such an experiment, and in no other */

static bool has_first_key(const char *json, const char *key)
{
    const char *at = json + strspn(json, " \n{");

    return *at == '"' && !strncmp(at + 1, key, strlen(key)) && at[1 + strlen(key)] == '"';
}

/* Is there nothing, or what an earlier time made? */
static bool is_ours(const char *path)
{
    char begin[64];
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT;
    ssize_t n = read(fd, begin, sizeof(begin) - 1);
    close(fd);
    begin[n > 0 ? n : 0] = '\0';
    return has_first_key(begin, made_of);
}

static bool write_run(const char *anchor, const char *path)
{
    struct fv_json json = { 0 };
    char identity[64] = "";
    int fd = fv_new_file(path, O_WRONLY, 0666);

    fv_archive_identity(anchor, identity, sizeof(identity));
    json.out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!json.out)
        return false;
    fv_json_object(&json, NULL);
    fv_json_string(&json, made_of, anchor);
    fv_json_string(&json, FV_ARCHIVE_IDENTITY, identity);
    fv_json_string(&json, "fvmpi", FVMPI_VERSION);
    fv_json_end(&json);
    return !fclose(json.out) && !json.failed;
}

bool fv_unify_archive_begin(const char *anchor, const char *directory)
{
    struct fv_arena arena = { 0 };
    const char *run = fv_arena_printf(&arena, "%s/run.json", directory);
    struct fv_rank_files files;
    bool good = is_ours(run);

    fv_rank_files_list(&files, directory);
    if (!good || (files.count && access(run, F_OK))) {
        fv_log("%s: holds another experiment; name another directory: fvunify -o DIR", directory);
        good = false;
    }
    if (good)
        fv_analysis_forget(directory); /* an experiment without it is not whole, and is made again */
    for (size_t i = 0; good && i < files.count; i++) {
        good = !unlink(files.paths[i]);
        if (!good)
            fv_log("%s: %s; name another directory: fvunify -o DIR", files.paths[i], strerror(errno));
    }
    if (good) {
        unlink(run);
        good = write_run(anchor, run);
        if (!good)
            fv_log("%s: %s; name a directory that can be written to: fvunify -o DIR", run, strerror(errno));
    }
    fv_rank_files_release(&files);
    fv_arena_release(&arena);
    return good;
}
