/* See replaced.h. */
#include "rt/replaced.h"
#include "base/process.h"
#include "trace/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool read_header(int directory, const char *name, struct fv_file_header *out)
{
    struct stat st;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool good = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && pread(fd, out, sizeof(*out), 0) == (ssize_t)sizeof(*out);

    if (fd >= 0)
        close(fd);
    return good && !memcmp(out->magic, FV_FILE_MAGIC, sizeof(out->magic)) && out->version == FV_FILE_VERSION;
}

/* exec() leaves a process its number and the time of its start. */
static bool was_this_process(const struct fv_file_header *h)
{
    struct fv_process self;
    uint8_t boot[sizeof(h->boot_id)];

    return h->state == FV_STATE_REPLACED && h->pid == (uint32_t)getpid() && fv_process_read(getpid(), &self) && h->process_start == self.start &&
           fv_boot_id(boot) && !memcmp(boot, h->boot_id, sizeof(boot));
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

bool fv_replaced_steps_aside(int directory, const char *name)
{
    struct fv_file_header header;
    char to[64];

    if (!read_header(directory, name, &header) || !was_this_process(&header))
        return false;
    for (unsigned i = 1; i < 1000; i++) {
        snprintf(to, sizeof(to), "%s.%u", name, i);
        if (move(directory, name, to)) {
            snprintf(to, sizeof(to), "run.json.%u", i);
            move(directory, "run.json", to); /* else it is kept as it is */
            return true;
        }
        if (errno != EEXIST)
            break;
    }
    return false;
}
