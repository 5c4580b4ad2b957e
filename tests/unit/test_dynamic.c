/* The reader of ELF files and of the loader's cache: right on files that are right, harmless on others. */
#include "cmd/dynamic.h"
#include "cmd/flavour.h"
#include "cmd/loader.h"
#include "symbols/elf_file.h"
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static Elf64_Half our_machine; /* what this test's own file says */
#define OTHER_MACHINE (our_machine == EM_X86_64 ? EM_AARCH64 : EM_X86_64)

/* A small shared program that needs two libraries. */
struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    Elf64_Dyn dynamic[8];
    char strings[64];
};
#define BASE       0x400000u
#define AT(member) (BASE + offsetof(struct image, member))

static const char strings[] = "\0libmpi.so.40\0libc.so.6\0$ORIGIN/../lib\0self.so";

static struct image image(void)
{
    struct image i = { .header = { .e_ident = ELFMAG,
                                   .e_type = ET_DYN,
                                   .e_machine = our_machine,
                                   .e_entry = BASE,
                                   .e_phoff = offsetof(struct image, segments),
                                   .e_phentsize = sizeof(Elf64_Phdr),
                                   .e_phnum = 3 } };

    i.header.e_ident[EI_CLASS] = ELFCLASS64;
    i.header.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    i.segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof(i) };
    i.segments[1] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
                                  .p_offset = offsetof(struct image, dynamic),
                                  .p_filesz = sizeof(i.dynamic) };
    i.segments[2] = (Elf64_Phdr){ .p_type = PT_INTERP };
    i.dynamic[0] = (Elf64_Dyn){ DT_NEEDED, { 1 } };
    i.dynamic[1] = (Elf64_Dyn){ DT_NEEDED, { 14 } };
    i.dynamic[2] = (Elf64_Dyn){ DT_RUNPATH, { 24 } };
    i.dynamic[3] = (Elf64_Dyn){ DT_SONAME, { 39 } };
    i.dynamic[4] = (Elf64_Dyn){ DT_STRTAB, { AT(strings) } };
    i.dynamic[5] = (Elf64_Dyn){ DT_STRSZ, { sizeof(strings) } };
    memcpy(i.strings, strings, sizeof(strings));
    return i;
}

static int read_image(const struct image *i, size_t size, struct fv_dynamic *out)
{
    struct fv_source source = fv_source_of_memory(i, size);

    return fv_dynamic_read(&source, out);
}

static void whole(void **state)
{
    struct image i = image();
    struct fv_dynamic d;

    (void)state;
    assert_int_equal(read_image(&i, sizeof(i), &d), 0);
    assert_int_equal(d.needed_count, 2);
    assert_string_equal(d.needed[0], "libmpi.so.40");
    assert_string_equal(d.needed[1], "libc.so.6");
    assert_string_equal(d.runpath, "$ORIGIN/../lib");
    assert_string_equal(d.soname, "self.so");
    assert_null(d.rpath);
    assert_true(d.has_interpreter && d.is_program);
    fv_dynamic_release(&d);
    fv_dynamic_release(&d);
}

static void others(void **state)
{
    struct image i = image();
    struct fv_dynamic d;

    (void)state;
    i.header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_int_equal(read_image(&i, sizeof(i), &d), -FV_EINVAL);
    i = image();
    i.header.e_machine = OTHER_MACHINE;
    assert_int_equal(read_image(&i, sizeof(i), &d), -FV_EINVAL);
    i.header.e_ident[0] = '#';
    assert_int_equal(read_image(&i, sizeof(i), &d), -FV_ENOENT);
    assert_int_equal(read_image(&i, 0, &d), -FV_ENOENT);
    i = image();
    i.header.e_phnum = 0; /* an object file */
    assert_int_equal(read_image(&i, sizeof(i), &d), 0);
    assert_int_equal(d.needed_count, 0);
    assert_false(d.has_interpreter);
    fv_dynamic_release(&d);
    i = image();
    i.segments[2].p_type = PT_NULL; /* a static one */
    assert_int_equal(read_image(&i, sizeof(i), &d), 0);
    assert_false(d.has_interpreter);
    fv_dynamic_release(&d);
}

static void damaged(void **state)
{
    struct image good = image(), i;
    struct fv_dynamic d;

    (void)state;
    i = good, i.header.e_phentsize = 1;
    assert_int_equal(read_image(&i, sizeof(i), &d), -FV_EFORMAT);
    i = good, i.header.e_phoff = UINT64_MAX - 8;
    assert_int_equal(read_image(&i, sizeof(i), &d), -FV_EFORMAT);
    i = good, i.segments[1].p_filesz = UINT64_MAX;
    assert_int_equal(read_image(&i, sizeof(i), &d), -FV_EFORMAT);
    i = good, i.segments[0].p_filesz = 8; /* the string table lies nowhere */
    assert_int_equal(read_image(&i, sizeof(i), &d), -FV_EFORMAT);
    i = good, i.dynamic[5].d_un.d_val = UINT64_MAX;
    assert_int_equal(read_image(&i, sizeof(i), &d), -FV_EFORMAT);
    i = good, i.dynamic[0].d_un.d_val = 4096; /* a name outside of it */
    assert_int_equal(read_image(&i, sizeof(i), &d), -FV_EFORMAT);
    i = good, memset(i.strings, 'x', sizeof(i.strings)); /* no NUL in it */
    assert_int_equal(read_image(&i, sizeof(i), &d), 0);
    assert_int_equal(strlen(d.needed[0]), sizeof(strings) - 1);
    fv_dynamic_release(&d);
}

/* Every truncation and a change of every byte: an answer, whichever. Sanitizers and valgrind watch. */
static void mutilated(void **state)
{
    struct image good = image();
    struct fv_dynamic d;

    (void)state;
    for (size_t n = 0; n < sizeof(good); n++)
        if (!read_image(&good, n, &d))
            fv_dynamic_release(&d);
    for (size_t n = 0; n < sizeof(good); n++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct image i = good;
            ((unsigned char *)&i)[n] ^= (unsigned char)(1u << bit);
            unsigned char *exact = malloc(sizeof(i));
            assert_non_null(exact);
            memcpy(exact, &i, sizeof(i));
            if (!read_image((struct image *)exact, sizeof(i), &d))
                fv_dynamic_release(&d);
            free(exact);
        }
}

static void cache(void **state)
{
    /* header: magic, 2 entries; entries: flags, name, path, os, capabilities; strings from 48 + 2 * 24 */
    unsigned char bytes[160] = "glibc-ld.so.cache1.1";
    struct fv_loader_cache c = { .bytes = bytes, .size = 128 };
    uint32_t two = 2, name = 96, path = 102, beyond = 4000;

    (void)state;
    memcpy(bytes + 20, &two, 4);
    memcpy(bytes + 48 + 4, &name, 4);
    memcpy(bytes + 48 + 8, &path, 4);
    memcpy(bytes + 72 + 4, &beyond, 4);
    memcpy(bytes + 96, "a.so\0\0/lib/a.so", 16);
    assert_true(fv_loader_cache_check(&c));
    assert_string_equal(fv_loader_cache_find(&c, "a.so", 0), "/lib/a.so");
    assert_null(fv_loader_cache_find(&c, "a.so", 1));
    assert_null(fv_loader_cache_find(&c, "b.so", 0));
    c.size = 80; /* fewer entries than it says */
    assert_true(fv_loader_cache_check(&c));
    assert_null(fv_loader_cache_find(&c, "a.so", 0));
    c.size = 40;
    assert_false(fv_loader_cache_check(&c));
    c.bytes = NULL;
    assert_null(fv_loader_cache_find(&c, "a.so", 0));
}

static void real(void **state)
{
    struct fv_libraries libraries;
    bool libc = false;

    (void)state;
    assert_int_equal(fv_loader_scan("/proc/self/exe", &libraries), 0);
    for (size_t i = 0; i < libraries.count; i++)
        libc |= !strncmp(libraries.items[i].name, "libc.so", 7) && libraries.items[i].path;
    assert_true(libc);
    fv_libraries_release(&libraries);
    assert_int_equal(fv_loader_scan("/etc/passwd", &libraries), -FV_ENOENT);
    assert_int_equal(fv_loader_scan("/nowhere", &libraries), -FV_EIO);
    assert_int_equal(fv_loader_scan("/", &libraries), -FV_ENOENT);
}

/* Programs that cannot run here are said to be so, behind their launcher, too. */
static void foreign(void **state)
{
    char root[] = "/tmp/fvmpi-test-XXXXXX", path[64];
    char *alone[] = { path, NULL }, *behind[] = { (char *)"env", (char *)"A=1", path, NULL };
    struct image i = image();
    struct fv_flavour_result found;

    (void)state;
    i.header.e_machine = OTHER_MACHINE;
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof(path), "%s/app", root);
    int fd = open(path, O_WRONLY | O_CREAT, 0777);
    assert_int_equal(write(fd, &i, sizeof(i)), sizeof(i));
    close(fd);
    fv_flavour_find(alone, NULL, &found);
    assert_true(found.is_foreign && !found.flavour);
    assert_string_equal(found.program_path, path);
    fv_flavour_find(behind, NULL, &found); /* it may be what env's kin works on: objdump FILE */
    assert_true(!found.is_foreign || getenv("FVMPI_TEST_EMULATED")); /* else env is of another machine, too */
    fv_flavour_find(behind, "mpiexec", &found);
    assert_true(found.is_foreign && !found.flavour);
    assert_string_equal(found.program_path, path);
    unlink(path);
    rmdir(root);
}

static void read_our_machine(void)
{
    Elf64_Ehdr header;
    int fd = open("/proc/self/exe", O_RDONLY);

    if (read(fd, &header, sizeof(header)) == (ssize_t)sizeof(header))
        our_machine = header.e_machine;
    close(fd);
}

/* Nothing is in a file that could not be opened. */
static void no_file(void **state)
{
    struct fv_elf elf = { 0 };
    (void)state;

    assert_that(fv_elf_open(&elf, "/nowhere/libc.so"), <, 0);
    assert_null(fv_elf_code(&elf, 0x1000, 16));
    assert_null(fv_elf_data(&elf, 0x1000, 16));
    assert_null(fv_elf_section(&elf, ".text").data);
    fv_elf_close(&elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(whole),   cmocka_unit_test(others),
                                        cmocka_unit_test(damaged), cmocka_unit_test(mutilated),
                                        cmocka_unit_test(cache),   cmocka_unit_test(real),
                                        cmocka_unit_test(foreign), cmocka_unit_test(no_file) };

    read_our_machine();

    return cmocka_run_group_tests_name("dynamic", tests, NULL, NULL);
}
