#include "tail.h"

#include "gpc.h"

#include "common/base/heap.h"

#include <math.h>
#include <stdlib.h>

void tail_fill(double *cycles, uint64_t n) {
    uint64_t last = UINT64_MAX;
    for (uint64_t i = 0; i < n; i++) {
        if (cycles[i] == 0) continue;
        uint64_t from = last == UINT64_MAX ? 0 : (last + i) / 2 + 1;
        for (uint64_t k = from; k < i; k++) cycles[k] = cycles[i];
        for (uint64_t k = last; last != UINT64_MAX && k < from; k++) cycles[k] = cycles[last];
        last = i;
    }
    for (uint64_t k = last; last != UINT64_MAX && k < n; k++) cycles[k] = cycles[last];
}

/* A place while clusters are given out: the work left of each, oldest first, in cycles of a full place. */
struct share_of_place {
    double at, left[SM_CTAS];
    int n;
    double end; /* when its next cluster ends; INFINITY: it has none */
    int next;   /* which one that is */
};

/* The speed of the i-th of n clusters on a place: of three or more, the oldest is fastest and the youngest slowest. */
static double share_of(const struct tail *t, int i, int n) {
    double more = n < 3 ? 0 : t->elder;
    return t->speed[n] * (1 + (i == 0 ? more : i == n - 1 ? -more : 0));
}

static void pass(const struct tail *t, struct share_of_place *s, double to) {
    for (int i = 0; i < s->n; i++) s->left[i] -= (to - s->at) * share_of(t, i, s->n);
    s->at = to;
}

/* When the next cluster of this place ends, and which one: to be called when its clusters have changed. */
static void find_next(const struct tail *t, struct share_of_place *s) {
    s->end = INFINITY;
    s->next = 0;
    for (int i = 0; i < s->n; i++) {
        double end = s->at + s->left[i] / share_of(t, i, s->n);
        if (end < s->end) s->end = end, s->next = i;
    }
}

static double to_do(const struct tail *t, const struct share_of_place *s, double at) {
    double left = 0;
    for (int i = 0; i < s->n; i++) left += s->left[i] - (at - s->at) * share_of(t, i, s->n);
    return left;
}

/* The place where the next cluster ends. If it is about the same time on several places, the one with the least
 * work left (unless t packs): clusters of one place end one after the other, so other places get a new one before it
 * gets two. Of places with about as much, the first of its GPC: which SM of a wave ends first is not a matter of its
 * GPC. */
static struct share_of_place *next_place(const struct tail *t, struct share_of_place *s,
                                         const double *rank) {
    struct share_of_place *best = NULL;
    double first = INFINITY, least = INFINITY;
    for (uint64_t j = 0; j < t->places; j++) first = s[j].end < first ? s[j].end : first;
    if (first == INFINITY) return NULL;
    const double until = first + fmax(t->together, t->chip->cta_ends_apart * first);
    for (uint64_t j = 0; j < t->places; j++)
        if (!t->packs && s[j].end <= until) least = fmin(least, to_do(t, &s[j], first));
    for (uint64_t j = 0; j < t->places; j++) {
        if (s[j].end > until) continue;
        if (!t->packs && to_do(t, &s[j], first) > least + until - first) continue;
        if (!best || rank[j] < rank[best - s]) best = &s[j];
    }
    return best;
}

/* The place of the k-th of the `left` clusters of a last round, after the first places. They are spread evenly
 * over the GPCs, and the last GPCs get one more if needed; in a GPC one SM of each TPC comes first. */
static uint64_t dealt(const struct predictor_chip *c, uint64_t k, uint64_t left, uint64_t places) {
    uint64_t gpcs = (uint64_t)c->gpcs;
    uint64_t each = left / gpcs, fewer = gpcs - left % gpcs, g = 0, in = each;
    if (each + 1 >= (places / gpcs - 1) / 2 * 2) return k * places / left; /* nearly all get one */
    for (; k >= in; in = each + (g >= fewer)) k -= in, g++;
    uint64_t from = g * places / gpcs / 2 * 2, size = (g + 1) * places / gpcs / 2 * 2 - from;
    uint64_t both = in > size / 2 ? in - size / 2 : 0; /* TPCs of which both SMs get one */
    uint64_t at = from + (k < 2 * both ? k : 2 * k - 2 * both);
    return at < places ? at : places - 1;
}

/* Where all seats are taken, the first places get a second cluster before all others have their first. */
static uint64_t in_rounds(const struct predictor_chip *c, uint64_t k, uint64_t places,
                          uint64_t rounds, uint64_t first) {
    uint64_t others = places - first, before = (uint64_t)(c->gpc_again * (double)others), gone = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        if (k < first) return k;
        k -= first;
        uint64_t n = round + 1 < rounds ? before : rounds * others - gone;
        if (k < n) return first + (gone + k) % others;
        k -= n;
        gone += n;
    }
    return places - 1;
}

uint64_t tail_place(const struct predictor_chip *c, uint64_t k, uint64_t n, uint64_t places,
                    int resident) {
    uint64_t first = (uint64_t)c->gpc_first, rounds = (uint64_t)resident;
    uint64_t last = n / places * places, left = n - last;
    if (n >= places * rounds && k < places * rounds && places > 4 * first && c->gpcs >= 1)
        return in_rounds(c, k, places, rounds, first);
    if (k < last || n >= places * rounds) return k % places;
    if (k >= n) return places - 1;
    if (c->gpcs < 1 || places <= 4 * first) return (k - last) * places / left;
    return k - last < first ? k - last
                            : first + dealt(c, k - last - first, left - first, places - first);
}

uint64_t tail_first(const struct predictor_chip *c, double spread, uint64_t i, uint64_t n,
                    int before) {
    return (uint64_t)(spread * gpc_rank(c, i, n) + c->cta_round * before);
}

uint64_t tail_begin(double *next, uint64_t at, double each) {
    double begins = fmax(*next, (double)at);
    *next = begins + each;
    return (uint64_t)begins;
}

void tail_pair(const struct predictor_chip *c, double *cycles, uint64_t n, uint64_t places) {
    for (uint64_t round = 0; round + 2 * places <= n; round += 2 * places)
        for (uint64_t i = round; i < round + places; i++) {
            double mean = (cycles[i] + cycles[i + places]) / 2;
            if (fabs(cycles[i] - cycles[i + places]) < c->cta_alike * mean)
                cycles[i] = cycles[i + places] = mean;
        }
}

double tail_end(const struct tail *t, double *ends) {
    struct share_of_place *s = heap_zeroed(t->places, sizeof *s);
    double *rank = heap_zeroed(t->places, sizeof *rank), end = 0;
    for (uint64_t j = 0; j < t->places; j++) {
        rank[j] = gpc_rank(t->chip, j, t->places);
        s[j].end = INFINITY;
    }
    for (uint64_t k = 0;; k++) {
        bool more = k < t->n;
        if (more && k < t->places * (uint64_t)t->resident) {
            struct share_of_place *to = &s[tail_place(t->chip, k, t->n, t->places, t->resident)];
            to->left[to->n++] = t->cycles[k];
            find_next(t, to);
            continue;
        }
        struct share_of_place *next = next_place(t, s, rank);
        if (!next) break;
        pass(t, next, next->end);
        end = fmax(end, next->at);
        if (ends) ends[next - s] = next->at;
        next->n--;
        for (int i = next->next; i < next->n; i++) next->left[i] = next->left[i + 1];
        if (more) next->left[next->n++] = t->cycles[k] + t->launch;
        find_next(t, next);
    }
    free(s);
    free(rank);
    return end;
}
