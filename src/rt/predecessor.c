/* SPDX-License-Identifier: BSD-3-Clause */
/* See predecessor.h. */
#include "rt/predecessor.h"
#include "base/older.h"
#include "base/process.h"
#include "rt/identity.h"
#include "trace/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a file, no link; how much of it was read, at most `bytes`; -1: there is none. */
static ssize_t read_begin(int directory, const char *name, void *out, size_t bytes)
{
    struct stat st;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? pread(fd, out, bytes, 0) : -1;

    if (fd >= 0)
        close(fd);
    return n;
}

static bool read_header(int directory, const char *name, struct fv_file_header *out)
{
    return read_begin(directory, name, out, sizeof(*out)) == (ssize_t)sizeof(*out) &&
           !memcmp(out->magic, FV_FILE_MAGIC, sizeof(out->magic)) && out->version == FV_FILE_VERSION;
}

/* exec() leaves a process its number and the time of its start. Containers of one host may have the same numbers, and
 * names of their own. */
static bool was_this_process(const struct fv_file_header *h)
{
    struct fv_process self;
    uint8_t boot[sizeof(h->boot_id)];
    char host[sizeof(h->host)] = "";

    gethostname(host, sizeof(host) - 1);
    return !strcmp(host, h->host) && h->state == FV_STATE_REPLACED && h->pid == (uint32_t)getpid() &&
           fv_process_read(getpid(), &self) && h->process_start == self.start && fv_boot_id(boot) &&
           !memcmp(boot, h->boot_id, sizeof(boot));
}

/* Never over what is there: EEXIST. */
static bool move(int directory, const char *from, const char *to)
{
    if (!syscall(SYS_renameat2, directory, from, directory, to, 1u /* RENAME_NOREPLACE */))
        return true;
    if (errno != ENOSYS && errno != EINVAL) /* the kernel, or the file system, does not have it */
        return false;
    return !linkat(directory, from, directory, to, 0) && !unlinkat(directory, from, 0);
}

/* What has the name may be the user's. */
static bool is_description_of(int directory, const struct fv_file_header *h)
{
    char wanted[8192], found[sizeof(wanted)];
    size_t n = fv_run_json(h, wanted, sizeof(wanted));

    return read_begin(directory, "run.json", found, sizeof(found)) == (ssize_t)n && !memcmp(found, wanted, n);
}

bool fv_predecessor_steps_aside(int directory, const char *name)
{
    struct fv_file_header header;
    char to[64];

    if (!read_header(directory, name, &header) || !was_this_process(&header))
        return false;
    for (unsigned i = 1; i < 1000; i++) {
        snprintf(to, sizeof(to), "%s.%u", name, i);
        if (move(directory, name, to)) {
            snprintf(to, sizeof(to), "run.json.%u", i);
            if (is_description_of(directory, &header))
                move(directory, "run.json", to);
            return true;
        }
        if (errno != EEXIST)
            break;
    }
    return false;
}
