#include "limits.h"

#include "common/base/interrupt.h"
#include "common/base/plain.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 100, PATIENCE_S = 2, EVERY_S = 10 };

static double seconds_since(const struct timespec *begin) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + 1e-9 * (double)(now.tv_nsec - begin->tv_nsec);
}

/* One line that is written over on a terminal; elsewhere a line now and then. */
static void say_progress(const struct emu_limits *l, double elapsed_s, bool terminal) {
    uint64_t begun = atomic_load(l->next_cluster), n = l->n_clusters;
    if (begun > n) begun = n;
    uint64_t done = begun > (uint64_t)l->n_threads ? begun - (uint64_t)l->n_threads : 0;
    int length;
    const char *name = plain_name(l->kernel, &length);
    char left[48] = "";
    if (done) {
        double left_s = elapsed_s * (double)(n - done) / (double)done;
        snprintf(left, sizeof left, left_s < 120 ? ", %.0f s left" : ", %.0f min left",
                 left_s < 120 ? left_s : left_s / 60);
    }
    fprintf(stderr, "%s%s: %.*s: %.0f %% of %llu %s after %.0f s%s%s", terminal ? "\r" : "",
            program_invocation_short_name, length, name, 100 * (double)done / (double)n,
            (unsigned long long)n, n == 1 ? "block" : "blocks", elapsed_s, left,
            terminal ? "\033[K" : "\n");
}

static void look_once(struct emu_limits *l, double elapsed_s) {
    const double most_s = l->options->timeout_s;
    int goes_on = EMU_GOES_ON;
    if (interrupt_signal())
        atomic_store(&l->end, EMU_INTERRUPTED);
    else if (most_s > 0 && elapsed_s >= most_s)
        atomic_compare_exchange_strong(&l->end, &goes_on, EMU_TIME_OVER);
}

static void *look(void *argument) {
    struct emu_limits *l = argument;
    const struct emu_options *o = l->options;
    bool terminal = isatty(STDERR_FILENO), shows = o->progress || terminal, shown = false;
    double next_s = PATIENCE_S;
    struct timespec wake = l->begin;
    pthread_mutex_lock(&l->lock);
    while (!l->is_over) {
        wake.tv_nsec += LOOK_MS * 1000000L;
        if (wake.tv_nsec >= 1000000000L) wake.tv_sec++, wake.tv_nsec -= 1000000000L;
        pthread_cond_timedwait(&l->ended, &l->lock, &wake);
        if (l->is_over) break;
        double elapsed_s = seconds_since(&l->begin);
        look_once(l, elapsed_s);
        if (!shows || elapsed_s < next_s) continue;
        say_progress(l, elapsed_s, terminal);
        shown = true;
        next_s = elapsed_s + (terminal ? 0.5 : EVERY_S);
    }
    pthread_mutex_unlock(&l->lock);
    if (shown && terminal) fputs("\r\033[K", stderr);
    return NULL;
}

void emu_limits_begin(struct emu_limits *l) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (interrupt_signal()) atomic_store(&l->end, EMU_INTERRUPTED);
    clock_gettime(CLOCK_MONOTONIC, &l->begin);
    l->watches = pthread_create(&l->thread, NULL, look, l) == 0;
}

void emu_limits_end(struct emu_limits *l) {
    pthread_mutex_lock(&l->lock);
    l->is_over = true;
    pthread_cond_signal(&l->ended);
    pthread_mutex_unlock(&l->lock);
    if (l->watches) pthread_join(l->thread, NULL);
    pthread_cond_destroy(&l->ended);
    pthread_mutex_destroy(&l->lock);
}

uint32_t emu_limits_quantum(struct emu_limits *l, uint32_t wanted) {
    if (!l->watches) look_once(l, seconds_since(&l->begin));
    if (atomic_load_explicit(&l->end, memory_order_relaxed) != EMU_GOES_ON) return 0;
    uint64_t most = l->options->max_instructions;
    if (!most) return wanted;
    uint64_t ran = atomic_load_explicit(&l->n_ran, memory_order_relaxed);
    if (ran < most) return most - ran < wanted ? (uint32_t)(most - ran) : wanted;
    int goes_on = EMU_GOES_ON;
    atomic_compare_exchange_strong(&l->end, &goes_on, EMU_INSTRUCTIONS_OVER);
    return 0;
}
