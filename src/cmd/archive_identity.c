/* SPDX-License-Identifier: BSD-3-Clause */
/* See archives.h. An archive is its anchor, the definitions beside that, and a directory with the files of locations:
 * BASE.otf2, BASE.def, BASE/. */
#include "cmd/archives.h"
#include "fvmpi.h"
#include "tool/vec.h"

#include <dirent.h>
#include <fcntl.h>

/* Sums up, as directories have no order. */
void fv_archive_add_file(struct fv_archive_files *files, int directory, const char *path)
{
    struct stat st;

    if (fstatat(directory, path, &st, 0))
        return;
    const uint64_t changed = fv_mix2((uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec);
    files->hash += fv_mix2(fv_hash_text(path), fv_mix2(changed, (uint64_t)st.st_size));
    files->bytes += (uint64_t)st.st_size;
}

bool fv_archive_look(const char *anchor, struct fv_archive_files *out)
{
    const int base = (int)(strlen(anchor) - strlen(FV_ARCHIVE_ENDING));
    char path[PATH_MAX];
    struct stat st;

    *out = (struct fv_archive_files){ 0 };
    if (base <= 0 || base >= PATH_MAX - 8 || stat(anchor, &st))
        return false;
    fv_archive_add_file(out, AT_FDCWD, anchor);
    snprintf(path, sizeof(path), "%.*s.def", base, anchor);
    fv_archive_add_file(out, AT_FDCWD, path);
    path[base] = '\0';
    DIR *directory = opendir(path);
    for (const struct dirent *e; directory && (e = readdir(directory));)
        if (*e->d_name != '.')
            fv_archive_add_file(out, dirfd(directory), e->d_name);
    if (directory)
        closedir(directory);
    return true;
}

bool fv_archive_identity(const char *anchor, char *out, size_t bytes)
{
    struct fv_archive_files files;

    if (!fv_archive_look(anchor, &files))
        return false;
    snprintf(out, bytes, FVMPI_VERSION " %016llx", (unsigned long long)files.hash);
    return true;
}
