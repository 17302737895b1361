/* Which instructions of a warp poll, and at which addresses: a few places for each warp. */
#include "poll.h"

#include "common/base/heap.h"
#include "emulator/checks/global.h"

#include <string.h>

enum { N_LOOKS = 4, PATIENCE = 16, SOON = 4096, MOST_PATIENCE = 1 << 20 };

struct look { /* the last one of an instruction */
    uint32_t pc, mask, bytes;
    uint32_t times, patience;        /* alike in a row; how many until it sleeps */
    uint64_t effects, local_effects; /* of the warp, until then */
    uint64_t registers;              /* a hash; of the look before the last */
    bool hashed, certain, woken;     /* registers is valid; nothing but memory ends this; */
    uint64_t addr[EMU_LANES];        /* and it was woken all the same */
    struct emu_place at[EMU_LANES];
    unsigned char seen[EMU_LANES][16];
};

struct emu_looks {
    struct look look[N_LOOKS];
    uint32_t next;
};

/* FNV-1a by words: of the whole row file, so that nothing is taken for unchanged that is not. */
static uint64_t hash_rows(const struct emu_warp *w) {
    const uint64_t *word = (const uint64_t *)(const void *)w->rows;
    uint64_t h[4] = {1, 2, 3, 4};
    for (uint32_t n = 0; n + 4 <= w->block->kernel->row_bytes / 8; n += 4)
        for (uint32_t k = 0; k < 4; k++) h[k] = (h[k] ^ word[n + k]) * 0x100000001b3u;
    return h[0] ^ h[1] << 1 ^ h[2] << 2 ^ h[3] << 3;
}

static struct look *find(const struct emu_warp *w, uint32_t pc) {
    for (int n = 0; w->looks && n < N_LOOKS; n++)
        if (w->looks->look[n].mask && w->looks->look[n].pc == pc) return &w->looks->look[n];
    return NULL;
}

static bool changed(const struct look *k) {
    EMU_EACH_LANE(l, k->mask) {
        if (memcmp(k->at[l].byte, k->seen[l], k->bytes)) return true;
    }
    return false;
}

static bool same_places(const struct look *k, uint32_t mask, const uint64_t addr[32]) {
    if (k->mask != mask) return false;
    EMU_EACH_LANE(l, mask) {
        if (k->addr[l] != addr[l]) return false;
    }
    return true;
}

bool emu_poll_sleeps(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                     const uint64_t addr[32]) {
    struct look *k = find(w, i->pc);
    if (!k) return false;
    if (w->resumed) { /* it sleeps */
        if (!k->woken && !changed(k)) return true;
        if (k->woken && k->patience < MOST_PATIENCE) k->patience *= 4;
        k->times = 0;
        k->hashed = false;
        return false;
    }
    if (k->effects != w->effects || !same_places(k, mask, addr) || changed(k)) return false;
    k->times++;
    uint64_t registers = hash_rows(w);
    k->certain = k->hashed && k->registers == registers && k->local_effects == w->local_effects;
    k->registers = registers;
    k->local_effects = w->local_effects;
    k->hashed = true;
    k->woken = false;
    if (!k->certain && k->times < k->patience) return false;
    w->token = EMU_TOKEN_POLL;
    return true;
}

void emu_poll_looked(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                     const uint64_t addr[32], const struct emu_place at[32],
                     const uint64_t seen[32], unsigned bytes) {
    struct look *k = find(w, i->pc);
    if (!w->looks) w->looks = heap_zeroed(1, sizeof *w->looks);
    bool again = k && k->effects == w->effects && same_places(k, mask, addr) && k->bytes == bytes;
    if (!k) {
        k = &w->looks->look[w->looks->next++ % N_LOOKS];
        k->patience = PATIENCE;
    }
    k->pc = i->pc;
    k->mask = mask;
    k->bytes = bytes;
    k->effects = w->effects;
    if (!again) {
        k->times = 0;
        k->hashed = false;
    }
    EMU_EACH_LANE(l, mask) {
        if (!again) k->addr[l] = addr[l], k->at[l] = at[l];
        memcpy(k->seen[l], seen ? (const void *)&seen[l] : at[l].byte, bytes);
    }
}

/* What the group polls; NULL: it does not sleep. */
static struct look *look_of(const struct emu_warp *w, const struct emu_group *g) {
    return g->waiting && g->token == EMU_TOKEN_POLL ? find(w, g->pc) : NULL;
}

void emu_poll_print(const struct emu_warp *w, const struct emu_group *g, FILE *out) {
    const struct look *k = look_of(w, g);
    const int lane = k ? __builtin_ctz(k->mask) : 0;
    const uint64_t at = k ? k->addr[lane] : 0;
    const struct emu_allocation *a = k ? emu_memory_find(w->block->launch->memory, at) : NULL;
    uint64_t value = 0;
    if (!a) return; /* it does not poll, or not in global memory */
    memcpy(&value, k->seen[lane], k->bytes < sizeof value ? k->bytes : sizeof value);
    fprintf(out, ": global 0x%llx, byte %llu of an allocation of %llu, holds %llu",
            (unsigned long long)at, (unsigned long long)(at - a->base),
            (unsigned long long)(a->end - a->base), (unsigned long long)value);
    emu_global_print_writer(w, &w->block->kernel->inst[g->pc], at, out);
}

struct emu_sleepers emu_poll_sleepers(const struct emu_cluster *c) {
    struct emu_sleepers s = {0};
    for (uint32_t r = 0; r < c->n; r++)
        for (int n = 0; n < c->block[r]->n_warps; n++) {
            const struct emu_warp *w = &c->block[r]->warp[n];
            for (int g = 0; g < w->n_groups; g++) {
                const struct look *k = look_of(w, &w->group[g]);
                s.n += k != NULL;
                s.n_doubtful += k && !k->certain;
            }
        }
    return s;
}

uint32_t emu_poll_wake(struct emu_cluster *c, bool all) {
    uint32_t woken = 0;
    for (uint32_t r = 0; r < c->n; r++)
        for (int n = 0; n < c->block[r]->n_warps; n++) {
            struct emu_warp *w = &c->block[r]->warp[n];
            for (int g = 0; g < w->n_groups; g++) {
                struct look *k = look_of(w, &w->group[g]);
                if (!k || k->certain || (!all && k->patience > SOON)) continue;
                k->woken = true;
                woken++;
            }
        }
    return woken;
}
