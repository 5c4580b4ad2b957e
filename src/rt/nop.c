/* SPDX-License-Identifier: BSD-3-Clause */
/* A runtime that records nothing: with it, libfvmpi-nop-* shows what the wrappers alone cost, the floor
 * of tests/bench. Only the functions on the way of a call that is not recorded are ever reached; the
 * others are there to link. */
#include "fvmpi.h"
#include "rt/path.h"
#include "rt/rt.h"

/* They do nothing, each in a line. */
/* clang-format off */
bool fv_call_enter(struct fv_call *call, unsigned function, struct fv_call_place site)
{
    (void)call, (void)function, (void)site;
    return false;
}
bool fv_call_end(struct fv_call *call) { return (void)call, true; }
void fv_call_record(struct fv_call *call, struct fv_comm *comm, uint64_t sent, uint64_t received)
{
    (void)call, (void)comm, (void)sent, (void)received;
}
void fv_call_record_on(struct fv_call *call, uint64_t comm) { (void)call, (void)comm; }
void fv_call_record_collective(struct fv_call *call, struct fv_comm *comm, int64_t root, uint64_t sent,
                               uint64_t received, unsigned flags)
{ (void)call, (void)comm, (void)root, (void)sent, (void)received, (void)flags; }
void fv_call_record_alike(struct fv_call *call, uint64_t comm, uint64_t bytes) { (void)call, (void)comm, (void)bytes; }
void fv_call_empty(struct fv_call *call, unsigned sent, unsigned received) { (void)call, (void)sent, (void)received; }
void fv_call_sent_one(struct fv_call *call, uint64_t bytes) { (void)call, (void)bytes; }
void fv_call_sent_to(struct fv_call *call, struct fv_comm *comm, int rank, uint64_t messages, uint64_t bytes)
{
    (void)call, (void)comm, (void)rank, (void)messages, (void)bytes;
}
void fv_call_collective(struct fv_call *call, uint32_t sequence, unsigned flags)
{ (void)call, (void)sequence, (void)flags; }
void fv_path_notice(void) {}

uint64_t fv_comm_collective(struct fv_comm *comm) { return (void)comm, 0; }
uint64_t fv_comm_collectives(const struct fv_comm *comm) { return (void)comm, 0; }
uint32_t fv_barriers;
struct fv_comm *fv_barrier_enter(bool on, uint64_t handle, bool world)
{ return (void)on, (void)handle, (void)world, NULL; }
bool fv_barrier_owed(const struct fv_comm *comm) { return (void)comm, false; }
void fv_barrier_leave(struct fv_comm *comm, bool owed) { (void)comm, (void)owed; }
void fv_barrier_record(struct fv_call *call, uint64_t ticks) { (void)call, (void)ticks; }
struct fv_comm *fv_comm_new(const struct fv_comm_info *info) { return (void)info, NULL; }
struct fv_comm *fv_comm_dup(uint64_t h, struct fv_comm *p, uint64_t n) { return (void)h, (void)p, (void)n, NULL; }
struct fv_comm *fv_comm_get(uint64_t handle) { return (void)handle, NULL; }
struct fv_comm *fv_comm_find(uint64_t handle) { return (void)handle, NULL; }
bool fv_comm_freed(struct fv_comm *comm, uint64_t begin) { return (void)comm, (void)begin, false; }
void fv_comm_named(uint64_t handle, const char *name) { (void)handle, (void)name; }
uint64_t fv_comm_next_child(struct fv_comm *parent) { return (void)parent, 0; }
int fv_comm_size(const struct fv_comm *comm) { return (void)comm, 0; }
int fv_comm_rank(const struct fv_comm *comm) { return (void)comm, 0; }
int fv_comm_remote_size(const struct fv_comm *comm) { return (void)comm, 0; }
unsigned fv_comm_flags(const struct fv_comm *comm) { return (void)comm, 0; }

void fv_owner_add(enum fv_owner_kind k, uint64_t handle, struct fv_owner owner) { (void)k, (void)handle, (void)owner; }
struct fv_owner fv_owner_of(enum fv_owner_kind k, uint64_t handle)
{ return (void)k, (void)handle, (struct fv_owner){ 0 }; }
bool fv_owner_remove(enum fv_owner_kind k, const struct fv_owner *known)
{
    return (void)k, (void)known, false;
}

bool fv_traced;
#define FV_NOP_EVENT_ADD(n)                                                           \
    void fv_event_add_##n(struct fv_call *call, unsigned kind, const uint64_t *field) \
    {                                                                                 \
        (void)call, (void)kind, (void)field;                                          \
    }
FV_EVENT_ADDS(FV_NOP_EVENT_ADD)
void fv_event_received(struct fv_call *call, uint32_t comm, uint64_t request, int peer, int tag, uint64_t bytes)
{ (void)call, (void)comm, (void)request, (void)peer, (void)tag, (void)bytes; }
void fv_event_cancelled(struct fv_call *call, bool sends, uint32_t comm, uint64_t request, int peer, int tag)
{ (void)call, (void)sends, (void)comm, (void)request, (void)peer, (void)tag; }
uint64_t fv_event_numbers(uint64_t count) { return (void)count, 0; }
uint32_t fv_event_window(uint32_t comm, uint64_t sequence) { return (void)comm, (void)sequence, 0; }
uint32_t fv_event_file(uint32_t comm, unsigned mode, const char *name) { return (void)comm, (void)mode, (void)name, 0; }
void fv_comm_grid(const struct fv_comm *comm, unsigned dimensions, const int *sizes, const int *periodic)
{
    (void)comm, (void)dimensions, (void)sizes, (void)periodic;
}
void fv_comm_neighbours(const struct fv_comm *comm, unsigned sources, unsigned destinations, const int *ranks)
{
    (void)comm, (void)sources, (void)destinations, (void)ranks;
}
bool fv_comm_neighbours_fit(uint64_t count) { return (void)count, false; }
struct fv_degrees fv_comm_degrees(const struct fv_comm *comm) { return (void)comm, (struct fv_degrees){ 0 }; }
void fv_comm_set_degrees(struct fv_comm *comm, struct fv_degrees degrees) { (void)comm, (void)degrees; }
uint32_t fv_comm_number(const struct fv_comm *comm) { return (void)comm, 0; }

void fv_request_post(struct fv_call *call, const struct fv_request *request) { (void)call, (void)request; }
void fv_call_record_send(struct fv_call *call, uint64_t comm, int rank, int tag, uint64_t bytes)
{
    (void)call, (void)comm, (void)rank, (void)tag, (void)bytes;
}
void fv_call_record_irecv(struct fv_call *call, uint64_t comm, uint64_t request, int source, int peer, int tag)
{
    (void)call, (void)comm, (void)request, (void)source, (void)peer, (void)tag;
}
bool fv_request_get(uint64_t handle, struct fv_request *out) { return (void)handle, (void)out, false; }
union fv_requests_known fv_requests_known;
bool fv_requests_shared(void) { return false; }
void fv_request_start(struct fv_call *call, const struct fv_request *known, uint64_t handle, uint64_t n)
{
    (void)call, (void)known, (void)handle, (void)n;
}
void fv_request_unknown(void) { }
void fv_request_waits(struct fv_call *call, const struct fv_request *request, int peer)
{
    (void)call, (void)request, (void)peer;
}
bool fv_request_completed(struct fv_call *call, const struct fv_request *known, bool message, uint64_t bytes)
{
    return (void)call, (void)known, (void)message, (void)bytes, false;
}
void fv_request_note(struct fv_call *call, uint64_t handle, const struct fv_wait_target *what)
{
    (void)call, (void)handle, (void)what;
}
bool fv_requests_told(void) { return false; }
bool fv_request_waited(uint64_t handle, struct fv_wait_target *out) { return (void)handle, (void)out, false; }
struct fv_wait_target fv_request_as_waited(const struct fv_request *r) { return (void)r, (struct fv_wait_target){ 0 }; }
struct fv_waiting *fv_call_describe(struct fv_call *call) { return (void)call, NULL; }
void fv_call_peers(struct fv_call *call, uint64_t comm, int to, int send_tag, int from, int tag)
{
    (void)call, (void)comm, (void)to, (void)send_tag, (void)from, (void)tag;
}
void fv_call_record_received(struct fv_call *call, const struct fv_request *known, uint64_t bytes)
{
    (void)call, (void)known, (void)bytes;
}
void fv_request_freed(const struct fv_request *known) { (void)known; }
void *fv_scratch(struct fv_call *call, unsigned slot, size_t bytes)
{ return (void)call, (void)slot, (void)bytes, NULL; }

void fv_start(const struct fv_start_info *info) { (void)info; }
void fv_threads_many(void) { }
void fv_start_record_init(unsigned function, struct fv_call_place site, uint64_t begin, uint64_t end)
{
    (void)function, (void)site, (void)begin, (void)end;
}
uint32_t fv_comm_channel(struct fv_comm *comm, unsigned kind, int peer, int tag)
{
    (void)comm, (void)kind, (void)peer, (void)tag;
    return 0;
}
bool fv_started(void) { return false; }
void fv_finalizing(void) {}
void fv_finalized(void) {}
bool fv_unrecorded(void)
{
    return false;
}
void fv_aborting(int code) { (void)code; }
void fv_pause(void) {}
void fv_shadow_add(const char *object, const void *address, const char *function, bool passes_by)
{ (void)object, (void)address, (void)function, (void)passes_by; }
void fv_resume(void) {}
void fv_forget(void) {}
void fv_mark(void) {}
uint64_t fv_now(void) { return 0; }

FV_PUBLIC const char *fvmpi_version(void) { return FVMPI_VERSION; }
FV_PUBLIC void fvmpi_pause(void) {}
FV_PUBLIC void fvmpi_resume(void) {}
