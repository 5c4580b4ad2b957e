/* SPDX-License-Identifier: BSD-3-Clause */
/* See io.h: the hooks. Between the two of a call nothing is held, so that a call that never returns (a cancelled read,
 * a longjmp() out of a handler) leaves nothing behind. Rejected: a table of the process (a lock for each call); names
 * of files kept by thread (descriptors wander). */
#include "io/io.h"
#include "base/experiment.h"
#include "base/process.h"
#include "rt/events.h"
#include "rt/layers.h"
#include "rt/path.h"
#include "rt/remarks.h"
#include "trace/io_vote.h"

#include <link.h>
#include <stdio.h>

enum {
    RECORDS = 1 << 17, /* of a thread */
    OURS = 2,
};

static FV_TLS struct fv_io *own;
static struct fv_io_process *process; /* in the file; NULL: no room */

/* What we and the unwinder do to files is none of the program's. */
static struct range {
    uintptr_t begin, end;
} ours[OURS];

static const struct {
    uint8_t operation, layer;
} functions[] = {
    { 0, 0 },
#define FV_IO_FUNCTION(name, word, operation, layer) { operation, layer },
#include "trace/io-list.h"
#undef FV_IO_FUNCTION
};

/* ---- records ---- */

static bool is_of(const struct fv_io_record *r, uint32_t file, uint32_t path, uint32_t function, uint32_t flags)
{
    return r->file == file && r->path == path && r->function == function && r->flags == flags;
}

struct place {
    uint64_t key;
    struct fv_io_record *record;
};

static struct fv_io_record *new_record(struct fv_io *io, const struct fv_io_record *begin, bool beyond)
{
    static struct fv_budget budget = { .most = &fv_rt.options.profile_max }; /* of all threads */
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_IO, .first_pages = 1, .most_pages = 16, .budget = &budget
    };
    struct fv_io_record *record = fv_tail_next(&io->tail, &kind, io->thread->id, sizeof(*record), beyond);

    if (!record)
        return NULL;
    *record = *begin;
    fv_tail_commit(&io->tail, sizeof(*record));
    return record;
}

/* A key's record, made when new; `beyond`: also where the budget is used up. NULL: no room. */
static struct fv_io_record *search(struct fv_io *io, const struct fv_io_record *key, bool beyond)
{
    uint64_t hash = fv_mix2((uint64_t)key->path << 32 | key->file, key->function << 1 | key->flags) | 1;
    struct place *place;

    while ((place = fv_map_find(&io->records, sizeof(*place), hash)) &&
           !is_of(place->record, key->file, key->path, key->function, key->flags))
        hash += 2;
    if (place)
        return place->record;
    struct fv_scope scope = fv_scope_enter();
    struct fv_io_record *record = NULL;
    bool has_room = beyond || io->records.used < RECORDS - 2 * FV_IO_FUNCTIONS;
    if (has_room && fv_lock_is_free(&fv_rt.writer.lock) &&
        (place = fv_map_add(&io->records, sizeof(*place), hash, 2 * RECORDS))) {
        record = new_record(io, key, beyond);
        place->record = record;
        if (!record)
            fv_map_erase(&io->records, sizeof(*place), place);
    }
    fv_scope_leave(&scope);
    return record;
}

/* Where there is no room, a function's calls are counted together. NULL: not even that. */
static struct fv_io_record *record_of(struct fv_io *io, uint32_t file, const struct fv_io_call *call)
{
    struct fv_io_record key = {
        .file = file, .path = call->path, .function = call->function, .flags = call->in_mpi ? FV_IO_IN_MPI : 0
    };

    if (FV_LIKELY(io->last && is_of(io->last, key.file, key.path, key.function, key.flags)))
        return io->last;
    struct fv_io_record *record = search(io, &key, false);
    if (FV_UNLIKELY(!record)) {
        io->state->no_room++;
        key.file = key.path = 0;
        record = search(io, &key, true);
    }
    io->last = record ? record : io->last;
    return record;
}

static unsigned size_class(uint64_t bytes)
{
    static const uint64_t limits[FV_IO_SIZES] = FV_IO_SIZE_LIMITS;
    unsigned class = 0;

    while (bytes > limits[class])
        class ++;
    return class;
}

/* Where in the file a transfer began, and where the next one begins. */
static void follow(struct fv_io_record *r, struct fv_io_open *open, unsigned layer, bool is_write,
                   const struct fv_io_done *done)
{
    int64_t *position = &open->position[layer], *end = &open->end[layer][is_write];
    int64_t at = done->placed                                                  ? done->at
                 : is_write && open->flags & FV_IO_HANDLE_APPENDS && *end >= 0 ? *end
                                                                               : *position;

    if (at < 0 || done->unsized) {
        *position = *end = -1;
        return;
    }
    if (*end >= 0) {
        r->placed++;
        r->consecutive += at == *end;
        r->forward += at > *end;
    }
    *end = at + (int64_t)done->bytes;
    if (!done->placed)
        *position = *end;
}

static void count_bytes(struct fv_io_record *r, struct fv_io_open *open, const struct fv_io_done *done)
{
    unsigned operation = functions[r->function].operation, layer = functions[r->function].layer;
    bool is_read = operation == FV_IO_OP_READ, is_write = operation == FV_IO_OP_WRITE;

    r->bytes += done->bytes;
    r->unsized += done->unsized;
    if (is_read && !done->bytes && !done->unsized)
        r->empty++;
    if (!done->bytes && !done->unsized)
        return;
    if (is_read || is_write || operation == FV_IO_OP_ASYNC_READ || operation == FV_IO_OP_ASYNC_WRITE)
        r->sizes[size_class(done->bytes)] += !done->unsized;
    if ((is_read || is_write) && open && open->has_places)
        follow(r, open, layer, is_write, done);
}

static void count(struct fv_io_record *r, const struct fv_io_call *call, const struct fv_io_done *done, uint64_t end)
{
    struct fv_io_open *open = call->open;
    uint64_t ticks = end > call->begin ? end - call->begin : 0;

    r->calls++;
    r->ticks += ticks;
    r->ticks_max = ticks > r->ticks_max ? ticks : r->ticks_max;
    r->first = r->first ? r->first : call->begin;
    r->last = end;
    if (FV_UNLIKELY(!done->ok)) {
        r->failed++;
        return;
    }
    count_bytes(r, open, done);
    if (functions[r->function].operation == FV_IO_OP_SEEK && open)
        open->position[functions[r->function].layer] = done->at < 0 ? -1 : done->at;
}

/* ---- the trace ---- */

static uint64_t result_of(const struct fv_io_call *call, const struct fv_io_done *done)
{
    unsigned operation = functions[call->function].operation;

    if (operation == FV_IO_OP_CLOSE)
        return call->shared;
    if (!done->ok || done->unsized)
        return 0;
    if (operation == FV_IO_OP_SEEK)
        return done->at < 0 ? 0 : (uint64_t)done->at + 1;
    return done->bytes + 1;
}

static FV_COLD bool trace_with_room(struct fv_thread *t, uint64_t begin, uint64_t end, uint64_t *field)
{
    if (fv_lock_is_free(&fv_rt.writer.lock))
        fv_events_make_room(t);
    return fv_events_between(t, FV_EV_IO, begin, end, field);
}

static uint32_t handle_of(const struct fv_io_open *open)
{
    return open ? open->handle : 0;
}

static bool is_traced(const struct fv_io_call *call)
{
    return FV_UNLIKELY(__atomic_load_n(&fv_rt.tracing, __ATOMIC_RELAXED)) && !call->in_mpi;
}

/* False: it is left out. MPI's own calls are in its call, whose record is not written yet. */
static bool trace_event(struct fv_io *io, uint64_t begin, uint64_t end, uint64_t *field)
{
    return fv_is_between() && !__atomic_load_n(&fv_rt.trace_stopped, __ATOMIC_RELAXED) &&
           (fv_events_between(io->thread, FV_EV_IO, begin, end, field) ||
            trace_with_room(io->thread, begin, end, field));
}

/* `counted`: in a record, which names the function. */
static void trace(struct fv_io *io, const struct fv_io_call *call, const struct fv_io_done *done, uint64_t end,
                  bool counted)
{
    uint64_t field[] = { 0, 0, call->path, call->function, handle_of(call->open), result_of(call, done) };

    if (!(counted && trace_event(io, call->begin, end, field)) &&
        (__atomic_load_n(&fv_rt.trace_stopped, __ATOMIC_RELAXED) || fv_rt_here()))
        io->state->untraced++;
}

/* Closed by what is not counted as a call: close_range(), dup2(), or a function that is not recorded, whose descriptor
 * is another file's now. */
static void trace_end(struct fv_io *io, const struct fv_io_end *end, uint64_t time)
{
    uint64_t field[] = { 0, 0, 0, FV_IO_FN_close_range, handle_of(end->open), end->shared };

    if (handle_of(end->open))
        trace_event(io, time, time, field);
}

/* ---- the hooks ---- */

static bool is_ours(const void *address)
{
    uintptr_t at = (uintptr_t)address;

    for (unsigned i = 0; i < OURS; i++)
        if (at - ours[i].begin < ours[i].end - ours[i].begin)
            return true;
    return false;
}

/* MPI reads and writes files in its functions for files; its other descriptors are its own. */
static bool is_for_files(const struct fv_thread *t)
{
    return fv_functions[t->record->in_call.function].class == FV_CLASS_IO &&
           t->record->in_call.function < fv_function_count;
}

/* fcntl(F_DUPFD) is not counted as a call, dup() is. */
static bool is_duplicate(unsigned operation)
{
    return !operation || operation == FV_IO_OP_DUPLICATE;
}

/* A child of vfork() has our memory, and descriptors of its own. */
static bool is_child(unsigned operation)
{
    return (operation == FV_IO_OP_CLOSE || operation == FV_IO_OP_OPEN || is_duplicate(operation)) && !fv_rt_here();
}

/* A hook is under way. Its mark, on its stack, holds its own address. */
static inline void begin_hook(struct fv_io *io, volatile uintptr_t *mark)
{
    *mark = (uintptr_t)mark;
    io->busy = mark;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void end_hook(struct fv_io *io, volatile uintptr_t *mark)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    io->busy = NULL;
    *mark = 0;
}

/* A hook is under way: this is a handler that interrupted it, or it was left by siglongjmp(). A handler is below it on
 * the thread's own stack, or on another one, and leaves its mark as it was. */
static __attribute__((no_sanitize_address)) bool is_left(const struct fv_io *io, struct fv_call_place site)
{
    const struct fv_thread *t = io->thread;
    uintptr_t at = (uintptr_t)site.frame, mark = (uintptr_t)io->busy;

    if (mark < t->stack_low || mark >= t->stack_end)
        return false;
    return (at >= mark && at < t->stack_end) || *io->busy != mark;
}

/* True: go on all the same. */
static FV_COLD bool is_free(struct fv_io *io, struct fv_call_place site)
{
    if (!io || !io->thread)
        return false;
    if (is_left(io, site)) {
        io->busy = NULL;
        io->state->begin = 0;
        return true;
    }
    if (!is_ours(site.return_address))
        io->state->interrupted++;
    return false;
}

/* The descriptor is another one's, or nobody's, though nothing is recorded of that. */
static FV_COLD bool forget_descriptor(unsigned operation, int fd)
{
    if (operation == FV_IO_OP_CLOSE && fd >= 0 && fv_rt_here())
        fv_io_files_forget(fd);
    return false;
}

static void find_place(struct fv_io *io, struct fv_io_call *call, struct fv_call_place site)
{
    struct fv_thread *t = io->thread;

    if (call->in_mpi) {
        call->path = t->record->in_call.path;
        return;
    }
    t->inside = site;
    fv_current = NULL;
    call->path = fv_path_lookup(t, site)->path;
    fv_current = t;
}

static bool enter(struct fv_io_call *call, unsigned function, int fd, struct fv_call_place site)
{
    struct fv_io *io = own;
    unsigned operation = functions[function].operation;
    volatile uintptr_t mark;

    if (FV_UNLIKELY(!io || io->busy || !io->thread) && !is_free(io, site))
        return forget_descriptor(operation, fd);
    struct fv_thread *t = io->thread;
    bool in_mpi = !fv_is_between();
    if (is_ours(site.return_address) || (in_mpi && !is_for_files(t)) || FV_UNLIKELY(is_child(operation)))
        return false;
    begin_hook(io, &mark);
    *call = (struct fv_io_call){ .io = io, .function = function, .in_mpi = in_mpi };
    if (fd >= 0)
        call->open = FV_UNLIKELY(operation == FV_IO_OP_CLOSE) ? fv_io_files_closing(fd) : fv_io_files_of(fd);
    call->file = call->open ? call->open->file : 0;
    if (FV_LIKELY(operation && !fv_rt_paused())) {
        struct fv_io_thread *state = io->state;

        find_place(io, call, site);
        state->function = function;
        state->path = call->path;
        state->file = call->file;
        call->begin = fv_ticks();
        __atomic_store_n(&state->begin, call->begin, __ATOMIC_RELEASE);
    }
    end_hook(io, &mark);
    return true;
}

/* Where it was counted; NULL: nowhere. */
static struct fv_io_record *record(struct fv_io *io, const struct fv_io_call *call, const struct fv_io_done *done,
                                   uint64_t end)
{
    struct fv_io_record *r = record_of(io, call->file, call);

    if (!r)
        return NULL;
    count(r, call, done, end);
    if (!call->in_mpi) {
        uint64_t ticks = end > call->begin ? end - call->begin : 0;

        io->state->ticks += ticks;
        io->thread->switches.any = true;
        FV_IO_VOTE(&io->thread->io_since, r, 1, ticks, ticks); /* of the computing until the next call of MPI */
    }
    return r;
}

/* What the call made of descriptors. */
static FV_COLD void follow_descriptors(struct fv_io_call *call, const struct fv_io_done *done, uint64_t end)
{
    unsigned operation = functions[call->function].operation;
    struct fv_io_end before = { 0 };

    if (operation == FV_IO_OP_CLOSE) {
        call->shared = call->open ? fv_io_files_closed(call->open) : 0;
    } else if (!is_duplicate(operation)) {
        call->open = fv_io_files_made(done->made - 1, end, &before);
        call->file = call->open ? call->open->file : 0;
    } else {
        before = fv_io_files_duplicated(done->made - 1, call->open);
    }
    if (is_traced(call))
        trace_end(call->io, &before, call->begin ? call->begin : fv_ticks());
}

static struct fv_io_record *leave_at(struct fv_io_call *call, const struct fv_io_done *done)
{
    uint64_t end = fv_ticks();
    struct fv_io *io = call->io;
    struct fv_io_record *r = NULL;
    volatile uintptr_t mark;

    if (FV_UNLIKELY(io != own || !io->thread || io->busy)) {
        if (io == own && io->thread)
            io->state->interrupted++;
        return NULL;
    }
    begin_hook(io, &mark);
    if (FV_UNLIKELY(done->made > 0 || functions[call->function].operation == FV_IO_OP_CLOSE))
        follow_descriptors(call, done, end);
    if (FV_LIKELY(call->begin != 0)) {
        r = record(io, call, done, end);
        __atomic_store_n(&io->state->begin, 0, __ATOMIC_RELEASE);
        if (is_traced(call))
            trace(io, call, done, end, r != NULL);
    }
    end_hook(io, &mark);
    return r;
}

static void leave(struct fv_io_call *call, const struct fv_io_done *done)
{
    leave_at(call, done);
}

static void leave_quick(struct fv_io_call *call, const struct fv_io_done *done, struct fv_io_quick *out)
{
    struct fv_io_record *r = leave_at(call, done);

    if (!r || call->in_mpi)
        return;
    out->record = r;
    bool is_write = functions[call->function].operation == FV_IO_OP_WRITE;
    bool has_places = call->open && call->open->has_places;
    out->position = has_places ? &call->open->position[FV_IO_STDIO] : &call->io->nowhere;
    out->end = has_places ? &call->open->end[FV_IO_STDIO][is_write] : &call->io->nowhere;
    out->recording = fv_recording();
    out->changes = __atomic_load_n(&fvmpi_io_v1.changes, __ATOMIC_RELAXED);
}

static void tell_end(void *io, const struct fv_io_end *end)
{
    if (__atomic_load_n(&fv_rt.tracing, __ATOMIC_RELAXED) && !fv_rt_paused())
        trace_end(io, end, fv_ticks());
}

static void closed(unsigned first, unsigned last)
{
    struct fv_io *io = own;
    volatile uintptr_t mark;

    if (!io || io->busy || !io->thread || !fv_rt_here())
        return;
    begin_hook(io, &mark);
    fv_io_files_closed_range(first, last, tell_end, io);
    end_hook(io, &mark);
}

/* ---- threads, start and end ---- */

static struct fv_io *new_io(struct fv_thread *t)
{
    struct fv_io *io = fv_memory_new_wiped(sizeof(*io));
    struct fv_chunk_header *chunk =
        io ? fv_writer_chunk(&fv_rt.writer, FV_CHUNK_IO_THREAD, t->id, 0, sizeof(*io->state)) : NULL;

    if (!chunk) {
        fv_memory_free(io, sizeof(*io));
        return NULL;
    }
    io->state = fv_chunk_records(chunk);
    fv_chunk_commit(chunk, sizeof(*io->state));
    io->thread = t;
    io->nowhere = -1;
    return io;
}

static bool is_wanted(void)
{
    return fv_rt.options.io && &fvmpi_io_v1 && process;
}

static void thread_begins(struct fv_thread *t)
{
    if (!is_wanted())
        return;
    if (!t->io)
        t->io = new_io(t);
    if (t->io) {
        t->io->busy = NULL;
        t->io_begin = &t->io->state->begin;
    }
    own = t->io;
}

static void thread_ends(struct fv_thread *t)
{
    own = NULL;
    if (t && t->io)
        t->io->state->begin = 0;
}

static int find_ours(struct dl_phdr_info *info, size_t bytes, void *state)
{
    unsigned *count = state;
    uintptr_t here = (uintptr_t)find_ours, end = 0;
    bool is_this = false;
    (void)bytes;

    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;

        if (p->p_type != PT_LOAD)
            continue;
        end = begin + p->p_memsz > end ? begin + p->p_memsz : end;
        is_this |= here - begin < p->p_memsz;
    }
    if ((is_this || strstr(info->dlpi_name, "/libunwind")) && *count < OURS)
        ours[(*count)++] = (struct range){ info->dlpi_addr, end };
    return 0;
}

/* False: the kernel does not tell. */
static bool read_counts(struct fv_io_counts *out)
{
    static const char *const names[] = {
        "rchar: ", "wchar: ", "syscr: ", "syscw: ", "\nread_bytes: ", "\nwrite_bytes: "
    };
    uint64_t *const values[] = { &out->asked_read, &out->asked_written, &out->reads,
                                 &out->writes,     &out->device_read,   &out->device_written };
    unsigned found = 0;
    char text[512];

    if (fv_file_read("/proc/self/io", text, sizeof(text)) <= 0)
        return false;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *at = strstr(text, names[i]);
        unsigned long long value;

        if (at && sscanf(at + strlen(names[i]), "%llu", &value) == 1) {
            *values[i] = value;
            found++;
        }
    }
    return found == sizeof(names) / sizeof(names[0]);
}

static void note_counts(struct fv_thread *self)
{
    (void)self;
    if (!process || !is_wanted())
        return;
    if (process->known && read_counts(&process->last))
        process->ticks = fv_ticks();
}

static void start(struct fv_thread *self)
{
    unsigned count = 0;

    if (!fv_rt.options.io)
        return;
    if (!&fvmpi_io_v1) {
        fv_remark(
            fv_first_rank(),
            "FVMPI_IO: libfvmpi-io.so is not loaded, so files are not recorded; preload it, too (fvmpi run --io does)");
        return;
    }
    struct fv_chunk_header *chunk =
        fv_io_files_start() ? fv_writer_chunk(&fv_rt.writer, FV_CHUNK_IO_PROCESS, FV_NO_THREAD, 0, sizeof(*process))
                            : NULL;
    if (!chunk)
        return;
    process = fv_chunk_records(chunk);
    fv_chunk_commit(chunk, sizeof(*process));
    dl_iterate_phdr(find_ours, &count);
    process->known = read_counts(&process->first);
    if (self)
        thread_begins(self);
    fvmpi_io_v1.leave = leave;
    fvmpi_io_v1.leave_quick = leave_quick;
    fvmpi_io_v1.closed = closed;
    fvmpi_io_v1.recording = &fv_rt.here->recording;
    __atomic_store_n(&fvmpi_io_v1.enter, enter, __ATOMIC_RELEASE);
}

static void forget(struct fv_thread *t)
{
    struct fv_io *io = t->io;

    for (uint32_t i = 0; io && io->records.place && i <= io->records.mask; i++) {
        struct place *p = fv_map_at(&io->records, sizeof(*p), i);

        if (p->key)
            *p->record = (struct fv_io_record){ .file = p->record->file,
                                                .path = p->record->path,
                                                .function = p->record->function,
                                                .flags = p->record->flags };
    }
    if (io)
        io->state->ticks = io->state->no_room = io->state->interrupted = io->state->untraced = 0;
}

/* Of a child nothing is recorded. */
static void fork_ends(struct fv_thread *t)
{
    (void)t;
    own = NULL;
    if (&fvmpi_io_v1)
        fvmpi_io_v1.enter = NULL;
}

const struct fv_layer fv_io_layer = { .at = { [FV_AT_START] = start,
                                              [FV_AT_THREAD_BEGIN] = thread_begins,
                                              [FV_AT_THREAD_END] = thread_ends,
                                              [FV_AT_FORGET] = forget,
                                              [FV_AT_FINALIZE] = note_counts,
                                              [FV_AT_EXIT] = note_counts,
                                              [FV_AT_FORK] = fork_ends } };
