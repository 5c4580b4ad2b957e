/* SPDX-License-Identifier: BSD-3-Clause */
/* See import_state.h: Cartesian topologies. Tools write places in the machine as topologies, too: one is MPI's if it
 * has a place for each rank, in MPI's order. */
#include "otf2/import_state.h"

#include <stdlib.h>
#include <string.h>

static OTF2_CallbackCode on_dimension(void *data, OTF2_CartDimensionRef self, OTF2_StringRef name, uint32_t size,
                                      OTF2_CartPeriodicity periodic)
{
    (void)name;
    *(struct fv_grid_dimension *)fv_import_row(data, FV_IMPORT_DIMENSION, self) =
        (struct fv_grid_dimension){ size, periodic == OTF2_CART_PERIODIC_TRUE };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_topology(void *data, OTF2_CartTopologyRef self, OTF2_StringRef name, OTF2_CommRef comm,
                                     uint8_t count, const OTF2_CartDimensionRef *dimensions)
{
    struct fv_import *import = data;
    struct fv_grid_dimension *copy = fv_arena_take(&import->arena, ((size_t)count + 1) * sizeof(*copy));
    bool good = count > 0;

    (void)name;
    for (unsigned i = 0; i < count; i++) {
        const struct fv_grid_dimension *d = fv_import_get(import, FV_IMPORT_DIMENSION, dimensions[i]);

        good = good && d != NULL && d->size > 0;
        copy[i] = d ? *d : (struct fv_grid_dimension){ 0 };
    }
    *(struct fv_import_grid *)fv_import_row(import, FV_IMPORT_GRID, self) =
        (struct fv_import_grid){ .comm = comm, .dimensions = copy, .count = count, .is_other = !good };
    return OTF2_CALLBACK_SUCCESS;
}

/* The last dimension counts fastest. */
static bool is_at(const struct fv_import_grid *g, uint32_t rank, const uint32_t *at)
{
    for (uint32_t i = g->count; i-- > 0; rank /= g->dimensions[i].size)
        if (at[i] != rank % g->dimensions[i].size)
            return false;
    return !rank;
}

static OTF2_CallbackCode on_coordinate(void *data, OTF2_CartTopologyRef topology, uint32_t rank, uint8_t count,
                                       const uint32_t *coordinates)
{
    struct fv_import_grid *g = fv_import_get(data, FV_IMPORT_GRID, topology);

    if (g && !g->is_other && ++g->told)
        g->is_other = count != g->count || !is_at(g, rank, coordinates);
    return OTF2_CALLBACK_SUCCESS;
}

void fv_import_read_grids(OTF2_GlobalDefReaderCallbacks *c)
{
    OTF2_GlobalDefReaderCallbacks_SetCartDimensionCallback(c, on_dimension);
    OTF2_GlobalDefReaderCallbacks_SetCartTopologyCallback(c, on_topology);
    OTF2_GlobalDefReaderCallbacks_SetCartCoordinateCallback(c, on_coordinate);
}

void fv_import_build_grids(struct fv_import *import, struct fv_defs *own)
{
    for (uint32_t i = 0; i < import->tables[FV_IMPORT_GRID].count; i++) {
        const struct fv_import_grid *from = fv_import_at(import, FV_IMPORT_GRID, i);
        const struct fv_import_comm *c = fv_import_get(import, FV_IMPORT_COMM, from->comm);
        struct fv_grid *grid = fv_xcalloc(1, sizeof(*grid) + from->count * sizeof(*from->dimensions));

        grid->dimensions = from->count;
        memcpy(grid->dimension, from->dimensions, from->count * sizeof(*from->dimensions));
        if (!from->is_other && c && c->number != FV_NONE && from->told == own->comms[c->number].size)
            fv_def_comm_set_grid(&own->arena, &own->comms[c->number], grid);
        free(grid);
    }
}
