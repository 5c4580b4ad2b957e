/* SPDX-License-Identifier: BSD-3-Clause */
/* See elf_file.h. */
#include "symbols/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const void *at(const struct fv_elf *e, uint64_t offset, uint64_t bytes)
{
    return offset <= e->bytes && bytes <= e->bytes - offset ? e->data + offset : NULL;
}

/* ---- sections ---- */

static uint64_t section_count(const struct fv_elf *e, Elf64_Ehdr *h)
{
    *h = (Elf64_Ehdr){ .e_shstrndx = 0 };
    if (!e->data) /* the file is not there, or is none */
        return 0;
    memcpy(h, e->data, sizeof(*h));
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff > e->bytes)
        return 0;
    uint64_t room = (e->bytes - h->e_shoff) / sizeof(Elf64_Shdr);
    return h->e_shnum < room ? h->e_shnum : room;
}

static Elf64_Shdr section(const struct fv_elf *e, const Elf64_Ehdr *h, uint64_t i)
{
    Elf64_Shdr s;

    memcpy(&s, e->data + h->e_shoff + i * sizeof(s), sizeof(s));
    return s;
}

/* A string that ends within its section. */
static const char *string_at(const struct fv_elf *e, const Elf64_Shdr *strings, uint64_t offset)
{
    const char *base = strings->sh_type == SHT_NOBITS ? NULL : at(e, strings->sh_offset, strings->sh_size);

    if (!base || offset >= strings->sh_size || !memchr(base + offset, '\0', strings->sh_size - offset))
        return "";
    return base + offset;
}

/* ---- build-id ---- */

static void read_notes(struct fv_elf *e, uint64_t offset, uint64_t bytes)
{
    const uint8_t *p = at(e, offset, bytes), *end = p ? p + bytes : NULL;
    Elf64_Nhdr note;

    while (p && (size_t)(end - p) >= sizeof(note)) {
        memcpy(&note, p, sizeof(note));
        p += sizeof(note);
        uint64_t name = fv_round_up(note.n_namesz, 4), desc = fv_round_up(note.n_descsz, 4);
        if (name > (size_t)(end - p) || note.n_descsz > (size_t)(end - p) - name)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(p, "GNU", 4)) {
            e->build_id_bytes = note.n_descsz < sizeof(e->build_id) ? note.n_descsz : sizeof(e->build_id);
            memcpy(e->build_id, p + name, e->build_id_bytes);
            return;
        }
        if (desc > (size_t)(end - p) - name)
            return;
        p += name + desc;
    }
}

static void read_sections(struct fv_elf *e)
{
    Elf64_Ehdr h;
    uint64_t count = section_count(e, &h);
    Elf64_Shdr names = { 0 };

    if (h.e_shstrndx < count)
        names = section(e, &h, h.e_shstrndx);
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Shdr s = section(e, &h, i);
        const char *name = string_at(e, &names, s.sh_name);

        if (s.sh_type == SHT_NOTE && !e->build_id_bytes)
            read_notes(e, s.sh_offset, s.sh_size);
        if (s.sh_type != SHT_NOBITS && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
            e->has_lines = true;
    }
}

/* ---- symbols ---- */

static void add_symbol(struct fv_elf *e, const Elf64_Sym *s, const char *name)
{
    static const uint8_t preference[] = { [STB_GLOBAL] = 0, [STB_WEAK] = 1, [STB_LOCAL] = 2 };
    unsigned type = ELF64_ST_TYPE(s->st_info), bind = ELF64_ST_BIND(s->st_info);

    if (!strncmp(name, "_gfortran_", 10))
        e->fortran = true;
    if ((s->st_shndx == SHN_UNDEF) != (e->what == FV_ELF_IMPORTS) || s->st_shndx >= SHN_LORESERVE || !name[0])
        return;
    bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && s->st_size);
    if (e->what == FV_ELF_VARIABLES ? type != STT_OBJECT && type != STT_COMMON
                                    : e->what == FV_ELF_FUNCTIONS && !is_function)
        return;
    FV_GROW(e->symbols, e->symbol_room, e->symbol_count + 1);
    e->symbols[e->symbol_count++] =
        (struct fv_elf_symbol){ s->st_value, s->st_size, name, s->st_shndx, bind < 3 ? preference[bind] : 3 };
}

static bool read_table(struct fv_elf *e, uint32_t type)
{
    Elf64_Ehdr h;
    uint64_t count = section_count(e, &h);
    bool found = false;

    for (uint64_t i = 0; i < count; i++) {
        Elf64_Shdr s = section(e, &h, i);
        const uint8_t *table = s.sh_type == type ? at(e, s.sh_offset, s.sh_size) : NULL;

        if (!table || s.sh_link >= count)
            continue;
        Elf64_Shdr strings = section(e, &h, s.sh_link);
        found = true;
        for (uint64_t k = 0; k < s.sh_size / sizeof(Elf64_Sym); k++) {
            Elf64_Sym symbol;

            memcpy(&symbol, table + k * sizeof(symbol), sizeof(symbol));
            add_symbol(e, &symbol, string_at(e, &strings, symbol.st_name));
        }
    }
    return found;
}

static int by_address(const void *a, const void *b)
{
    const struct fv_elf_symbol *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->preference != y->preference)
        return x->preference < y->preference ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void read_symbols(struct fv_elf *e, enum fv_elf_what what)
{
    e->what = what;
    e->symbol_count = 0;
    if (what == FV_ELF_IMPORTS || !read_table(e, SHT_SYMTAB))
        read_table(e, SHT_DYNSYM);
    if (e->symbol_count)
        qsort(e->symbols, e->symbol_count, sizeof(*e->symbols), by_address);
}

void fv_elf_symbols(struct fv_elf *e)
{
    read_symbols(e, FV_ELF_FUNCTIONS);
}

void fv_elf_variables(struct fv_elf *e)
{
    read_symbols(e, FV_ELF_VARIABLES);
}

void fv_elf_imports(struct fv_elf *e)
{
    read_symbols(e, FV_ELF_IMPORTS);
}

/* A symbol without a size, such as _init, goes on to the end of its section: behind that there may be jumps to shared
 * libraries, which are none of its. */
static bool holds(const struct fv_elf *e, const struct fv_elf_symbol *s, uint64_t address)
{
    Elf64_Ehdr h;

    if (s->size)
        return address - s->begin < s->size;
    if (s->section >= section_count(e, &h))
        return false;
    const Elf64_Shdr in = section(e, &h, s->section);

    return address - in.sh_addr < in.sh_size;
}

const struct fv_elf_symbol *fv_elf_find(const struct fv_elf *e, uint64_t address)
{
    size_t before = FV_COUNT_BEFORE(i, e->symbol_count, e->symbols[i].begin <= address);

    /* An alias or a small symbol inside of a larger one may stand between. */
    const struct fv_elf_symbol *best = NULL;
    for (size_t i = before, steps = 0; i-- > 0 && steps < 16; steps++) {
        const struct fv_elf_symbol *s = &e->symbols[i];

        if (best && s->begin != best->begin)
            break;
        if ((s->size || !steps) && holds(e, s, address))
            best = s;
    }
    return best;
}

static const uint8_t *loaded(const struct fv_elf *e, uint64_t flags, uint64_t address, uint64_t bytes)
{
    Elf64_Ehdr h;
    uint64_t count = section_count(e, &h);

    for (uint64_t i = 0; i < count; i++) {
        Elf64_Shdr s = section(e, &h, i);

        if (s.sh_type != SHT_NOBITS && (s.sh_flags & flags) == flags && address >= s.sh_addr &&
            address - s.sh_addr < s.sh_size && bytes <= s.sh_size - (address - s.sh_addr))
            return at(e, s.sh_offset + (address - s.sh_addr), bytes);
    }
    return NULL;
}

const uint8_t *fv_elf_data(const struct fv_elf *e, uint64_t address, uint64_t bytes)
{
    return loaded(e, SHF_ALLOC, address, bytes);
}

const uint8_t *fv_elf_code(const struct fv_elf *e, uint64_t address, uint64_t bytes)
{
    return loaded(e, SHF_ALLOC | SHF_EXECINSTR, address, bytes);
}

struct fv_elf_section fv_elf_section(const struct fv_elf *e, const char *name)
{
    Elf64_Ehdr h;
    uint64_t count = section_count(e, &h);
    Elf64_Shdr names = { 0 };

    if (h.e_shstrndx < count)
        names = section(e, &h, h.e_shstrndx);
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Shdr s = section(e, &h, i);
        const uint8_t *data = s.sh_type == SHT_NOBITS ? NULL : at(e, s.sh_offset, s.sh_size);

        if (data && !strcmp(string_at(e, &names, s.sh_name), name))
            return (struct fv_elf_section){ s.sh_addr, s.sh_size, data };
    }
    return (struct fv_elf_section){ 0 };
}

/* ---- its debug file ---- */

const char *fv_elf_debug_link(const struct fv_elf *e)
{
    struct fv_elf_section link = fv_elf_section(e, ".gnu_debuglink");
    const char *name = (const char *)link.data;

    return link.bytes && memchr(name, '\0', link.bytes) && *name && !strchr(name, '/') ? name : NULL;
}

#define PIECE ((size_t)1 << 30) /* what zlib takes at once */
/* The checksum stands behind the name, at the next multiple of 4. */
bool fv_elf_is_linked(const struct fv_elf *e, const struct fv_elf *debug)
{
    struct fv_elf_section link = fv_elf_section(e, ".gnu_debuglink");
    const char *name = fv_elf_debug_link(e);
    uint64_t at = name ? fv_round_up(strlen(name) + 1, 4) : 0;
    uint32_t wanted;

    if (!name || at + sizeof(wanted) > link.bytes)
        return false;
    memcpy(&wanted, link.data + at, sizeof(wanted));
    uLong sum = crc32(0, NULL, 0);
    for (size_t done = 0, part; done < debug->bytes; done += part) {
        part = debug->bytes - done < PIECE ? debug->bytes - done : PIECE;
        sum = crc32(sum, debug->data + done, (uInt)part);
    }
    return sum == wanted;
}

/* ---- open ---- */

int fv_elf_open(struct fv_elf *e, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    void *map = MAP_FAILED;

    *e = (struct fv_elf){ 0 };
    if (fd < 0)
        return -FV_EIO;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof(Elf64_Ehdr))
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return -FV_EFORMAT;
    e->data = map;
    e->bytes = (size_t)st.st_size;
    if (memcmp(e->data, ELFMAG, SELFMAG) || e->data[EI_CLASS] != ELFCLASS64 ||
        e->data[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)) {
        fv_elf_close(e);
        return -FV_EFORMAT;
    }
    read_sections(e);
    return 0;
}

void fv_elf_close(struct fv_elf *e)
{
    if (e->data)
        munmap((void *)e->data, e->bytes);
    free(e->symbols);
    *e = (struct fv_elf){ 0 };
}
