/* Any bytes as packed definitions: what does not fit is refused, the rest is merged, sorted and packed again.
 * An input that begins with 0 is the bytes themselves; any other changes good ones: after the first byte,
 * which cuts so many 256ths off the end, each three bytes are a place and what is added to the byte there. */
#include "pages.h"
#include "merge/clocks.h"
#include "merge/contexts.h"
#include "merge/defs_add.h"

#include <stdio.h>

static void add_comms(struct fv_defs *d)
{
    const struct fv_rank_run runs[] = { { 0, 1, 2 }, { 2, 1, 2 } };
    const struct fv_def_comm world = { .uid = 1,
                                       .owner = FV_NOBODY,
                                       .flags = FV_COMM_WORLD,
                                       .size = 4,
                                       .name = "MPI_COMM_WORLD",
                                       .runs = runs,
                                       .run_count = 2 };
    const struct fv_def_comm inter = { .uid = 2,
                                       .parent = 1,
                                       .owner = FV_NOBODY,
                                       .size = 2,
                                       .remote_size = 2,
                                       .name = "",
                                       .runs = runs,
                                       .run_count = 1,
                                       .remote_run_count = 1 };
    const struct fv_def_file file = { "/scratch/data", "node1", 0xef53, 1 };
    uint32_t members[] = { 3, 0, 1 };

    fv_defs_add_comm(d, &world);
    fv_defs_add_comm(d, &inter);
    fv_defs_window(d, &(struct fv_def_window){ .comm = 0, .sequence = 1, .owner = FV_NOBODY, .created = 4 });
    fv_defs_window(d, &(struct fv_def_window){ .comm = 0, .sequence = 2, .owner = FV_NOBODY, .created = 4 });
    fv_defs_add_handle(
        d, &(struct fv_def_handle){ .file = fv_defs_add_file_name(d, &file), .owner = FV_NOBODY });
    fv_defs_group(d, members, 3);
    fv_defs_group(d, members, 2);
}

static void good_definitions(struct fv_defs *d)
{
    const uint8_t build_id[20] = { 0 };
    struct fv_clock_point points[] = { { 1000, 1700000000000000000, 5000 },
                                       { 2000001000, 1700000001000000000, 1000005000 } };
    const uint32_t threads[] = { 0, 1 };

    fv_defs_init(d, 4);
    fv_defs_function(d, "MPI_Send", FV_CLASS_P2P);
    fv_defs_function(d, "MPI_Barrier", FV_CLASS_COLLECTIVE);
    uint32_t module_index = fv_call_tree_module(&d->tree, build_id, sizeof(build_id), "/usr/lib/libapp.so");
    uint32_t node = fv_call_tree_node(&d->tree, 0, module_index, 0x1000);
    d->tree.nodes[fv_call_tree_node(&d->tree, node, module_index, 0x2000)].flags = FV_DEF_CALLS;
    d->tree.nodes[fv_call_tree_node(&d->tree, node, FV_MODEL_CUT, 0x3000)].flags = FV_DEF_CALLS;
    add_comms(d);
    for (uint32_t i = 0; i < 4; i++) {
        points[0].ticks += i;
        fv_defs_add_rank(d, &(struct fv_def_rank){ .world_rank = i,
                                                   .pid = 100 + i,
                                                   .host = i < 2 ? "node1" : "node2",
                                                   .program = "app",
                                                   .command = "app -x",
                                                   .mpi = "MPI",
                                                   .thread_level = "MPI_THREAD_SINGLE",
                                                   .events = "",
                                                   .file = "rank",
                                                   .clock_kind = FV_CLOCK_TSC,
                                                   .boot_id = { (uint8_t)(1 + i / 2) },
                                                   .first_ticks = 1000,
                                                   .last_ticks = 1999999999,
                                                   .points = points,
                                                   .point_count = 2,
                                                   .threads = threads,
                                                   .thread_count = 2 });
    }
}

/* The bytes are the caller's. */
static uint8_t *changed(const uint8_t *data, size_t size, size_t *out)
{
    struct fv_bytes good = { 0 };
    struct fv_defs d;

    good_definitions(&d);
    fv_defs_pack(&d, &good);
    fv_defs_release(&d);
    *out = good.count - good.count * (data[0] - 1u) / 256;
    for (size_t i = 1; i + 3 <= size; i += 3)
        good.data[((size_t)data[i] << 8 | data[i + 1]) % good.count] += data[i + 2];
    uint8_t *bytes = malloc(*out + 1);
    memcpy(bytes, good.data, *out);
    free(good.data);
    return bytes;
}

/* What the processes of a merge do with the definitions of others. */
static void use(const struct fv_defs *part)
{
    struct fv_defs all, sorted;
    struct fv_contexts contexts;
    struct fv_clocks clocks;
    struct fv_bytes bytes = { 0 };
    struct fv_def_map map;

    good_definitions(&all);
    fv_defs_merge(&all, part);
    fv_defs_sort(&sorted, &all);
    fv_defs_find(&sorted, part, &map);
    fv_def_map_release(&map);
    fv_contexts_init(&contexts, &sorted, false, true, false);
    fv_contexts_release(&contexts);
    fv_clocks_init(&clocks, &sorted);
    fv_clocks_release(&clocks);
    fv_defs_pack(&sorted, &bytes);
    free(bytes.data);
    fv_defs_release(&sorted);
    fv_defs_release(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fv_defs defs;
    uint8_t *bytes;
    size_t count;

    if (!size)
        return 0;
    if (data[0]) {
        bytes = changed(data, size, &count);
    } else {
        count = size - 1;
        bytes = malloc(size);
        memcpy(bytes, data + 1, count);
    }
    if (fv_defs_unpack(&defs, bytes, count))
        use(&defs);
    fv_defs_release(&defs);
    free(bytes);
    return 0;
}
