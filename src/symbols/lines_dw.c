/* SPDX-License-Identifier: BSD-3-Clause */
/* See lines_reader.h: by elfutils' libdw, of which this is the only user, with lines_dwp.c. Rejected: its
 * libdwfl, which asks servers for debug information, and dwarf_getscopes(), which walks through all of a unit
 * for each address.
 *
 * Units are found by their ranges, read once. A unit's functions, and the table of its lines, are read when
 * an address is in it; what was inlined into a function is kept for the function of the last address, as
 * addresses come sorted. libdw keeps strings. */
#include "symbols/lines_dw.h"
#include "symbols/lines_reader.h"
#include "tool/words.h"

#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH_MAX 256 /* of entries within entries: what is deeper is damaged */

struct unit {
    Dwarf_Die die;              /* in the file itself, which has the lines */
    Dwarf_Die tree;             /* whose children are functions: in another file by -gsplit-dwarf */
    struct fv_dwp_unit *packed; /* of the tree, where that is in a package */
    bool is_open;
    Dwarf_Die *functions;
    size_t function_count, function_room;
    struct fv_dw_ranges ranges; /* of functions */
};
struct inlined {
    uint64_t low, high;
    Dwarf_Die die;
};
struct object {
    int fd;
    Dwarf *dwarf;
    struct fv_dwp *package; /* NULL: none */
    struct unit *units;
    size_t unit_count, unit_room;
    struct fv_dw_ranges ranges; /* of units */
    const Dwarf_Die *function;  /* the last one, with */
    struct inlined *inlined;    /* ... what was inlined into it, outer before inner */
    size_t inlined_count, inlined_room;
    unsigned missing;          /* units whose other file is not there: the name of */
    const char *missing_first; /* ... one of them */
};

/* ---- ranges ---- */

static int by_address(const void *a, const void *b)
{
    const struct fv_dw_range *x = a, *y = b;

    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->high < y->high) - (x->high > y->high);
}

static void sort_ranges(struct fv_dw_ranges *r)
{
    if (r->count)
        qsort(r->items, r->count, sizeof(*r->items), by_address);
}

/* The one that begins last: functions may stand within functions. */
static const struct fv_dw_range *find_range(const struct fv_dw_ranges *r, uint64_t address)
{
    size_t before = FV_COUNT_BEFORE(i, r->count, r->items[i].low <= address);

    for (size_t i = before, steps = 0; i-- > 0 && steps < 64; steps++)
        if (address < r->items[i].high)
            return &r->items[i];
    return NULL;
}

static void add_ranges(const struct unit *u, Dwarf_Die *die, struct fv_dw_ranges *out)
{
    Dwarf_Addr base, low, high;

    if (u->packed) {
        fv_dwp_ranges(u->packed, die, out);
        return;
    }
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;)
        fv_dw_range_add(out, low, high);
}

/* ---- functions of a unit ---- */

static void add_function(struct unit *u, Dwarf_Die *die)
{
    size_t before = u->ranges.count;

    u->ranges.owner = (uint32_t)u->function_count;
    add_ranges(u, die, &u->ranges);
    if (u->ranges.count == before)
        return;
    FV_GROW(u->functions, u->function_room, u->function_count + 1);
    u->functions[u->function_count++] = *die;
}

static void find_functions(struct unit *u, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;

    for (int end = dwarf_child(parent, &die); !end; end = dwarf_siblingof(&die, &die)) {
        if (dwarf_tag(&die) == DW_TAG_subprogram)
            add_function(u, &die);
        if (depth < DEPTH_MAX && dwarf_haschildren(&die) > 0)
            find_functions(u, &die, depth + 1);
    }
}

static const char *text_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute a;

    return dwarf_attr(die, attribute, &a) ? dwarf_formstring(&a) : NULL;
}

/* With -gsplit-dwarf the file has a skeleton of the unit: the rest is in another file, or in a package of
 * such files. */
static void open_tree(struct object *o, struct unit *u)
{
    uint64_t id = 0;
    uint8_t type = 0;

    u->tree = u->die;
    if (dwarf_cu_info(u->die.cu, NULL, &type, NULL, &u->tree, &id, NULL, NULL) || type != DW_UT_skeleton) {
        u->tree = u->die;
        return;
    }
    if (u->tree.cu || (o->package && (u->packed = fv_dwp_unit(o->package, o->dwarf, &u->die, id, &u->tree))))
        return;
    const char *name = text_of(&u->die, DW_AT_dwo_name);
    if (!o->missing++)
        o->missing_first = name ? name : text_of(&u->die, DW_AT_GNU_dwo_name);
    u->tree = u->die;
}

static void open_unit(struct object *o, struct unit *u)
{
    if (u->is_open)
        return;
    u->is_open = true;
    open_tree(o, u);
    find_functions(u, &u->tree, 0);
    sort_ranges(&u->ranges);
}

/* ---- what was inlined into a function ---- */

static void add_inlined(struct object *o, const struct unit *u, Dwarf_Die *die)
{
    struct fv_dw_ranges ranges = { 0 };

    add_ranges(u, die, &ranges);
    for (size_t i = 0; i < ranges.count; i++) {
        FV_GROW(o->inlined, o->inlined_room, o->inlined_count + 1);
        o->inlined[o->inlined_count++] = (struct inlined){ ranges.items[i].low, ranges.items[i].high, *die };
    }
    free(ranges.items);
}

static void find_inlined(struct object *o, const struct unit *u, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;

    for (int end = dwarf_child(parent, &die); !end; end = dwarf_siblingof(&die, &die)) {
        int tag = dwarf_tag(&die);

        if (tag == DW_TAG_inlined_subroutine)
            add_inlined(o, u, &die);
        if (depth < DEPTH_MAX && tag != DW_TAG_subprogram && dwarf_haschildren(&die) > 0)
            find_inlined(o, u, &die, depth + 1);
    }
}

static void look_into(struct object *o, const struct unit *u, Dwarf_Die *function)
{
    if (o->function == function)
        return;
    o->function = function;
    o->inlined_count = 0;
    find_inlined(o, u, function, 0);
}

/* ---- words ---- */

/* Mangled where it can be: the tools demangle. */
static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute a;
    const char *name = NULL;

    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) || dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
        name = dwarf_formstring(&a);
    return name ? name : dwarf_diename(die);
}

static const char *known(const char *file)
{
    return file && *file && strcmp(file, "???") ? file : NULL;
}

static uint64_t number_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute a;
    Dwarf_Word value = 0;

    return dwarf_attr(die, attribute, &a) && !dwarf_formudata(&a, &value) ? value : 0;
}

/* Of what stands in an inlined function's caller: where that is called. */
static void set_call(struct fv_code_line *out, struct unit *u, Dwarf_Die *inlined)
{
    Dwarf_Files *files;
    size_t count, file = number_of(inlined, DW_AT_call_file);
    uint64_t line = number_of(inlined, DW_AT_call_line);

    out->line = line <= UINT32_MAX ? (unsigned)line : 0;
    if (!dwarf_getsrcfiles(&u->die, &files, &count) && file < count)
        out->file = known(dwarf_filesrc(files, file, NULL, NULL));
}

static void set_line(struct fv_code_line *out, struct unit *u, uint64_t address)
{
    Dwarf_Line *line = dwarf_getsrc_die(&u->die, address);
    int number;

    if (!line)
        return;
    out->file = known(dwarf_linesrc(line, NULL, NULL));
    if (!dwarf_lineno(line, &number) && number > 0)
        out->line = (unsigned)number;
}

/* Innermost first. */
static size_t add_chain(struct object *o, struct unit *u, Dwarf_Die *function, uint64_t address,
                        struct fv_code_line *out, size_t room)
{
    struct fv_code_line place = { 0 };
    size_t count = 0;

    set_line(&place, u, address);
    look_into(o, u, function);
    for (size_t i = o->inlined_count; i-- > 0 && count + 1 < room;) {
        struct inlined *in = &o->inlined[i];

        if (address < in->low || address >= in->high)
            continue;
        place.function = name_of(&in->die);
        out[count++] = place;
        place = (struct fv_code_line){ 0 };
        set_call(&place, u, &in->die);
    }
    place.function = name_of(function);
    out[count++] = place;
    return count;
}

static size_t find(void *object, uint64_t address, struct fv_code_line *out, size_t room)
{
    struct object *o = object;
    const struct fv_dw_range *of_unit = find_range(&o->ranges, address);

    if (!of_unit || !room)
        return 0;
    struct unit *u = &o->units[of_unit->owner];
    open_unit(o, u);
    const struct fv_dw_range *of_function = find_range(&u->ranges, address);
    if (of_function)
        return add_chain(o, u, &u->functions[of_function->owner], address, out, room);
    *out = (struct fv_code_line){ 0 };
    set_line(out, u, address);
    return out->file || out->line;
}

/* ---- open and close ---- */

static void add_unit(struct object *o, Dwarf_Die *die)
{
    size_t before = o->ranges.count;

    FV_GROW(o->units, o->unit_room, o->unit_count + 1);
    struct unit *u = &o->units[o->unit_count];
    *u = (struct unit){ .die = *die };
    o->ranges.owner = (uint32_t)o->unit_count++;
    add_ranges(u, die, &o->ranges);
    if (o->ranges.count > before)
        return;
    open_unit(o, u); /* a unit that does not say where its code is */
    for (size_t i = 0; i < u->ranges.count; i++)
        fv_dw_range_add(&o->ranges, u->ranges.items[i].low, u->ranges.items[i].high);
}

static void find_units(struct object *o)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;

    while (!dwarf_get_units(o->dwarf, unit, &unit, NULL, &type, &die, NULL))
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            add_unit(o, &die);
    sort_ranges(&o->ranges);
}

static void close_object(void *object)
{
    struct object *o = object;

    for (size_t i = 0; i < o->unit_count; i++) {
        fv_dwp_unit_close(o->units[i].packed);
        free(o->units[i].functions);
        free(o->units[i].ranges.items);
    }
    fv_dwp_close(o->package);
    if (o->dwarf)
        dwarf_end(o->dwarf);
    close(o->fd);
    free(o->units);
    free(o->ranges.items);
    free(o->inlined);
    free(o);
}

static void *open_object(const char *path, const char *program)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return NULL;
    struct object *o = fv_xcalloc(1, sizeof(*o));
    o->fd = fd;
    o->dwarf = dwarf_begin(fd, DWARF_C_READ);
    o->package = o->dwarf ? fv_dwp_open(path, program) : NULL;
    if (o->dwarf)
        find_units(o);
    if (o->unit_count)
        return o;
    close_object(o);
    return NULL;
}

static bool unread(const void *object, char *out, size_t bytes)
{
    const struct object *o = object;

    if (o->missing)
        snprintf(out, bytes,
                 "inlined functions are missing: not found: %u file%s of -gsplit-dwarf, such as %s; put them back, or "
                 "pack them beforehand: llvm-dwp -e PROGRAM -o PROGRAM.dwp",
                 o->missing, fv_words_s(o->missing), o->missing_first ? o->missing_first : "?");
    return o->missing;
}

const struct fv_lines_reader fv_lines_dw = { open_object, find, unread, close_object };
