/* SPDX-License-Identifier: BSD-3-Clause */
/* See writer.h. Everything here is rare: once per process, or once per chunk. */
#include "trace/writer.h"
#include "base/base.h"
#include "base/pages.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Applications expect the lowest descriptor from open(): ours keeps out of their way, but below 64, where
 * the kernel's first table ends. To enlarge it takes a process with threads 16 ms. */
static int move_up(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 48);

    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* Growing past the limit on file sizes would not fail but raise SIGXFSZ, which kills. */
static bool over_file_limit(uint64_t end)
{
    struct rlimit limit;

    return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur;
}

/* From the page's begin to there. */
static uint64_t before_offset(uint64_t offset)
{
    return offset & ((uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

static void *map_at(int fd, uint64_t offset, uint64_t bytes)
{
    const uint64_t before = before_offset(offset); /* where pages are larger than ours, as on many AArch64 */
    char *map = fv_map_pages(before + bytes, MAP_SHARED, fd, (off_t)(offset - before));

    return map == MAP_FAILED ? NULL : map + before;
}

static void *map_new(int fd, uint64_t offset, uint64_t bytes)
{
    if (over_file_limit(offset + bytes)) {
        errno = EFBIG;
        return NULL;
    }
    int err = posix_fallocate(fd, (off_t)offset, (off_t)bytes);

    if (err) {
        errno = err;
        return NULL;
    }
    return map_at(fd, offset, bytes);
}

int fv_writer_open(struct fv_writer *writer, int folder, const char *name, const char *path)
{
    struct stat st;
    size_t length = strlen(path);

    if (length >= sizeof(writer->path)) {
        errno = ENAMETOOLONG;
        return -FV_EIO;
    }
    int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, writer->share ? 0666 : 0600);
    if (fd < 0)
        return -FV_EIO;
    struct fv_file_header *header = fstat(fd, &st) ? NULL : map_new(fd, 0, FV_PAGE);
    if (!header) {
        int saved = errno;

        close(fd);
        unlinkat(folder, name, 0);
        errno = saved;
        return -FV_EIO;
    }
    memcpy(writer->path, path, length + 1);
    writer->fd = move_up(fd);
    writer->device = st.st_dev;
    writer->inode = st.st_ino;
    writer->end = FV_PAGE;
    header->version = FV_FILE_VERSION;
    header->byte_order = FV_BYTE_ORDER;
    header->header_bytes = FV_PAGE;
    header->file_bytes = FV_PAGE;
    header->state = FV_STATE_RUNNING;
    memcpy(header->magic, FV_FILE_MAGIC, sizeof(header->magic));
    __atomic_store_n(&writer->header, header, __ATOMIC_RELEASE);
    return 0;
}

/* Is the descriptor still our file? If not, it is not ours to close either; the file is opened anew. */
static bool still_open(struct fv_writer *writer)
{
    struct stat st;

    if (!fstat(writer->fd, &st) && st.st_dev == writer->device && st.st_ino == writer->inode)
        return true;
    int fd = open(writer->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) || st.st_dev != writer->device || st.st_ino != writer->inode) {
        close(fd);
        errno = ESTALE; /* another file has its name */
        return false;
    }
    writer->fd = move_up(fd);
    return true;
}

static int64_t coarse_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now); /* no system call */
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A full disk must not cost system calls at every MPI call: after a refusal, what is no smaller waits for a
 * second. Smaller chunks may still fit. With or without the lock: refused() sets the time first. */
static bool worth_trying(const struct fv_writer *writer, uint64_t bytes)
{
    uint64_t refused = __atomic_load_n(&writer->refused_bytes, __ATOMIC_ACQUIRE);

    return !refused || bytes < refused || coarse_ns() >= __atomic_load_n(&writer->retry_ns, __ATOMIC_RELAXED);
}

const char *fv_writer_why(int error)
{
    return error == EFBIG    ? "the limit on file sizes (RLIMIT_FSIZE) is reached"
           : error == ENODEV ? "its file system cannot map shared files (mmap)"
                             : strerror(error);
}

/* What the user can do about it. */
const char *fv_writer_advice(int error)
{
    switch (error) {
    case EFBIG: return "Raise the limit on file sizes where ranks are started (ulimit -f unlimited), or its hard limit";
    case ENODEV: return "Say --local /tmp; fvmpi run or fvmpi gather then moves the files to the experiment";
    case ENOMEM: return "Give the process more memory or address space (ulimit -v), or lower FVMPI_PROFILE_MAX";
    case ENOSPC:
    case EDQUOT: return "Choose a directory with more room with -o or FVMPI_OUTPUT";
    }
    return "Choose another directory with -o or FVMPI_OUTPUT";
}

const char *fv_writer_directory(const struct fv_writer *writer, char out[sizeof(writer->path)])
{
    memcpy(out, writer->path, sizeof(writer->path));
    out[fv_base_name(writer->path) - writer->path] = '\0';
    return out;
}

bool fv_writer_first_on_node(const struct fv_writer *writer, const char *what)
{
    char directory[sizeof(writer->path)];

    return fv_first_on_node(what, fv_writer_directory(writer, directory));
}

int fv_writer_elect_on_node(const struct fv_writer *writer, const char *what)
{
    char directory[sizeof(writer->path)];

    return fv_elect_on_node(what, fv_writer_directory(writer, directory));
}

static void refused(struct fv_writer *writer, uint64_t bytes, int error)
{
    __atomic_store_n(&writer->retry_ns, coarse_ns() + INT64_C(1000000000), __ATOMIC_RELAXED);
    __atomic_store_n(&writer->refused_bytes, bytes, __ATOMIC_RELEASE);
    if (!writer->warned && fv_writer_first_on_node(writer, "grow"))
        fv_log("%s: cannot grow: %s; what does not fit is counted and reported, the application goes on. "
               "%s" FV_FOR_NODE,
               writer->path, fv_writer_why(error), fv_writer_advice(error));
    writer->warned = true;
    writer->header->refused_error = (uint32_t)error;
}

static struct fv_chunk_header *grow(struct fv_writer *writer, uint64_t bytes)
{
    struct fv_chunk_header *chunk = NULL;

    if (!worth_trying(writer, bytes)) /* another thread was refused meanwhile */
        return NULL;
    if (still_open(writer))
        chunk = map_new(writer->fd, writer->end, bytes);
    if (!chunk)
        refused(writer, bytes, errno);
    else if (bytes >= writer->refused_bytes && !writer->lost)
        __atomic_store_n(&writer->refused_bytes, 0, __ATOMIC_RELAXED);
    return chunk;
}

static uint64_t chunk_bytes(size_t payload)
{
    return fv_round_up(sizeof(struct fv_chunk_header) + payload, FV_CHUNK_ALIGN);
}

static bool is_small(uint64_t bytes)
{
    return bytes <= FV_PAGE / 2;
}

static uint64_t pages_for(uint64_t bytes)
{
    return fv_round_up(bytes, FV_PAGE);
}

/* What is left of a chunk's pages is for others, if that is more than there is. */
static void keep_rest(struct fv_writer *writer, char *end, uint64_t bytes)
{
    if (bytes <= writer->rest_bytes)
        return;
    writer->rest = end;
    writer->rest_bytes = bytes;
}

/* Room for a chunk: its place, with *bytes of it. */
static struct fv_chunk_header *place(struct fv_writer *writer, enum fv_chunk_type type, uint64_t *bytes)
{
    char *at = writer->rest;

    if (type != FV_CHUNK_PACKED && is_small(*bytes) && *bytes <= writer->rest_bytes && !writer->lost) {
        writer->rest += *bytes;
        writer->rest_bytes -= *bytes;
        return (struct fv_chunk_header *)(void *)at;
    }
    const uint64_t pages = pages_for(*bytes);
    at = (char *)grow(writer, pages);
    if (!at)
        return NULL;
    writer->end += pages;
    if (type == FV_CHUNK_PACKED) /* it is unmapped at once, and there may be thousands */
        *bytes = pages;
    else
        keep_rest(writer, at + *bytes, pages - *bytes);
    return (struct fv_chunk_header *)(void *)at;
}

static void count_refusal(struct fv_writer *writer)
{
    if (writer->header)
        __atomic_fetch_add(&writer->header->dropped[FV_DROP_DISK], 1, __ATOMIC_RELAXED);
}

static bool is_anothers(const struct fv_writer *writer)
{
    return writer->pid && writer->pid != (pid_t)syscall(SYS_getpid);
}

static struct fv_chunk_header *add_chunk(struct fv_writer *writer, enum fv_chunk_type type, uint32_t thread,
                                         uint64_t first, uint64_t bytes)
{
    const bool is_ours = writer->header && !is_anothers(writer);
    struct fv_chunk_header *chunk = is_ours ? place(writer, type, &bytes) : NULL;

    if (chunk) {
        struct fv_chunk_header new = { .magic = FV_CHUNK_MAGIC,
                                       .type = (uint16_t)type,
                                       .version = 1,
                                       .bytes = bytes,
                                       .thread = thread,
                                       .first = first };

        new.check = fv_chunk_check(&new);
        memcpy(&chunk->magic + 1, &new.magic + 1, sizeof(new) - sizeof(new.magic));
        __atomic_store_n(&chunk->magic, new.magic, __ATOMIC_RELEASE); /* a reader may know the page already */
        __atomic_store_n(&writer->header->file_bytes, writer->end, __ATOMIC_RELEASE);
    } else if (is_ours) {
        count_refusal(writer);
    }
    return chunk;
}

struct fv_chunk_header *fv_writer_chunk(struct fv_writer *writer, enum fv_chunk_type type, uint32_t thread,
                                        uint64_t first, size_t payload)
{
    uint64_t bytes = chunk_bytes(payload);

    if (!worth_trying(writer, pages_for(bytes))) {
        count_refusal(writer);
        return NULL;
    }
    /* open() and what posix_fallocate() does instead where a file system cannot are cancellation points */
    struct fv_scope scope = fv_scope_enter();
    fv_lock(&writer->lock);
    struct fv_chunk_header *chunk = add_chunk(writer, type, thread, first, bytes);
    fv_unlock(&writer->lock);
    fv_scope_leave(&scope);
    return chunk;
}

struct fv_chunk_header *fv_writer_ring_chunk(struct fv_writer *writer, enum fv_chunk_type type, uint32_t thread,
                                             uint64_t first, uint64_t bytes, uint64_t *offset)
{
    if (!worth_trying(writer, bytes))
        return NULL;
    struct fv_scope scope = fv_scope_enter();
    fv_lock(&writer->lock);
    *offset = writer->end; /* more than half a page: it shares none */
    struct fv_chunk_header *chunk = add_chunk(writer, type, thread, first, bytes);
    if (chunk)
        chunk->inverse = ~chunk->bytes;
    fv_unlock(&writer->lock);
    fv_scope_leave(&scope);
    return chunk;
}

struct fv_chunk_header *fv_writer_map_chunk(struct fv_writer *writer, uint64_t offset, uint64_t bytes)
{
    struct fv_scope scope = fv_scope_enter();
    fv_lock(&writer->lock);
    struct fv_chunk_header *chunk = writer->header && !writer->lost && !is_anothers(writer) && still_open(writer)
                                        ? map_at(writer->fd, offset, bytes)
                                        : NULL;
    fv_unlock(&writer->lock);
    fv_scope_leave(&scope);
    return chunk;
}

void fv_writer_empty(struct fv_chunk_header *chunk)
{
    __atomic_store_n(&chunk->magic, FV_CHUNK_FREE, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* before anything in it changes */
    __atomic_store_n(&chunk->used, 0, __ATOMIC_RELAXED);
}

void fv_writer_fill_again(struct fv_chunk_header *chunk, uint32_t thread, uint64_t first)
{
    struct fv_chunk_header as = *chunk;

    as.magic = FV_CHUNK_MAGIC;
    as.thread = chunk->thread = thread;
    as.first = chunk->first = first;
    chunk->check = fv_chunk_check(&as);
    __atomic_store_n(&chunk->magic, FV_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

struct fv_chunk_header *fv_writer_try_chunk(struct fv_writer *writer, enum fv_chunk_type type, uint32_t thread,
                                            uint64_t first, size_t payload)
{
    struct fv_chunk_header *chunk = NULL;
    int saved = errno;

    if (fv_try_lock(&writer->lock)) {
        chunk = add_chunk(writer, type, thread, first, chunk_bytes(payload));
        fv_unlock(&writer->lock);
    }
    errno = saved;
    return chunk;
}

/* ---- pages that the file has lost ---- */

/* A line of /proc/self/maps, of a mapping that has the address? It ends in the inode and the path. */
static bool is_of_file(const struct fv_writer *writer, const char *line, uintptr_t address)
{
    unsigned long begin, end, offset, inode;
    unsigned major_number, minor_number;
    char rights[5];

    /* the device is not always stat()'s: file systems with several volumes */
    return sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &begin, &end, rights, &offset, &major_number, &minor_number,
                  &inode) == 7 &&
           address >= begin && address < end && inode == writer->inode && strstr(line, fv_base_name(writer->path));
}

/* No table of our own: mappings come and go, and this is asked once or never. One at a time: stacks of
 * handlers are small. */
static bool is_in_file(const struct fv_writer *writer, uintptr_t address)
{
    static char text[8192];
    size_t used = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool found = false;

    for (ssize_t n; fd >= 0 && !found && (n = read(fd, text + used, sizeof(text) - 1 - used)) > 0;) {
        char *line = text, *stop;

        used += (size_t)n;
        text[used] = '\0';
        for (; !found && (stop = strchr(line, '\n')); line = stop + 1) {
            *stop = '\0';
            found = is_of_file(writer, line, address);
        }
        used -= (size_t)(line - text);
        memmove(text, line, used);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

bool fv_writer_lost(struct fv_writer *writer, void *address)
{
    static struct fv_lock lock;
    static FV_TLS bool has_lock;
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)address & ~(size - 1);
    int state;

    if (has_lock) /* while it looked for another page: that cannot be helped */
        return false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    fv_lock(&lock);
    has_lock = true;
    bool ours = writer->header && is_in_file(writer, page);
    has_lock = false;
    fv_unlock(&lock);
    pthread_setcancelstate(state, &state);
    if (!ours)
        return false;
    struct fv_chunk_header *now = fv_map_over((void *)page, size);
    if (now == MAP_FAILED)
        return false;
    if ((void *)now != writer->header)
        now->bytes = sizeof(*now); /* if it is the first of a chunk, that has no room */
    __atomic_store_n(&writer->retry_ns, INT64_MAX, __ATOMIC_RELAXED);
    __atomic_store_n(&writer->refused_bytes, 1, __ATOMIC_RELEASE);
    if (!__atomic_exchange_n(&writer->lost, true, __ATOMIC_RELAXED))
        fv_log("%s: was shortened, or its file system is full; recording ends here, the application goes on. Do not "
               "change files of a running experiment, or choose another file system with -o or FVMPI_OUTPUT",
               writer->path);
    return true;
}

void fv_writer_release(struct fv_chunk_header *chunk)
{
    const size_t before = before_offset((uintptr_t)chunk);
    int saved = errno;

    if (!chunk->bytes || chunk->bytes % FV_PAGE) /* it was lost; others have the rest of its last page */
        return;
    fv_unmap_pages((char *)chunk - before, before + chunk->bytes);
    errno = saved;
}

void fv_writer_forget(struct fv_writer *writer)
{
    struct stat st;

    if (writer->header && !fstat(writer->fd, &st) && st.st_dev == writer->device && st.st_ino == writer->inode)
        close(writer->fd);
    writer->fd = -1;
    writer->header = NULL;
    writer->rest = NULL;
    writer->rest_bytes = 0;
    writer->lock.held = 0;
}
