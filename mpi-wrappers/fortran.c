/* Behind the Fortran entry points: the real procedures, what sentinels look like, and the functions whose
 * accounting the table does not describe. Rejected: translating to C and calling PMPI_X. Sentinels,
 * LOGICALs, strings, call-backs and status arrays are then all ours to get right, for each MPI; tools that
 * do so return wrong results for some of them. */
#include "fortran.h"

#include "complete.h"
#include "done.h"
#include "functions.h"
#include "special.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* ---- symbols ---- */

struct search {
    const char *name;
    const void *own, *found;
};

static int search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *s = arg;
    void *object;
    (void)size;

    if (!info->dlpi_name[0] || !(object = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD)))
        return 0;
    void *found = dlsym(object, s->name);
    dlclose(object);
    s->found = found != s->own ? found : NULL;
    return s->found != NULL;
}

/* In a library that was loaded privately (RTLD_LOCAL: a plug-in, an extension module). */
static const void *find_private(const char *name, const void *own)
{
    struct search s = { name, own, NULL };

    dl_iterate_phdr(search_object, &s);
    return s.found;
}

static const void *find_variable(const char *name)
{
    const void *found = dlsym(RTLD_DEFAULT, name);

    return found ? found : find_private(name, NULL);
}

static fv_f_function *next_of(const struct fv_f_real *real)
{
    const void *own = (const void *)real->own;
    const void *found = dlsym(RTLD_NEXT, real->name);

    if (!found || found == own)
        found = find_private(real->name, own);
    return (fv_f_function *)found;
}

/* Stand in for procedures that the program has no library for. */
static void without_effect(void)
{
}

static void is_initialized(MPI_Fint *flag, MPI_Fint *ierror)
{
    *ierror = PMPI_Initialized(flag);
}

static void is_finalized(MPI_Fint *flag, MPI_Fint *ierror)
{
    *ierror = PMPI_Finalized(flag);
}

static fv_f_function *stand_in(const char *name)
{
    if (!strcmp(name, "mpi_initialized_"))
        return (fv_f_function *)is_initialized;
    if (!strcmp(name, "mpi_finalized_"))
        return (fv_f_function *)is_finalized;
    fv_log("%s: no library of this program has it: nothing is done; link the Fortran library of its MPI", name);
    return without_effect;
}

fv_f_function *fv_f_find(struct fv_f_real *real)
{
    int saved = errno;
    fv_f_function *found = next_of(real);

    if (!found)
        found = stand_in(real->name);
    __atomic_store_n(&real->found, found, __ATOMIC_RELEASE);
    errno = saved;
    return found;
}

#if defined(PIC) && defined(__x86_64__)
static const void *object_of(const void *address)
{
    Dl_info info;

    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Called by fv_f_resolve alone. */
__attribute__((used)) static void settle_stub(struct fv_f_stub *stub) __asm__("fv_f_settle_stub");
static void settle_stub(struct fv_f_stub *stub)
{
    int saved = errno;
    const void *same = dlsym(RTLD_NEXT, stub->name);
    const void *mpi = object_of((const void *)next_of(stub->real));
    bool foreign = same && object_of(same) != mpi;

    __atomic_store_n(&stub->target, foreign ? (fv_f_function *)same : stub->real->own, __ATOMIC_RELEASE);
    errno = saved;
}

/* Jumped to by a stub whose target is not known, with its struct fv_f_stub in r11. Keeps what may hold
 * arguments: rax is the number of vector registers of a variadic call. */
__asm__(".pushsection .text\n.p2align 4\n.globl fv_f_resolve\n.hidden fv_f_resolve\n"
        ".type fv_f_resolve, @function\nfv_f_resolve:\n"
        "  push %rax\n  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n  push %r11\n"
        "  sub $136, %rsp\n"
        "  movups %xmm0, (%rsp)\n  movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n  movups %xmm3, 48(%rsp)\n"
        "  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n  movups %xmm6, 96(%rsp)\n"
        "  movups %xmm7, 112(%rsp)\n"
        "  mov %r11, %rdi\n  call fv_f_settle_stub\n"
        "  movups (%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n  movups 48(%rsp), %xmm3\n"
        "  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n  movups 96(%rsp), %xmm6\n"
        "  movups 112(%rsp), %xmm7\n"
        "  add $136, %rsp\n"
        "  pop %r11\n  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n  pop %rax\n"
        "  jmp *(%r11)\n.size fv_f_resolve, . - fv_f_resolve\n.popsection\n");
#endif

/* ---- sentinels ---- */

/* Each is an address: of a common block in mpif.h, of a variable in the modules. MPICH keeps those of
 * mpif.h in pointers that its first Fortran call fills. */
static struct sentinels {
    bool known;
    const void *in_place[4], *status_ignore[4], *statuses_ignore[4];
} sentinels;

static void learn(const void **out, int n, const char *const *names)
{
    for (int i = 0; i < n && names[i]; i++) {
        const void *address = find_variable(names[i] + (names[i][0] == '*'));

        out[i] = address && names[i][0] == '*' ? *(const void *const *)address : address;
    }
}

/* Threads may do so at a time: all write the same. */
static void learn_sentinels(void)
{
#ifdef MPICH_NUMVERSION
    static const char *const in_place[4] = { "*MPIR_F_MPI_IN_PLACE", "MPIR_F08_MPI_IN_PLACE" };
    static const char *const status[4] = { "*MPI_F_STATUS_IGNORE", "*MPI_F08_STATUS_IGNORE" };
    static const char *const statuses[4] = { "*MPI_F_STATUSES_IGNORE", "*MPI_F08_STATUSES_IGNORE" };
#else
    static const char *const in_place[4] = { "mpi_fortran_in_place_", "mpi_fortran_in_place",
                                             "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE" };
    static const char *const status[4] = { "mpi_fortran_status_ignore_", "mpi_fortran_status_ignore",
                                           "mpi_fortran_status_ignore__", "MPI_FORTRAN_STATUS_IGNORE" };
    static const char *const statuses[4] = { "mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore",
                                             "mpi_fortran_statuses_ignore__", "MPI_FORTRAN_STATUSES_IGNORE" };
#endif
    int saved = errno;
    MPI_Fint flag, ierror;
    void (*initialized)(MPI_Fint *, MPI_Fint *) =
        (void (*)(MPI_Fint *, MPI_Fint *))find_variable("pmpi_initialized_");

    if (initialized)
        initialized(&flag, &ierror);
    learn(sentinels.in_place, 4, in_place);
    learn(sentinels.status_ignore, 4, status);
    learn(sentinels.statuses_ignore, 4, statuses);
    __atomic_store_n(&sentinels.known, true, __ATOMIC_RELEASE);
    errno = saved;
}

static bool is_one_of(const void *address, const void *const *list)
{
    if (!__atomic_load_n(&sentinels.known, __ATOMIC_ACQUIRE))
        learn_sentinels();
    return address && (address == list[0] || address == list[1] || address == list[2] || address == list[3]);
}

const void *fv_f_buffer(const void *buffer)
{
    return is_one_of(buffer, sentinels.in_place) ? MPI_IN_PLACE : buffer;
}

static bool ignored(const MPI_Fint *status)
{
    return is_one_of(status, sentinels.status_ignore) || is_one_of(status, sentinels.statuses_ignore);
}

MPI_Fint *fv_f_status_seen(bool on, MPI_Fint *status, MPI_Status *own)
{
    return on && ignored(status) ? (MPI_Fint *)own : status;
}

/* ---- values ---- */

/* `room` for a copy of n statuses where they are not aligned as C needs it; NULL: no memory. */
static const MPI_Status *aligned(const MPI_Fint *statuses, size_t n, MPI_Status *room)
{
    if ((uintptr_t)statuses % _Alignof(MPI_Status) == 0)
        return (const MPI_Status *)statuses;
    return room ? memcpy(room, statuses, n * sizeof(*room)) : NULL;
}

const MPI_Status *fv_f_status(const MPI_Fint *seen, MPI_Status *own)
{
    return aligned(seen, 1, own);
}

const char *fv_f_text(char *out, const char *text, size_t length)
{
    length &= UINT32_MAX; /* some compilers pass an int */
    if (length >= FV_F_TEXT)
        length = FV_F_TEXT - 1;
    while (length && text[length - 1] == ' ')
        length--;
    memcpy(out, text, length);
    out[length] = '\0';
    return out;
}

/* ---- start, end, control ---- */

void fv_f_MPI_Init(struct fv_site site, fv_f_function *real, MPI_Fint *ierror)
{
    struct fv_life life;

    fv_init_before(&life, FV_FN_MPI_Init, site);
    ((void (*)(MPI_Fint *))real)(ierror);
    fv_init_after(&life, fv_f_result(ierror));
}

void fv_f_MPI_Init_thread(struct fv_site site, fv_f_function *real, MPI_Fint *required, MPI_Fint *provided,
                          MPI_Fint *ierror)
{
    struct fv_life life;

    fv_init_before(&life, FV_FN_MPI_Init_thread, site);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(required, provided, ierror);
    fv_init_after(&life, fv_f_result(ierror));
}

void fv_f_MPI_Finalize(struct fv_site site, fv_f_function *real, MPI_Fint *ierror)
{
    struct fv_life life;

    fv_finalize_before(&life, site);
    ((void (*)(MPI_Fint *))real)(ierror);
    fv_finalize_after(&life, fv_f_result(ierror));
}

#if HAVE_MPI_Session_init && HAVE_MPI_Session_finalize
void fv_f_MPI_Session_init(struct fv_site site, fv_f_function *real, MPI_Fint *info, MPI_Fint *errhandler,
                           MPI_Fint *session, MPI_Fint *ierror)
{
    struct fv_life life;

    fv_session_init_before(&life, site);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(info, errhandler, session, ierror);
    int result = fv_f_result(ierror);
    fv_session_init_after(&life, result, result == MPI_SUCCESS ? MPI_Session_f2c(*session) : MPI_SESSION_NULL);
}

void fv_f_MPI_Session_finalize(struct fv_site site, fv_f_function *real, MPI_Fint *session, MPI_Fint *ierror)
{
    struct fv_life life;

    fv_session_finalize_before(&life, site);
    ((void (*)(MPI_Fint *, MPI_Fint *))real)(session, ierror);
    fv_session_finalize_after(&life, fv_f_result(ierror));
}
#endif

void fv_f_MPI_Abort(struct fv_site site, fv_f_function *real, MPI_Fint *comm, MPI_Fint *code,
                    MPI_Fint *ierror)
{
    struct fv_life life;

    fv_abort_before(&life, *code, site);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(comm, code, ierror);
    fv_abort_after(&life, fv_f_result(ierror));
}

/* The standard knows no `ierror` here, some MPIs do: whatever came goes on. */
void fv_f_MPI_Pcontrol(struct fv_site site, fv_f_function *real, MPI_Fint *level, MPI_Fint *ierror)
{
    struct fv_life life;

    fv_pcontrol_before(&life, site);
    ((void (*)(MPI_Fint *, MPI_Fint *))real)(level, ierror);
    fv_pcontrol_after(&life, MPI_SUCCESS, *level);
}

/* ---- completion ---- */

/* Handles as C has them. MPICH's are the same numbers in both languages. */
#ifdef MPICH_NUMVERSION
#define SAME_HANDLES 1
#else
#define SAME_HANDLES 0
#endif

static const MPI_Request *requests_of(struct fv_call *call, bool on, int count, const MPI_Fint *requests)
{
    if (SAME_HANDLES)
        return (const MPI_Request *)(const void *)requests;
    MPI_Request *room = fv_completion_room(call, on, count);

    for (int i = 0; room && i < count; i++)
        room[i] = MPI_Request_f2c(requests[i]);
    return room;
}

/* ... after the call, where it is not told what C's would be. */
static const MPI_Request *requests_now(const MPI_Fint *requests)
{
    return SAME_HANDLES ? (const MPI_Request *)(const void *)requests : NULL;
}

/* Indices of requests begin with 1 in Fortran, but with 0 in some bindings (mpi_f08 of MPICH 4.0). One that
 * is complete at once tells, once for each procedure. */
enum telling { ANY_WAIT, ANY_TEST, SOME };

static int ask_first_index(fv_f_function *real, enum telling telling)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Fint one = 1, index[1] = { 1 }, n = 0, ierror = MPI_SUCCESS;

    if (!fv_mpi_world() || PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request))
        return 1;
    MPI_Fint handle = MPI_Request_c2f(request), *seen = (MPI_Fint *)(void *)&status;
    if (telling == ANY_WAIT)
        ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(&one, &handle, index, seen,
                                                                                   &ierror);
    else /* n is the flag, or how many */
        ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(
            &one, &handle, telling == SOME ? &n : index, telling == SOME ? index : &n, seen, &ierror);
    return ierror == MPI_SUCCESS && index[0] == 0 ? 0 : 1;
}

static int first_index(fv_f_function *real, enum telling telling)
{
    static struct {
        fv_f_function *real;
        int first;
    } told[8]; /* four functions, two bindings */
    static int count;
    int n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

    for (int i = 0; i < n && i < 8; i++)
        if (__atomic_load_n(&told[i].real, __ATOMIC_ACQUIRE) == real)
            return told[i].first;
    int first = ask_first_index(real, telling);
    int at = __atomic_fetch_add(&count, 1, __ATOMIC_ACQ_REL);
    if (at < 8) {
        told[at].first = first;
        __atomic_store_n(&told[at].real, real, __ATOMIC_RELEASE);
    }
    return first;
}

/* A completion call between its halves. */
struct completion {
    struct fv_call call;
    struct fv_completion c;
    bool on;
    size_t n;        /* statuses */
    MPI_Fint *seen;  /* what to pass on as such */
    MPI_Status room; /* for one that is not aligned */
};

static void before(struct completion *w, unsigned function, struct fv_site site, int count,
                   const MPI_Fint *requests, int n, MPI_Fint *statuses)
{
    w->on = fv_call_enter(&w->call, function, site);
    w->n = n > 0 ? (size_t)n : 0;
    bool own = w->on && ignored(statuses);
    const MPI_Request *c_requests = w->on ? requests_of(&w->call, w->on, count, requests) : NULL;
    MPI_Status *c_statuses = fv_completion_before(&w->c, &w->call, w->on, count, c_requests, n,
                                                  own ? MPI_STATUSES_IGNORE : (MPI_Status *)(void *)statuses);

    w->seen = own && c_statuses == MPI_STATUSES_IGNORE ? statuses : (MPI_Fint *)(void *)c_statuses;
}

/* The clock; then what C reads as statuses. */
static const MPI_Status *after(struct completion *w)
{
    fv_call_end(&w->call);
    if (!fv_completion_follows(&w->c))
        return NULL;
    const MPI_Status *statuses = aligned(w->seen, w->n, w->n == 1 ? &w->room : NULL);

    /* The caller has given statuses, so that the memory for our own is free. */
    return statuses ? statuses : aligned(w->seen, w->n, fv_scratch(&w->call, 1, w->n * sizeof(*statuses)));
}

void fv_f_MPI_Wait(struct fv_site site, fv_f_function *real, MPI_Fint *request, MPI_Fint *status,
                   MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Wait, site, 1, request, 1, status);
    fv_completion_tell_peer(&w.c);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(request, w.seen, ierror);
    if (w.on) {
        const MPI_Status *seen = after(&w);
        fv_completed_all(&w.c, fv_f_result(ierror), NULL, requests_now(request), seen);
    }
}

void fv_f_MPI_Test(struct fv_site site, fv_f_function *real, MPI_Fint *request, MPI_Fint *flag,
                   MPI_Fint *status, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Test, site, 1, request, 1, status);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(request, flag, w.seen, ierror);
    if (w.on) {
        const MPI_Status *seen = after(&w);
        fv_completed_all(&w.c, fv_f_result(ierror), flag, requests_now(request), seen);
    }
}

void fv_f_MPI_Waitall(struct fv_site site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Waitall, site, *count, requests, *count, statuses);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, w.seen, ierror);
    if (w.on) {
        const MPI_Status *seen = after(&w);
        fv_completed_all(&w.c, fv_f_result(ierror), NULL, requests_now(requests), seen);
    }
}

void fv_f_MPI_Testall(struct fv_site site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Testall, site, *count, requests, *count, statuses);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, flag,
                                                                               w.seen, ierror);
    if (w.on) {
        const MPI_Status *seen = after(&w);
        fv_completed_all(&w.c, fv_f_result(ierror), flag, requests_now(requests), seen);
    }
}

static void tell_first(struct completion *w, fv_f_function *real, enum telling telling)
{
    if (fv_completion_follows(&w->c))
        w->c.first = first_index(real, telling);
}

void fv_f_MPI_Waitany(struct fv_site site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *index, MPI_Fint *status, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Waitany, site, *count, requests, 1, status);
    tell_first(&w, real, ANY_WAIT);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, index,
                                                                               w.seen, ierror);
    if (w.on) {
        const MPI_Status *seen = after(&w);
        fv_completed_any(&w.c, fv_f_result(ierror), NULL, index, requests_now(requests), seen);
    }
}

void fv_f_MPI_Testany(struct fv_site site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Testany, site, *count, requests, 1, status);
    tell_first(&w, real, ANY_TEST);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(
        count, requests, index, flag, w.seen, ierror);
    if (w.on) {
        const MPI_Status *seen = after(&w);
        fv_completed_any(&w.c, fv_f_result(ierror), flag, index, requests_now(requests), seen);
    }
}

static void some(struct completion *w, fv_f_function *real, MPI_Fint *incount, MPI_Fint *requests,
                 MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *ierror)
{
    tell_first(w, real, SOME);
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(
        incount, requests, outcount, indices, w->seen, ierror);
    if (w->on) {
        const MPI_Status *seen = after(w);
        fv_completed_some(&w->c, fv_f_result(ierror), outcount, indices, requests_now(requests), seen);
    }
}

void fv_f_MPI_Waitsome(struct fv_site site, fv_f_function *real, MPI_Fint *incount, MPI_Fint *requests,
                       MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Waitsome, site, *incount, requests, *incount, statuses);
    some(&w, real, incount, requests, outcount, indices, ierror);
}

void fv_f_MPI_Testsome(struct fv_site site, fv_f_function *real, MPI_Fint *incount, MPI_Fint *requests,
                       MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct completion w;

    before(&w, FV_FN_MPI_Testsome, site, *incount, requests, *incount, statuses);
    some(&w, real, incount, requests, outcount, indices, ierror);
}

/* ---- the other end ---- */

void fv_f_MPI_Start(struct fv_site site, fv_f_function *real, MPI_Fint *request, MPI_Fint *ierror)
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Start, site);

    ((void (*)(MPI_Fint *, MPI_Fint *))real)(request, ierror);
    if (on) {
        fv_call_end(&call);
        const MPI_Request c_request = MPI_Request_f2c(*request);
        fv_done_start(&call, fv_f_result(ierror), 1, &c_request);
    }
}

void fv_f_MPI_Startall(struct fv_site site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                       MPI_Fint *ierror)
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Startall, site);

    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))real)(count, requests, ierror);
    if (on) {
        fv_call_end(&call);
        const MPI_Request *c_requests = requests_of(&call, on, *count, requests);
        fv_done_start(&call, fv_f_result(ierror), c_requests ? *count : 0, c_requests);
    }
}

void fv_f_MPI_Request_free(struct fv_site site, fv_f_function *real, MPI_Fint *request, MPI_Fint *ierror)
{
    struct fv_call call;
    struct fv_request known;
    bool on = fv_call_enter(&call, FV_FN_MPI_Request_free, site);
    bool have = on && fv_requests_any() && fv_request_get(fv_handle(MPI_Request_f2c(*request)), &known);

    ((void (*)(MPI_Fint *, MPI_Fint *))real)(request, ierror);
    if (on) {
        fv_call_end(&call);
        fv_done_request_free(&call, fv_f_result(ierror), have ? &known : NULL);
    }
}
