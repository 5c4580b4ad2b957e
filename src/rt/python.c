/* SPDX-License-Identifier: BSD-3-Clause */
/* See python.h: which interpreter it is, and where its threads are. */
#include "rt/layers.h"
#include "rt/path.h"
#include "rt/python_frames.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>

/* Of builds for 64-bit processors, with the usual options. */
/* A row is to be seen as one. */
/* clang-format off */
static const struct fv_python_layout layouts[] = {
    { .version = "3.8.", .lines = FV_LINES_ADDRESSES, .state_frame = 24, .frame_bytes = 112, .back = 24, .code = 32,
      .last = 104, .last_unit = 1, .code_bytes = 128, .name = 112, .file = 104, .first_line = 40, .line_table = 120,
      .ascii = 48, .other = 72 },
    { .version = "3.9.", .lines = FV_LINES_ADDRESSES, .state_frame = 24, .frame_bytes = 112, .back = 24, .code = 32,
      .last = 104, .last_unit = 1, .code_bytes = 128, .name = 112, .file = 104, .first_line = 40, .line_table = 120,
      .ascii = 48, .other = 72 },
    { .version = "3.10.", .lines = FV_LINES_RANGES, .state_frame = 24, .frame_bytes = 112, .back = 24, .code = 32,
      .last = 96, .last_unit = 2, .code_bytes = 128, .name = 112, .file = 104, .first_line = 40, .line_table = 120,
      .ascii = 48, .other = 72 },
    { .version = "3.11.", .lines = FV_LINES_LOCATIONS, .state_frame = 56, .indirect = true, .holder_frame = 8,
      .frame_bytes = 72, .back = 48, .code = 32, .last = 56, .last_is_address = true, .entry = 68, .code_bytes = 144,
      .name = 128, .file = 112, .first_line = 72, .line_table = 136, .instructions = 184, .ascii = 48, .other = 72 },
    { .version = "3.12.", .lines = FV_LINES_LOCATIONS, .state_frame = 56, .indirect = true, .holder_frame = 0,
      .frame_bytes = 72, .back = 8, .code = 0, .last = 56, .last_is_address = true, .owner = 70, .code_bytes = 144,
      .name = 128, .file = 112, .first_line = 68, .line_table = 136, .instructions = 192, .ascii = 40, .other = 56 },
    { .version = "3.13.", .lines = FV_LINES_LOCATIONS, .state_frame = 72, .frame_bytes = 72, .back = 8, .code = 0,
      .last = 56, .last_is_address = true, .owner = 70, .code_bytes = 144, .name = 128, .file = 112, .first_line = 68,
      .line_table = 136, .instructions = 200, .ascii = 40, .other = 56 },
};
/* clang-format on */

#define STATE_BYTES 256 /* of a thread's state, that all versions have */

const struct fv_python_layout *fv_python;

/* The process's. Set once, at the start. */
static struct {
    const struct fv_python_layout *layout; /* NULL: none */
    struct fv_python_types types;
    uintptr_t loop, loop_bytes;
    uint32_t module;
    int (*is_initialized)(void);
    void *(*state_of_thread)(void); /* takes no lock of the interpreter's, and may be asked without it */
    struct fv_interpreter_record *record;
    uintptr_t thread_id; /* where in the state of a thread its number stands; 0: not known */
    struct fv_lock trying;
} python;

static uintptr_t read_word(uintptr_t at)
{
    return *(const uintptr_t *)at;
}

/* By other means than the functions of the interpreter it is not known whether there is one, by now or still. The state
 * may have been deleted by another thread: then it is somebody else's memory, which has not the thread's number in its
 * place. */
static uintptr_t own_state(void)
{
    uintptr_t state = python.is_initialized() ? (uintptr_t)python.state_of_thread() : 0;

    return state && python.thread_id && read_word(state + python.thread_id) != (uintptr_t)pthread_self() ? 0 : state;
}

/* Of all frames: the instruction, and what its code object is. One that was freed may have left its place, and those of
 * its parts, to another one, whose lines differ. */
static inline __attribute__((always_inline)) uint64_t add_up(const struct fv_python_layout *l, uintptr_t frame,
                                                             bool is_address, bool has_owner)
{
    uint64_t state = 0;

    for (unsigned i = 0; i < FV_PYTHON_FRAMES && frame; i++, frame = read_word(frame + l->back)) {
        if (has_owner && *(const uint8_t *)(frame + l->owner) == FV_PYTHON_OWNER_LOOP)
            continue;
        uintptr_t code = read_word(frame + l->code), lines = read_word(code + l->line_table);
        uint64_t first_line = *(const uint32_t *)(code + l->first_line);
        uint64_t last = is_address ? read_word(frame + l->last) : *(const uint32_t *)(frame + l->last);

        state = (state ^ code ^ read_word(code + l->name) << 20 ^ first_line << 40) * UINT64_C(0x9e3779b97f4a7c15);
        state =
            (state << 32 | state >> 32) + (last ^ read_word(lines + FV_PYTHON_BYTES)) * UINT64_C(0xd6e8feb86659fd93);
    }
    return state;
}

uint64_t fv_python_state(void)
{
    const struct fv_python_layout *l = fv_python;
    uintptr_t thread = own_state(), frame = thread ? read_word(thread + l->state_frame) : 0;

    if (frame && l->indirect)
        frame = read_word(frame + l->holder_frame);
    if (l->owner)
        return add_up(l, frame, true, true);
    return l->last_is_address ? add_up(l, frame, true, false) : add_up(l, frame, false, false);
}

bool fv_python_walk(struct fv_python_walk *walk, bool anywhere)
{
    const struct fv_python_layout *layout = anywhere ? python.layout : fv_python;
    uintptr_t thread = layout ? own_state() : 0;

    walk->count = 0;
    return thread && fv_python_read(layout, &python.types, thread, !anywhere, walk) && walk->count;
}

struct fv_python_samples *fv_python_samples_new(void)
{
    return python.layout ? fv_memory_new(sizeof(struct fv_python_samples)) : NULL;
}

/* A program that calls no MPI is tried by its first sample. */
bool fv_python_sample(struct fv_python_samples *samples)
{
    struct fv_interpreter_record *record = python.record;
    uintptr_t thread = record->state == FV_INTERPRETER_UNKNOWN ? 0 : own_state();

    if (!thread)
        return false;
    bool all = fv_python_read_sample(python.layout, &python.types, thread, samples);
    if (!all && record->state == FV_INTERPRETER_READ)
        __atomic_fetch_add(&record->unread, 1, __ATOMIC_RELAXED);
    if (all && samples->walk.count && record->state == FV_INTERPRETER_UNTRIED)
        record->state = FV_INTERPRETER_READ;
    return all && samples->walk.count;
}

bool fv_python_is_loop(uintptr_t return_address)
{
    return return_address - python.loop <= python.loop_bytes;
}

uint32_t fv_python_module(void)
{
    return python.module;
}

uint32_t fv_python_exit(void)
{
    char file[sizeof(python.record->version) + 8];

    if (python.is_initialized())
        return 0;
    snprintf(file, sizeof(file), "Python %s", python.record->version);
    return fv_module_of_code(file, "exit", false);
}

/* ---- the interpreter is found, and tried once ---- */

static void conclude(uint32_t state)
{
    python.record->state = state;
    if (state == FV_INTERPRETER_UNKNOWN && !fv_rt.world_rank && !fv_rt.options.quiet) /* its record tells the report */
        fv_log("Python %s: fvmpi cannot read frames of this version; call sites show functions of the interpreter",
               python.record->version);
}

/* Where in its state the thread's number stands; 0: not found. */
static uintptr_t find_thread_id(uintptr_t thread)
{
    for (uintptr_t at = sizeof(uintptr_t); at < STATE_BYTES; at += sizeof(uintptr_t))
        if (read_word(thread + at) == (uintptr_t)pthread_self())
            return at;
    return 0;
}

static void try_frames(uintptr_t thread)
{
    struct fv_python_walk *walk = fv_memory_new(sizeof(*walk));

    if (!walk)
        return;
    bool known = fv_python_read(python.layout, &python.types, thread, false, walk);
    if (known && walk->count) {
        python.thread_id = find_thread_id(thread);
        __atomic_store_n(&fv_python, python.layout, __ATOMIC_RELEASE);
    }
    if (!known || walk->count)
        conclude(known ? FV_INTERPRETER_READ : FV_INTERPRETER_UNKNOWN);
    fv_memory_free(walk, sizeof(*walk));
}

bool fv_python_try(void)
{
    uintptr_t thread;

    if (!python.layout || python.record->state == FV_INTERPRETER_UNKNOWN || !(thread = own_state()))
        return false;
    uint64_t signals = fv_lock_sigsave(&python.trying);
    if (!fv_python)
        try_frames(thread);
    fv_unlock_sigrestore(&python.trying, signals);
    return fv_python;
}

void fv_python_missed(void)
{
    if (python.record->state == FV_INTERPRETER_READ)
        __atomic_fetch_add(&python.record->unread, 1, __ATOMIC_RELAXED);
    else if (python.record->state == FV_INTERPRETER_UNTRIED && own_state())
        conclude(FV_INTERPRETER_UNKNOWN);
}

/* The object file stays, since its functions are called, whatever closes it. */
static void keep(const void *address)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map && *map->l_name)
        dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static bool find_functions(void)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;
    uint64_t offset;
    void *loop = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");

    python.is_initialized = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    python.state_of_thread = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    python.types = (struct fv_python_types){ .code = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type"),
                                             .text = (uintptr_t)dlsym(RTLD_DEFAULT, "PyUnicode_Type"),
                                             .bytes = (uintptr_t)dlsym(RTLD_DEFAULT, "PyBytes_Type") };
    if (!loop || !python.is_initialized || !python.state_of_thread || !python.types.code || !python.types.text ||
        !python.types.bytes || !dladdr1(loop, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
        return false;
    python.loop = (uintptr_t)loop;
    python.loop_bytes = symbol->st_size;
    python.module = fv_module_of(python.loop + 1, &offset);
    keep(loop);
    return true;
}

static const struct fv_python_layout *layout_of(const char *version)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts) && sizeof(void *) == 8; i++)
        if (!strncmp(version, layouts[i].version, strlen(layouts[i].version)))
            return &layouts[i];
    return NULL;
}

static void start(struct fv_thread *self)
{
    const char *(*version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
    struct fv_chunk_header *chunk =
        version ? fv_writer_chunk(&fv_rt.writer, FV_CHUNK_INTERPRETER, FV_NO_THREAD, 0, sizeof(*python.record)) : NULL;
    (void)self;

    if (!chunk)
        return;
    python.record = fv_chunk_records(chunk);
    snprintf(python.record->version, sizeof(python.record->version), "%.*s", (int)strcspn(version(), " "), version());
    fv_chunk_commit(chunk, sizeof(*python.record));
    const struct fv_python_layout *layout = layout_of(version());
    if (layout && find_functions())
        python.layout = layout;
    else
        conclude(FV_INTERPRETER_UNKNOWN);
    fv_python_try();
}
const struct fv_layer fv_python_layer = { .at = { [FV_AT_START] = start } };
