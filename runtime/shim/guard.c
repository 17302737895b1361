/* Between two calls, pages of managed and pinned memory that an operation uses for which the host has not waited are
 * kept from the host: wholly if the operation writes there, else from its writes. The fault tells the byte, and a byte that the
 * operation does not use is no mistake: its page is given back, and so is all after a mistake, so that the program
 * goes on. What the fault found is said by the next call, or at the end, since a handler of signals may not print.
 *
 * A call of the operating system (read, write) that is given such memory fails with EFAULT instead.
 *
 * A fault elsewhere ends the program as it would end without the emulator. Device memory is told from other addresses, and
 * the report of the launches comes first. */
#include "guard.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST_GUARDS = 256 };

struct guard { /* whole pages */
    uint64_t from, to;
    int protection;
    const struct order_operation *by;
};
static struct guard guard[MOST_GUARDS];
static int n_guards;

static struct { /* found by the handler, not yet said */
    bool there, writes;
    uint64_t at;
    int stream;
    char what[96], where[256];
} found;

/* ---- The fault ------------------------------------------------------------------------------- */

static bool uses(const struct order_operation *op, enum order_use use, uint64_t at) {
    const struct order_runs *r = &op->of[use];
    for (size_t i = 0; i < r->n; i++)
        if (at >= r->run[i].from && at < r->run[i].to) return true;
    return false;
}

/* The first frames are this library's and the system's; those of a launch that follow are nvcc's. */
void guard_host_place(bool called, char *out, size_t n) {
    enum { CALLS = 4 }; /* as many are told: of nvcc's code for a launch there are two */
    void *frame[32];
    Dl_info mine, here;
    const char *program = NULL;
    size_t at = 0;
    int depth = backtrace(frame, 32), told = 0;
    *out = 0;
    if (!dladdr((void *)(uintptr_t)guard, &mine)) return;
    for (int f = 0; f < depth && told < (called ? CALLS : 1) && at < n; f++) {
        if (!dladdr(frame[f], &here) || !strcmp(here.dli_fname, mine.dli_fname)) continue;
        if (strstr(here.dli_fname, "/libc.so") || strstr(here.dli_fname, "/libstdc++")) continue;
        if (program && strcmp(program, here.dli_fname)) break;
        if (!program)
            at +=
                (size_t)snprintf(out, n, "; addr2line -%se %s", called ? "i" : "", here.dli_fname);
        program = here.dli_fname;
        if (at < n)
            at += (size_t)snprintf(
                out + at, n - at, " %#lx",
                (unsigned long)((char *)frame[f] - called - (char *)here.dli_fbase));
        told++;
    }
    if (program && at < n)
        snprintf(out + at, n - at, " shows %s", called ? "the lines of these calls" : "the line");
}

void guard_lift(void);

static void lift_pages(void) {
    for (int g = 0; g < n_guards; g++)
        mprotect((void *)(uintptr_t)guard[g].from, guard[g].to - guard[g].from,
                 PROT_READ | PROT_WRITE);
}

static struct sigaction before;

static void give_up(int signal) {
    (void)signal;
    _exit(128 + SIGSEGV);
}

/* Locks that the program held when it crashed are never given back: no report may take longer than this. */
enum { REPORT_SECONDS = 20 };

/* Did this library crash, or one that it called in a thread of its own? Then no frame is the program's. */
static bool is_own(const ucontext_t *c, bool program_is_there) {
#ifdef __x86_64__
    void *at = (void *)(uintptr_t)c->uc_mcontext.gregs[REG_RIP];
#else
    void *at = (void *)(uintptr_t)c->uc_mcontext.pc;
#endif
    Dl_info mine, there;
    if (!dladdr((void *)(uintptr_t)guard, &mine) || !dladdr(at, &there)) return false;
    return !program_is_there || there.dli_fbase == mine.dli_fbase;
}

static void end_by_fault(int signal, uint64_t at, const ucontext_t *context) {
    char where[256];
    guard_host_place(false, where, sizeof where);
    const bool own = is_own(context, *where != 0);
    sigaction(signal, &before, NULL); /* the same fault comes again, and ends the program */
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = give_up}, NULL);
    alarm(REPORT_SECONDS);
    struct session *s = session_lock();
    if (!s) return;
    const struct emu_allocation *a = emu_memory_below(s->memory, at);
    if (!emu_memory_is_hidden(s->memory, at)) {
        session_say(
            "%s: SIGSEGV at address %#llx%s",
            own ? "the emulator crashed, which is a mistake in it unless the program gave it "
                  "this address"
                : "the program crashed on the host",
            (unsigned long long)at, where);
    } else {
        s->n_reports++;
        if (a && at < a->end)
            session_say(
                "the host uses byte %llu of %s of %llu bytes: only kernels and copies can use "
                "device memory; cudaMemcpy brings it to the host%s",
                (unsigned long long)(at - a->base),
                a->freed ? "a freed allocation" : "an allocation",
                (unsigned long long)(a->end - a->base), where);
        else
            session_say("the host uses device memory at %#llx, where nothing is allocated%s",
                        (unsigned long long)at, where);
    }
    session_unlock();
    session_end_early(128 + signal);
    alarm(0);
}

static void on_fault(int signal, siginfo_t *info, void *context) {
    const uint64_t at = (uint64_t)(uintptr_t)info->si_addr, page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct guard *g = guard;
    while (g < guard + n_guards && !(at >= g->from && at < g->to)) g++;
    if (g == guard + n_guards) {
        if (before.sa_handler == SIG_DFL)
            end_by_fault(signal, at, context);
        else
            sigaction(signal, &before, NULL);
        return;
    }
    bool written = uses(g->by, ORDER_WRITE, at), read = uses(g->by, ORDER_READ, at);
    if (!written && !read) {
        mprotect((void *)(uintptr_t)(at / page * page), page, PROT_READ | PROT_WRITE);
        return;
    }
    if (!found.there) {
        found.at = at, found.writes = written, found.stream = g->by->stream;
        memcpy(found.what, g->by->what, sizeof found.what);
        guard_host_place(false, found.where, sizeof found.where);
        found.there = true;
    }
    lift_pages();
}

void guard_catch_faults(void) {
    static bool done;
    void *frame[1];
    struct sigaction mine = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (done) return;
    done = true;
    backtrace(frame, 1); /* its first call takes memory */
    sigaction(SIGSEGV, &mine, &before);
}

/* ---- What was found -------------------------------------------------------------------------- */

static void say(struct session *s) {
    char stream[64];
    if (!found.there) return;
    const struct emu_allocation *a = emu_memory_below(s->memory, found.at);
    stream_name(found.stream, stream);
    s->n_reports++;
    session_say(
        "race with the host: the host %s byte %llu of an allocation of %llu, which %s in %s "
        "%s: no synchronisation comes between%s",
        found.writes ? "uses" : "writes", (unsigned long long)(found.at - a->base),
        (unsigned long long)(a->end - a->base), found.what, stream,
        found.writes ? "writes" : "reads", found.where);
    found.there = false;
}

static void at_end(void) {
    struct session *s = session_lock();
    if (!s) return;
    guard_lift();
    session_unlock();
}

/* ---- Between the calls ----------------------------------------------------------------------- */

void guard_lift(void) {
    struct session *s = n_guards || found.there ? session_lock() : NULL;
    if (!s) return;
    lift_pages();
    n_guards = 0;
    say(s);
    session_unlock();
}

/* The pages of one allocation that [from, to) lies in; neighbours of one operation become one. */
static void add(const struct order_operation *op, int protection, uint64_t from, uint64_t to) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    from = from / page * page, to = (to + page - 1) / page * page;
    struct guard *last = n_guards ? &guard[n_guards - 1] : NULL;
    if (last && last->by == op && last->protection == protection && last->to >= from) {
        if (last->to < to) last->to = to;
        return;
    }
    if (n_guards < MOST_GUARDS) guard[n_guards++] = (struct guard){from, to, protection, op};
}

static void add_runs(const struct session *s, const struct order_operation *op,
                     enum order_use use) {
    const bool talks = op->of[ORDER_STRONG_READ].n || op->of[ORDER_STRONG_WRITE].n;
    for (size_t i = 0; i < op->of[use].n; i++) {
        const struct order_run *r = &op->of[use].run[i];
        if (memory_is_guarded(s, r->from, talks))
            add(op, use == ORDER_WRITE ? PROT_NONE : PROT_READ, r->from, r->to);
    }
}

void guard_set(struct session *s, const struct order *o) {
    static bool told;
    guard_lift();
    for (size_t i = 0; i < o->n_ops && !o->gave_up; i++) {
        add_runs(s, &o->op[i], ORDER_WRITE);
        add_runs(s, &o->op[i], ORDER_READ);
    }
    if (!n_guards) return;
    if (!told) atexit(at_end);
    told = true;
    for (int pass = 0; pass < 2; pass++) /* what is written last: it is kept wholly */
        for (int g = 0; g < n_guards; g++)
            if ((guard[g].protection == PROT_NONE) == pass)
                mprotect((void *)(uintptr_t)guard[g].from, guard[g].to - guard[g].from,
                         guard[g].protection);
}
