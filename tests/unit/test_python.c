/* Frames of Python, read from memory that is made here: tables of lines of each kind, strings of each width, which
 * frames share a call of the interpreter's loop, and memory that is not what the layout says. tests/mpi/python.t has
 * real interpreters. */
#include "refuse_reads.h"
#include "rt_stub.h"
#include "rt/python_frames.h"
#include "unit.h"

/* ---- an interpreter's memory ---- */

static char code_type, text_type, bytes_type; /* only their addresses matter */

struct object {
    uint64_t references;
    const void *type;
};
struct text {
    struct object head;
    uint64_t length, hash;
    uint32_t state, pad;
    uint8_t ascii[32], other[64]; /* where they begin */
};
struct bytes {
    struct object head;
    uint64_t length, hash;
    uint8_t content[600];
};
struct code {
    struct object head;
    const struct text *name, *file;
    const struct bytes *lines;
    int32_t first_line, pad;
    uint8_t instructions[64];
    uint8_t more[64]; /* the reader takes as much as Python's own has */
};
struct frame {
    const struct frame *back;
    const struct code *code;
    const uint8_t *last;
    int32_t last_number;
    uint8_t entry, owner;
};
struct state {
    uint64_t other[3];
    const struct frame *frame;
};

static const struct fv_python_types types = { (uintptr_t)&code_type, (uintptr_t)&text_type, (uintptr_t)&bytes_type };
static struct fv_python_walk walk;

static struct fv_python_layout layout_of(enum fv_python_lines lines)
{
    return (struct fv_python_layout){ .lines = lines,
                                      .state_frame = offsetof(struct state, frame),
                                      .frame_bytes = sizeof(struct frame),
                                      .back = offsetof(struct frame, back),
                                      .code = offsetof(struct frame, code),
                                      .last = offsetof(struct frame, last),
                                      .last_is_address = true,
                                      .code_bytes = offsetof(struct code, instructions),
                                      .name = offsetof(struct code, name),
                                      .file = offsetof(struct code, file),
                                      .first_line = offsetof(struct code, first_line),
                                      .line_table = offsetof(struct code, lines),
                                      .instructions = offsetof(struct code, instructions),
                                      .ascii = offsetof(struct text, ascii),
                                      .other = offsetof(struct text, other) };
}

/* Of characters of 1, 2 or 4 bytes. */
static struct text text_of(const void *characters, size_t count, unsigned kind, bool ascii)
{
    struct text t = { .head.type = &text_type, .length = count, .state = kind << 2 | 1u << 5 | (uint32_t)ascii << 6 };

    memcpy(ascii ? t.ascii : t.other, characters, count * kind);
    return t;
}

static struct text ascii(const char *characters)
{
    return text_of(characters, strlen(characters), 1, true);
}

static struct bytes bytes_of(const void *content, size_t count)
{
    struct bytes b = { .head.type = &bytes_type, .length = count };

    memcpy(b.content, content, count);
    return b;
}

static bool read_by_kernel(const struct fv_python_layout *layout, const struct frame *frame)
{
    const struct state state = { .frame = frame };

    return fv_python_read(layout, &types, (uintptr_t)&state, false, &walk);
}

/* A sample of the thread that is asked, as its handler takes it. */
static struct fv_python_samples samples;
static bool sampled(const struct fv_python_layout *layout, const struct frame *frame)
{
    const struct state state = { .frame = frame };

    return fv_python_read_sample(layout, &types, (uintptr_t)&state, &samples);
}

/* If that is a layout's memory, reading it without the kernel is the same. */
static bool read_from(const struct fv_python_layout *layout, const struct frame *frame)
{
    static struct fv_python_walk again;
    const struct state state = { .frame = frame };

    if (!read_by_kernel(layout, frame))
        return false;
    assert_true(fv_python_read(layout, &types, (uintptr_t)&state, true, &again));
    assert_int_equal(again.count, walk.count);
    assert_memory_equal(again.frame, walk.frame, walk.count * sizeof(walk.frame[0]));
    assert_true(sampled(layout, frame));
    unsigned most = walk.count < FV_PYTHON_SAMPLED ? walk.count : FV_PYTHON_SAMPLED;
    assert_int_equal(samples.walk.count, most);
    assert_int_equal(samples.cut, walk.count > most);
    assert_memory_equal(samples.walk.frame, walk.frame, most * sizeof(walk.frame[0]));
    return true;
}

/* ---- lines ---- */

struct line_case {
    int last;
    uint32_t line;
};

static void expect_lines(enum fv_python_lines kind, int first, const void *table, size_t size,
                         const struct line_case *cases)
{
    const struct text name = ascii("f"), file = ascii("a.py");
    const struct bytes lines = bytes_of(table, size);
    const struct code code = { { 1, &code_type }, &name, &file, &lines, first, 0, { 0 }, { 0 } };
    struct fv_python_layout by_address = layout_of(kind), by_number = by_address;

    by_number.last = offsetof(struct frame, last_number);
    by_number.last_is_address = false;
    by_number.last_unit = 2;
    for (; cases->last >= 0; cases++) {
        const struct frame frame = { .code = &code,
                                     .last = code.instructions + cases->last,
                                     .last_number = cases->last / 2 };

        assert_true(read_from(&by_address, &frame));
        assert_int_equal(walk.count, 1);
        assert_int_equal(walk.frame[0].line, cases->line);
        assert_true(read_from(&by_number, &frame));
        assert_int_equal(walk.frame[0].line, cases->line);
    }
}

/* Objects/lnotab_notes.txt of 3.8. */
static void lines_by_steps_of_addresses(void **state)
{
    static const uint8_t table[] = { 0, 1, 6, 1, 8, 0xfe, 4, 10 };
    static const struct line_case cases[] = { { 0, 11 },  { 4, 11 },  { 6, 12 },  { 12, 12 },
                                              { 14, 10 }, { 18, 20 }, { 60, 20 }, { -1, 0 } };
    (void)state;

    expect_lines(FV_LINES_ADDRESSES, 10, table, sizeof(table), cases);
    expect_lines(FV_LINES_ADDRESSES, 10, table, 0, (const struct line_case[]){ { 0, 10 }, { -1, 0 } });
}

/* PEP 626: a line that is no line, a range of no bytes. */
static void lines_by_ranges(void **state)
{
    static const uint8_t table[] = { 4, 1, 6, 0x80, 0, 5, 2, 0xfd };
    static const struct line_case cases[] = {
        { 0, 11 }, { 2, 11 }, { 4, 0 }, { 8, 0 }, { 10, 13 }, { 12, 0 }, { -1, 0 }
    };
    (void)state;

    expect_lines(FV_LINES_RANGES, 10, table, sizeof(table), cases);
}

/* Objects/locations.md of 3.11: without columns, one line, none, long with a step of -70, short. Then the same behind
 * more entries than are read at a time. */
static void lines_by_locations(void **state)
{
    static const uint8_t table[] = { 0xe8, 0x02, 0xd9, 5, 6, 0xf8, 0xf0, 0x4d, 0x02, 0, 1, 1, 0x9f, 0x11 };
    static const struct line_case cases[] = { { 0, 101 }, { 2, 102 }, { 4, 102 }, { 6, 0 }, { 8, 32 },
                                              { 10, 32 }, { 24, 32 }, { 26, 0 },  { -1, 0 } };
    uint8_t more[600];
    (void)state;

    expect_lines(FV_LINES_LOCATIONS, 100, table, sizeof(table), cases);
    for (size_t i = 0; i < 300; i++)
        memcpy(more + 2 * i, (uint8_t[]){ 0xe8, 0x02 }, 2); /* 300 entries of 2 bytes, a line further each */
    expect_lines(FV_LINES_LOCATIONS, 100, more, sizeof(more),
                 (const struct line_case[]){ { 0, 101 }, { 40, 121 }, { 598, 400 }, { -1, 0 } });
}

/* ---- names ---- */

static uint32_t module_of(const char *file, const char *function)
{
    fv_lock(&fv_tree_lock);
    uint32_t module = fv_module_of_code(file, function, false);
    fv_unlock(&fv_tree_lock);
    return module;
}

static void expect_name(struct text name, const char *utf8)
{
    const struct fv_python_layout layout = layout_of(FV_LINES_RANGES);
    const struct text file = ascii("a.py");
    const struct bytes lines = bytes_of("", 0);
    const struct code code = { { 1, &code_type }, &name, &file, &lines, 1, 0, { 0 }, { 0 } };
    const struct frame frame = { .code = &code, .last = code.instructions };

    assert_true(read_from(&layout, &frame));
    assert_string_equal(walk.function, utf8);
    assert_string_equal(walk.file, "a.py");
    assert_int_equal(walk.frame[0].module, module_of("a.py", utf8));
}

static void names_are_utf8(void **state)
{
    (void)state;
    expect_name(ascii("step"), "step");
    expect_name(ascii(""), "");
    expect_name(text_of("gr\xf6\xdf\x65", 5, 1, false), "gr\xc3\xb6\xc3\x9f\x65");
    expect_name(text_of((const uint16_t[]){ 'a', 0x65e5, 0xdc80 }, 3, 2, false), "a\xe6\x97\xa5\x80");
    expect_name(text_of((const uint32_t[]){ 0x1f40d, 'b' }, 2, 4, false), "\xf0\x9f\x90\x8d\x62");
}

/* ---- frames ---- */

static const struct text in_file = {
    .head.type = &text_type, .length = 4, .state = 1u << 2 | 3u << 5, .ascii = "a.py"
};
static const struct text imported = {
    .head.type = &text_type, .length = 29, .state = 1u << 2 | 3u << 5, .ascii = "<frozen importlib._bootstrap>"
};
static const struct bytes no_lines = { .head.type = &bytes_type };
static const struct code plain = { .head.type = &code_type, .name = &in_file, .file = &in_file, .lines = &no_lines };
static const struct code importing = {
    .head.type = &code_type, .name = &in_file, .file = &imported, .lines = &no_lines
};

/* `wanted`: a letter a frame: o the outermost of a call of the loop, i inside of one; capitals are not shown. */
static void expect_frames(const struct fv_python_layout *layout, const struct frame *innermost, const char *wanted)
{
    assert_true(read_from(layout, innermost));
    assert_int_equal(walk.count, strlen(wanted));
    for (unsigned i = 0; wanted[i]; i++) {
        assert_int_equal(walk.frame[i].outermost, wanted[i] == 'o' || wanted[i] == 'O');
        assert_int_equal(walk.frame[i].module != 0, wanted[i] >= 'a');
    }
}

static void frames_of_a_call_of_the_loop(void **state)
{
    struct fv_python_layout each = layout_of(FV_LINES_RANGES), flagged = each, owned = each;
    struct frame f[5];
    (void)state;

    flagged.entry = offsetof(struct frame, entry);
    owned.owner = offsetof(struct frame, owner);
    for (int i = 0; i < 5; i++)
        f[i] = (struct frame){ .back = i < 4 ? &f[i + 1] : NULL, .code = &plain, .entry = i == 1 || i == 4 };
    expect_frames(&each, &f[0], "ooooo");
    expect_frames(&flagged, &f[0], "ioiio");
    expect_frames(&flagged, NULL, "");
    f[1].owner = f[4].owner = FV_PYTHON_OWNER_LOOP;
    f[1].code = f[4].code = NULL; /* there is none to be read */
    expect_frames(&owned, &f[0], "oio");
    expect_frames(&owned, &f[1], "Oio"); /* a call of the loop that has no frame yet */
    f[2].code = &importing;
    expect_frames(&owned, &f[0], "oIo");
}

/* Memory of a code object that is gone becomes another one's; what a sample knew of the first is not said of that. */
static void samples_of_code_that_is_another(void **state)
{
    const struct fv_python_layout layout = layout_of(FV_LINES_RANGES);
    const struct text first = ascii("first"), second = ascii("second");
    struct text renamed = ascii("third");
    struct code code = { { 1, &code_type }, &first, &in_file, &no_lines, 1, 0, { 0 }, { 0 } };
    const struct frame outer = { .code = &plain }, frame = { .back = &outer, .code = &code, .last = code.instructions };
    (void)state;

    assert_true(sampled(&layout, &frame));
    assert_int_equal(samples.walk.frame[0].module, module_of("a.py", "first"));
    code.name = &second;
    assert_true(sampled(&layout, &frame));
    assert_int_equal(samples.walk.frame[0].module, module_of("a.py", "second"));
    code.head.type = &text_type;
    assert_false(sampled(&layout, &frame));
    code.head.type = &code_type;
    code.name = &renamed;
    assert_true(sampled(&layout, &frame));
    renamed = second; /* all is where it was */
    assert_true(sampled(&layout, &frame));
    assert_int_equal(samples.walk.frame[0].module, module_of("a.py", "second"));
    fv_lock(&fv_tree_lock); /* of whom it interrupted: nothing new is to be had, and nothing waits */
    code = (struct code){ { 1, &code_type }, &first, &in_file, &no_lines, 1, 0, { 0 }, { 0 } };
    assert_false(sampled(&layout, &frame));
    fv_unlock(&fv_tree_lock);
    assert_true(sampled(&layout, &frame));
    assert_int_equal(samples.walk.frame[0].module, module_of("a.py", "first"));
}

static void long_chains_are_cut(void **state)
{
    static struct frame f[FV_PYTHON_FRAMES + 10];
    const struct fv_python_layout layout = layout_of(FV_LINES_RANGES);
    (void)state;

    for (int i = 0; i < FV_PYTHON_FRAMES + 10; i++)
        f[i] = (struct frame){ .back = &f[i < FV_PYTHON_FRAMES + 9 ? i + 1 : 0], .code = &plain }; /* a circle */
    assert_true(read_from(&layout, f));
    assert_int_equal(walk.count, FV_PYTHON_FRAMES);
}

/* Lines are kept where their addresses say: those of one sample find places, whatever was there before. */
static void deep_samples_are_whole(void **state)
{
    enum { DEEP = 100, TIMES = 20 };
    static struct code codes[TIMES][DEEP];
    static struct frame f[DEEP];
    const struct fv_python_layout layout = layout_of(FV_LINES_RANGES);
    (void)state;

    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < DEEP; i++) {
            codes[t][i] = plain;
            f[i] = (struct frame){ .back = i + 1 < DEEP ? &f[i + 1] : NULL, .code = &codes[t][i] };
        }
        assert_true(sampled(&layout, f));
        assert_int_equal(samples.walk.count, DEEP);
        assert_false(samples.cut);
    }
}

/* ---- what is not an interpreter's memory ---- */

static void other_types_are_refused(void **state)
{
    const struct fv_python_layout layout = layout_of(FV_LINES_RANGES);
    struct text text = in_file;
    struct bytes bytes = no_lines;
    struct code code = { .head.type = &code_type, .name = &text, .file = &in_file, .lines = &bytes };
    struct frame outer = { .code = &code }, frame = { .back = &outer, .code = &plain };
    (void)state;

    assert_true(read_from(&layout, &frame));
    const void **wrong[] = { &code.head.type, &text.head.type, &bytes.head.type };
    for (unsigned i = 0; i < 3; i++) {
        const void *right = *wrong[i];

        *wrong[i] = &wrong;
        assert_false(read_from(&layout, &frame));
        assert_int_equal(walk.count, 0);
        *wrong[i] = right;
    }
    text.state = 1u << 2; /* its characters are elsewhere */
    assert_false(read_from(&layout, &frame));
    text.state = 3u << 2 | 3u << 5;
    assert_false(read_from(&layout, &frame));
}

static uint64_t next_random(uint64_t *seed)
{
    return fv_mix(*seed += UINT64_C(0x9e3779b97f4a7c15));
}

/* Words of an interpreter's memory that are something else: a small number, a place in it, or nowhere. */
static void damaged_memory_harms_nothing(void **state)
{
    uint64_t seed = 1, refused = 0;
    (void)state;

    for (int round = 0; round < 20000; round++) {
        struct {
            struct text name, file;
            struct bytes lines;
            struct code code;
            struct frame frame[3];
        } m = { .name = in_file, .file = in_file, .lines = no_lines };
        uint64_t words[sizeof(m) / sizeof(uint64_t)];
        struct fv_python_layout layout = layout_of((enum fv_python_lines)(round % 3));

        m.code = (struct code){ .head.type = &code_type, .name = &m.name, .file = &m.file, .lines = &m.lines };
        for (int i = 0; i < 3; i++)
            m.frame[i] =
                (struct frame){ .back = i < 2 ? &m.frame[i + 1] : NULL, .code = &m.code, .last = m.code.instructions };
        memcpy(words, &m, sizeof(words));
        for (int i = 0; i < 3; i++) {
            uint64_t r = next_random(&seed);
            uint64_t values[] = { r >> 50, (uintptr_t)&m + r % sizeof(m), r, (uintptr_t)&code_type };

            words[r % (sizeof(words) / sizeof(*words))] = values[r >> 60 & 3];
        }
        memcpy(&m, words, sizeof(words));
        refused += !read_by_kernel(&layout, &m.frame[0]);
    }
    assert_in_range(refused, 100, 20000);
}

/* The last test: there is no way back. */
static void as_where_a_container_forbids_reading(void **state)
{
    if (!refuse_reads())
        skip();
    lines_by_ranges(state);
    frames_of_a_call_of_the_loop(state);
    samples_of_code_that_is_another(state);
}

static int start(void **state)
{
    const struct fv_start_info info = { .world_size = 1, .mpi = "none", .thread_level = "" };
    (void)state;

    stub_start();
    fv_start(&info);
    return fv_started() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_by_steps_of_addresses),
        cmocka_unit_test(lines_by_ranges),
        cmocka_unit_test(lines_by_locations),
        cmocka_unit_test(names_are_utf8),
        cmocka_unit_test(frames_of_a_call_of_the_loop),
        cmocka_unit_test(samples_of_code_that_is_another),
        cmocka_unit_test(long_chains_are_cut),
        cmocka_unit_test(deep_samples_are_whole),
        cmocka_unit_test(other_types_are_refused),
        cmocka_unit_test(damaged_memory_harms_nothing),
        cmocka_unit_test(as_where_a_container_forbids_reading),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    int failed = cmocka_run_group_tests_name("frames of Python", tests, start, NULL);
    stub_remove();
    return failed;
}
