/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded ELF objects: which object an address belongs to. The list is filled on demand, for the objects
 * that call paths lead through; an object that was unloaded is noticed through the loader's own counter of
 * removals.
 *
 * The loader's lock is never waited for while the tree's is held, where the C library allows that
 * (glibc 2.35): a thread in a callback of dl_iterate_phdr() has it, and may use a lock of its own
 * (--threads), which leads here. */
#include "rt/identity.h"
#include "rt/loaded_objects.h"
#include "rt/map.h"
#include "rt/path.h"
#include "rt/tail.h"
#include "trace/code_path.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define MODULES 1024  /* distinct objects a process may show call paths through; more are `unknown` */
#define CODES   65536 /* places for functions of source code, half of which may be taken */

struct module {
    uintptr_t begin, end; /* empty when unloaded */
    uintptr_t bias;
    uint64_t identity; /* of path and build-id */
    uint32_t id;
    bool is_binding;
};

static struct module modules[MODULES];
static unsigned module_count;
static uint32_t last_id;
static uint64_t removals;
static struct fv_tail tail;

/* What dl_iterate_phdr() says of the object that holds `address`. */
struct query {
    uintptr_t address;
    bool found;
    struct module module;
    const uint8_t *build_id;
    uint32_t build_id_bytes;
    const char *path;
};

static void read_notes(struct query *q, const struct dl_phdr_info *info, const ElfW(Phdr) * ph)
{
    const char *p = (const char *)(info->dlpi_addr + ph->p_vaddr), *end = p + ph->p_memsz;

    while (p + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const void *)p;
        const char *name = p + sizeof(*note), *desc = name + fv_round_up(note->n_namesz, 4);

        if (note->n_namesz > (size_t)(end - name) || desc > end || note->n_descsz > (size_t)(end - desc))
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
            q->build_id = (const uint8_t *)desc;
            q->build_id_bytes = note->n_descsz < 32 ? note->n_descsz : 32;
            return;
        }
        p = desc + fv_round_up(note->n_descsz, 4);
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct query *q = arg;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    (void)size;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + ph->p_vaddr;

        if (ph->p_type != PT_LOAD)
            continue;
        begin = at < begin ? at : begin;
        end = at + ph->p_memsz > end ? at + ph->p_memsz : end;
    }
    if (q->address < begin || q->address >= end)
        return 0;
    q->found = true;
    q->module = (struct module){ .begin = begin, .end = end, .bias = info->dlpi_addr };
    q->path = info->dlpi_name;
    for (int i = 0; i < info->dlpi_phnum && !q->build_id; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            read_notes(q, info, &info->dlpi_phdr[i]);
    return 1;
}

/* By what the object's first page says, which is there as long as the object. False: the loader has to be
 * asked: tools that change files may move the program headers to where no memory is, or other memory. */
static bool ask_without_lock(struct query *q)
{
    struct fv_loaded_object found;

    if (!fv_loaded_ask(q->address, &found))
        return false;
    if (!found.object)
        return true;
    const char *map = found.object;
    const ElfW(Ehdr) *elf = found.object;

    if (memcmp(elf->e_ident, ELFMAG, SELFMAG) || elf->e_phentsize != sizeof(ElfW(Phdr)) ||
        elf->e_phoff + elf->e_phnum * sizeof(ElfW(Phdr)) > FV_PAGE)
        return false;
    struct dl_phdr_info info = { .dlpi_addr = found.loader->l_addr,
                                 .dlpi_name = found.loader->l_name,
                                 .dlpi_phdr = (const void *)(map + elf->e_phoff),
                                 .dlpi_phnum = elf->e_phnum };
    return visit(&info, sizeof(info), q);
}

/* The main program has an empty name in the loader's list. */
static const char *full_path(const char *name, char *buffer, size_t bytes)
{
    if (name && *name)
        return name;
    fv_program(buffer, bytes);
    return buffer;
}

/* What the record says of the module but its path. */
static bool write_module(const struct fv_module_record *what, const char *path, bool tries)
{
    size_t bytes = fv_round_up(sizeof(*what) + what->path_bytes + 1, 8);

    const struct fv_tail_kind kind = {
        .type = FV_CHUNK_MODULES, .first_pages = 1, .most_pages = 1, .varies = true, .tries = tries
    };
    struct fv_module_record *record = fv_tail_next(&tail, &kind, FV_NO_THREAD, bytes, false);
    if (!record)
        return false;
    *record = *what;
    record->bytes = (uint32_t)bytes;
    memcpy(record->path, path, what->path_bytes + 1);
    fv_tail_commit(&tail, bytes);
    last_id = what->id;
    return true;
}

static bool write_object(const struct query *q, const char *path)
{
    const struct module *m = &q->module;
    struct fv_module_record record = { .id = m->id,
                                       .bias = m->bias,
                                       .begin = m->begin,
                                       .end = m->end,
                                       .build_id_bytes = q->build_id_bytes,
                                       .path_bytes = (uint32_t)strlen(path) };

    if (q->build_id)
        memcpy(record.build_id, q->build_id, q->build_id_bytes);
    return write_module(&record, path, false);
}

static uint64_t identify(const struct query *q, const char *path)
{
    uint64_t hash = q->module.bias;

    for (; *path; path++)
        hash = fv_mix2(hash, (unsigned char)*path);
    for (uint32_t i = 0; i < q->build_id_bytes; i++)
        hash = fv_mix2(hash, q->build_id[i]);
    return hash;
}

/* Of Python: mpi4py's extension, foreign functions, and what else comes with the interpreter. */
static bool is_binding(const char *path)
{
    static const char *const parts[] = { "/mpi4py/MPI.", "/lib-dynload/", "/libffi.so.", "/_cffi_backend." };

    for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (strstr(path, parts[i]))
            return true;
    return false;
}

/* Asks the loader; an object that comes back to where it was keeps its id. */
static FV_COLD const struct module *discover(uintptr_t address)
{
    char buffer[4096];
    struct query q = { .address = address };

    if (!ask_without_lock(&q))
        dl_iterate_phdr(visit, &q);
    if (!q.found)
        return NULL;
    const char *path = full_path(q.path, buffer, sizeof(buffer));
    q.module.identity = identify(&q, path);
    for (unsigned i = 0; i < module_count; i++)
        if (modules[i].identity == q.module.identity) {
            modules[i].begin = q.module.begin;
            modules[i].end = q.module.end;
            return &modules[i];
        }
    if (module_count == MODULES)
        return NULL;
    q.module.id = last_id + 1;
    q.module.is_binding = is_binding(path);
    if (!write_object(&q, path))
        return NULL;
    modules[module_count] = q.module;
    __atomic_store_n(&module_count, module_count + 1, __ATOMIC_RELEASE); /* for fv_module_known() */
    return &modules[module_count - 1];
}

bool fv_module_is_binding(uint32_t id)
{
    for (unsigned i = 0; i < module_count; i++)
        if (modules[i].id == id)
            return modules[i].is_binding;
    return false;
}

uint32_t fv_module_of_code(const char *file, const char *function, bool tries)
{
    static struct fv_map known; /* struct code */
    struct code {
        uint64_t identity;
        uint32_t id;
    } * code;
    struct fv_module_record record = { .id = last_id + 1, .build_id_bytes = FV_CODE_ID_BYTES };
    static char path[4096 - 2 * sizeof(struct fv_module_record)]; /* a record fits into a page; signal handlers have
                                                                   * little of a stack */
    uint64_t identity = 1;

    record.path_bytes = (uint32_t)fv_code_path(file, function, path, sizeof(path));
    for (const char *p = path; *p; p++)
        identity = fv_mix2(identity, (unsigned char)*p);
    if (!(code = fv_map_add(&known, sizeof(*code), identity, CODES)))
        return FV_MODULE_UNKNOWN;
    if (!code->id) {
        memcpy(record.build_id, FV_CODE_ID, sizeof(FV_CODE_ID) - 1);
        memcpy(record.build_id + sizeof(FV_CODE_ID) - 1, &identity, sizeof(identity));
        if (write_module(&record, path, tries))
            code->id = record.id;
        else if (!tries)
            code->id = FV_MODULE_UNKNOWN;
    }
    return code->id ? code->id : FV_MODULE_UNKNOWN;
}

uint32_t fv_module_known(uintptr_t address, uint64_t *offset)
{
    unsigned count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);

    for (unsigned i = 0; i < count; i++) {
        const struct module m = modules[i];

        if (address - m.begin < m.end - m.begin) {
            *offset = address - m.bias;
            return m.id;
        }
    }
    *offset = address;
    return FV_MODULE_UNKNOWN;
}

uint32_t fv_module_find(uintptr_t address, uint64_t *offset)
{
    const struct module *m = NULL;

    for (unsigned i = 0; i < module_count && !m; i++)
        if (address - modules[i].begin < modules[i].end - modules[i].begin)
            m = &modules[i];
    if (!m)
        m = discover(address);
    *offset = m ? address - m->bias : address;
    return m ? m->id : FV_MODULE_UNKNOWN;
}

uint32_t fv_module_of(uintptr_t address, uint64_t *offset)
{
    uint64_t removals = fv_module_removals(), signals = fv_lock_sigsave(&fv_tree_lock);

    fv_module_refresh(removals);
    uint32_t id = fv_module_find(address, offset);
    fv_unlock_sigrestore(&fv_tree_lock, signals);
    return id;
}

static int count_removals(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(unsigned long long *)arg = info->dlpi_subs;
    return 1;
}

uint64_t fv_module_removals(void)
{
    unsigned long long now = 0;

    dl_iterate_phdr(count_removals, &now);
    return now;
}

void fv_module_refresh(uint64_t now)
{
    if (now == removals)
        return;
    removals = now;
    for (unsigned i = 0; i < module_count; i++)
        modules[i].begin = modules[i].end = 0;
}
