/* Filter files as Score-P has them: which functions they leave out, and what is wrong with them. */
#include "cmd/filter.h"
#include "unit.h"

static bool leaves_out(const char *text, const char *mangled, const char *name, const char *file)
{
    char why[200] = "";
    struct fv_filter *f = fv_filter_parse(text, why, sizeof(why));

    assert_string_equal(why, "");
    assert_non_null(f);
    bool out = fv_filter_leaves_out(f, mangled, name, file);
    fv_filter_free(f);
    return out;
}

static void rules(void **state)
{
    static const char regions[] = "# what is small\nSCOREP_REGION_NAMES_BEGIN\n  EXCLUDE *\n  INCLUDE solve* main # "
                                  "but these\n  EXCLUDE solve_tiny\nSCOREP_REGION_NAMES_END\n";
    static const char both[] = "SCOREP_FILE_NAMES_BEGIN EXCLUDE */lib/* INCLUDE */lib/core.c SCOREP_FILE_NAMES_END "
                               "SCOREP_REGION_NAMES_BEGIN EXCLUDE helper INCLUDE * SCOREP_REGION_NAMES_END";
    static const char names[] = "SCOREP_REGION_NAMES_BEGIN EXCLUDE MANGLED _ZN1a1bEv _Z1c? EXCLUDE a::d operator\\ "
                                "new* SCOREP_REGION_NAMES_END";
    static const struct {
        const char *text, *mangled, *name, *file;
        bool out;
    } cases[] = {
        { regions, "helper", "helper", NULL, true },
        { regions, "solve_all", "solve_all", NULL, false },
        { regions, "main", "main", "main.c", false },
        { regions, "solve_tiny", "solve_tiny", NULL, true }, /* the last rule that fits */
        { both, "f", "f", "/x/lib/other.c", true },
        { both, "f", "f", "/x/lib/core.c", false },
        { both, "f", "f", "core.c", false },
        { both, "helper", "helper", "/x/lib/other.c", true }, /* a file's exclusion is for good */
        { both, "helper", "helper", "core.c", false },
        { both, "f", "f", NULL, false },
        { names, "_ZN1a1bEv", "a::b()", NULL, true },
        { names, "_Z1cv", "c()", NULL, true },
        { names, "_ZN1a1dEi", "a::d(int)", NULL, true }, /* without parameters */
        { names, "_Znwm", "operator new(unsigned long)", NULL, true },
        { names, "_ZN1a1eEi", "a::e(int)", NULL, false },
        { "", "f", "f", "f.c", false },
        /* without directories, too */
        { "SCOREP_FILE_NAMES_BEGIN EXCLUDE b?.c SCOREP_FILE_NAMES_END", "f", "f", "/a/b1.c", true },
    };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(leaves_out(cases[i].text, cases[i].mangled, cases[i].name, cases[i].file), cases[i].out);
}

static void mistakes(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        { "EXCLUDE f", "line 1: neither SCOREP_FILE_NAMES_BEGIN nor SCOREP_REGION_NAMES_BEGIN" },
        { "\n# a\nSCOREP_REGION_NAMES_BEGIN\nEXCLUDE f", "line 4: no SCOREP_REGION_NAMES_END" },
        { "SCOREP_FILE_NAMES_BEGIN\nEXCLUDE f\nSCOREP_REGION_NAMES_END", "line 3: a block within a block" },
        { "SCOREP_FILE_NAMES_BEGIN\n\nf.c\nSCOREP_FILE_NAMES_END", "line 3: a name before EXCLUDE or INCLUDE" },
        { "SCOREP_REGION_NAMES_BEGIN\nSCOREP_REGION_NAMES_BEGIN", "line 2: a block within a block" },
    };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char why[200] = "";

        assert_null(fv_filter_parse(cases[i].text, why, sizeof(why)));
        assert_string_equal(why, cases[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),
        cmocka_unit_test(mistakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
