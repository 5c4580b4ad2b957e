/* SPDX-License-Identifier: BSD-3-Clause */
/* As much of an ELF file as the report needs without libbfd: its build-id, its functions and its variables.
 * 64-bit files of this machine's byte order; everything is checked against the file's bytes. */
#ifndef FV_ELF_FILE_H
#define FV_ELF_FILE_H

#include "tool/vec.h"

struct fv_elf_symbol {
    uint64_t begin, size;
    const char *name;   /* in the file; valid until fv_elf_close() */
    uint16_t section;   /* where it is */
    uint8_t preference; /* among symbols of one address: global before weak before local */
};
struct fv_elf {
    const uint8_t *data;
    size_t bytes;
    uint8_t build_id[32];
    uint32_t build_id_bytes; /* 0: none */
    bool fortran;            /* it calls gfortran's run-time library */
    bool has_lines;          /* it has DWARF */
    enum fv_elf_what { FV_ELF_FUNCTIONS, FV_ELF_VARIABLES, FV_ELF_IMPORTS } what; /* that the symbols are of */
    struct fv_elf_symbol *symbols; /* by address; filled by fv_elf_symbols() */
    size_t symbol_count, symbol_room;
};

/* -FV_EIO: errno tells; -FV_EFORMAT: no ELF file that we can read. Close it in any case but failure. */
int fv_elf_open(struct fv_elf *elf, const char *path);
/* Reads .symtab, or .dynsym where it was stripped. */
void fv_elf_symbols(struct fv_elf *elf);
/* The same of variables, in place of what was read before. */
void fv_elf_variables(struct fv_elf *elf);
/* The same of what it takes from other objects, which has no address; functions and variables. */
void fv_elf_imports(struct fv_elf *elf);
/* The function, or variable, that holds the address; NULL: none does. */
const struct fv_elf_symbol *fv_elf_find(const struct fv_elf *elf, uint64_t address);
/* Bytes 0: there is none of that name in the file. */
struct fv_elf_section {
    uint64_t address, bytes;
    const uint8_t *data;
};
struct fv_elf_section fv_elf_section(const struct fv_elf *elf, const char *name);
/* The name of its debug file, by .gnu_debuglink; NULL: it has none. */
const char *fv_elf_debug_link(const struct fv_elf *elf);
/* Is it that one, by the checksum of its bytes? Reads all of it. */
bool fv_elf_is_linked(const struct fv_elf *elf, const struct fv_elf *debug);
/* So many bytes of what is loaded at an address, of one section; NULL: they are not all in the file. */
const uint8_t *fv_elf_data(const struct fv_elf *elf, uint64_t address, uint64_t bytes);
/* So many bytes of code at an address; NULL: they are not all in the file. */
const uint8_t *fv_elf_code(const struct fv_elf *elf, uint64_t address, uint64_t bytes);
void fv_elf_close(struct fv_elf *elf);

#endif
