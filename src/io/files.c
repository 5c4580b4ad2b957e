/* SPDX-License-Identifier: BSD-3-Clause */
/* See io.h. A descriptor that is used for the first time, or was just made, is asked of the kernel: what it is, and by
 * what name. So it does not matter which of many functions made it, nor from which directory. System calls without the
 * C library, in front of which we stand. */
#include "base/pages.h"
#include "io/io.h"
#include "rt/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

enum {
    DESCRIPTORS = 1 << 20,
    FILES = 1 << 16,
    PATH_ROOM = 4096,
    IDLE_LISTS = 1024,
};

/* A file that has a record. */
struct known {
    uint64_t key; /* of its name */
    const struct fv_io_file *record;
};

static struct fv_lock lock; /* of all but the slots */
static struct fv_io_open **slots;
static struct fv_io_open *fresh, *idle[IDLE_LISTS]; /* never used; by their files: closed */
static struct fv_map files;
static struct fv_tail tail, handle_tail;
static uint32_t handles;

static void in_forked_child(void)
{
    lock.held = 0;
}

bool fv_io_files_start(void)
{
    void *pages =
        slots ? slots : fv_map_pages(DESCRIPTORS * sizeof(*slots), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (pages == MAP_FAILED)
        return false;
    if (!slots)
        pthread_atfork(NULL, NULL, in_forked_child);
    slots = pages;
    return true;
}

/* ---- names ---- */

static unsigned kind_of(const struct stat *st)
{
    switch (st->st_mode & S_IFMT) {
    case S_IFREG: return FV_IO_KIND_REGULAR;
    case S_IFDIR: return FV_IO_KIND_DIRECTORY;
    case S_IFCHR: return FV_IO_KIND_TERMINAL;
    case S_IFBLK: return FV_IO_KIND_DEVICE;
    case S_IFIFO: return FV_IO_KIND_PIPE;
    case S_IFSOCK: return FV_IO_KIND_SOCKET;
    default: return FV_IO_KIND_OTHER;
    }
}

/* What has no name of its own has that of its kind. */
static size_t name_of(int fd, unsigned kind, char out[PATH_ROOM])
{
    static const char deleted[] = " (deleted)";
    static const char *const names[FV_IO_KINDS] = {
        [FV_IO_KIND_PIPE] = "(pipes)", [FV_IO_KIND_SOCKET] = "(sockets)", [FV_IO_KIND_OTHER] = "(events and timers)"
    };
    char link[40];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, out, PATH_ROOM - 1);
    out[length < 0 ? length = 0 : length] = '\0';
    if (*out != '/')
        length = snprintf(out, PATH_ROOM, "%s", names[kind] ? names[kind] : "(without a name)");
    else if ((size_t)length > strlen(deleted) && !strcmp(out + length - strlen(deleted), deleted))
        out[length -= (long)strlen(deleted)] = '\0';
    return (size_t)length;
}

static uint64_t key_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return fv_mix(hash) | 1;
}

/* Under lock. NULL: no room. */
static const struct fv_io_file *new_file(int fd, const struct stat *st, const char *name, size_t length)
{
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_IO_FILES, .first_pages = 1, .most_pages = 16, .varies = true
    };
    size_t bytes = fv_round_up(sizeof(struct fv_io_file) + length + 1, 8);
    struct fv_io_file *record = files.used < FILES ? fv_tail_next(&tail, &kind, FV_NO_THREAD, bytes, false) : NULL;
    struct statfs system = { 0 };

    if (!record)
        return NULL;
    syscall(SYS_fstatfs, fd, &system);
    *record = (struct fv_io_file){ .bytes = (uint32_t)bytes,
                                   .id = files.used + 1,
                                   .device = st->st_dev,
                                   .inode = st->st_ino,
                                   .filesystem = (uint64_t)system.f_type,
                                   .kind = kind_of(st),
                                   .path_bytes = (uint32_t)length };
    memcpy(record->path, name, length + 1);
    fv_tail_commit(&tail, bytes);
    return record;
}

/* Under lock. 0: no room. */
static uint32_t file_of(int fd, const struct stat *st)
{
    static char name[PATH_ROOM]; /* not on a handler's stack */
    size_t length = name_of(fd, kind_of(st), name);

    for (uint64_t key = key_of(name);; key += 2) {
        struct known *known = fv_map_find(&files, sizeof(*known), key);

        if (known && !strcmp(known->record->path, name))
            return known->record->id;
        if (known)
            continue;
        const struct fv_io_file *record = new_file(fd, st, name, length);
        if (!record || !(known = fv_map_add(&files, sizeof(*known), key, 2 * FILES)))
            return 0;
        known->record = record;
        return record->id;
    }
}

/* ---- open files ---- */

/* Under lock. NULL: no memory. */
static struct fv_io_open *new_open(void)
{
    if (!fresh) {
        struct fv_io_open *page = fv_memory_new(FV_PAGE);

        for (size_t i = 0; page && i < FV_PAGE / sizeof(*page); i++) {
            page[i].next = fresh;
            fresh = &page[i];
        }
    }
    struct fv_io_open *open = fresh;
    if (open)
        fresh = open->next;
    return open;
}

/* Under lock. 0: no room, or there is no trace. */
static uint32_t new_handle(uint32_t file, uint32_t flags)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_IO_HANDLES, .first_pages = 1, .most_pages = 16 };
    struct fv_io_handle *record = file && __atomic_load_n(&fv_rt.tracing, __ATOMIC_RELAXED)
                                      ? fv_tail_next(&handle_tail, &kind, FV_NO_THREAD, sizeof(*record), false)
                                      : NULL;

    if (!record)
        return 0;
    *record = (struct fv_io_handle){ .id = ++handles, .file = file, .flags = flags };
    fv_tail_commit(&handle_tail, sizeof(*record));
    return record->id;
}

/* Under lock. `since`: ticks when it was open already. What was closed later than that stays for others, or it would
 * seem to be opened twice. NULL: no memory. */
static struct fv_io_open *take(uint32_t file, uint32_t flags, uint64_t since)
{
    struct fv_io_open **at = &idle[file % IDLE_LISTS], *open;

    while (*at && ((*at)->file != file || (*at)->flags != flags || (*at)->closed > since))
        at = &(*at)->next;
    if ((open = *at)) {
        *at = open->next;
        return open;
    }
    if ((open = new_open()))
        *open = (struct fv_io_open){ .file = file, .flags = flags, .handle = new_handle(file, flags) };
    return open;
}

/* Under lock. */
static struct fv_io_end let_go(struct fv_io_open *open)
{
    if (!open)
        return (struct fv_io_end){ 0 };
    if (!--open->uses) {
        open->closed = fv_ticks();
        open->next = idle[open->file % IDLE_LISTS];
        idle[open->file % IDLE_LISTS] = open;
    }
    return (struct fv_io_end){ open, open->uses };
}

static struct fv_io_open *exchange(int fd, struct fv_io_open *open)
{
    struct fv_io_open *before = __atomic_exchange_n(&slots[fd], open, __ATOMIC_ACQ_REL);

    __atomic_fetch_add(&fvmpi_io_v1.changes, 1, __ATOMIC_RELAXED);
    return before;
}

/* enum fv_io_handle_flags; `found`: no function that is recorded opened it. */
static uint32_t flags_of(int fd, bool found)
{
    long flags = syscall(SYS_fcntl, fd, F_GETFL);
    uint32_t of = found ? FV_IO_HANDLE_FOUND : 0;

    if (flags < 0)
        return of;
    of |= (flags & O_ACCMODE) != O_WRONLY ? FV_IO_HANDLE_READS : 0;
    of |= (flags & O_ACCMODE) != O_RDONLY ? FV_IO_HANDLE_WRITES : 0;
    return of | (flags & O_APPEND ? FV_IO_HANDLE_APPENDS : 0);
}

/* Under lock. `opened`: ticks when it was; 0: it was found. NULL: it is no descriptor, or no memory. */
static struct fv_io_open *look_at(int fd, uint64_t opened)
{
    struct stat st;
    struct fv_io_open *open;

    if (syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) ||
        !(open = take(file_of(fd, &st), flags_of(fd, !opened), opened ? opened : fv_ticks())))
        return NULL;
    unsigned kind = kind_of(&st);

    open->uses = 1;
    open->has_places = kind == FV_IO_KIND_REGULAR || kind == FV_IO_KIND_DEVICE;
    open->position[FV_IO_POSIX] = open->position[FV_IO_STDIO] =
        open->has_places ? syscall(SYS_lseek, fd, 0L, SEEK_CUR) : -1;
    memset(open->end, -1, sizeof(open->end));
    return open;
}

/* `before`: whatever is known of it, which that was. NULL: if nothing is known of it, and `opened` is 0. */
static FV_COLD struct fv_io_open *find_out(int fd, uint64_t opened, struct fv_io_end *before)
{
    struct fv_scope scope = fv_scope_enter();
    struct fv_io_open *open = NULL;

    if (fv_lock_is_free(&lock) && fv_lock_is_free(&fv_rt.writer.lock)) {
        fv_lock(&lock);
        open = before ? NULL : slots[fd];
        if (!open && (open = look_at(fd, opened))) {
            struct fv_io_end end = let_go(exchange(fd, open));

            if (before)
                *before = end;
        }
        fv_unlock(&lock);
    }
    fv_scope_leave(&scope);
    return open;
}

static bool has_slot(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS;
}

struct fv_io_open *fv_io_files_of(int fd)
{
    struct fv_io_open *open = has_slot(fd) ? __atomic_load_n(&slots[fd], __ATOMIC_ACQUIRE) : NULL;

    return FV_LIKELY(open != NULL) || !has_slot(fd) ? open : find_out(fd, 0, NULL);
}

struct fv_io_open *fv_io_files_made(int fd, uint64_t time, struct fv_io_end *before)
{
    return has_slot(fd) ? find_out(fd, time, before) : NULL;
}

struct fv_io_end fv_io_files_duplicated(int fd, struct fv_io_open *open)
{
    if (!has_slot(fd) || !open)
        return (struct fv_io_end){ 0 };
    struct fv_scope scope = fv_scope_enter();
    fv_lock(&lock);
    if (open->uses)
        open->uses++;
    else
        open = look_at(fd, 0); /* the other one was closed meanwhile */
    struct fv_io_end before = let_go(exchange(fd, open));
    fv_unlock(&lock);
    fv_scope_leave(&scope);
    return before;
}

struct fv_io_open *fv_io_files_closing(int fd)
{
    return has_slot(fd) && __atomic_load_n(&slots[fd], __ATOMIC_ACQUIRE) ? exchange(fd, NULL) : NULL;
}

uint32_t fv_io_files_closed(struct fv_io_open *open)
{
    struct fv_scope scope = fv_scope_enter();

    fv_lock(&lock);
    uint32_t shared = let_go(open).shared;
    fv_unlock(&lock);
    fv_scope_leave(&scope);
    return shared;
}

void fv_io_files_forget(int fd)
{
    if (slots && has_slot(fd))
        __atomic_store_n(&slots[fd], NULL, __ATOMIC_RELEASE);
}

void fv_io_files_closed_range(unsigned first, unsigned last, void (*tell)(void *, const struct fv_io_end *),
                              void *context)
{
    for (unsigned fd = first; fd <= last && fd < DESCRIPTORS; fd++) {
        struct fv_io_open *open = fv_io_files_closing((int)fd);

        if (open)
            tell(context, &(struct fv_io_end){ open, fv_io_files_closed(open) });
    }
}
