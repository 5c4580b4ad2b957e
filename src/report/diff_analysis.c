/* Waiting times that fvunify computed from the trace (analysis.json, share/analysis.md), for the call paths
 * of a run that the diff has. They replace the profile's only if every run has them. */
#include "report/diff.h"
#include "base/base.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path;
}

/* An unknown function is called "module+0xoffset" there. */
static bool is_unknown(const char *function, const char *module, uint64_t offset)
{
    char label[4096];

    if (!function)
        return true;
    snprintf(label, sizeof(label), "%s%s0x%llx", module, *module ? "+" : "", (unsigned long long)offset);
    return !strcmp(function, label);
}

static struct fv_diff_frame frame_of(const json_t *json, const struct fv_diff_run *run)
{
    const char *module = base_name(json_string_value(json_object_get(json, "module")));
    json_int_t line = json_integer_value(json_object_get(json, "line"));
    struct fv_diff_frame f = { .function = json_string_value(json_object_get(json, "function")),
                               .file = base_name(json_string_value(json_object_get(json, "file"))),
                               .line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0,
                               .offset = (uint64_t)json_integer_value(json_object_get(json, "offset")),
                               .module = module ? module : "" };

    if (is_unknown(f.function, f.module, f.offset))
        f.function = NULL;
    if (run->programs == 1 && !strcmp(f.module, run->program))
        f.module = FV_DIFF_PROGRAM;
    return f;
}

static void take_site(struct fv_diff_side *side, const json_t *site, struct fv_diff_frame **frames,
                      size_t *room)
{
    struct fv_diff_run *run = &side->runs[side->count - 1];
    const json_t *list = json_object_get(site, "path"), *wait = json_object_get(site, "wait_s");
    struct fv_diff_path path = { .function = json_string_value(json_object_get(site, "function")) };
    double wait_s = json_number_value(wait) / (double)run->ranks;

    if (!path.function || !json_is_number(wait))
        return;
    path.count = json_array_size(list);
    FV_GROW(*frames, *room, path.count + 1);
    path.frames = *frames;
    for (size_t i = 0; i < path.count; i++)
        path.frames[i] = frame_of(json_array_get(list, i), run);
    fv_diff_path_seal(&path);
    uint32_t at = fv_diff_paths_find(&side->paths, &path);
    struct fv_diff_path *known = at == FV_NONE ? NULL : &side->paths.items[at];
    if (known && known->sample_count == side->count && known->samples[side->count - 1].there)
        known->samples[side->count - 1].analysis_s += wait_s;
    else
        run->analysis_lost_s += wait_s;
}

static void take(struct fv_diff_side *side, const json_t *root)
{
    struct fv_diff_run *run = &side->runs[side->count - 1];
    const json_t *sites = json_object_get(root, "callsites"),
                 *efficiency = json_object_get(root, "efficiency");
    static const char *const keys[] = { "serialization", "transfer" };
    struct fv_diff_frame *frames = NULL;
    size_t room = 0;

    for (size_t i = 0; i < side->paths.count; i++)
        if (side->paths.items[i].sample_count == side->count)
            side->paths.items[i].samples[side->count - 1].analysis_s = 0;
    for (size_t i = 0; i < json_array_size(sites); i++)
        take_site(side, json_array_get(sites, i), &frames, &room);
    for (unsigned i = 0; i < 2; i++) {
        const json_t *value = json_object_get(efficiency, keys[i]);

        run->efficiency[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    run->analysis = true;
    free(frames);
}

void fv_diff_add_analysis(struct fv_diff *d, unsigned which, const char *path)
{
    struct fv_diff_side *side = &d->side[which];
    struct fv_diff_run *run = &side->runs[side->count - 1];
    char *name = fv_arena_printf(&d->arena, "%s/analysis.json", path);
    json_error_t error;
    struct stat st;

    if (stat(name, &st))
        return; /* there is none: a profile without trace, or a single rank file */
    json_t *root = json_load_file(name, 0, &error);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    json_int_t ranks = json_integer_value(json_object_get(json_object_get(root, "run"), "ranks"));
    if (!root)
        fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL, "%s: %s; it is left out: run fvunify again", name,
                       error.text);
    else if (!schema || strcmp(schema, "fvmpi-analysis-1"))
        fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL,
                       "%s: its schema is not fvmpi-analysis-1; it is left out: run fvunify again", name);
    else if (ranks != (json_int_t)run->ranks)
        fv_problem_add(&d->notes, FV_PROBLEM_NOTE, NULL,
                       "%s: of %lld ranks, not %zu; it is left out: run fvunify again", name,
                       (long long)ranks, run->ranks);
    else
        take(side, root);
    json_decref(root);
}
