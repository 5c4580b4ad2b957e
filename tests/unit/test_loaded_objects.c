/* Loaded objects without the C library's _dl_find_object(): the program runs itself with FVMPI_WITHOUT=find_object.
 * Answers against what dladdr() says, over dlopen() and dlclose(), and while others write the table. */
#include "rt_stub.h"
#include "rt/loaded_objects.h"
#include "unit.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

/* Small, of the C library's own package, and not linked with. */
static const char *const plugins[] = { "libBrokenLocale.so.1", "libanl.so.1", "libnss_hesiod.so.2" };

static void *open_one(unsigned number)
{
    return dlopen(plugins[number % (sizeof(plugins) / sizeof(*plugins))], RTLD_NOW | RTLD_LOCAL);
}

static uintptr_t somewhere_in(void *handle)
{
    struct link_map *map;

    assert_false(dlinfo(handle, RTLD_DI_LINKMAP, &map));
    return (uintptr_t)map->l_ld; /* its dynamic section lies in it */
}

static int check_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    unsigned *checked = arg;
    struct fv_loaded_object found;
    (void)size;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        Dl_info known;

        if (p->p_type == PT_GNU_EH_FRAME) {
            assert_true(fv_loaded_find(at, &found));
            assert_ptr_equal(found.unwind, (void *)at);
        }
        if (p->p_type != PT_LOAD || !p->p_memsz)
            continue;
        assert_true(fv_loaded_find(at + p->p_memsz - 1, &found));
        assert_true(fv_loaded_find(at, &found));
        if (dladdr((void *)at, &known))
            assert_ptr_equal(found.object, known.dli_fbase);
        ++*checked;
    }
    return 0;
}

static void all_objects(void **state)
{
    struct fv_loaded_object found;
    unsigned checked = 0;
    int local;
    (void)state;

    assert_int_not_equal(fv_loaded_generation(), 0);
    dl_iterate_phdr(check_object, &checked);
    assert_that(checked, >, 8);
    assert_false(fv_loaded_find((uintptr_t)&local, &found));
    assert_false(fv_loaded_find(0, &found));
    assert_false(fv_loaded_find(16, &found));
    assert_false(fv_loaded_find(UINTPTR_MAX, &found));
    assert_false(fv_loaded_ask((uintptr_t)open_one, &found)); /* the C library is not asked */
}

static void come_and_go(void **state)
{
    struct fv_loaded_object found;
    uint32_t generation = fv_loaded_generation();
    void *handle = open_one(0);
    (void)state;

    if (!handle)
        skip();
    uintptr_t at = somewhere_in(handle);
    assert_false(fv_loaded_find(at, &found)); /* not read yet */
    fv_loaded_refresh();
    assert_int_equal(fv_loaded_generation(), generation + 1);
    fv_loaded_refresh();
    assert_int_equal(fv_loaded_generation(), generation + 1); /* nothing is new */
    assert_true(fv_loaded_find(at, &found));
    assert_non_null(found.unwind);
    dlclose(handle);
    /* gone, which nobody has told: its memory must not be read */
    assert_false(fv_loaded_find(at, &found));
    fv_loaded_refresh();
    assert_false(fv_loaded_find(at, &found));
}

static bool stop;
static unsigned wrong;

static void *write_always(void *arg)
{
    (void)arg;
    for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        void *handle = open_one(i);

        fv_loaded_refresh();
        if (handle)
            dlclose(handle);
        fv_loaded_refresh();
    }
    return NULL;
}

static void while_it_is_written(void **state)
{
    pthread_t writer;
    struct fv_loaded_object own, found;
    unsigned missed = 0;
    uint32_t before = fv_loaded_generation();
    (void)state;

    assert_true(fv_loaded_find((uintptr_t)while_it_is_written, &own));
    pthread_create(&writer, NULL, write_always, NULL);
    for (unsigned i = 0; i < 200000 || fv_loaded_generation() < before + 100; i++) {
        if (!fv_loaded_find((uintptr_t)while_it_is_written, &found))
            missed++; /* three tries, each overtaken by two writings */
        else
            wrong += found.object != own.object || found.unwind != own.unwind;
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(writer, NULL);
    printf("# %u generations meanwhile, %u times no answer\n", fv_loaded_generation() - before, missed);
    assert_int_equal(wrong, 0);
    assert_that(missed, <, 2000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_objects),
        cmocka_unit_test(come_and_go),
        cmocka_unit_test(while_it_is_written),
    };
    (void)argc;

    if (!getenv("FVMPI_WITHOUT")) {
        setenv("FVMPI_WITHOUT", "find_object", 1);
        execv("/proc/self/exe", argv);
        puts("1..0 # SKIP cannot run itself (emulated?): set FVMPI_WITHOUT=find_object");
        return 0;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    fv_loaded_start();
    return cmocka_run_group_tests_name("loaded", tests, NULL, NULL);
}
