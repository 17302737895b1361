/* Runs the clusters of a launch on host threads. */
#include "threads.h"

#include "blocks.h"

#include "emulator/checks/global.h"
#include "emulator/instructions/async.h"
#include "emulator/instructions/poll.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 256, NAP_NS = 50000, TURN = 1 << 22, SHORT_TURN = 1 << 10 };

struct resident { /* a cluster under way, or room for one */
    struct emu_cluster *cluster;
    uint64_t random;
    bool runs;
};

struct thread {
    struct emu_work *work;
    struct emu_count *count; /* n_inst */
    struct emu_pattern **pattern;
    struct resident *resident;
    int n;         /* made so far */
    int n_running; /* of them */
    int n_alone;   /* until so many run, a new one is run by itself: looking at all takes time */
};

void emu_count_add(struct emu_count *sum, const struct emu_count *part, int n, uint64_t times) {
    for (int i = 0; i < n; i++) {
        sum[i].executed += times * part[i].executed;
        sum[i].lanes_off += times * part[i].lanes_off;
        sum[i].wavefronts += times * part[i].wavefronts;
        sum[i].wavefronts_ideal += times * part[i].wavefronts_ideal;
        sum[i].sectors += times * part[i].sectors;
        sum[i].sectors_ideal += times * part[i].sectors_ideal;
        sum[i].bytes += times * part[i].bytes;
        sum[i].splits += times * part[i].splits;
    }
}

static enum emu_ran run_one(struct thread *t, struct resident *r) {
    struct emu_cluster *c = r->cluster;
    /* A turn grows with the number of clusters, so that few long ones are under way. Random: turns are short, so that
     * blocks meet in each other's midst; a long turn would order all that one does before all that another does. */
    const bool short_turns = t->work->launch.options->schedule == EMU_RANDOM;
    const uint64_t turn = (uint64_t)t->n_running * (short_turns ? SHORT_TURN : TURN);
    enum emu_ran ran = emu_run_cluster(c, turn, &r->random);
    if (ran != EMU_ENDED) return ran;
    for (uint32_t rank = 0; rank < c->n; rank++) emu_async_end(c->block[rank]);
    if (c->stopped) atomic_store(&t->work->stop, true);
    r->runs = false;
    t->n_running--;
    atomic_fetch_sub(&t->work->n_resident, 1);
    return ran;
}

/* Is the n-th of those that run, in the order of the grid, one of those that are checked? The first is. */
static bool is_checked(const struct emu_work *work, uint64_t n) {
    uint64_t all = work->n_sampled, some = work->n_checked;
    return (n * some + all - 1) / all != ((n + 1) * some + all - 1) / all;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    for (uint64_t rest; b; a = b, b = rest) rest = a % b;
    return a;
}

/* Which cluster begins as the n-th. Round robin: the n-th of the grid. Otherwise the clusters that find room on the chip
 * together begin in another order, the last one first (adversarial) or as the seed draws; those behind them come later,
 * as on a GPU. */
static uint64_t place_of(const struct emu_work *work, uint64_t n) {
    const struct emu_options *o = work->launch.options;
    const uint64_t first = n - n % work->most_resident, left = work->n_sampled - first,
                   room = left < work->most_resident ? left : work->most_resident;
    if (o->schedule == EMU_ROUND_ROBIN) return n;
    if (o->schedule == EMU_ADVERSARIAL) return first + room - 1 - (n - first);
    uint64_t step = o->seed * 0x9e3779b97f4a7c15u % room;
    while (common_divisor(step, room) != 1) step++; /* so that each comes once */
    return first + ((n - first) * step + o->seed % room) % room;
}

/* Begins the next cluster of the grid, and runs it as far as it goes. False: none is left, or no
 * room on the chip. */
static bool begin(struct thread *t) {
    struct emu_work *work = t->work;
    if (atomic_load(&work->stop)) return false;
    if (atomic_fetch_add(&work->n_resident, 1) >= work->most_resident && t->n_running) {
        atomic_fetch_sub(&work->n_resident, 1);
        return false;
    }
    uint64_t n = atomic_fetch_add(&work->next_cluster, 1), all = work->n_clusters;
    if (n >= work->n_sampled) {
        atomic_fetch_sub(&work->n_resident, 1);
        return false;
    }
    const uint64_t place = place_of(work, n);
    uint64_t linear = work->first + place * (all / work->n_sampled) +
                      place * (all % work->n_sampled) / work->n_sampled;
    bool checks = is_checked(work, place);
    int free_one = 0;
    while (free_one < t->n && (t->resident[free_one].runs ||
                               (t->resident[free_one].cluster->agents != NULL) != checks))
        free_one++;
    if (free_one == t->n) {
        t->resident = heap_grown(t->resident, (size_t)++t->n * sizeof *t->resident);
        t->resident[free_one].cluster =
            emu_cluster_open(&work->launch, t->count, t->pattern, checks);
    }
    struct resident *r = &t->resident[free_one];
    r->random = work->launch.options->seed * 0x9e3779b97f4a7c15u + linear;
    r->runs = true;
    t->n_running++;
    emu_cluster_begin(r->cluster, linear);
    run_one(t, r);
    return true;
}

/* Runs each of the thread's clusters as far as it goes. Has anything moved? If one pauses, another
 * begins: the first may wait for what only a later one does (a queue of work), in a loop that is more than a poll. */
static bool run_residents(struct thread *t, bool *pauses) {
    bool moved = false;
    for (int n = 0; n < t->n && !atomic_load_explicit(&t->work->stop, memory_order_relaxed); n++) {
        struct resident *r = &t->resident[n];
        if (!r->runs) continue;
        const enum emu_ran ran = run_one(t, r);
        moved |= ran != EMU_SLEEPS;
        *pauses |= ran == EMU_PAUSES;
    }
    t->n_alone = t->n_running + t->n_running / 8;
    return moved;
}

static uint32_t wake(struct thread *t, bool all) {
    uint32_t woken = 0;
    for (int n = 0; n < t->n; n++)
        if (t->resident[n].runs) woken += emu_poll_wake(t->resident[n].cluster, all);
    return woken;
}

/* Nothing of this thread has moved since `round` began. If that is so of all threads, nothing ever
 * will: the launch hangs. */
static void be_still(struct thread *t, uint64_t round, uint64_t *still_in) {
    struct emu_work *work = t->work;
    pthread_mutex_lock(&work->lock);
    if (round == work->round && *still_in != round) {
        work->n_still++;
        *still_in = round;
    }
    bool all = work->n_still == work->n_threads && round == work->round;
    pthread_mutex_unlock(&work->lock);
    int n = 0;
    while (!t->resident[n].runs) n++;
    if (all && !atomic_exchange(&work->stop, true))
        emu_report_deadlock(t->resident[n].cluster);
    else
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

static uint64_t round_of(struct emu_work *work, bool moved) {
    pthread_mutex_lock(&work->lock);
    if (moved) work->n_still = 0;
    uint64_t round = work->round += moved;
    pthread_mutex_unlock(&work->lock);
    return round;
}

static void *run_thread(void *argument) {
    struct emu_work *work = argument;
    int n_inst = work->launch.kernel->n_inst;
    struct thread t = {.work = work};
    t.count = heap_line((size_t)n_inst * sizeof *t.count);
    t.pattern = heap_zeroed((size_t)n_inst, sizeof *t.pattern);
    uint64_t round = round_of(work, false), still_in = UINT64_MAX;
    while (!atomic_load_explicit(&work->stop, memory_order_relaxed)) {
        if (!t.n_running) { /* the common case: each runs to its end at once */
            if (!begin(&t)) break;
            if (t.n_running) round = round_of(work, true);
            continue;
        }
        uint64_t before = round;
        bool pauses = false, moved = run_residents(&t, &pauses);
        round = round_of(work, moved);
        if (pauses) begin(&t);
        if (moved || wake(&t, false)) continue;
        if (begin(&t)) {
            while (t.n_running < t.n_alone && begin(&t)) continue;
            round = round_of(work, true);
        } else if (!wake(&t, true)) {
            be_still(&t, before, &still_in);
        }
    }
    pthread_mutex_lock(&work->lock);
    work->n_threads--;
    work->round++;
    work->n_still = 0;
    emu_count_add(work->count, t.count, n_inst, 1);
    pthread_mutex_unlock(&work->lock);
    for (int n = 0; n < t.n; n++) emu_cluster_free(t.resident[n].cluster);
    for (int pc = 0; pc < n_inst; pc++) free(t.pattern[pc]);
    free(t.resident);
    free(t.pattern);
    free(t.count);
    return NULL;
}

/* Clusters that the chip holds at once, as far as threads and shared memory say. */
static uint64_t most_resident(const struct emu_launch_state *l) {
    const struct chip *chip = l->chip;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    uint32_t size = l->cluster[0] * l->cluster[1] * l->cluster[2];
    uint32_t warps = (threads + EMU_LANES - 1) / EMU_LANES;
    uint32_t by_warps = (uint32_t)chip->max_warps_per_sm / warps;
    uint32_t by_shared = (uint32_t)chip->shared_per_sm / (l->shared_bytes + 1024);
    uint32_t blocks = (uint32_t)chip->max_blocks_per_sm;
    if (by_warps < blocks) blocks = by_warps;
    if (by_shared < blocks) blocks = by_shared;
    uint64_t most = (uint64_t)blocks * (uint64_t)chip->n_sms / size;
    return most ? most : 1;
}

void emu_work_run(struct emu_work *work) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n = work->launch.options->n_threads > 0 ? work->launch.options->n_threads
                                                : (int)(cores > 0 ? cores : 1);
    if (work->launch.events || work->launch.kernel->allocates) n = 1;
    if ((uint64_t)n > work->n_sampled) n = (int)work->n_sampled;
    if (n > MOST_THREADS) n = MOST_THREADS;
    pthread_t thread[MOST_THREADS];
    int started = 0;
    pthread_mutex_init(&work->lock, NULL);
    work->most_resident = most_resident(&work->launch);
    work->limits.n_threads = n;
    if (!work->launch.options->no_checks) work->launch.sync = emu_sync_open(work->n_clusters);
    emu_limits_begin(&work->limits);
    work->n_threads = n;
    while (started < n - 1 && pthread_create(&thread[started], NULL, run_thread, work) == 0)
        started++;
    pthread_mutex_lock(&work->lock);
    work->n_threads -= n - 1 - started;
    pthread_mutex_unlock(&work->lock);
    run_thread(work);
    for (int k = 0; k < started; k++) pthread_join(thread[k], NULL);
    emu_limits_end(&work->limits);
    emu_sync_close(work->launch.sync);
    pthread_mutex_destroy(&work->lock);
}
