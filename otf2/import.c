/* SPDX-License-Identifier: BSD-3-Clause */
/* See import.h: an archive is opened, is a source of records, and is closed. */
#include "otf2/import_state.h"
#include "otf2/open.h"
#include "tool/words.h"
#include "transcript/transcript.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fv_import *import_of(const struct fv_merge *merge)
{
    return merge->source_context;
}

/* ---- the source ---- */

/* Ours are of all ranks, but for what took no CPU time. Of another tool's archive where a rank has none, it is not
 * known what that computes; and samples of some cannot be compared with regions of others. */
static bool is_sampled(const struct fv_merge *m, const struct fv_import *import)
{
    uint64_t ranks[2] = { 0 }; /* that call MPI; those that have samples */

    for (uint32_t i = 0; i < import->count; i++) {
        ranks[0] += import->surveys[i].calls > 0;
        ranks[1] += import->surveys[i].samples > 0;
    }
    fv_transport_sum(m->transport, ranks, 2);
    return ranks[1] && (import->call_path != FV_NONE || ranks[0] == ranks[1]);
}

static bool define(struct fv_merge *m, struct fv_defs *own)
{
    struct fv_import *import = import_of(m);

    fv_import_build(import, own);
    import->tree = &own->tree;
    for (uint32_t i = 0; i < import->count && !*import->watch.stop; i++)
        fv_import_survey(import, import->first + i, &import->surveys[i]);
    import->is_sampled = is_sampled(m, import);
    for (size_t i = 1; i < own->tree.node_count; i++) /* each is a region, or a call path that was told */
        own->tree.nodes[i].flags |= FV_DEF_CALLS;
    fv_import_build_ranks(import, own);
    return !*import->watch.stop;
}

/* The call paths of this process stay: the next passes go along them. */
static void number(struct fv_merge *m, struct fv_defs *own, struct fv_def_map *numbers)
{
    struct fv_import *import = import_of(m);

    import->own_tree = own->tree;
    import->tree = &import->own_tree;
    fv_call_tree_init(&own->tree);
    import->numbers = *numbers;
    *numbers = (struct fv_def_map){ 0 };
    import->is_known = true;
    fv_import_number_groups(import, &m->defs);
    for (uint32_t i = 0; i < import->count; i++)
        m->files[i].rank = import->first + i;
}

static void sites(const struct fv_merge *m, size_t file, fv_source_site_fn *take, void *context)
{
    const struct fv_import *import = import_of(m);
    const struct fv_import_survey *s = &import->surveys[file];

    for (size_t i = 0; i < s->site_count; i++)
        take(context, fv_numbers_get(&import->numbers.functions, s->sites[i].function),
             fv_numbers_get(&import->numbers.nodes, s->sites[i].node));
}

/* Ticks of a rank are ns after the archive's offset. */
int64_t fv_import_base(const struct fv_merge *m, uint32_t rank)
{
    return m->clocks.lines[m->clocks.of_rank[rank]].pieces[0].ns;
}

static struct fv_import_rank rank_of(const struct fv_merge *m, size_t file, struct fv_sink *sink)
{
    struct fv_import *import = import_of(m);

    return (struct fv_import_rank){ .import = import,
                                    .rank = import->first + (uint32_t)file,
                                    .survey = &import->surveys[file],
                                    .sink = sink,
                                    .first_object = m->defs.ranks[m->files[file].rank].first_object,
                                    .base_ns = fv_import_base(m, import->first + (uint32_t)file) };
}

static void *open_rank(const struct fv_merge *m, const struct fv_source_rank *r)
{
    struct fv_import_rank *rank = fv_xcalloc(1, sizeof(*rank));

    *rank = rank_of(m, r->file, r->sink);
    rank->locations = r->locations;
    rank->is_quiet = !r->replay->progress;
    fv_import_rank_open(rank);
    return rank;
}

static bool until(void *records, uint64_t time_ns)
{
    return fv_import_rank_until(records, time_ns);
}

static bool close_rank(void *records)
{
    struct fv_import_rank *r = records;
    bool good = fv_import_rank_close(r);

    r->import->surveys[r->rank - r->import->first].cut = r->cut;
    free(records);
    return good;
}

static uint64_t cut(const struct fv_merge *m, size_t file)
{
    return import_of(m)->surveys[file].cut;
}

/* ---- what was computed ---- */

/* Regions that are short are put together: so many at most, of so long a time. Of a long one there are so many pieces
 * at most, whatever its times say. */
#define TOGETHER    16
#define TOGETHER_NS 10000000
#define PIECES      (1 << 16)

struct computing {
    struct fv_sink sink; /* first: a sink is one of these */
    fv_source_sample_fn *take;
    void *context;
    struct fv_import *import;
    uint32_t finalize; /* MPI_Finalize's number, or FV_NONE */
    bool is_over;      /* it has returned */
    uint64_t piece_ns;
    struct computing_thread {
        struct fv_source_sample items[TOGETHER];
        uint32_t count;
        uint64_t begin_ns;
    } * threads;
};

static void flush(struct computing *c, uint32_t slot)
{
    struct computing_thread *t = &c->threads[slot];

    for (uint32_t i = 0; i < t->count; i++)
        c->take(c->context, &t->items[i]);
    t->count = 0;
}

static void add(struct computing *c, uint32_t slot, uint32_t node, uint64_t from, uint64_t to)
{
    struct computing_thread *t = &c->threads[slot];
    uint32_t i = 0;

    if (t->count && to - t->begin_ns > c->piece_ns)
        flush(c, slot);
    while (i < t->count && t->items[i].node != node)
        i++;
    if (i == TOGETHER) {
        flush(c, slot);
        i = 0;
    }
    if (!t->count)
        t->begin_ns = from;
    if (i == t->count)
        t->items[t->count++] = (struct fv_source_sample){ .slot = slot, .node = node };
    t->items[i].time_ns = from + (to - from) / 2;
    t->items[i].cpu_ns += to - from;
}

static void spent(void *context, uint32_t slot, uint32_t node, uint64_t from_ns, uint64_t to_ns)
{
    struct computing *c = context;

    node = fv_numbers_get(&c->import->numbers.nodes, node);
    for (uint64_t to; from_ns < to_ns; from_ns = to) {
        to = to_ns - from_ns > c->piece_ns ? from_ns + c->piece_ns : to_ns;
        add(c, slot, node == FV_NONE ? 0 : node, from_ns, to);
    }
}

/* Pieces lie between two calls. */
static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *m)
{
    struct computing *c = (struct computing *)(void *)sink;

    if (m->kind == FV_REC_ENTER || m->kind == FV_REC_PROGRAM_END)
        flush(c, slot);
    else if (m->kind == FV_REC_LEAVE && m->ref == c->finalize)
        c->is_over |= m->ref != FV_NONE;
    else if (m->kind == FV_REC_SAMPLE)
        c->take(c->context, &(struct fv_source_sample){ slot, m->context, m->time_ns, m->sent, c->is_over });
    return true;
}

static bool open_thread(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    (void)sink, (void)slot, (void)location;
    return true;
}

static bool close_thread(struct fv_sink *sink, uint32_t slot)
{
    flush((struct computing *)(void *)sink, slot);
    return true;
}

static uint32_t number_of(const struct fv_defs *defs, const char *function)
{
    for (uint32_t i = 0; i < defs->function_count; i++)
        if (!strcmp(defs->functions[i].name, function))
            return i;
    return FV_NONE;
}

/* Where the archive has samples, they are what computing is known by, as in rank files; else its regions. */
static bool samples(const struct fv_merge *m, size_t file, fv_source_sample_fn *take, void *context)
{
    struct computing c = { .sink = { .open = open_thread, .put = put, .close = close_thread },
                           .take = take,
                           .context = context,
                           .import = import_of(m),
                           .finalize = number_of(&m->defs, "MPI_Finalize") };
    struct fv_import_rank r = rank_of(m, file, &c.sink);
    uint64_t piece_ns = (r.survey->last_ns - r.survey->first_ns) / PIECES;

    c.piece_ns = piece_ns > TOGETHER_NS ? piece_ns : TOGETHER_NS;
    c.threads = fv_xcalloc((size_t)c.import->ranks[r.rank].location_count + 1, sizeof(*c.threads));
    r.takes_samples = c.import->is_sampled;
    r.spent = r.takes_samples ? NULL : spent;
    r.context = &c;
    fv_import_rank_open(&r);
    fv_import_rank_until(&r, UINT64_MAX);
    fv_import_rank_close(&r);
    free(c.threads);
    return r.takes_samples;
}

static void locks(const struct fv_merge *m, size_t file, fv_source_lock_fn *take, void *context)
{
    const struct fv_import *import = import_of(m);
    const struct fv_import_survey *s = &import->surveys[file];
    uint32_t first = m->defs.ranks[m->files[file].rank].first_object;

    for (uint32_t i = 0; i < s->locks && s->has_threads; i++) {
        const struct fv_import_lock_name *l = fv_import_at(import, FV_IMPORT_LOCK, s->lock_names[i]);
        uint32_t node = l && l->node ? fv_numbers_get(&import->numbers.nodes, l->node) : FV_NONE;

        if (node != FV_NONE)
            take(context, first + i + 1, l->kind, m->defs.tree.nodes[node].module);
    }
}

static const struct fv_record_source archive = { .define = define,
                                                 .number = number,
                                                 .sites = sites,
                                                 .open = open_rank,
                                                 .until = until,
                                                 .close = close_rank,
                                                 .cut = cut,
                                                 .samples = samples,
                                                 .locks = locks };

/* ---- rank files ---- */

static const struct oddity {
    const char *what, *words;
    bool is_loss;
} oddities[] = {
#define FV_IMPORT_ODDITY(name, lost, what, words) { what, words, lost },
    FV_IMPORT_ODDITIES(FV_IMPORT_ODDITY)
#undef FV_IMPORT_ODDITY
};

static uint64_t oddity_count(const struct fv_import *import, size_t kind)
{
    return ((const uint64_t *)&import->oddities)[kind];
}

/* What was wrong, in a line; NULL: nothing of this kind. */
static const char *oddity(const struct fv_import *import, size_t kind, char *out, size_t bytes)
{
    const uint64_t count = oddity_count(import, kind);

    snprintf(out, bytes, "%llu %s%s %s", (unsigned long long)count, oddities[kind].what, fv_words_s(count),
             oddities[kind].words);
    return count ? out : NULL;
}

/* Reports tell it, too. */
static void remark(const struct fv_import *import, struct fv_transcript *t)
{
    char line[FV_IMPORT_LINE_BYTES];

    for (size_t i = 0; i < FV_IMPORT_ODDITY_COUNT; i++)
        if (oddity(import, i, line, sizeof(line)))
            fv_transcript_remark(t, line);
}

static bool transcribe_rank(struct fv_merge *m, const struct fv_groups *groups, size_t file, const char *directory)
{
    struct fv_import *import = import_of(m);
    const uint32_t rank = import->first + (uint32_t)file;
    const struct fv_import_process *p = fv_import_at(import, FV_IMPORT_PROCESS, import->ranks[rank].process);
    struct fv_file_header header;

    if (p && p->is_missing)
        return true;
    fv_import_header(import, rank, &import->surveys[file], &header);
    struct fv_transcript *t = fv_transcript_open(m, groups, rank, &header, directory);
    if (!t)
        return false;
    if (!rank)
        remark(import, t);
    fv_import_name_streams(import, rank, t);
    struct fv_import_rank r = rank_of(m, file, fv_transcript_sink(t));
    r.transcript = t;
    fv_import_rank_open(&r);
    fv_import_rank_until(&r, UINT64_MAX);
    bool good = fv_import_rank_close(&r);
    import->surveys[file].calls = r.calls;
    return fv_transcript_close(t) && good;
}

/* An analysis says of which calls it is: of a part, of fewer than the archive has. */
static void share_calls(struct fv_merge *m)
{
    const struct fv_import *import = import_of(m);
    uint64_t *calls = fv_xcalloc((size_t)import->rank_count + 1, sizeof(*calls));

    for (uint32_t i = 0; i < import->count; i++)
        calls[import->first + i] = import->surveys[i].calls;
    fv_transport_sum(m->transport, calls, import->rank_count);
    for (size_t i = 0; i < m->defs.rank_count; i++)
        m->defs.ranks[i].identity.traced_calls = calls[i];
    free(calls);
}

/* Has the part that is taken begun when the run ends? Else says when that was. */
static bool has_part(const struct fv_merge *m)
{
    const struct fv_import *import = import_of(m);
    uint64_t end_ns = 0;

    for (uint32_t i = 0; i < import->count; i++) {
        const uint64_t last_ns = import->surveys[i].last_ns + (uint64_t)fv_import_base(m, import->first + i);

        end_ns = last_ns > end_ns ? last_ns : end_ns;
    }
    fv_transport_max(m->transport, &end_ns, 1);
    if (!import->is_part || import->part.from_ns < end_ns)
        return true;
    if (!m->transport->rank)
        fv_log("%s: its trace ends after %.9g s, before the part that is asked for",
               import->part.of ? import->part.of : import->anchor, (double)end_ns / 1e9);
    return false;
}

bool fv_import_transcribe(struct fv_merge *m, const char *directory)
{
    struct fv_groups groups;
    bool good = has_part(m);

    fv_transport_sum(m->transport, (uint64_t *)&import_of(m)->oddities, FV_IMPORT_ODDITY_COUNT);
    if (!good)
        return false;
    fv_groups_init(&groups, &m->defs);
    for (size_t i = 0; i < m->file_count && good; i++)
        good = transcribe_rank(m, &groups, i, directory);
    fv_groups_release(&groups);
    if (good && import_of(m)->is_part)
        share_calls(m);
    return good;
}

void fv_import_take_part(struct fv_merge *m, const struct fv_import_part *part)
{
    import_of(m)->part = *part;
    import_of(m)->is_part = true;
    m->is_later_part = part->from_ns && import_of(m)->call_path != FV_NONE;
}

void fv_import_take_head(struct fv_merge *m, uint64_t bytes)
{
    struct fv_import *import = import_of(m);
    const uint64_t each = bytes / FV_IMPORT_EVENT_BYTES / (import->tables[FV_IMPORT_LOCATION].count + 1);

    import->most_events = each ? each : 1;
}

/* ---- opening ---- */

bool fv_import_is_anchor(const char *path)
{
    size_t length = strlen(path);
    struct stat st;

    return length > 5 && !strcmp(path + length - 5, ".otf2") && (stat(path, &st) || !S_ISDIR(st.st_mode));
}

/* Each location has a file. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* The library needs the longer, the more they are. */
static void select_those(struct fv_import *import, const uint32_t *locations, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (fv_import_has_events(import, locations[i]))
            OTF2_Reader_SelectLocation(import->reader, import->tables[FV_IMPORT_LOCATION].refs[locations[i]]);
}

static void select_locations(struct fv_import *import)
{
    for (uint32_t i = 0; i < import->count; i++) {
        const struct fv_import_rank_def *r = &import->ranks[import->first + i];

        select_those(import, r->locations, r->location_count);
        select_those(import, r->recorders, r->recorder_count);
    }
    OTF2_Reader_OpenDefFiles(import->reader);
    OTF2_Reader_OpenEvtFiles(import->reader);
    *import->words = '\0';
}

/* This process's share: as many events as any other's, about. */
static void choose_share(struct fv_import *import, const struct fv_transport *t)
{
    uint64_t before = 0, all = 0;
    uint32_t stop = 0;

    for (uint32_t i = 0; i < import->rank_count; i++)
        for (uint32_t k = 0; k < import->ranks[i].location_count; k++)
            all += 1 + ((struct fv_import_location *)fv_import_at(import, FV_IMPORT_LOCATION,
                                                                  import->ranks[i].locations[k]))
                           ->events;
    import->first = import->rank_count;
    for (uint32_t i = 0; i < import->rank_count; i++) {
        int process = all ? (int)((unsigned __int128)before * (unsigned)t->size / all) : 0;

        if (i < import->first && process == t->rank)
            import->first = i;
        stop = process <= t->rank ? i + 1 : stop;
        for (uint32_t k = 0; k < import->ranks[i].location_count; k++)
            before += 1 + ((struct fv_import_location *)fv_import_at(import, FV_IMPORT_LOCATION,
                                                                     import->ranks[i].locations[k]))
                              ->events;
    }
    import->count = stop > import->first ? stop - import->first : 0;
}

/* The first process says what is wrong with the file; what others meet, they say. */
static bool open_archive(struct fv_import *import, const struct fv_transport *t)
{
    if (!t->rank)
        import->reader = fv_otf2_open(import->anchor, import->words);
    if (fv_transport_any(t, !t->rank && !import->reader))
        return false;
    if (t->rank)
        import->reader = fv_otf2_open(import->anchor, import->words);
    return !fv_transport_any(t, !import->reader);
}

static void further(OTF2_GlobalDefReaderCallbacks *callbacks)
{
    fv_import_read_metrics(callbacks);
    fv_import_read_files(callbacks);
    fv_import_read_grids(callbacks);
}

static bool read_archive(struct fv_import *import, const struct fv_transport *t)
{
    OTF2_Reader_GetTraceId(import->reader, &import->trace_id);
    if (!fv_import_read_definitions(import, further)) {
        if (!t->rank)
            fv_log("%s: a definition cannot be read%s%s; the archive is damaged", import->anchor,
                   *import->words ? ": " : "", import->words);
        return false;
    }
    if (!fv_import_find_ranks(import)) {
        if (!t->rank)
            fv_log("%s: the archive has no processes", import->anchor);
        return false;
    }
    fv_import_limit_events(import);
    choose_share(import, t);
    if (t->rank) /* what is wrong in the definitions counts once */
        import->oddities = (struct fv_import_oddities){ 0 };
    return true;
}

/* The library looks for the other files beside the anchor's name: of a link, where it leads to, if they are not
 * here. */
static const char *find_anchor(struct fv_import *import, const char *anchor)
{
    char beside[PATH_MAX], *target;

    if (!fv_import_is_anchor(anchor) ||
        snprintf(beside, sizeof(beside), "%.*s.def", (int)(strlen(anchor) - 5), anchor) >= PATH_MAX ||
        !access(beside, F_OK) || !(target = realpath(anchor, NULL)))
        return anchor;
    const char *found = fv_import_is_anchor(target) ? fv_arena_string(&import->arena, target) : anchor;
    free(target);
    return found;
}

void fv_import_take_series(struct fv_merge *merge, const struct fv_import_series *series)
{
    ((struct fv_import *)merge->source_context)->series = series;
}

bool fv_import_open(struct fv_merge *m, const struct fv_transport *t, const char *anchor,
                    const struct fv_import_watch *watch)
{
    struct fv_import *import = fv_xcalloc(1, sizeof(*import));

    import->watch = *watch;
    *m = (struct fv_merge){ .transport = t, .source = &archive, .source_context = import };
    import->anchor = find_anchor(import, anchor);
    raise_limit();
    fv_otf2_catch(import->words, sizeof(import->words));
    bool good = open_archive(import, t) && !fv_transport_any(t, !read_archive(import, t));
    fv_defs_init(&m->defs, import->rank_count);
    if (!good)
        return false;
    select_locations(import);
    import->surveys = fv_xcalloc((size_t)import->count + 1, sizeof(*import->surveys));
    m->files = fv_xcalloc((size_t)import->count + 1, sizeof(*m->files));
    m->file_count = import->count;
    for (uint32_t i = 0; i < import->count; i++) {
        const struct fv_import_rank_def *r = &import->ranks[import->first + i];

        m->files[i].name = anchor;
        for (uint32_t k = 0; k < r->location_count; k++)
            m->event_bytes +=
                FV_IMPORT_EVENT_BYTES *
                ((struct fv_import_location *)fv_import_at(import, FV_IMPORT_LOCATION, r->locations[k]))->events;
    }
    return true;
}

bool fv_import_say(struct fv_merge *m)
{
    const struct fv_import *import = import_of(m);
    char line[FV_IMPORT_LINE_BYTES];
    bool good = true;

    for (size_t i = 0; i < FV_IMPORT_ODDITY_COUNT; i++) {
        if (!oddity(import, i, line, sizeof(line)))
            continue;
        good = good && !oddities[i].is_loss;
        if (!m->transport->rank)
            fv_log("%s: %s", import->anchor, line);
    }
    return good;
}

void fv_import_close(struct fv_merge *m)
{
    struct fv_import *import = import_of(m);

    if (import->reader)
        OTF2_Reader_Close(import->reader);
    fv_otf2_catch(NULL, 0);
    for (uint32_t i = 0; import->surveys && i < import->count; i++)
        fv_import_survey_release(&import->surveys[i]);
    for (uint32_t i = 0; i < import->rank_count; i++) {
        free(import->ranks[i].locations);
        free(import->ranks[i].recorders);
    }
    free(import->surveys);
    free(import->ranks);
    fv_def_map_release(&import->numbers);
    if (import->is_known)
        fv_call_tree_release(&import->own_tree);
    fv_import_release_definitions(import);
    free(import);
    m->source_context = NULL;
}
