/* SPDX-License-Identifier: BSD-3-Clause */
/* Which programs ran: `mpiexec -n 1 ./a : -n 2 ./b` starts two that share one MPI_COMM_WORLD.
 *
 * Ranks run the same program when the names of their executables are equal, and so are the build-ids; a
 * path would tell copies on each host's own disk apart. Where a build-id is not known (nothing of the
 * executable is on a call path) the path decides. Arguments do not make another program: launchers and
 * scripts give each rank its own. */
#include "profile/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct identity {
    const char *path;
    const uint8_t *build_id;
    uint32_t build_id_bytes;
};

static struct identity identify(const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_MODULES);
    struct identity id = { .path = f->header->program };

    for (const struct fv_module_record *r; (r = fv_cursor_next(&c));)
        if (r->build_id_bytes && r->build_id_bytes <= sizeof(r->build_id) && !strcmp(r->path, id.path)) {
            id.build_id = r->build_id;
            id.build_id_bytes = r->build_id_bytes;
            break;
        }
    return id;
}

static bool same_program(const struct fv_program *p, const struct identity *id)
{
    if (strcmp(p->name, fv_base_name(id->path)))
        return false;
    if (p->build_id_bytes && id->build_id_bytes)
        return p->build_id_bytes == id->build_id_bytes && !memcmp(p->build_id, id->build_id, id->build_id_bytes);
    return !strcmp(p->path, id->path);
}

static uint32_t find_program(struct fv_model *m, struct fv_index *index, const struct fv_build_file *f)
{
    struct identity id = identify(f);
    const char *name = fv_base_name(id.path);
    uint64_t hash = fv_hash_bytes(name, strlen(name));
    struct fv_index_probe probe = fv_index_probe(index, hash);

    for (uint32_t i; (i = fv_index_next(&probe)) != FV_NONE;)
        if (same_program(&m->programs[i], &id))
            return i;
    FV_GROW(m->programs, m->program_room, m->program_count + 1);
    struct fv_program *p = &m->programs[m->program_count];
    *p = (struct fv_program){ .path = fv_arena_string(&m->arena, id.path),
                              .command = fv_arena_string(&m->arena, f->header->command),
                              .build_id_bytes = id.build_id_bytes };
    p->name = fv_base_name(p->path);
    if (id.build_id_bytes)
        memcpy(p->build_id, id.build_id, id.build_id_bytes);
    fv_index_add(index, hash, (uint32_t)m->program_count);
    return (uint32_t)m->program_count++;
}

/* Is the rank's command line the first of its kind in its program? */
static bool is_new_command(const struct fv_build *b, struct fv_index *commands, uint32_t rank)
{
    const struct fv_model *m = b->model;
    const char *command = b->files[rank].header->command;
    uint64_t hash = fv_mix2(fv_hash_bytes(command, strlen(command)), m->ranks[rank].program);
    struct fv_index_probe probe = fv_index_probe(commands, hash);

    for (uint32_t i; (i = fv_index_next(&probe)) != FV_NONE;)
        if (m->ranks[i].program == m->ranks[rank].program && !strcmp(b->files[i].header->command, command))
            return false;
    fv_index_add(commands, hash, rank);
    return true;
}

struct programs {
    struct fv_index programs, commands;
};

static void *begin_programs(struct fv_build *b)
{
    (void)b;
    return fv_xcalloc(1, sizeof(struct programs));
}

static void read_program(struct fv_build *b, void *state, uint32_t rank)
{
    struct programs *s = state;
    struct fv_model *m = b->model;

    m->ranks[rank].program = find_program(m, &s->programs, &b->files[rank]);
    struct fv_program *p = &m->programs[m->ranks[rank].program];
    p->ranks++;
    p->commands += is_new_command(b, &s->commands, rank);
    FV_GROW(p->runs, p->run_room, p->run_count + 1);
    fv_rank_runs_add(p->runs, &p->run_count, m->ranks[rank].world_rank);
}

static void finish_programs(struct fv_build *b, void *state)
{
    struct programs *s = state;
    struct fv_model *m = b->model;

    fv_index_release(&s->programs);
    fv_index_release(&s->commands);
    free(s);
    for (size_t i = 0; i < m->program_count; i++) {
        m->programs[i].label = m->programs[i].name;
        for (size_t k = 0; k < m->program_count; k++)
            if (k != i && !strcmp(m->programs[k].name, m->programs[i].name))
                m->programs[i].label = m->programs[i].path;
    }
}

const struct fv_track fv_track_programs = {
    .name = "programs",
    .visit = FV_VISIT_CALLS,
    .begin = begin_programs,
    .read = read_program,
    .finish = finish_programs,
};

/* The same shares as the whole run's efficiency has, of each program. */
void fv_build_program_times(struct fv_model *m)
{
    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];
        struct fv_program *p = &m->programs[r->program];
        double mpi = fmin(r->mpi_time_s, r->app_time_s);

        p->total_s += r->app_time_s;
        p->mpi_s += mpi;
        p->polled_s += r->polled_s;
        p->asked_s += fmin(r->asked_s, mpi);
        p->compute_s += fmax(r->app_time_s - mpi - r->polled_s, 0);
        p->wait_s += fv_rank_wait_s(r, mpi);
        p->wait_kinds |= r->wait_kinds;
    }
    for (size_t i = 0; i < m->program_count; i++)
        m->programs[i].wait_kind = fv_wait_kind_of_all(m->programs[i].wait_kinds);
}
