/* Does the course of a kernel depend on what it loads? Values are followed from loads of global memory through registers
 * to branches, to guards of memory accesses, and to addresses. All paths are taken; shared and local memory are one cell
 * each. */
#include "sass.h"

#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

/* One bit for each register whose value comes from memory. */
struct tainted {
    uint64_t r[4], u;
    uint8_t p, up;
};

static bool span_is(const struct tainted *t, const struct sass_span *s) {
    for (int i = s->first; i < s->first + s->n && i < SASS_RZ; i++)
        if (t->r[i / 64] >> i % 64 & 1) return true;
    return false;
}

static bool uniform_is(const struct tainted *t, const struct sass_span *s) {
    for (int i = s->first; i < s->first + s->n && i < SASS_URZ; i++)
        if (t->u >> i & 1) return true;
    return false;
}

static void set(uint64_t *bits, int i, bool is, bool surely) {
    uint64_t bit = 1ull << i % 64;
    if (is)
        bits[i / 64] |= bit;
    else if (surely)
        bits[i / 64] &= ~bit;
}

static bool is_one_of(const struct sass_inst *i, const char *const *names) {
    for (; *names; names++)
        if (!strcmp(sass_op_name(i->op), *names)) return true;
    return false;
}

static bool is_always(const struct sass_inst *i) { return i->guard == SASS_PT && !i->guard_not; }

static bool loads_global(const struct sass_inst *i) {
    return i->memory == SASS_LDG || i->memory == SASS_ATOMG || i->memory == SASS_DSMEM;
}

/* Its predicates and registers; of a memory access whose data goes to memory the address only. */
static bool reads_tainted(const struct tainted *t, const struct sass_inst *i, int n_sources) {
    bool is = (t->p & i->p_read) || (t->up & i->up_read);
    for (int s = 0; s < n_sources; s++) is |= span_is(t, &i->src[s]);
    for (int s = 0; s < 3; s++) is |= uniform_is(t, &i->usrc[s]);
    return is;
}

static bool is_decided_by(const struct tainted *t, const struct sass_inst *i) {
    const bool memory = i->memory != SASS_NO_MEMORY && i->memory != SASS_HGMMA_OPERANDS;
    if (i->pipe == SASS_PIPE_BRANCH) return reads_tainted(t, i, SASS_SOURCES);
    return memory && reads_tainted(t, i, 1);
}

static void step(struct tainted *t, const struct sass_inst *i, bool *shared, bool *local) {
    bool is = reads_tainted(t, i, SASS_SOURCES) || loads_global(i);
    const bool surely = is_always(i);
    if (i->memory == SASS_STS || i->memory == SASS_ATOMS || i->memory == SASS_STSM) *shared |= is;
    if (i->memory == SASS_LDGSTS || i->memory == SASS_TMA_LOAD) *shared = true;
    if (i->memory == SASS_STL) *local |= is;
    if (i->memory == SASS_LDS || i->memory == SASS_LDSM || i->memory == SASS_ATOMS) is |= *shared;
    if (i->memory == SASS_LDL) is |= *local;
    for (int k = i->dst.first; k < i->dst.first + i->dst.n && k < SASS_RZ; k++)
        set(t->r, k, is, surely);
    for (int k = i->udst.first; k < i->udst.first + i->udst.n && k < SASS_URZ; k++)
        set(&t->u, k, is, surely);
    if (is) t->p |= i->p_written, t->up |= i->up_written;
    if (!is && surely) t->p &= (uint8_t)~i->p_written, t->up &= (uint8_t)~i->up_written;
}

static bool join(struct tainted *to, const struct tainted *from) {
    const struct tainted before = *to;
    for (int i = 0; i < 4; i++) to->r[i] |= from->r[i];
    to->u |= from->u;
    to->p |= from->p;
    to->up |= from->up;
    return memcmp(&before, to, sizeof before) != 0;
}

bool sass_depends_on_data(const struct sass_kernel *k) {
    static const char *const computed[] = {"RET", "BRX", "BRXU", "JMX", "JMXU", NULL};
    static const char *const others[] = {"BRA", "EXIT", NULL};
    struct tainted *in = heap_zeroed((size_t)k->n_inst + 1, sizeof *in), anywhere = {0};
    bool depends = false, shared = false, local = false, changed = true;
    while (changed && !depends) {
        changed = false;
        for (int n = 0; n < k->n_inst && !depends; n++) {
            const struct sass_inst *i = &k->inst[n];
            const bool shared_before = shared, local_before = local;
            join(&in[n], &anywhere);
            struct tainted out = in[n];
            depends = is_decided_by(&out, i);
            step(&out, i, &shared, &local);
            changed |= shared != shared_before || local != local_before;
            const bool goes_anywhere = is_one_of(i, computed),
                       leaves = is_always(i) && (goes_anywhere || is_one_of(i, others));
            if (!leaves) changed |= join(&in[n + 1], &out);
            if (i->target) changed |= join(&in[i->target / 16], &out);
            if (goes_anywhere) changed |= join(&anywhere, &out);
        }
    }
    free(in);
    return depends;
}
