/* SPDX-License-Identifier: BSD-3-Clause */
/* See gate.h. */
#include "threads/gate.h"
#include "base/base.h"
#include "base/lock.h"
#include "base/thread_clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>

#define LOOK_NS 20000000 /* a parked thread looks so often whether the one goes on */

enum stage {
    OPEN,        /* all run */
    FILLING,     /* threads are being made */
    GATHERING,   /* the one waits until all others are parked */
    PREPARING,   /* rules.begin() */
    ALONE,       /* the one runs */
    CATCHING_UP, /* the others do */
};
enum seat_state { EMPTY, RUNS, PARKED, GONE };
struct seat {
    uint32_t state, round;
};

/* All but the two words under the lock. */
static struct gate {
    struct fv_lock lock;
    uint32_t released_word, came_word; /* futexes: parked threads wait for one, the one for the other */
    struct fv_gate_rules rules;
    enum stage stage;
    enum fv_gate_why why;
    bool is_busy; /* from open to close */
    bool is_done; /* the one has come to its end */
    uint32_t phase, count, seats_given, pick, one;
    uint32_t released;             /* rounds that the others may run */
    uint64_t since_ns;             /* of the stage */
    uint64_t waits_ns;             /* the one waits since; 0: it does not */
    uint64_t cpu_ns, cpu_since_ns; /* its CPU time, as it was seen last to have grown */
    uint32_t tid;                  /* the one's */
    struct seat seats[FV_GATE_SEATS];
} g;
static bool is_forked;

/* The thread's seat. */
static FV_TLS struct {
    uint32_t phase, seat;
    bool catches_up; /* and rules.catch_up() was told so */
} mine;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_of(uint32_t tid)
{
    return now_ns(fv_thread_clock(tid, FV_THREAD_CPU));
}

/* errno stays the application's; no cancellation point. */
static void wake(uint32_t *word)
{
    int saved = errno;

    __atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    errno = saved;
}

static void wait_for(uint32_t *word, uint32_t seen)
{
    const struct timespec most = { 0, LOOK_NS };
    int saved = errno;

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &most, NULL, 0);
    errno = saved;
}

/* ---- under the lock ---- */

static bool is_under_way(uint32_t phase)
{
    return phase && g.is_busy && g.phase == phase;
}

static struct seat *my_seat(void)
{
    return is_under_way(mine.phase) ? &g.seats[mine.seat] : NULL;
}

static bool is_one(void)
{
    return g.count && mine.seat == g.one;
}

static void set_stage(enum stage stage)
{
    g.stage = stage;
    g.since_ns = now_ns(CLOCK_MONOTONIC);
}

static void let_go(enum fv_gate_why why)
{
    if (g.stage == OPEN)
        return;
    if ((g.stage == PREPARING || g.stage == ALONE) && g.rules.rest)
        g.rules.rest();
    set_stage(OPEN);
    if (!g.why)
        g.why = why;
    wake(&g.released_word);
    wake(&g.came_word);
}

static bool are_gone(void)
{
    for (uint32_t i = 0; i < g.seats_given; i++)
        if (g.seats[i].state != GONE)
            return false;
    return g.seats_given > 0;
}

/* All others are parked at the one's round, or have ended. */
static bool are_parked(void)
{
    for (uint32_t i = 0; i < g.count; i++) {
        const struct seat *s = &g.seats[i];

        if (i != g.one && s->state != GONE && (s->state != PARKED || s->round < g.released))
            return false;
    }
    return true;
}

static void look_at_one(uint64_t now)
{
    if (g.waits_ns && now - g.waits_ns > g.rules.wait_ns) {
        let_go(FV_GATE_WAITS);
    } else if (now - g.since_ns > g.rules.limit_ns) {
        let_go(FV_GATE_LONG);
    } else {
        uint64_t cpu = cpu_of(g.tid);

        if (cpu > g.cpu_ns) {
            g.cpu_ns = cpu;
            g.cpu_since_ns = now;
        } else if (now - g.cpu_since_ns > g.rules.still_ns) {
            let_go(FV_GATE_STILL);
        }
    }
}

/* By who is parked, or waits to go on. */
static void look(void)
{
    uint64_t now = now_ns(CLOCK_MONOTONIC), stage_ns = now - g.since_ns;

    switch (g.stage) {
    case OPEN: break;
    case FILLING:
        if (stage_ns > g.rules.wait_ns)
            let_go(FV_GATE_CREATOR);
        break;
    case GATHERING:
        if (stage_ns > g.rules.gather_ns)
            let_go(FV_GATE_BARRIERS);
        break;
    case PREPARING:
        if (stage_ns > g.rules.limit_ns + g.rules.gather_ns)
            let_go(FV_GATE_LATE);
        break;
    case ALONE: look_at_one(now); break;
    case CATCHING_UP:
        if (stage_ns > g.rules.limit_ns)
            let_go(FV_GATE_BARRIERS);
        break;
    }
}

static void park(struct seat *seat)
{
    if (seat->state == PARKED)
        return;
    seat->state = PARKED;
    wake(&g.came_word);
}

/* ---- parked, or let through ---- */

/* What the thread does next. */
enum turn { GOES_ON, WAITS_PARKED, WAITS_FOR_ALL, IS_ALONE };

static enum turn turn_of(void)
{
    struct seat *seat = my_seat();

    if (!seat || g.stage == OPEN)
        return GOES_ON;
    if (g.stage == FILLING || !is_one()) {
        if (g.released > seat->round)
            return GOES_ON;
        park(seat);
        return WAITS_PARKED;
    }
    if (g.stage == CATCHING_UP || seat->state == PARKED) {
        seat->state = RUNS;
        set_stage(GATHERING);
    }
    return are_parked() ? IS_ALONE : WAITS_FOR_ALL;
}

/* The one begins to run alone. Out of the lock: it takes time. */
static void begin_alone(void)
{
    enum fv_gate_why why = g.rules.begin();
    uint64_t signals = fv_lock_sigsave(&g.lock);

    if (g.stage == PREPARING && why) {
        let_go(why);
    } else if (g.stage == PREPARING) {
        set_stage(ALONE);
        g.waits_ns = 0;
        g.tid = (uint32_t)syscall(SYS_gettid);
        g.cpu_ns = cpu_of(g.tid);
        g.cpu_since_ns = g.since_ns;
    } else if (g.rules.rest) {
        g.rules.rest(); /* they were let go meanwhile: perhaps it was told to before it was called */
    }
    fv_unlock_sigrestore(&g.lock, signals);
}

static void set_catches_up(bool does)
{
    if (does == mine.catches_up || !g.rules.catch_up)
        return;
    mine.catches_up = does;
    g.rules.catch_up(mine.seat, does);
}

static void take_turn(void)
{
    bool catches_up = false;
    enum turn turn;

    do {
        uint64_t signals = fv_lock_sigsave(&g.lock);
        turn = turn_of();
        if (turn == WAITS_PARKED || turn == WAITS_FOR_ALL)
            look();
        if (turn == GOES_ON && my_seat()) {
            my_seat()->state = RUNS;
            catches_up = g.stage == CATCHING_UP;
        }
        if (turn == IS_ALONE)
            set_stage(PREPARING);
        uint32_t *word = turn == WAITS_FOR_ALL ? &g.came_word : &g.released_word;
        uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
        fv_unlock_sigrestore(&g.lock, signals);
        if (turn == WAITS_PARKED || turn == WAITS_FOR_ALL)
            wait_for(word, seen);
    } while ((turn == WAITS_PARKED || turn == WAITS_FOR_ALL) && !is_forked);
    set_catches_up(catches_up);
    if (turn == IS_ALONE)
        begin_alone();
}

/* ---- a phase ---- */

uint32_t fv_gate_open(const struct fv_gate_rules *rules, uint32_t pick)
{
    static uint32_t last;
    uint32_t phase = 0;

    if (is_forked)
        return 0;
    uint64_t signals = fv_lock_sigsave(&g.lock);
    if (!g.is_busy) {
        g.rules = *rules;
        g.is_busy = true;
        g.is_done = false;
        g.why = FV_GATE_GOOD;
        g.count = g.seats_given = g.released = 0;
        g.pick = pick;
        g.waits_ns = 0;
        memset(g.seats, 0, sizeof(g.seats));
        phase = g.phase = ++last ? last : ++last;
        set_stage(FILLING);
    }
    fv_unlock_sigrestore(&g.lock, signals);
    return phase;
}

/* Under the lock: it is known how many there are. */
static void have_all(uint32_t count)
{
    g.count = count;
    g.one = count ? g.pick % count : 0;
    if (count < 2)
        let_go(FV_GATE_GOOD);
    else if (count > FV_GATE_SEATS)
        let_go(FV_GATE_LARGE);
    else
        set_stage(GATHERING);
    wake(&g.released_word);
}

int fv_gate_seat(uint32_t phase)
{
    uint64_t signals = fv_lock_sigsave(&g.lock);
    int seat = -1;

    if (is_under_way(phase) && g.stage == FILLING && g.seats_given < FV_GATE_SEATS) {
        seat = (int)g.seats_given++;
        set_stage(FILLING); /* it goes on */
    } else if (is_under_way(phase)) {
        enum fv_gate_why why = g.seats_given < FV_GATE_SEATS ? FV_GATE_NESTED : FV_GATE_LARGE;

        if (g.stage == OPEN && !g.is_done && !g.why) /* its creator waits for each thread to begin: they were let go as
                                                      * one */
            g.why = why;
        let_go(why);
    }
    fv_unlock_sigrestore(&g.lock, signals);
    return seat;
}

bool fv_gate_seat_empty(uint32_t phase, int seat)
{
    uint64_t signals = fv_lock_sigsave(&g.lock);
    bool is_last = false;

    if (is_under_way(phase) && seat >= 0) {
        g.seats[seat].state = GONE;
        let_go(FV_GATE_LEFT);
        is_last = are_gone();
    }
    fv_unlock_sigrestore(&g.lock, signals);
    return is_last;
}

void fv_gate_full(uint32_t phase)
{
    uint64_t signals = fv_lock_sigsave(&g.lock);

    if (is_under_way(phase) && g.stage == FILLING && g.seats_given)
        have_all(g.seats_given);
    fv_unlock_sigrestore(&g.lock, signals);
}

void fv_gate_enter(uint32_t phase, uint32_t seat, uint32_t count)
{
    bool is_in = false;

    if (is_forked)
        return;
    uint64_t signals = fv_lock_sigsave(&g.lock);
    if (is_under_way(phase)) {
        if (count && !g.count)
            have_all(count);
        is_in = seat < FV_GATE_SEATS;
    }
    if (is_in) {
        mine.phase = phase;
        mine.seat = seat;
        mine.catches_up = false;
        g.seats[seat].state = RUNS;
    }
    fv_unlock_sigrestore(&g.lock, signals);
    if (is_in)
        take_turn();
}

/* The thread is the one, and has run alone until now. */
static bool end_alone(void)
{
    uint64_t signals = fv_lock_sigsave(&g.lock);
    bool is = my_seat() && is_one() && g.stage == ALONE;

    fv_unlock_sigrestore(&g.lock, signals);
    if (is)
        g.rules.end();
    return is;
}

void fv_gate_arrive(uint32_t parties)
{
    if (is_forked || !mine.phase)
        return;
    bool was_alone = end_alone();
    uint64_t signals = fv_lock_sigsave(&g.lock);
    const struct seat *seat = my_seat();

    if (seat && parties && parties != g.count && parties != g.count + 1) {
        let_go(FV_GATE_BARRIERS);
    } else if (seat && was_alone && g.stage == ALONE) {
        set_stage(CATCHING_UP);
        g.released = seat->round + 1;
        wake(&g.released_word);
    }
    fv_unlock_sigrestore(&g.lock, signals);
}

void fv_gate_leave(void)
{
    if (is_forked || !mine.phase)
        return;
    uint64_t signals = fv_lock_sigsave(&g.lock);
    struct seat *seat = my_seat();

    if (seat)
        seat->round++;
    fv_unlock_sigrestore(&g.lock, signals);
    if (seat)
        take_turn();
}

bool fv_gate_exit(void)
{
    bool is_last = false;

    if (is_forked || !mine.phase)
        return false;
    bool was_alone = end_alone();
    set_catches_up(false);
    uint64_t signals = fv_lock_sigsave(&g.lock);
    struct seat *seat = my_seat();

    if (seat) {
        seat->state = GONE;
        if (was_alone && g.stage == ALONE)
            g.is_done = true;
        if (was_alone)
            let_go(FV_GATE_GOOD);
        else if (is_one())
            let_go(FV_GATE_LEFT);
        wake(&g.came_word);
        is_last = are_gone();
    }
    mine.phase = 0;
    fv_unlock_sigrestore(&g.lock, signals);
    return is_last;
}

static void set_waits(bool waits)
{
    if (is_forked || !mine.phase)
        return;
    uint64_t signals = fv_lock_sigsave(&g.lock);

    if (my_seat() && is_one() && g.stage == ALONE)
        g.waits_ns = waits ? now_ns(CLOCK_MONOTONIC) : 0;
    fv_unlock_sigrestore(&g.lock, signals);
}

void fv_gate_waits(void)
{
    set_waits(true);
}

void fv_gate_works(void)
{
    set_waits(false);
}

uint32_t fv_gate_mine(void)
{
    if (is_forked || !mine.phase)
        return 0;
    uint64_t signals = fv_lock_sigsave(&g.lock);
    uint32_t phase = my_seat() ? mine.phase : 0;

    fv_unlock_sigrestore(&g.lock, signals);
    return phase;
}

void fv_gate_give_up(uint32_t phase, enum fv_gate_why why)
{
    uint64_t signals = fv_lock_sigsave(&g.lock);

    if (is_under_way(phase))
        let_go(why);
    fv_unlock_sigrestore(&g.lock, signals);
}

enum fv_gate_why fv_gate_close(uint32_t phase, uint32_t *count)
{
    uint64_t signals = fv_lock_sigsave(&g.lock);
    enum fv_gate_why why = FV_GATE_LEFT;

    *count = 0;
    if (is_under_way(phase)) {
        *count = g.count;
        why = g.why ? g.why : g.is_done || g.count < 2 ? FV_GATE_GOOD : FV_GATE_LEFT;
        let_go(why);
        g.is_busy = false;
    }
    fv_unlock_sigrestore(&g.lock, signals);
    return why;
}

void fv_gate_come_back(void)
{
    if (!is_forked)
        set_catches_up(false);
}

void fv_gate_forget(void)
{
    fv_gate_come_back();
    is_forked = true;
    mine.phase = 0;
    mine.catches_up = false;
    g.lock.held = 0;
}
