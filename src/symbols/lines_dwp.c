/* SPDX-License-Identifier: BSD-3-Clause */
/* See lines_dw.h. A package has an index, from the number of a unit to where its part of each section is
 * (DWARF 5, 7.3.5; version 2 of it: GCC's DebugFissionDWP). A unit becomes an object file in memory that
 * libdw opens: section headers, and behind them the package's file, mapped, so that nothing is copied.
 * Addresses and ranges are read here, since such an object has no program. */
#include "symbols/elf_file.h"
#include "symbols/lines_dw.h"

#include <dwarf.h>
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INFO = 1, ABBREVIATIONS = 3, STRING_OFFSETS = 6, RANGE_LISTS = 8, COLUMNS = 16 };

struct part {
    const uint8_t *data;
    uint64_t bytes;
};
struct fv_dwp {
    int fd;
    struct fv_elf elf;
    struct part index;
    uint32_t version, columns, units, slots;
};
struct fv_dwp_unit {
    uint8_t *image; /* mapped */
    size_t bytes;
    Elf *elf;
    Dwarf *dwarf;
    struct part info, addresses, ranges; /* of the unit */
    uint64_t base;
    bool is_old; /* before DWARF 5 */
};

/* ---- bytes ---- */

struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t take(struct cursor *c, size_t bytes)
{
    uint64_t value = 0;

    c->bad |= c->at > c->end || (size_t)(c->end - c->at) < bytes;
    if (c->bad)
        return 0;
    memcpy(&value, c->at, bytes); /* of this machine's byte order: fv_elf_open() saw to that */
    c->at += bytes;
    return value;
}

static uint64_t take_uleb(struct cursor *c)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;

    do {
        byte = take(c, 1);
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        shift += 7;
    } while (byte & 0x80 && !c->bad);
    return value;
}

static struct cursor from(struct part p, uint64_t offset)
{
    return (struct cursor){ p.data + (offset < p.bytes ? offset : p.bytes), p.data + p.bytes, offset > p.bytes };
}

static uint64_t number_at(struct part p, uint64_t offset, size_t bytes, bool *bad)
{
    struct cursor c = from(p, offset);
    uint64_t value = take(&c, bytes);

    *bad |= c.bad;
    return value;
}

/* ---- the package ---- */

static struct part section_of(const struct fv_elf *e, const char *name)
{
    struct fv_elf_section s = fv_elf_section(e, name);

    return (struct part){ s.data, s.data ? s.bytes : 0 };
}

static bool read_index(struct fv_dwp *p)
{
    p->index = section_of(&p->elf, ".debug_cu_index");
    struct cursor c = from(p->index, 0);
    p->version = (uint32_t)take(&c, 4) & 0xffff; /* of DWARF 5 it is a short one */
    p->columns = (uint32_t)take(&c, 4);
    p->units = (uint32_t)take(&c, 4);
    p->slots = (uint32_t)take(&c, 4);
    return !c.bad && (p->version == 2 || p->version == 5) && p->columns && p->columns <= COLUMNS && p->slots &&
           !(p->slots & (p->slots - 1)) && p->slots <= p->index.bytes / 12;
}

static struct fv_dwp *open_package(const char *path)
{
    char name[4096];
    int n = snprintf(name, sizeof(name), "%s.dwp", path);
    struct fv_dwp *p = fv_xcalloc(1, sizeof(*p));

    p->fd = n > 0 && (size_t)n < sizeof(name) ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (p->fd >= 0 && !fv_elf_open(&p->elf, name) && read_index(p))
        return p;
    fv_dwp_close(p);
    return NULL;
}

struct fv_dwp *fv_dwp_open(const char *path, const char *program)
{
    struct fv_dwp *p = open_package(path);

    return !p && program && strcmp(path, program) ? open_package(program) : p;
}

void fv_dwp_close(struct fv_dwp *p)
{
    if (!p)
        return;
    if (p->fd >= 0)
        close(p->fd);
    fv_elf_close(&p->elf);
    free(p);
}

/* The row of a unit, from 1; 0: it is not there. */
static uint32_t row_of(const struct fv_dwp *p, uint64_t id)
{
    enum { HEADER = 16 };
    uint64_t mask = p->slots - 1, at = id & mask, step = (id >> 32 & mask) | 1;
    bool bad = false;

    for (uint32_t tries = 0; tries < p->slots && !bad; tries++, at = (at + step) & mask) {
        uint32_t row = (uint32_t)number_at(p->index, HEADER + (uint64_t)p->slots * 8 + at * 4, 4, &bad);

        if (!row || row > p->units || bad)
            return 0;
        if (number_at(p->index, HEADER + at * 8, 8, &bad) == id)
            return bad ? 0 : row;
    }
    return 0;
}

/* Its part of a section, by the number that the index has for that. Bytes 0: none. */
static struct part part_of(const struct fv_dwp *p, uint32_t row, uint32_t section, const char *name)
{
    enum { HEADER = 16 };
    uint64_t names = HEADER + (uint64_t)p->slots * 12, cells = names + (uint64_t)p->columns * 4;
    struct part whole = section_of(&p->elf, name);
    bool bad = false;

    for (uint32_t i = 0; i < p->columns && !bad; i++) {
        if (number_at(p->index, names + i * UINT64_C(4), 4, &bad) != section)
            continue;
        uint64_t offset = number_at(p->index, cells + ((uint64_t)(row - 1) * p->columns + i) * 4, 4, &bad);
        uint64_t bytes = number_at(p->index, cells + ((uint64_t)(p->units + row - 1) * p->columns + i) * 4, 4, &bad);
        if (bad || offset > whole.bytes || bytes > whole.bytes - offset)
            break;
        return (struct part){ whole.data + offset, bytes };
    }
    return (struct part){ 0 };
}

/* ---- a unit as an object file ---- */

#define IMAGE_HEADER 65536u /* a multiple of all sizes of pages */

static void add_section(uint8_t *image, const struct fv_dwp *p, const char *name, struct part part)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)image;
    Elf64_Shdr *sections = (Elf64_Shdr *)(image + header->e_shoff), *names = &sections[1],
               *s = &sections[header->e_shnum];
    size_t length = strlen(name) + 1;

    if (!part.bytes)
        return;
    memcpy(image + names->sh_offset + names->sh_size, name, length);
    *s = (Elf64_Shdr){ .sh_name = (Elf64_Word)names->sh_size,
                       .sh_type = SHT_PROGBITS,
                       .sh_addralign = 1,
                       .sh_size = part.bytes,
                       .sh_offset = IMAGE_HEADER + (uint64_t)(part.data - p->elf.data) };
    names->sh_size += length;
    header->e_shnum++;
}

/* Sections' headers at 4096, their names at 16384: there are less than ten. */
static void begin_image(uint8_t *image, const struct fv_dwp *p)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)image;
    static const char own[] = "\0.shstrtab";

    memcpy(header, p->elf.data, sizeof(*header));
    header->e_type = ET_REL;
    header->e_phoff = header->e_phnum = 0;
    header->e_shoff = 4096;
    header->e_shentsize = sizeof(Elf64_Shdr);
    header->e_shnum = 2;
    header->e_shstrndx = 1;
    ((Elf64_Shdr *)(image + header->e_shoff))[1] = (Elf64_Shdr){
        .sh_name = 1, .sh_type = SHT_STRTAB, .sh_addralign = 1, .sh_offset = 16384, .sh_size = sizeof(own)
    };
    memcpy(image + 16384, own, sizeof(own));
}

static uint8_t *map_image(const struct fv_dwp *p, size_t bytes)
{
    uint8_t *image = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (image == MAP_FAILED)
        return NULL;
    if (mmap(image + IMAGE_HEADER, p->elf.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, p->fd, 0) ==
        MAP_FAILED) {
        munmap(image, bytes);
        return NULL;
    }
    return image;
}

/* The unit's own entry. */
static bool open_image(struct fv_dwp_unit *u, const struct fv_dwp *p, uint32_t row, Dwarf_Die *tree)
{
    u->bytes = IMAGE_HEADER + p->elf.bytes;
    u->image = map_image(p, u->bytes);
    if (!u->image)
        return false;
    begin_image(u->image, p);
    u->info = part_of(p, row, INFO, ".debug_info.dwo");
    add_section(u->image, p, ".debug_info.dwo", u->info);
    add_section(u->image, p, ".debug_abbrev.dwo", part_of(p, row, ABBREVIATIONS, ".debug_abbrev.dwo"));
    add_section(u->image, p, ".debug_str_offsets.dwo", part_of(p, row, STRING_OFFSETS, ".debug_str_offsets.dwo"));
    add_section(u->image, p, ".debug_str.dwo", section_of(&p->elf, ".debug_str.dwo"));
    u->elf = elf_memory((char *)u->image, u->bytes);
    u->dwarf = u->elf ? dwarf_begin_elf(u->elf, DWARF_C_READ, NULL) : NULL;
    Dwarf_CU *unit = NULL;
    return u->dwarf && !dwarf_get_units(u->dwarf, NULL, &unit, NULL, NULL, tree, NULL);
}

/* A section of the program, as libdw has it: not compressed. */
static struct part of_program(Dwarf *program, const char *name, uint64_t offset)
{
    Elf *elf = dwarf_getelf(program);
    size_t names;
    GElf_Shdr header;

    if (elf_getshdrstrndx(elf, &names))
        return (struct part){ 0 };
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        const char *own = gelf_getshdr(s, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        Elf_Data *data = own && !strcmp(own, name) ? elf_getdata(s, NULL) : NULL;

        if (data && data->d_buf && offset <= data->d_size)
            return (struct part){ (const uint8_t *)data->d_buf + offset, data->d_size - offset };
    }
    return (struct part){ 0 };
}

static uint64_t base_of(Dwarf_Die *skeleton, unsigned attribute, unsigned older)
{
    Dwarf_Attribute a;
    Dwarf_Word base = 0;

    return (dwarf_attr(skeleton, attribute, &a) || dwarf_attr(skeleton, older, &a)) && !dwarf_formudata(&a, &base)
               ? base
               : 0;
}

struct fv_dwp_unit *fv_dwp_unit(struct fv_dwp *p, Dwarf *program, Dwarf_Die *skeleton, uint64_t id, Dwarf_Die *tree)
{
    uint32_t row = row_of(p, id);
    struct fv_dwp_unit *u = row ? fv_xcalloc(1, sizeof(*u)) : NULL;
    Dwarf_Half version = 0;

    if (!u)
        return NULL;
    dwarf_cu_info(skeleton->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
    u->is_old = version < 5;
    if (dwarf_lowpc(skeleton, &u->base))
        u->base = 0;
    u->addresses = of_program(program, ".debug_addr", base_of(skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base));
    u->ranges = u->is_old ? of_program(program, ".debug_ranges",
                                       base_of(skeleton, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base))
                          : part_of(p, row, RANGE_LISTS, ".debug_rnglists.dwo");
    if (open_image(u, p, row, tree))
        return u;
    fv_dwp_unit_close(u);
    return NULL;
}

void fv_dwp_unit_close(struct fv_dwp_unit *u)
{
    if (!u)
        return;
    if (u->dwarf)
        dwarf_end(u->dwarf);
    if (u->elf)
        elf_end(u->elf);
    if (u->image)
        munmap(u->image, u->bytes);
    free(u);
}

/* ---- addresses and ranges ---- */

static uint64_t indexed(const struct fv_dwp_unit *u, uint64_t index, bool *bad)
{
    *bad |= index > UINT32_MAX;
    return *bad ? 0 : number_at(u->addresses, index * 8, 8, bad);
}

static uint64_t address_of(const struct fv_dwp_unit *u, const Dwarf_Attribute *a, bool *bad)
{
    struct cursor c = { a->valp, u->image + u->bytes, false };
    uint64_t value = 0;

    switch (a->form) {
    case DW_FORM_addr: value = take(&c, 8); break;
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index: value = indexed(u, take_uleb(&c), bad); break;
    case DW_FORM_addrx1: value = indexed(u, take(&c, 1), bad); break;
    case DW_FORM_addrx2: value = indexed(u, take(&c, 2), bad); break;
    case DW_FORM_addrx3: value = indexed(u, take(&c, 3), bad); break;
    case DW_FORM_addrx4: value = indexed(u, take(&c, 4), bad); break;
    default: *bad = true;
    }
    *bad |= c.bad;
    return value;
}

static void add_pairs(const struct fv_dwp_unit *u, uint64_t offset, struct fv_dw_ranges *out)
{
    struct cursor c = from(u->ranges, offset);
    uint64_t base = u->base;

    for (;;) {
        uint64_t low = take(&c, 8), high = take(&c, 8);

        if (c.bad || (!low && !high))
            return;
        if (low == UINT64_MAX)
            base = high;
        else
            fv_dw_range_add(out, base + low, base + high);
    }
}

static void add_list(const struct fv_dwp_unit *u, uint64_t offset, struct fv_dw_ranges *out)
{
    struct cursor c = from(u->ranges, offset);
    uint64_t base = u->base, low, high;
    bool bad = false;

    while (!c.bad && !bad) {
        switch (take(&c, 1)) {
        case DW_RLE_base_addressx: base = indexed(u, take_uleb(&c), &bad); continue;
        case DW_RLE_base_address: base = take(&c, 8); continue;
        case DW_RLE_startx_endx:
            low = indexed(u, take_uleb(&c), &bad);
            high = indexed(u, take_uleb(&c), &bad);
            break;
        case DW_RLE_startx_length:
            low = indexed(u, take_uleb(&c), &bad);
            high = low + take_uleb(&c);
            break;
        case DW_RLE_offset_pair:
            low = base + take_uleb(&c);
            high = base + take_uleb(&c);
            break;
        case DW_RLE_start_end:
            low = take(&c, 8);
            high = take(&c, 8);
            break;
        case DW_RLE_start_length:
            low = take(&c, 8);
            high = low + take_uleb(&c);
            break;
        default: return; /* the end, too */
        }
        if (!c.bad && !bad)
            fv_dw_range_add(out, low, high);
    }
}

/* Where its list is: by a number in the table before the lists, of 32-bit DWARF. */
static uint64_t list_of(const struct fv_dwp_unit *u, const Dwarf_Attribute *a, bool *bad)
{
    enum { HEADER = 12 };
    struct cursor c = { a->valp, u->image + u->bytes, false };

    if (a->form != DW_FORM_rnglistx) {
        uint64_t offset = take(&c, 4);

        *bad |= c.bad || a->form != DW_FORM_sec_offset;
        return offset;
    }
    uint64_t index = take_uleb(&c);
    *bad |= c.bad || index > UINT32_MAX;
    return *bad ? 0 : HEADER + number_at(u->ranges, HEADER + index * 4, 4, bad);
}

void fv_dwp_ranges(struct fv_dwp_unit *u, Dwarf_Die *die, struct fv_dw_ranges *out)
{
    Dwarf_Attribute low, high, ranges;
    Dwarf_Word bytes;
    bool bad = false;

    if (dwarf_attr(die, DW_AT_low_pc, &low) && dwarf_attr(die, DW_AT_high_pc, &high)) {
        uint64_t begin = address_of(u, &low, &bad);
        uint64_t end = dwarf_formudata(&high, &bytes) ? address_of(u, &high, &bad) : begin + bytes;

        if (!bad)
            fv_dw_range_add(out, begin, end);
    } else if (dwarf_attr(die, DW_AT_ranges, &ranges)) {
        uint64_t offset = list_of(u, &ranges, &bad);

        if (!bad && u->is_old)
            add_pairs(u, offset, out);
        else if (!bad)
            add_list(u, offset, out);
    }
}
