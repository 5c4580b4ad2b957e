/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a thread is, for `fvmpi where` and --hang-after: somebody sends it a real-time signal that was free (look.h),
 * in whose handler it unwinds itself and writes what it finds into the rank file. If the program wants the signal, it
 * is the program's for good.
 *
 * System calls are begun anew (SA_RESTART). Those that cannot be are not interrupted, unless one began since the
 * thread was looked at from outside, a moment ago: it is begun anew here, where that can be done. */
#include "rt/look.h"
#include "rt/layers.h"
#include "rt/signals.h"
#include "rt/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#if FV_SAMPLER_SIGNALS

#define ROOM 2048 /* answers of a process that are kept */

static struct {
    struct fv_lock lock; /* signals are held where it is taken */
    struct fv_chunk_header *chunk;
    uint64_t count; /* so far */
} answers;

/* NULL: there is no room in the file. */
static struct fv_look *next_answer(void)
{
    if (!answers.chunk)
        answers.chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_LOOKS, FV_NO_THREAD, 0, ROOM * sizeof(struct fv_look));
    return answers.chunk ? (struct fv_look *)fv_chunk_records(answers.chunk) + answers.count % ROOM : NULL;
}

static void keep_answer(void)
{
    uint64_t used = ++answers.count < ROOM ? answers.count : ROOM;

    __atomic_store_n(&answers.chunk->used, used * sizeof(struct fv_look), __ATOMIC_RELEASE);
}

void fv_look_note(const struct fv_look *look)
{
    uint64_t signals = fv_lock_sigsave(&answers.lock);
    struct fv_look *out = next_answer();

    if (out) {
        *out = *look;
        keep_answer();
    }
    fv_unlock_sigrestore(&answers.lock, signals);
}

/* ---- the system call that the thread goes back to ---- */

#if defined(__x86_64__)
/* "mov $number, %eax" before it, which is no part of another instruction: what system call one is that has ended. */
static int32_t number_before(uintptr_t pc)
{
    uint8_t code[8];
    int32_t number;

    if (!fv_memory_peek(pc - sizeof(code), code, sizeof(code)) || code[1] != 0xb8 || code[6] != 0x0f ||
        code[7] != 0x05 || (code[0] & 0xf0) == 0x40)
        return FV_LOOK_NO_CALL;
    memcpy(&number, code + 2, sizeof(number));
    return number;
}

static void begin_anew(ucontext_t *context)
{
    greg_t *r = context->uc_mcontext.gregs;
    int32_t number = r[REG_RAX] == -EINTR ? number_before((uintptr_t)r[REG_RIP]) : FV_LOOK_NO_CALL;

    if (number < 0)
        return;
    r[REG_RAX] = number;
    r[REG_RIP] -= 2; /* the instruction's bytes */
}

static int32_t system_call(const ucontext_t *context, uint64_t argument[3])
{
    const greg_t *r = context->uc_mcontext.gregs;
    uint8_t code[2];

    if (!fv_memory_peek((uintptr_t)r[REG_RIP], code, sizeof(code)) || code[0] != 0x0f || code[1] != 0x05)
        return FV_LOOK_NO_CALL;
    argument[0] = (uint64_t)r[REG_RDI];
    argument[1] = (uint64_t)r[REG_RSI];
    argument[2] = (uint64_t)r[REG_RDX];
    return (int32_t)r[REG_RAX];
}
#else
/* The first argument is lost when a call has ended with EINTR. */
static void begin_anew(ucontext_t *context)
{
    (void)context;
}

static int32_t system_call(const ucontext_t *context, uint64_t argument[3])
{
    uint32_t code;

    if (!fv_memory_peek(fv_signals_pc(context), &code, sizeof(code)) || code != 0xd4000001)
        return FV_LOOK_NO_CALL;
    for (unsigned i = 0; i < 3; i++)
        argument[i] = context->uc_mcontext.regs[i];
    return (int32_t)context->uc_mcontext.regs[8];
}
#endif

/* ---- the answer ---- */

/* pthread_mutex_t begins with the futex, a count and the owner, in glibc on both processors. */
static uint32_t holder_of(const struct fv_look *look)
{
    uint32_t mutex[3] = { 0 };

    if (look->system_call == SYS_futex)
        fv_memory_peek((uintptr_t)look->argument[0], mutex, sizeof(mutex));
    return mutex[2];
}

static void fill_in(struct fv_look *out, uint64_t look, const ucontext_t *context)
{
    const struct fv_thread *self = fv_self;
    const struct fv_in_call *in = self ? &self->record->in_call : NULL;

    *out = (struct fv_look){ .look = look, .how = FV_LOOK_TAKEN, .thread = self ? self->id : FV_NO_THREAD };
    out->ticks = fv_ticks();
    out->tid = (uint32_t)syscall(SYS_gettid);
    out->system_call = system_call(context, out->argument);
    out->holder = holder_of(out);
    out->path = fv_path_interrupted(self, fv_signals_pc(context));
    if (!in || !in->begin)
        return;
    out->call_begin = in->begin;
    out->function = in->function;
    out->call_path = in->path;
}

static void answer(uint64_t look, ucontext_t *context)
{
    begin_anew(context);
    fv_lock(&answers.lock);
    struct fv_look *out = next_answer();
    if (out) {
        fill_in(out, look, context);
        keep_answer();
    }
    fv_unlock(&answers.lock);
    __atomic_fetch_add(&fv_rt.writer.header->look_answers, 1, __ATOMIC_RELEASE);
}

static void at_signal(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    uint64_t value = info->si_code == SI_QUEUE ? (uint64_t)(uintptr_t)info->si_value.sival_ptr : 0;

    if ((value & ~FV_LOOK_MASK) != FV_LOOK_MARK)
        fv_signals_pass_on(signal, info, context);
    else if (fv_rt_here())
        answer(value & FV_LOOK_MASK, context);
    errno = saved;
}

/* ---- the layer ---- */

static void give_back(void)
{
    __atomic_store_n(&fv_rt.writer.header->look_signal, 0, __ATOMIC_RELEASE);
}

static void start(struct fv_thread *self)
{
    (void)self;
    uint64_t held = fv_signals_hold();
    int signal = fv_signals_borrow_any(at_signal, give_back);

    fv_signals_go_on(held);
    __atomic_store_n(&fv_rt.writer.header->look_signal, (uint32_t)signal, __ATOMIC_RELEASE);
}
const struct fv_layer fv_look_layer = { .at = { [FV_AT_START] = start } };
#else
void fv_look_note(const struct fv_look *look)
{
    (void)look;
}
const struct fv_layer fv_look_layer = { 0 };
#endif
