/* See trace_builder.h. */
#include "trace_builder.h"
#include "trace/events.h"
#include "unit.h"

static const char *const names[FUNCTIONS] = { "MPI_Send",           "MPI_Recv",       "MPI_Irecv",  "MPI_Wait",
                                              "MPI_Allreduce",      "MPI_Comm_dup",   "MPI_Reduce", "MPI_Probe",
                                              "MPI_Cancel",         "MPI_Bcast",      "MPI_Isend",  "MPI_Test",
                                              "MPI_Ibarrier",       "MPI_Win_create", "MPI_Put",    "MPI_Win_flush",
                                              "MPI_File_iwrite_all" };

void begin_events(struct events *e, uint64_t ticks)
{
    *e = (struct events){ .count = sizeof(struct fv_event_base), .end = ticks };
    memcpy(e->bytes, &(struct fv_event_base){ ticks }, sizeof(struct fv_event_base));
}

void event(struct events *e, enum fv_event_kind kind, const uint64_t *field)
{
    e->count = (size_t)(fv_put_event(e->bytes + e->count, kind, field) - e->bytes);
}

void call(struct events *e, uint64_t site, uint64_t begin, uint64_t end)
{
    EVENT(e, CALL, site, begin - e->end, end - begin);
    e->end = end;
}

void flush_events(struct fvr *f, struct events *e)
{
    if (e->count < sizeof(e->bytes) / 2)
        return;
    fvr_add(f, FV_CHUNK_EVENTS, 0, e->bytes, e->count);
    e->count = 0;
}

void rank_file(struct fvr *f, int rank, int ranks)
{
    static const uint8_t classes[FUNCTIONS] = {
        FV_CLASS_P2P,        FV_CLASS_P2P, FV_CLASS_P2P, FV_CLASS_COMPLETION, FV_CLASS_COLLECTIVE, FV_CLASS_COMM,
        FV_CLASS_COLLECTIVE, FV_CLASS_P2P, FV_CLASS_P2P, FV_CLASS_COLLECTIVE, FV_CLASS_P2P,        FV_CLASS_COMPLETION,
        FV_CLASS_COLLECTIVE, FV_CLASS_RMA, FV_CLASS_RMA, FV_CLASS_RMA,        FV_CLASS_IO
    };
    static const uint8_t rules[FUNCTIONS] = {
        [ALLREDUCE] = FV_RULE_NXN, [REDUCE] = FV_RULE_TO_ROOT, [BCAST] = FV_RULE_FROM_ROOT
    };

    fvr_init(f, rank, ranks);
    f->header.traced = 1;
    for (uint16_t i = 0; i < FUNCTIONS; i++) {
        struct fv_site_record site = { .function = i };

        fvr_function(f, i, classes[i], rules[i], names[i]);
        fvr_add(f, FV_CHUNK_SITES, 0, &site, sizeof(site));
    }
    fvr_comm(f, 1, FV_COMM_WORLD, rank, ranks);
}

void end_file(struct fvr *f, const struct events *e, const struct fv_in_call *in_call)
{
    fvr_thread(f, 0, true, 1, 1, in_call);
    fvr_add(f, FV_CHUNK_EVENTS, 0, e->bytes, e->count);
}

void merge_files(struct fv_merge *m, struct fvr *files, size_t count)
{
    merge_files_by(&fv_transport_alone, m, files, count);
}

void merge_files_by(const struct fv_transport *transport, struct fv_merge *m, struct fvr *files, size_t count)
{
    char why[200];

    *m = (struct fv_merge){ .transport = transport, .source = &fv_rank_file_source };
    m->files = fv_xcalloc(count, sizeof(*m->files));
    fv_defs_init(&m->defs, (uint32_t)files[0].header.world_size);
    for (size_t i = 0; i < count; i++) {
        fvr_finish(&files[i]);
        assert_int_equal(fv_reader_open_memory(files[i].bytes, files[i].size, &m->files[i].reader, why, sizeof(why)),
                         0);
        m->files[m->file_count++].name = "f";
    }
    assert_true(fv_merge_unify(m, false, FV_SAMPLES_CONTEXTS));
}
