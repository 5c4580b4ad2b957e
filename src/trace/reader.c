/* SPDX-License-Identifier: BSD-3-Clause */
/* See reader.h. Opening walks all chunks once and checks whatever has a length; iterating then only adds. */
#include "trace/reader.h"
#include "trace/container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

struct fv_reader {
    const uint8_t *data;
    uint64_t bytes;
    uint64_t room;  /* for records that are still to come */
    int sparse;     /* descriptor of a file with holes, while it is opened; -1: it has none */
    void *mapped;   /* to be unmapped, or */
    void *owned;    /* to be freed */
    char *path;     /* NULL: it cannot be mapped again */
    uint64_t begin; /* where it is in that file */
    dev_t device;
    ino_t inode;
    bool (*wants)(const void *context, uint32_t thread); /* fv_reader_choose() */
    const void *context;
    struct fv_file_header header;
    struct fv_chunk *chunks;
    size_t chunk_count, chunk_room;
    struct fv_damage *damage;
    size_t damage_kept;
    uint64_t damage_total;
};

static void FV_PRINTF(3, 4) damaged(struct fv_reader *r, uint64_t offset, const char *format, ...)
{
    va_list args;

    r->damage_total++;
    if (!r->damage) /* most files have none */
        r->damage = calloc(FV_DAMAGE_KEPT, sizeof(*r->damage));
    if (!r->damage || r->damage_kept == FV_DAMAGE_KEPT)
        return;
    struct fv_damage *d = &r->damage[r->damage_kept++];
    d->offset = offset;
    va_start(args, format);
    vsnprintf(d->why, sizeof(d->why), format, args);
    va_end(args);
}

static void FV_PRINTF(3, 4) say(char *why, size_t bytes, const char *format, ...)
{
    va_list args;

    if (!why || !bytes)
        return;
    va_start(args, format);
    vsnprintf(why, bytes, format, args);
    va_end(args);
}

/* ---- the header ---- */

static int check_identity(const struct fv_reader *r, char *why, size_t why_bytes)
{
    const struct fv_file_header *h = &r->header;

    if (memcmp(h->magic, FV_FILE_MAGIC, sizeof(h->magic))) {
        static const char zeros[sizeof(h->magic)];

        say(why, why_bytes,
            memcmp(h->magic, zeros, sizeof(zeros))
                ? "not a rank file: it does not begin with " FV_FILE_MAGIC
                : "empty header: the process died, or the disk was full, when the file was made");
        return -FV_EFORMAT;
    }
    if (h->byte_order == __builtin_bswap32(FV_BYTE_ORDER)) {
        say(why, why_bytes, "written on a machine with the other byte order");
        return -FV_EFORMAT;
    }
    if (h->byte_order != FV_BYTE_ORDER) {
        say(why, why_bytes, "damaged header: byte order mark is 0x%08x", h->byte_order);
        return -FV_EFORMAT;
    }
    if (h->version != FV_FILE_VERSION) {
        say(why, why_bytes, "recorded by another version of fvmpi (%.31s, file version %u; this one reads %u)",
            h->fvmpi, h->version, FV_FILE_VERSION);
        return -FV_EVERSION;
    }
    return 0;
}

static int read_header(struct fv_reader *r, char *why, size_t why_bytes)
{
    struct fv_file_header *h = &r->header;

    if (r->bytes < FV_PAGE) {
        if (r->bytes >= 8 && memcmp(r->data, FV_FILE_MAGIC, 8))
            say(why, why_bytes, "not a rank file: it does not begin with " FV_FILE_MAGIC);
        else
            say(why, why_bytes, "truncated: %llu bytes, the header alone has %llu", (unsigned long long)r->bytes,
                (unsigned long long)FV_PAGE);
        return -FV_EFORMAT;
    }
    memcpy(h, r->data, sizeof(*h));
    char *const strings[] = { h->host, h->program, h->mpi, h->command, h->fvmpi, h->thread_level, h->experiment };
    const size_t rooms[] = { sizeof(h->host),  sizeof(h->program),      sizeof(h->mpi),       sizeof(h->command),
                             sizeof(h->fvmpi), sizeof(h->thread_level), sizeof(h->experiment) };
    for (unsigned i = 0; i < sizeof(strings) / sizeof(*strings); i++)
        strings[i][rooms[i] - 1] = '\0';
    return check_identity(r, why, why_bytes);
}

/* Fields that steer this reader; what they should have been is known well enough to go on. */
static void check_header(struct fv_reader *r)
{
    struct fv_file_header *h = &r->header;

    if (h->header_bytes < FV_PAGE || h->header_bytes % FV_PAGE || h->header_bytes > r->bytes) {
        damaged(r, offsetof(struct fv_file_header, header_bytes), "header: chunks cannot begin at %llu",
                (unsigned long long)h->header_bytes);
        h->header_bytes = FV_PAGE;
    }
    if (h->state < FV_STATE_RUNNING || h->state > FV_STATE_CUT) {
        damaged(r, offsetof(struct fv_file_header, state), "header: unknown state %u", h->state);
        h->state = FV_STATE_RUNNING;
    }
    if (h->clock_kind != FV_CLOCK_TSC && h->clock_kind != FV_CLOCK_MONOTONIC) {
        damaged(r, offsetof(struct fv_file_header, clock_kind), "header: unknown clock %u", h->clock_kind);
        h->clock_kind = FV_CLOCK_TSC;
    }
    if (h->file_bytes > r->bytes)
        damaged(r, r->bytes, "truncated: %llu of %llu bytes are missing",
                (unsigned long long)(h->file_bytes - r->bytes), (unsigned long long)h->file_bytes);
}

/* ---- chunks ---- */

/* Is there a chunk header that may be trusted? Its own `used` is not covered by the check. */
static bool chunk_at(const struct fv_reader *r, uint64_t offset, struct fv_chunk_header *out)
{
    if (offset > r->bytes || r->bytes - offset < sizeof(*out))
        return false;
    memcpy(out, r->data + offset, sizeof(*out));
    return out->magic == FV_CHUNK_MAGIC && out->check == fv_chunk_check(out) && out->bytes >= sizeof(*out) &&
           out->bytes % FV_CHUNK_ALIGN == 0;
}

/* One of a ring, between two uses. */
static bool is_free_at(const struct fv_reader *r, uint64_t offset, struct fv_chunk_header *out)
{
    if (offset > r->bytes || r->bytes - offset < sizeof(*out))
        return false;
    memcpy(out, r->data + offset, sizeof(*out));
    return fv_chunk_is_free(out) && out->bytes <= r->bytes - offset;
}

static bool variable_record_ok(const struct fv_chunk_kind *kind, const uint8_t *record, uint64_t bytes)
{
    const struct fv_neighbours *n = (const void *)record;

    if (!fv_record_is_whole(kind->layout, record, bytes))
        return false;
    return kind->number != FV_CHUNK_NEIGHBOURS || !n->listed || n->listed == (uint64_t)n->sources + n->destinations;
}

/* How many bytes of a chunk of variable records are whole records. */
static uint64_t check_variable(struct fv_reader *r, unsigned type, uint64_t begin, uint64_t used)
{
    const struct fv_chunk_kind *kind = fv_chunk_kind(type);
    uint64_t at = 0;

    while (used - at >= 8) {
        uint32_t bytes;

        memcpy(&bytes, r->data + begin + at, sizeof(bytes));
        if (bytes < 8 || bytes % 8 || bytes > used - at || !variable_record_ok(kind, r->data + begin + at, bytes)) {
            damaged(r, begin + at, "%s chunk: a record of %u bytes is impossible; the rest of the chunk is lost",
                    kind->name, bytes);
            return at;
        }
        at += bytes;
    }
    return at;
}

static void keep_chunk(struct fv_reader *r, const struct fv_chunk *chunk)
{
    if (r->chunk_count == r->chunk_room) {
        size_t room = r->chunk_room ? r->chunk_room * 2 : 64;
        struct fv_chunk *bigger = realloc(r->chunks, room * sizeof(*bigger));

        if (!bigger) {
            damaged(r, chunk->offset, "out of memory; chunk left out");
            return;
        }
        r->chunks = bigger;
        r->chunk_room = room;
    }
    r->chunks[r->chunk_count++] = *chunk;
}

static void take_chunk(struct fv_reader *r, uint64_t offset, const struct fv_chunk_header *c)
{
    uint64_t begin = offset + sizeof(*c), there = r->bytes - begin, room = c->bytes - sizeof(*c);
    uint64_t size = fv_chunk_kind(c->type)->record_bytes, used = c->used;
    struct fv_chunk chunk = {
        .offset = offset, .first = c->first, .thread = c->thread, .type = c->type, .version = c->version
    };

    if (used > room) {
        damaged(r, offset, "%s chunk: length %llu is above its room of %llu; chunk left out",
                fv_chunk_kind(c->type)->name, (unsigned long long)used, (unsigned long long)room);
        return;
    }
    if (used > there) {
        damaged(r, offset, "%s chunk: %llu of its %llu bytes are missing", fv_chunk_kind(c->type)->name,
                (unsigned long long)(used - there), (unsigned long long)used);
        used = there;
    } else if (size && used % size) {
        damaged(r, offset, "%s chunk: ends within a record", fv_chunk_kind(c->type)->name);
    }
    if (used > r->room) {
        damaged(r, offset, "%s chunk: its %llu bytes are more than the file has; chunk left out",
                fv_chunk_kind(c->type)->name, (unsigned long long)used);
        return;
    }
    r->room -= used;
    if (c->version == 1 && size && c->first > r->bytes / size) {
        damaged(r, offset, "%s chunk: its first record cannot be number %llu; chunk left out",
                fv_chunk_kind(c->type)->name, (unsigned long long)c->first);
        return;
    }
    if (c->version != 1 && fv_chunk_kind(c->type)->number) {
        damaged(r, offset, "%s chunk: records of version %u are unknown here; chunk left out",
                fv_chunk_kind(c->type)->name, c->version);
        return;
    }
    if (size)
        used -= used % size;
    else if (fv_chunk_kind(c->type)->varies)
        used = check_variable(r, c->type, begin, used);
    chunk.used = used;
    keep_chunk(r, &chunk);
}

/* The next chunk at or after `offset`; the file's end if there is none. There is none in a hole. */
static uint64_t resync(const struct fv_reader *r, uint64_t offset, struct fv_chunk_header *out)
{
    while (offset < r->bytes && !chunk_at(r, offset, out) && !is_free_at(r, offset, out)) {
        offset += FV_CHUNK_ALIGN;
        if (r->sparse < 0 || offset % FV_PAGE)
            continue;
        off_t data = lseek(r->sparse, (off_t)offset, SEEK_DATA);
        if (data < (off_t)offset)
            return r->bytes;
        offset += ((uint64_t)data - offset) / FV_PAGE * FV_PAGE;
    }
    return offset < r->bytes ? offset : r->bytes;
}

/* The rest of a page behind its last chunk, where a header may have been begun. */
static bool is_unused(const struct fv_reader *r, uint64_t offset, uint64_t *end)
{
    static const uint8_t zeros[FV_PAGE];
    const uint64_t behind = offset + sizeof(struct fv_chunk_header);

    *end = fv_round_up(offset, FV_PAGE);
    return offset % FV_PAGE && behind <= *end && *end <= r->bytes &&
           !memcmp(r->data + offset, zeros, sizeof(((struct fv_chunk_header *)0)->magic)) &&
           !memcmp(r->data + behind, zeros, *end - behind);
}

static void walk(struct fv_reader *r)
{
    uint64_t offset = r->header.header_bytes, end;
    struct fv_chunk_header c;

    while (offset < r->bytes) {
        if (is_free_at(r, offset, &c)) {
            offset += c.bytes;
            continue;
        }
        if (!chunk_at(r, offset, &c) && is_unused(r, offset, &end)) {
            offset = end;
            continue;
        }
        if (!chunk_at(r, offset, &c)) {
            uint64_t next = resync(r, offset + FV_CHUNK_ALIGN, &c);

            /* Behind the last chunk handed out there may be reserved space. */
            if (offset < r->header.file_bytes || next < r->bytes)
                damaged(r, offset, "no valid chunk header, %llu bytes skipped", (unsigned long long)(next - offset));
            offset = next;
            if (offset >= r->bytes)
                break;
            if (c.magic == FV_CHUNK_FREE)
                continue;
        }
        take_chunk(r, offset, &c);
        if (c.bytes > r->bytes - offset) {
            uint64_t next = resync(r, offset + FV_CHUNK_ALIGN, &c);

            if (next == r->bytes)
                break; /* the last chunk was cut off */
            offset = next;
        } else {
            offset += c.bytes;
        }
    }
}

static int by_stream(const void *a, const void *b)
{
    const struct fv_chunk *x = *(struct fv_chunk *const *)a, *y = *(struct fv_chunk *const *)b;

    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Readers have arrays by record number. Records that are missing were in damaged parts of the file, so that
 * all of them together, over all threads, fit into it; else a file could ask for the square of its size in
 * memory. */
static bool leave_out_gaps(struct fv_reader *r, uint64_t room)
{
    struct fv_chunk **order = malloc((r->chunk_count + 1) * sizeof(struct fv_chunk *)), *last = NULL;
    uint64_t expected = 0;
    size_t kept = 0;

    for (size_t i = 0; order && i < r->chunk_count; i++)
        order[i] = &r->chunks[i];
    if (order && r->chunk_count)
        qsort(order, r->chunk_count, sizeof(struct fv_chunk *), by_stream);
    for (size_t i = 0; order && i < r->chunk_count; i++) {
        struct fv_chunk *c = order[i];
        uint64_t size = fv_chunk_kind(c->type)->record_bytes;

        if (!last || last->type != c->type || last->thread != c->thread)
            expected = 0;
        last = c;
        if (!size)
            continue;
        uint64_t gap = c->first > expected ? c->first - expected : 0;
        if (gap > room / size) {
            damaged(r, c->offset, "%s chunk: its first record cannot be number %llu; chunk left out",
                    fv_chunk_kind(c->type)->name, (unsigned long long)c->first);
            c->offset = 0;
            continue;
        }
        room -= gap * size;
        expected = c->first + c->used / size > expected ? c->first + c->used / size : expected;
    }
    for (size_t i = 0; order && i < r->chunk_count; i++)
        if (r->chunks[i].offset)
            r->chunks[kept++] = r->chunks[i];
    if (order)
        r->chunk_count = kept;
    free(order);
    return order != NULL;
}

/* ---- what was forgotten ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Threads that recorded nothing since. NULL: no memory. */
static uint32_t *threads_before(const struct fv_reader *r, size_t *count)
{
    uint32_t *threads = malloc((r->chunk_count + 1) * sizeof(*threads));
    struct fv_thread_record t;

    *count = 0;
    for (size_t i = 0; threads && i < r->chunk_count; i++) {
        const struct fv_chunk *c = &r->chunks[i];

        if (c->type != FV_CHUNK_THREADS || c->used < sizeof(t))
            continue;
        memcpy(&t, r->data + c->offset + sizeof(struct fv_chunk_header), sizeof(t));
        if (t.era != r->header.era)
            threads[(*count)++] = c->thread;
    }
    if (*count)
        qsort(threads, *count, sizeof(*threads), by_number);
    return threads;
}

static bool leave_out_forgotten(struct fv_reader *r)
{
    size_t count, kept = 0;
    uint32_t *threads = r->header.era ? threads_before(r, &count) : NULL;

    if (!threads)
        return !r->header.era;
    for (size_t i = 0; i < r->chunk_count; i++) {
        const struct fv_chunk *c = &r->chunks[i];

        if (!fv_chunk_kind(c->type)->forgotten || !bsearch(&c->thread, threads, count, sizeof(*threads), by_number))
            r->chunks[kept++] = *c;
    }
    r->chunk_count = kept;
    free(threads);
    return true;
}

/* ---- open and close ---- */

static void fit_chunks(struct fv_reader *r)
{
    struct fv_chunk *fit = r->chunk_count ? realloc(r->chunks, r->chunk_count * sizeof(*fit)) : NULL;

    if (fit) {
        r->chunks = fit;
        r->chunk_room = r->chunk_count;
    }
}

static int open_bytes(const void *data, size_t bytes, uint64_t room, int sparse, struct fv_reader **out, char *why,
                      size_t why_bytes)
{
    struct fv_reader *r = calloc(1, sizeof(*r));
    int err = -FV_ENOMEM;

    if (!r)
        goto done;
    r->data = data;
    r->bytes = bytes;
    r->room = room;
    r->sparse = sparse;
    if ((uintptr_t)data % 8 && bytes) {
        r->owned = malloc(bytes);
        r->data = r->owned ? memcpy(r->owned, data, bytes) : NULL;
    }
    if (bytes && !r->data)
        goto done;
    err = read_header(r, why, why_bytes);
    if (!err) {
        check_header(r);
        walk(r);
        if (!leave_out_gaps(r, room) || !leave_out_forgotten(r))
            err = -FV_ENOMEM;
        fit_chunks(r);
    }
    if (!err) {
        *out = r;
        r = NULL;
    }
done:
    if (err == -FV_ENOMEM)
        say(why, why_bytes, "%s", fv_strerror(err));
    fv_reader_free(r);
    return err;
}

int fv_reader_open_memory(const void *data, size_t bytes, struct fv_reader **out, char *why, size_t why_bytes)
{
    return open_bytes(data, bytes, bytes, -1, out, why, why_bytes);
}

/* How many bytes of records to believe in: holes are zeros, of which a copy may have made some, but a small
 * file must not make work for its apparent size. */
static uint64_t room_of(int fd, const struct stat *st, int *sparse)
{
    const uint64_t bytes = (uint64_t)st->st_size;
    uint64_t there = 0;

    *sparse = -1;
    if ((uint64_t)st->st_blocks * 512 >= bytes)
        return bytes;
    for (off_t hole = 0, data; (data = lseek(fd, hole, SEEK_DATA)) >= hole; there += (uint64_t)(hole - data))
        if ((hole = lseek(fd, data, SEEK_HOLE)) <= data)
            return bytes; /* of a file system that does not tell */
    if (there == bytes || (!there && errno != ENXIO))
        return bytes;
    *sparse = fd;
    return there < bytes / 16 ? there * 16 : bytes;
}

/* Where a file cannot be mapped (some network and pseudo file systems) it is read. */
static int read_all(const struct fv_file_part *part, uint8_t **out)
{
    uint8_t *data = malloc(part->bytes ? part->bytes : 1);
    uint64_t used = 0;

    if (!data)
        return -FV_ENOMEM;
    while (used < part->bytes) {
        ssize_t n = pread(part->fd, data + used, part->bytes - used, (off_t)(part->begin + used));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = EIO;
            free(data);
            return -FV_EIO;
        }
        used += (uint64_t)n;
    }
    *out = data;
    return 0;
}

/* The file's own bytes, mapped, or where that cannot be done copied. */
static int take_bytes(const struct fv_file_part *part, void **map, uint8_t **owned)
{
    *map = MAP_FAILED;
    *owned = NULL;
    if (part->bytes)
        *map = mmap(NULL, part->bytes, PROT_READ, MAP_SHARED, part->fd, (off_t)part->begin);
    return *map == MAP_FAILED ? read_all(part, owned) : 0;
}

static int open_part(const char *path, const struct fv_file_part *part, struct fv_reader **out, char *why,
                     size_t why_bytes)
{
    uint8_t *owned;
    struct stat st;
    void *map;
    int sparse = -1, err = fstat(part->fd, &st) ? -FV_EIO : take_bytes(part, &map, &owned);

    if (err) {
        say(why, why_bytes, "%s", fv_strerror(err));
        return err;
    }
    const uint64_t room = part->is_whole ? room_of(part->fd, &st, &sparse) : part->bytes;
    err = open_bytes(owned ? owned : map, part->bytes, room, sparse, out, why, why_bytes);
    if (!err) {
        (*out)->sparse = -1;
        (*out)->mapped = owned ? NULL : map;
        if (!owned) /* looking for chunks touched a page of each, and large folios with it */
            madvise(map, part->bytes, MADV_DONTNEED);
        (*out)->owned = owned;
        (*out)->path = owned ? NULL : strdup(path);
        (*out)->begin = part->begin;
        (*out)->device = st.st_dev;
        (*out)->inode = st.st_ino;
    } else if (owned) {
        free(owned);
    } else {
        munmap(map, part->bytes);
    }
    return err;
}

int fv_reader_open(const char *path, struct fv_reader **out, char *why, size_t why_bytes)
{
    struct fv_file_part part;
    int err = fv_file_part_open(path, &part);

    if (err) {
        say(why, why_bytes, "%s", err == -FV_EFORMAT ? "not a regular file" : fv_strerror(err));
        return err;
    }
    err = open_part(path, &part, out, why, why_bytes);
    close(part.fd);
    return err;
}

void fv_reader_rest(struct fv_reader *r)
{
    if (!r->mapped || !r->path)
        return;
    munmap(r->mapped, r->bytes);
    r->mapped = NULL;
    r->data = NULL;
}

int fv_reader_wake(struct fv_reader *r)
{
    struct stat st;
    void *map = MAP_FAILED;
    int fd;

    if (r->data || !r->path)
        return 0;
    fd = fv_file_part_again(r->path, r->begin);
    if (fd >= 0 && !fstat(fd, &st) && st.st_dev == r->device && st.st_ino == r->inode &&
        (uint64_t)st.st_size >= r->begin + r->bytes)
        map = mmap(NULL, r->bytes, PROT_READ, MAP_SHARED, fd, (off_t)r->begin);
    if (fd >= 0)
        close(fd);
    bool there = map != MAP_FAILED;
    if (!there)
        map = mmap(NULL, r->bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return -FV_ENOMEM;
    r->mapped = map;
    r->data = map;
    return there ? 0 : -FV_EIO;
}

void fv_reader_free(struct fv_reader *r)
{
    if (!r)
        return;
    if (r->mapped)
        munmap(r->mapped, r->bytes);
    free(r->owned);
    free(r->path);
    free(r->chunks);
    free(r->damage);
    free(r);
}

const struct fv_file_header *fv_reader_header(const struct fv_reader *r)
{
    return &r->header;
}
uint64_t fv_reader_bytes(const struct fv_reader *r)
{
    return r->bytes;
}

const struct fv_damage *fv_reader_damage(const struct fv_reader *r, size_t *kept, uint64_t *total)
{
    *kept = r->damage_kept;
    if (total)
        *total = r->damage_total;
    return r->damage;
}

const struct fv_chunk *fv_reader_chunks(const struct fv_reader *r, size_t *count)
{
    *count = r->chunk_count;
    return r->chunks;
}

void fv_unpacked_events_release(struct fv_unpacked_events *u)
{
    free(u->bytes);
    *u = (struct fv_unpacked_events){ 0 };
}

static bool unpack(const uint8_t *payload, uint64_t used, struct fv_unpacked_events *u, uint64_t *out)
{
    struct fv_packed_events packed;

    if (used < sizeof(packed))
        return false;
    memcpy(&packed, payload, sizeof(packed));
    if (packed.bytes > used - sizeof(packed) || packed.used / FV_PACKED_MOST > packed.bytes)
        return false;
    if (u->room < packed.used) {
        void *bigger = realloc(u->bytes, packed.used);

        if (!bigger)
            return false;
        u->bytes = bigger;
        u->room = packed.used;
    }
    *out = packed.used;
    return ZSTD_decompress(u->bytes, packed.used, payload + sizeof(packed), packed.bytes) == packed.used;
}

struct fv_event_cursor fv_reader_events(const struct fv_reader *r, const struct fv_chunk *chunk,
                                        struct fv_unpacked_events *unpacked)
{
    const uint8_t *payload = r->data + chunk->offset + sizeof(struct fv_chunk_header);
    uint64_t used;

    if (chunk->type == FV_CHUNK_EVENTS)
        return fv_event_cursor(payload, chunk->used);
    if (unpack(payload, chunk->used, unpacked, &used))
        return fv_event_cursor(unpacked->bytes, used);
    return (struct fv_event_cursor){ .damaged = true };
}

/* Only the pages that are the chunk's alone. */
void fv_reader_forget(const struct fv_reader *r, const struct fv_chunk *chunk)
{
    uint64_t begin = chunk ? fv_round_up(chunk->offset, FV_PAGE) : 0;
    uint64_t end =
        chunk ? (chunk->offset + sizeof(struct fv_chunk_header) + chunk->used) / FV_PAGE * FV_PAGE : r->bytes;

    if (r->mapped && end > begin)
        madvise((uint8_t *)r->mapped + begin, end - begin, MADV_DONTNEED);
}

/* ---- a head ---- */

/* Of whole records at least one. */
static uint64_t head_of(const struct fv_reader *r, const struct fv_chunk *chunk, uint64_t bytes)
{
    struct fv_event_cursor c = fv_reader_events(r, chunk, NULL);
    const uint8_t *begin = r->data + chunk->offset + sizeof(struct fv_chunk_header);
    struct fv_event e;

    while ((uint64_t)(c.at - begin) < bytes && fv_event_next(&c, &e))
        continue;
    return (uint64_t)(c.at - begin);
}

bool fv_reader_take_head(struct fv_reader *r, uint64_t bytes)
{
    uint64_t left = bytes;
    size_t count = 0;

    if (r->header.trace_keep)
        return false;
    while (left && count < r->chunk_count) {
        struct fv_chunk *c = &r->chunks[count++];

        if (!fv_chunk_has_events(c))
            continue;
        if (c->used > left && c->type == FV_CHUNK_EVENTS)
            c->used = head_of(r, c, left);
        left -= c->used < left ? c->used : left;
    }
    if (count < r->chunk_count && r->header.state == FV_STATE_FINALIZED)
        r->header.state = FV_STATE_CUT;
    r->chunk_count = count;
    return true;
}

/* ---- iteration ---- */

static void enter_chunk(struct fv_cursor *c, const struct fv_chunk *chunk)
{
    c->type = chunk->type;
    c->at = chunk->offset + sizeof(struct fv_chunk_header);
    c->end = c->at + chunk->used;
    c->thread = chunk->thread;
    c->next_index = chunk->first;
}

void fv_reader_choose(struct fv_reader *reader, bool (*wants)(const void *context, uint32_t thread),
                      const void *context)
{
    reader->wants = wants;
    reader->context = context;
}

bool fv_reader_wants(const struct fv_reader *reader, uint32_t thread)
{
    return !reader->wants || thread == FV_NO_THREAD || reader->wants(reader->context, thread);
}

struct fv_cursor fv_cursor(const struct fv_reader *reader, enum fv_chunk_type type)
{
    return (struct fv_cursor){ .reader = reader, .type = (uint16_t)type };
}

struct fv_cursor fv_cursor_chunk(const struct fv_reader *reader, size_t chunk)
{
    struct fv_cursor c = { .reader = reader, .chunk = reader->chunk_count };

    enter_chunk(&c, &reader->chunks[chunk]);
    return c;
}

const void *fv_cursor_next(struct fv_cursor *c)
{
    const struct fv_reader *r = c->reader;
    const struct fv_chunk_kind *kind = fv_chunk_kind(c->type);
    uint64_t size = kind->record_bytes;

    while (c->at >= c->end) {
        while (c->chunk < r->chunk_count &&
               (r->chunks[c->chunk].type != c->type || !fv_reader_wants(r, r->chunks[c->chunk].thread)))
            c->chunk++;
        if (c->chunk >= r->chunk_count)
            return NULL;
        enter_chunk(c, &r->chunks[c->chunk++]);
    }
    if (!size) {
        uint32_t bytes;

        if (!kind->varies)
            return NULL; /* a type that only other versions know */
        memcpy(&bytes, r->data + c->at, sizeof(bytes));
        size = bytes;
        /* It was whole when the file was opened. One that has changed since ends here. */
        if (size < 8 || size > c->end - c->at || !variable_record_ok(kind, r->data + c->at, size)) {
            c->at = c->end;
            return fv_cursor_next(c);
        }
    }
    c->offset = c->at;
    c->bytes = size;
    c->index = c->next_index++;
    c->at += size;
    return r->data + c->offset;
}
