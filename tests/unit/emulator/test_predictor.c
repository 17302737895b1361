/* The clock on streams of instructions made by hand: what one warp, or some, must take. */
#include "tests/test.h"

#include "emulator/predictor/predict.h"
#include "emulator/predictor/gpc.h"
#include "emulator/predictor/sm.h"
#include "emulator/predictor/tail.h"
#include "emulator/predictor/wheel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A kernel of text, a warp that walks it ---------------------------------------------------- */

enum { MAX_INST = 4096 };
static struct sass_inst inst[MAX_INST];
static const char *text[MAX_INST];
static int n_inst;

struct sass_warp {
    int at, index;
    bool waits;
    struct sass_cta *cta;
};
struct sass_cta {
    struct sass_warp warp[SASS_MAX_WARPS];
    int n_warps, arrived;
};

static const struct sass_inst *fake_next(const struct sass_warp *w) {
    return w->at < n_inst ? &inst[w->at] : NULL;
}
static enum sass_wait_kind fake_waits(const struct sass_warp *w) {
    return w->waits ? SASS_WAIT_BAR : SASS_WAIT_NONE;
}
static enum sass_status fake_step(struct sass_warp *w, struct sass_effect *e) {
    const struct sass_inst *i = &inst[w->at];
    memset(e, 0, sizeof *e);
    e->inst = i;
    e->active = e->group = ~0u;
    e->taken = i->target != 0;
    w->at = i->target ? (int)i->target / 16 : w->at + 1;
    if (!strncmp(text[i->pc / 16], "HGMMA", 5)) {
        e->gmma.n = strstr(text[i->pc / 16], "64x48x16") ? 48 : 128;
        e->gmma.ends_group = strncmp(text[i->pc / 16 + 1], "HGMMA", 5) != 0;
    }
    if (!strncmp(text[i->pc / 16], "CALL", 4)) e->prints = 1 + 20; /* characters */
    if (strstr(text[i->pc / 16], "BAR.SYNC")) {
        e->waits = w->waits = true;
        e->deferred = true;
        e->n_events = 1;
        e->event[0] = (struct sass_event){.kind = SASS_EVENT_BAR, .cta = w->cta, .waits = true};
    }
    return SASS_ISSUED;
}
static void fake_deliver(const struct sass_event *event) {
    struct sass_cta *c = event->cta;
    if (++c->arrived < c->n_warps) return;
    c->arrived = 0;
    for (int i = 0; i < c->n_warps; i++) c->warp[i].waits = false;
}
static struct sass_warp *fake_warp(struct sass_cta *cta, int index) { return &cta->warp[index]; }
static const char *fake_fault(const struct sass_warp *w) {
    (void)w;
    return "fault";
}
static uint32_t wavefronts_each = 1;
static uint32_t fake_l1_wavefronts(const struct sass_effect *e) {
    (void)e;
    return wavefronts_each;
}
static uint32_t fake_wavefronts(const struct sass_effect *e, uint32_t *ideal) {
    (void)e;
    return *ideal = wavefronts_each;
}
static int lane_bytes = 2; /* that each of 32 lanes stores to four sectors: 4 are all of them */
static uint64_t sectors_apart = 1; /* of one line, or 4: of lines of their own */
static uint32_t fake_sectors(const struct sass_effect *e, uint64_t sector[64]) {
    const bool is_next = strstr(text[e->inst->pc / 16], "+0x20") != NULL;
    for (uint64_t i = 0; i < 4; i++) sector[i] = i * sectors_apart + is_next;
    return 4;
}
static const struct predictor_front front = {.next = fake_next,
                                             .waits = fake_waits,
                                             .step = fake_step,
                                             .deliver = fake_deliver,
                                             .warp = fake_warp,
                                             .fault = fake_fault,
                                             .wavefronts = fake_wavefronts,
                                             .l1_wavefronts = fake_l1_wavefronts,
                                             .sectors = fake_sectors};

static struct sass_inst *add(const char *t, int pipe, int stall) {
    inst[n_inst] = (struct sass_inst){.pipe = (uint8_t)pipe,
                                      .stall = (uint8_t)stall,
                                      .write_barrier = 7,
                                      .read_barrier = 7,
                                      .pc = (uint32_t)n_inst * 16};
    text[n_inst] = t;
    return &inst[n_inst++];
}

static struct predictor_chip chip;

static int read_chip(void **state) {
    (void)state;
    const char *why = predictor_chip_read("chips/h200.txt", &chip);
    if (why) print_message("%s\n", why);
    chip.icache_l0_bytes = chip.cta_start = 0; /* but where a test is about it */
    n_inst = 0;
    wavefronts_each = 1;
    lane_bytes = 2;
    sectors_apart = 1;
    return why != NULL;
}

/* An SM with n_ctas CTAs of n_warps warps, all of the one stream, each `apart` cycles behind the one before:
 * to be run and closed. */
static struct sass_cta on_sm[SM_CTAS];
static void open_sm(struct machine *m, int n_ctas, int n_warps, uint64_t apart) {
    static struct sass_kernel k;
    k = (struct sass_kernel){.name = "test", .n_inst = n_inst, .inst = inst, .text = text};
    machine_open(m, &chip, &front, &k, 1);
    for (int c = 0; c < n_ctas; c++) {
        on_sm[c] = (struct sass_cta){.n_warps = n_warps};
        for (int w = 0; w < n_warps; w++)
            on_sm[c].warp[w] = (struct sass_warp){.index = w, .cta = &on_sm[c]};
        machine_place(m, 0, &on_sm[c], n_warps, (uint64_t)c * apart);
    }
}

/* Runs it to its end and closes it: how long its SM was active. */
static uint64_t active_cycles(struct machine *m) {
    machine_run(m);
    assert_null(m->why);
    const uint64_t active = m->sm[0].active;
    machine_close(m);
    return active;
}

/* Cycles until n_warps warps of one CTA are through. */
static uint64_t cycles(int n_warps) {
    struct machine m;
    open_sm(&m, 1, n_warps, 0);
    machine_run(&m);
    if (m.why) print_message("%s\n", m.why);
    assert_null(m.why);
    uint64_t active = m.sm[0].active, sum = 0;
    for (int r = 0; r < PREDICTOR_REASONS; r++) sum += m.counts.reason[r];
    assert_int_equal(sum, m.sm[0].warp_cycles); /* every cycle of every warp has its reason */
    assert_int_equal(m.counts.issued, m.counts.reason[PREDICTOR_SELECTED]);
    machine_close(&m);
    return active;
}

/* ---- Pipes ------------------------------------------------------------------------------------- */

static void chain_of_ffma(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) add("FFMA R1, R1, R2, R3", SASS_PIPE_FMA, 4);
    add("EXIT", SASS_PIPE_BRANCH, 5);
    assert_int_equal(cycles(1), 401);
    assert_int_equal(cycles(4), 401); /* a sub-core each */
    assert_int_equal(cycles(8), 402);
}

static void pipes_have_intervals(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int pipe, interval;
    } row[] = {{"FMNMX R1, R2, R3, !PT", SASS_PIPE_ALU, 2},
               {"IMAD R1, R2, R3, R4", SASS_PIPE_FMA, 2},
               {"IMAD.WIDE.U32 R2, R2, R3, R4", SASS_PIPE_FMA, 4},
               {"HMMA.16816.F32 R4, R8, R12, R4", SASS_PIPE_TENSOR, 6},
               {"DFMA R2, R4, R6, R8", SASS_PIPE_FP64, 2},
               {"REDUX.SUM UR4, R2", SASS_PIPE_XU, 8},
               {"MATCH.ANY R2, R3", SASS_PIPE_XU, 256},
               {"MUFU.EX2 R1, R2", SASS_PIPE_XU, 8}};
    for (unsigned r = 0; r < sizeof row / sizeof *row; r++) {
        uint64_t t[2];
        for (int n = 0; n < 2; n++) {
            n_inst = 0;
            for (int i = 0; i < 100 * (n + 1); i++) add(row[r].text, row[r].pipe, 1);
            add("EXIT", SASS_PIPE_BRANCH, 5);
            t[n] = cycles(1);
        }
        assert_int_equal(t[1] - t[0], 100 * row[r].interval);
    }
}

static void two_pipes_at_once(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        add("FMNMX R1, R2, R3, !PT", SASS_PIPE_ALU, 1);
        add("FFMA R4, R5, R6, R7", SASS_PIPE_FMA, 1);
    }
    add("EXIT", SASS_PIPE_BRANCH, 5);
    assert_int_equal(cycles(1), 201);
}

static void ports_delay_three_in_a_bank(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct sass_inst *f = add("FFMA R1, R2, R4, R6", SASS_PIPE_FMA, 1);
        for (int s = 0; s < 3; s++) f->src[s] = (struct sass_span){(uint8_t)(2 + 2 * s), 1};
    }
    add("EXIT", SASS_PIPE_BRANCH, 5);
    assert_in_range(cycles(1), 296, 304);
    for (int i = 0; i < 100; i++) inst[i].reuse = 6; /* b and c stay in the cache */
    assert_in_range(cycles(1), 100, 106);
}

/* ---- Shared memory, scoreboards, barriers ------------------------------------------------------- */

static void chain_of_lds(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct sass_inst *l = add("LDS R1, [R1]", SASS_PIPE_LSU, 2);
        l->memory = SASS_LDS;
        l->write_barrier = 0;
        l->wait_mask = 1;
    }
    add("EXIT", SASS_PIPE_BRANCH, 5);
    uint64_t t = cycles(1);
    assert_in_range(t, 99 * (uint64_t)chip.lds_latency, 100 * (uint64_t)chip.lds_latency + 10);
}

/* An H200: STS 4, STS.64 6, STS.128 10 cycles, 2 for each register read. */
static void registers_read_bound_stores(void **state) {
    (void)state;
    for (int n = 1; n <= 4; n *= 2) {
        uint64_t t[2];
        for (int k = 0; k < 2; k++) {
            n_inst = 0;
            for (int i = 0; i < 100 * (k + 1); i++) {
                struct sass_inst *s = add("STS [R1], R4", SASS_PIPE_LSU, 1);
                s->src[0] = (struct sass_span){1, 1};
                s->src[1] = (struct sass_span){4, (uint8_t)n};
            }
            add("EXIT", SASS_PIPE_BRANCH, 5);
            t[k] = cycles(1);
        }
        assert_int_equal(t[1] - t[0], 100 * (2 + 2 * n));
    }
}

static void add_some(int n, const char *t, int pipe, int registers) {
    for (int i = 0; i < n; i++) add(t, pipe, 1)->src[0] = (struct sass_span){1, (uint8_t)registers};
}

/* chips/bench: hmmamix. An HMMA waits for the register that is being read for the MIO queue, not for the next. */
static void hmma_goes_before_the_mio_queue(void **state) {
    (void)state;
    static const struct {
        int hmma, others;
        const char *text;
        int registers, cycles;
    } row[] = {{1, 4, "SHFL.IDX PT, R1, R1, RZ, 0x1f", 1, 13},
               {2, 1, "SHFL.IDX PT, R1, R1, RZ, 0x1f", 1, 13},
               {2, 2, "SHFL.IDX PT, R1, R1, RZ, 0x1f", 1, 14},
               {4, 8, "SHFL.IDX PT, R1, R1, RZ, 0x1f", 1, 36},
               {2, 1, "STS [R1], R2", 2, 14},
               {4, 2, "STS [R1], R2", 2, 28}};
    for (unsigned r = 0; r < sizeof row / sizeof *row; r++) {
        uint64_t t[2];
        for (int n = 0; n < 2; n++) {
            n_inst = 0;
            for (int i = 0; i < 50 * (n + 1); i++) {
                add_some(row[r].hmma, "HMMA.16816.F32 R4, R8, R12, R4", SASS_PIPE_TENSOR, 0);
                add_some(row[r].others, row[r].text, SASS_PIPE_LSU, row[r].registers);
            }
            add("EXIT", SASS_PIPE_BRANCH, 5);
            t[n] = cycles(1);
        }
        assert_int_equal(t[1] - t[0], 50 * row[r].cycles);
    }
}

/* What an HMMA overtakes comes so much later: a load's value, here. */
static void who_waits_for_what_was_overtaken_waits_longer(void **state) {
    (void)state;
    uint64_t t[2];
    for (int n = 0; n < 2; n++) {
        n_inst = 0;
        struct sass_inst *l = NULL;
        for (int i = 0; i < 4; i++) {
            l = add("LDS R1, [R2]", SASS_PIPE_LSU, 1);
            l->memory = SASS_LDS;
            l->src[0] = (struct sass_span){2, 1};
        }
        l->write_barrier = 0;
        for (int i = 0; i < 3 * n; i++) add("HMMA.16816.F32 R4, R8, R12, R4", SASS_PIPE_TENSOR, 1);
        add("MOV R3, R1", SASS_PIPE_ALU, 1)->wait_mask = 1;
        add("EXIT", SASS_PIPE_BRANCH, 5);
        t[n] = cycles(1);
    }
    assert_int_equal(t[1] - t[0], 3 * (uint64_t)chip.hmma_port);
}

/* Two MUFU are taken at once, the third when the first leaves the pipe. */
static void mufu_queue_is_short(void **state) {
    (void)state;
    for (int n = 2; n <= 3; n++) {
        n_inst = 0;
        for (int i = 0; i < n; i++) add("MUFU.EX2 R1, R2", SASS_PIPE_XU, 1);
        add("EXIT", SASS_PIPE_BRANCH, 5);
        assert_int_equal(cycles(1), n == 2 ? 3 : 15);
    }
}

/* Stall counts of 2 hand the turn on, and so does a pipe that is busy for longer than FMA's or
 * ALU's half rate: all three warps end together. FFMA with 1: one goes through, but beside products. */
static void turns_are_fair_behind_a_stall(void **state) {
    (void)state;
    for (int row = 1; row <= 4; row++) {
        n_inst = 0;
        for (int i = 0; i < 300; i++)
            if (row != 3)
                add("FFMA R1, R2, R3, R4", SASS_PIPE_FMA, row == 2 ? 2 : 1);
            else
                add("HMMA.16816.F32 R4, R8, R12, R4", SASS_PIPE_TENSOR, 1);
        add("EXIT", SASS_PIPE_BRANCH, 5);
        struct machine m;
        open_sm(&m, 1, 12, 0);
        if (row == 4) m.sm[0].gmma_free = UINT64_MAX / 2;
        machine_run(&m);
        double mean = (double)m.sm[0].warp_cycles / 12, whole = (double)m.sm[0].active;
        assert_true(row == 1 ? mean < 0.7 * whole : mean > 0.95 * whole);
        machine_close(&m);
    }
}

static void data_path_bounds_loads(void **state) {
    (void)state;
    wavefronts_each = 4;
    for (int i = 0; i < 100; i++) add("LDS.128 R4, [R1]", SASS_PIPE_LSU, 1)->memory = SASS_LDS;
    add("EXIT", SASS_PIPE_BRANCH, 5);
    uint64_t under_way = (uint64_t)(4 * 4 * (chip.mio_queue + chip.mio_inflight)); /* at the end */
    assert_in_range(cycles(8), 8 * 100 * 4 - under_way, 8 * 100 * 4);
}

static void barrier_waits_for_the_last(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) add("BAR.SYNC 0x0", SASS_PIPE_SYNC, 5);
    add("EXIT", SASS_PIPE_BRANCH, 5);
    uint64_t one = (uint64_t)(chip.bar_arrive + chip.bar_release + 3 * chip.bar_interval);
    assert_in_range(cycles(4), 10 * one, 10 * one + 20);
}

static void taken_branches_cost(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++)
        add("BRA 0x10", SASS_PIPE_BRANCH, 5)->target = (uint32_t)(i + 1) * 16;
    add("EXIT", SASS_PIPE_BRANCH, 5);
    assert_int_equal(cycles(1), 100 * (5 + (uint64_t)chip.branch_penalty) + 1);
}

/* ---- WGMMA ------------------------------------------------------------------------------------- */

/* `n` products, each warpgroup's, and a wait for them: m has run, and is to be closed. */
static void run_products(struct machine *m, const char *product, int n, int warps) {
    n_inst = 0;
    for (int i = 0; i < n; i++) add(product, SASS_PIPE_GMMA, 2);
    add("WARPGROUP.DEPBAR.LE gsb0,0x0", SASS_PIPE_NONE, 2);
    add("EXIT", SASS_PIPE_BRANCH, 5);
    open_sm(m, 1, warps, 0);
    machine_run(m);
    assert_null(m->why);
}

/* Three warpgroups that each ask for eight products at once: one has the tensor cores until it is through, though
 * only six stand in the queue (chips/bench: hgmma ss128/wg012). */
static void a_warpgroup_keeps_the_tensor_cores(void **state) {
    (void)state;
    struct machine m;
    run_products(&m, "HGMMA.64x128x16.F32 R24,gdesc[UR8],R24", 8, 12);
    double all = 8 * 64, waits = (double)m.counts.by_inst[8][PREDICTOR_BARRIER] / 4;
    assert_in_range(m.sm[0].active, (uint64_t)(3 * all + 28), (uint64_t)(3 * all + 80));
    assert_true(waits < 1.05 * 6 * all); /* 1, 2 and 3 times, less what it stood in the queue */
    machine_close(&m);
}

/* The tensor pipe works half a cycle a column, though 48 columns from shared memory take 28 cycles. */
static void few_columns_leave_it_idle(void **state) {
    (void)state;
    struct machine m;
    run_products(&m, "HGMMA.64x48x16.F32 R24,gdesc[UR8],R24", 4, 4);
    assert_int_equal(m.sm[0].gmma_cycles, 4 * 24);
    assert_true(m.sm[0].active > 4 * 28);
    machine_close(&m);
}

/* Beside wide products FMUL takes nearly three cycles of its warp, but not of its sub-core: three warps get as much done as
 * its pipe can do (microbenchmarks mixwg 4FMUL|ss128, crowdwg FMUL|ss128/s1/12). FMNMX has its pipe for longer. */
static void fp32_beside_a_product_holds_up_its_warp(void **state) {
    (void)state;
    enum { N = 100 };
    uint64_t took[2][2];
    for (int alu = 0; alu < 2; alu++) {
        n_inst = 0;
        for (int i = 0; i < 6; i++)
            add("HGMMA.64x128x16.F32 R24,gdesc[UR8],R24", SASS_PIPE_GMMA, 1);
        for (int i = 0; i < N; i++)
            add(alu ? "FMNMX R1, R2, R3, !PT" : "FMUL R1, R2, R3",
                alu ? SASS_PIPE_ALU : SASS_PIPE_FMA, 1);
        add("EXIT", SASS_PIPE_BRANCH, 5);
        for (int three = 0; three < 2; three++) took[alu][three] = cycles(three ? 12 : 4);
    }
    assert_in_range(took[0][0], 2.3 * N, 3 * N);
    assert_in_range(took[0][1], 3 * N, 4.5 * N);
    assert_true(took[1][1] > 2.4 * took[1][0]);
}

/* ---- L1 ---------------------------------------------------------------------------------------- */

/* The second load of a line that is on its way waits for it. */
static void a_hit_waits_for_the_line(void **state) {
    (void)state;
    n_inst = 0;
    for (int i = 0; i < 2; i++) {
        struct sass_inst *l = add("LDG.E R1, [R2.64]", SASS_PIPE_LSU, 2);
        l->memory = SASS_LDG;
        l->write_barrier = (uint8_t)i;
    }
    add("FFMA R1, R2, R3, R4", SASS_PIPE_FMA, 2)->wait_mask = 2; /* of the second */
    add("EXIT", SASS_PIPE_BRANCH, 5);
    struct machine m;
    open_sm(&m, 1, 1, 0);
    m.sm[0].n_ways = 4;
    machine_run(&m);
    assert_null(m.why);
    assert_int_equal(m.counts.l2_sectors, 4); /* the second is in L1, or will be */
    assert_true((double)m.sm[0].active > chip.l2_latency);
    machine_close(&m);
}

/* Cycles of the stream by one warp, as the first launch of the process or as a later one. */
static double cycles_at(bool is_first) {
    struct machine m;
    open_sm(&m, 1, 1, 0);
    m.is_first = is_first;
    m.sm[0].n_ways = 4;
    return (double)active_cycles(&m);
}

/* Two pieces of code are one wait more than one, in the first launch only. */
static void new_code_comes_from_memory(void **state) {
    (void)state;
    double more[2];
    predictor_chip_read("chips/h200.txt", &chip);
    for (int pieces = 1; pieces <= 2; pieces++) {
        n_inst = 0;
        for (int i = 0; i < pieces * (int)chip.code_first_bytes / 16 - 1; i++)
            add("FFMA R1, R2, R3, R4", SASS_PIPE_FMA, 4);
        add("EXIT", SASS_PIPE_BRANCH, 5);
        more[pieces - 1] = cycles_at(true) - cycles_at(false);
    }
    assert_true(more[0] > 0.5 * chip.code_first_latency);
    assert_true(fabs(more[1] - more[0] - chip.code_first_latency) < 0.3 * chip.code_first_latency);
}

/* What the first launch of a process takes longer, of accesses one after the other. */
static double first_launch_takes(int n, const char *const access[], enum sass_memory memory) {
    n_inst = 0;
    for (int i = 0; i < n; i++) {
        struct sass_inst *l = add(access[i], SASS_PIPE_LSU, 2);
        l->memory = memory;
        l->write_barrier = 0;
        l->wait_mask = 1; /* of the one before */
    }
    add("EXIT", SASS_PIPE_BRANCH, 5)->wait_mask = 1;
    return cycles_at(true) - cycles_at(false);
}

/* In the first launch an SM's first load or atomic finds where memory lies, and each new pair of sectors takes longer. */
static void first_accesses_find_their_pages(void **state) {
    (void)state;
    const char *const past_l1[] = {"LDG.E.STRONG.GPU R1, [R2.64]", "LDG.E.STRONG.GPU R1, [R2.64]"},
                      *const pair[] = {"LDG.E R1, [R2.64]", "LDG.E R1, [R2.64+0x20]"},
                      *const atomic[] = {"ATOMG.E.ADD.STRONG.GPU PT, R1, [R2.64], R4"},
                      *const store[] = {"STG.E [R2.64], R1"};
    const double one = first_launch_takes(1, past_l1, SASS_LDG),
                 two = first_launch_takes(2, past_l1, SASS_LDG);
    assert_true(fabs(one - chip.l2_first - chip.l2_first_walk) < 2);
    assert_true(fabs(two - one - chip.l2_first) < 2);
    assert_true(fabs(first_launch_takes(1, atomic, SASS_ATOMG) - chip.l2_first_walk) < 2);
    assert_true(fabs(first_launch_takes(1, store, SASS_STG)) < 2);
    sectors_apart = 2; /* the second load wants the others of four pairs */
    assert_true(fabs(first_launch_takes(2, pair, SASS_LDG) - one) < 2);
}

/* Stores to one place of local memory, then a load: when L2 has taken the stores. */
static double local_stores(int n) {
    n_inst = 0;
    for (int i = 0; i < n; i++) add("STL [R2], R1", SASS_PIPE_LSU, 20)->memory = SASS_STL;
    struct sass_inst *l = add("LDL R1, [R2]", SASS_PIPE_LSU, 2);
    l->memory = SASS_LDL;
    l->write_barrier = 0;
    add("EXIT", SASS_PIPE_BRANCH, 5)->wait_mask = 1;
    struct machine m;
    open_sm(&m, 1, 1, 0);
    m.sm[0].n_ways = 4;
    m.write_rate = 1; /* bytes a cycle */
    machine_run(&m);
    assert_null(m.why);
    assert_int_equal(m.counts.sectors, 4 * (n + 1));
    assert_true((double)m.sm[0].active < chip.l2_latency); /* the load found all in L1 */
    const double taken = m.write_free;
    machine_close(&m);
    return taken;
}

/* L1 passes each store to local memory on to L2, whatever it has of the line. */
static void local_stores_reach_l2(void **state) {
    (void)state;
    const double one = local_stores(1);
    assert_true(one >= 4 * 32);
    assert_true(local_stores(2) >= one + 4 * 32 - 40);
}

/* Loads of four lines each that L1 has: as many cycles as look-ups, chip.l1_lines at once. */
static double cycles_of_hits(int n) {
    n_inst = 0;
    for (int i = 0; i < 1 + n; i++) {
        struct sass_inst *l = add("LDL R1, [R2]", SASS_PIPE_LSU, 1);
        l->memory = SASS_LDL;
        l->write_barrier = 0;
        if (i == 1) l->wait_mask = 1; /* now L1 has the lines */
    }
    add("EXIT", SASS_PIPE_BRANCH, 5)->wait_mask = 1;
    struct machine m;
    open_sm(&m, 1, 16, 0);
    m.sm[0].n_ways = 4;
    return (double)active_cycles(&m);
}

static void l1_looks_up_lines_at_once(void **state) {
    (void)state;
    double took[3];
    const double lines[] = {4, 2, 1};
    sectors_apart = 4;
    for (int i = 0; i < 3; i++) {
        chip.l1_lines = lines[i];
        took[i] = cycles_of_hits(60) - cycles_of_hits(20);
    }
    assert_true(fabs(took[1] - 40 * 16 * 2) < 64);
    assert_true(fabs(took[2] - 40 * 16 * 4) < 64);
    assert_true(took[0] < 0.6 * took[1]);
}

/* ---- Printing ---------------------------------------------------------------------------------- */

/* Cycles of n calls of vprintf by each of n_warps warps, 20 characters, on one SM of `busy`. */
static double cycles_of_prints(int n, int n_warps, double busy, bool prints_first) {
    n_inst = 0;
    for (int i = 0; i < n; i++) add("CALL.ABS.NOINC", SASS_PIPE_BRANCH, 5);
    add("EXIT", SASS_PIPE_BRANCH, 5);
    struct machine m;
    open_sm(&m, 1, n_warps, 0);
    m.part = 1 / busy;
    m.prints_first = prints_first;
    return (double)active_cycles(&m);
}

static void printf_takes_its_time(void **state) {
    (void)state;
    const double lanes = 32 * chip.printf_lane,
                 call = chip.printf_call + 20 * chip.printf_character,
                 one = cycles_of_prints(1, 1, 1, false);
    assert_true(fabs(one - call - lanes) < 30);
    assert_true(fabs(cycles_of_prints(3, 1, 1, false) - 3 * one) < 60);
    /* warps are in the code at once, and lanes of all SMs come one after the other */
    assert_true(fabs(cycles_of_prints(1, 4, 1, false) - one - 3 * lanes) < 60);
    assert_true(fabs(cycles_of_prints(1, 1, 3, false) - one - 2 * lanes) < 60);
    /* the first call of all, with those that begin before it ends */
    assert_true(fabs(cycles_of_prints(3, 1, 1, true) - 3 * one - chip.printf_first) < 60);
    assert_true(fabs(cycles_of_prints(1, 4, 1, true) - one - 3 * lanes - chip.printf_first) < 60);
}

/* ---- L2's queue -------------------------------------------------------------------------------- */

static void rows_of_16_kib(const struct sass_effect *e, void *user,
                           void (*each)(void *user, uint64_t global, uint32_t bytes)) {
    (void)e;
    for (uint64_t row = 0; row < 128; row++) each(user, row * 128, 128);
}

/* How long 16 KiB by TMA take the first SM of two that stand for `busy`, and, asked for at the same time, the second. */
static void two_loads(double busy, bool multiplies, double took[2]) {
    struct predictor_front with_rows = front;
    struct sass_effect e = {0};
    struct sass_kernel k = {.name = "test", .n_inst = n_inst, .inst = inst, .text = text};
    struct machine m;
    with_rows.tma_rows = rows_of_16_kib;
    machine_open(&m, &chip, &with_rows, &k, 2);
    m.part = 2 / busy;
    m.tma_rate = chip.l2_bytes_per_clk * m.part;
    m.start = 0.5;
    m.multiplies = multiplies;
    for (int i = 0; i < 2; i++) took[i] = (double)sm_tma(&m, &m.sm[i], &e, 1000) - 1000;
    machine_close(&m);
}

/* A load passes at the chip's rate, behind those of others at their share of it. */
static void a_load_waits_for_others(void **state) {
    (void)state;
    double of_132[2], of_2[2], share = 16384 / (chip.l2_bytes_per_clk * 2 / 132);
    chip.l2_spread = 0;
    two_loads(132, true, of_132);
    two_loads(2, true, of_2);
    assert_true(fabs(of_132[0] - of_2[0]) < 3); /* alone: whatever is simulated */
    assert_true(of_132[1] - of_132[0] > 0.3 * share);
    assert_true(of_132[1] - of_132[0] < (1 + chip.l2_uneven) * share);
}

static void slices_are_uneven(void **state) {
    (void)state;
    double even[2], uneven[2];
    chip.l2_uneven = 0;
    two_loads(132, true, even);
    chip.l2_uneven = 0.5;
    two_loads(132, true, uneven);
    assert_true(uneven[1] > even[1] + 50);
    chip.l2_uneven_most = 20;
    two_loads(132, true, uneven);
    assert_true(fabs(uneven[1] - even[1] - 20) < 2);
}

static void before_the_first_product_l2_is_slower(void **state) {
    (void)state;
    double before[2], after[2];
    two_loads(132, false, before);
    two_loads(132, true, after);
    assert_true(before[1] > after[1] + 100);
}

/* ---- Stores ------------------------------------------------------------------------------------- */

static double waits_at_exit; /* of a warp, for its stores */
/* Cycles of n stores of 128 bytes by each of n_warps warps, each behind its last one's read of the register. */
static double cycles_of_stores(int n, int n_warps, double l2_rate) {
    n_inst = 0;
    for (int i = 0; i < n; i++) {
        struct sass_inst *s = add("STG.E [R2.64], R4", SASS_PIPE_LSU, 1);
        s->memory = SASS_STG;
        s->bytes = (uint8_t)lane_bytes;
        s->read_barrier = 0;
        s->wait_mask = 1;
    }
    add("EXIT", SASS_PIPE_BRANCH, 5)->wait_mask = 1;
    struct machine m;
    open_sm(&m, 1, n_warps, 0);
    m.write_rate = l2_rate;
    machine_run(&m);
    assert_null(m.why);
    double cycles = (double)m.sm[0].active;
    waits_at_exit = (double)m.counts.reason[PREDICTOR_DRAIN] / n_warps;
    machine_close(&m);
    return cycles;
}

/* 4 cycles of the way to L2 a line, 2 a sector of another; what waits there is no more than 200 cycles of it. */
static void stores_wait_for_the_way_to_l2(void **state) {
    (void)state;
    const double fast = 1e9;
    double few = cycles_of_stores(20, 16, fast), more = cycles_of_stores(40, 16, fast);
    assert_true(fabs(more - few - 20 * 16 * 4) < 16);
    sectors_apart = 4;
    assert_true(
        fabs(cycles_of_stores(40, 16, fast) - cycles_of_stores(20, 16, fast) - 20 * 16 * 8) < 32);
    sectors_apart = 1;
    cycles_of_stores(40, 16, fast);
    double before = waits_at_exit;
    chip.sm_writes_ahead += 100; /* they wait there, in place of at the store */
    assert_true(fabs(cycles_of_stores(40, 16, fast) - more) < 1);
    assert_true(fabs(waits_at_exit - before - 100) < 10);
}

/* L2, of which an SM has 16 bytes a cycle here, takes the first ones as fast as they come. */
static void l2_takes_some_stores_at_once(void **state) {
    (void)state;
    chip.drain = 0;
    double few = cycles_of_stores(10, 16, 16);
    assert_true(fabs(few - cycles_of_stores(10, 16, 1e9)) < 1);
    double many = cycles_of_stores(40, 16, 16);
    assert_true(fabs(many - (40 * 16 * 8 - chip.l2_writes_ahead)) < 60);
}

/* A quarter of a line takes L2 half of what all of it does. */
static void a_part_of_a_line_costs_more_in_l2(void **state) {
    (void)state;
    chip.drain = 0;
    double lines = cycles_of_stores(40, 16, 8), more = cycles_of_stores(80, 16, 8);
    assert_true(fabs(more - lines - 40 * 16 * 16) < 60);
    sectors_apart = 4; /* four lines, 32 bytes of each */
    lines = cycles_of_stores(40, 16, 8), more = cycles_of_stores(80, 16, 8);
    assert_true(fabs(more - lines - 40 * 16 * 32) < 60);
}

/* A line of which a sector is partly written costs 64 bytes, on the way to L2 and of the data path; a whole sector 32. */
static void whole_sectors_cost_less_than_parts(void **state) {
    (void)state;
    const double fast = 1e9;
    chip.drain = 0;
    sectors_apart = 4; /* four lines */
    double parts = cycles_of_stores(40, 16, fast) - cycles_of_stores(20, 16, fast);
    lane_bytes = 4;
    double whole = cycles_of_stores(40, 16, fast) - cycles_of_stores(20, 16, fast);
    assert_true(fabs(parts - 20 * 16 * 8) < 32);
    assert_true(fabs(whole - 20 * 16 * 4) < 32);
    chip.l2_sm_write_bytes_per_clk *= 2; /* the way out is no limit then */
    chip.sm_write_line_bytes *= 4;
    lane_bytes = 2;
    parts = cycles_of_stores(40, 16, fast) - cycles_of_stores(20, 16, fast);
    assert_true(fabs(parts - 20 * 16 * 16) < 32);
}

/* From the first SM that is through to the last, of eight that store at once and have a cycle for each line. */
static double ends_apart(bool is_whole) {
    static struct sass_kernel k;
    struct machine m;
    uint64_t first = UINT64_MAX, last = 0;
    k = (struct sass_kernel){.name = "test", .n_inst = n_inst, .inst = inst, .text = text};
    machine_open(&m, &chip, &front, &k, 8);
    m.is_whole = is_whole;
    m.write_rate = 128;
    for (int i = 0; i < 8; i++) {
        on_sm[i] = (struct sass_cta){.n_warps = 4};
        for (int w = 0; w < 4; w++)
            on_sm[i].warp[w] = (struct sass_warp){.index = w, .cta = &on_sm[i]};
        machine_place(&m, i, &on_sm[i], 4, 0);
    }
    machine_run(&m);
    assert_null(m.why);
    for (int i = 0; i < 8; i++) {
        if (m.sm[i].active < first) first = m.sm[i].active;
        if (m.sm[i].active > last) last = m.sm[i].active;
    }
    machine_close(&m);
    return (double)(last - first);
}

static void sms_that_write_end_apart(void **state) {
    (void)state;
    cycles_of_stores(200, 1, 1e9); /* the stream */
    chip.l2_writes_uneven = 0;
    double even = ends_apart(true);
    chip.l2_writes_uneven = 0.5;
    double uneven = ends_apart(true);
    assert_true(uneven > even + 500);
    assert_true(fabs(ends_apart(false) - even) < 1); /* they stand for others */
    chip.l2_writes_uneven_most = 100;
    assert_true(ends_apart(true) < even + 200);
}

/* ---- DRAM --------------------------------------------------------------------------------------- */

static double always(void *user, uint64_t sector, bool is_written) {
    (void)user, (void)sector, (void)is_written;
    return 1;
}

/* Cycles of 100 loads past L1, each waited for, by each of n_warps warps; DRAM is shared with others. */
static double cycles_of_a_load(int n_warps) {
    n_inst = 0;
    for (int i = 0; i < 100; i++) {
        struct sass_inst *l = add("LDG.E.STRONG.GPU R1, [R2.64]", SASS_PIPE_LSU, 2);
        l->memory = SASS_LDG;
        l->write_barrier = 0;
        l->wait_mask = 1;
    }
    add("EXIT", SASS_PIPE_BRANCH, 5);
    struct machine m;
    open_sm(&m, 1, n_warps, 0);
    m.dram_part = always;
    m.dram_rate = 4; /* a load of 128 bytes takes 32 cycles of it */
    return (double)active_cycles(&m) / 100;
}

static void a_busy_dram_answers_later(void **state) {
    (void)state;
    chip.dram_queue = 0;
    double idle = cycles_of_a_load(1), half = cycles_of_a_load(16);
    chip.dram_queue = 145;
    assert_in_range((uint64_t)(cycles_of_a_load(1) - idle), 1, 10);     /* 3 % busy */
    assert_in_range((uint64_t)(cycles_of_a_load(16) - half), 100, 200); /* half, and more at once */
}

/* Boxes from a busy DRAM come by chance, by as much as one box waits for another; in the mean they do not. */
static void boxes_come_by_chance(void **state) {
    (void)state;
    enum { N = 1000 };
    static struct sass_kernel k = {.name = "test"};
    struct predictor_front with_rows = front;
    struct sass_effect e = {.memory = SASS_TMA_LOAD};
    double mean[2], apart[2];
    with_rows.tma_rows = rows_of_16_kib;
    for (int row = 0; row < 2; row++) {
        struct machine m;
        double sum = 0, square = 0;
        chip.dram_queue = row ? 145 : 0;
        machine_open(&m, &chip, &with_rows, &k, 1);
        m.dram_part = always;
        m.dram_rate = 16384 / 500.0;
        for (int i = 0; i < N; i++) {
            double begun = 1000.0 * (i + 1),
                   took = (double)sm_tma(&m, &m.sm[0], &e, (uint64_t)begun) - begun;
            if (i >= 10) sum += took, square += took * took;
        }
        mean[row] = sum / (N - 10);
        apart[row] = sqrt(square / (N - 10) - mean[row] * mean[row]);
        machine_close(&m);
    }
    assert_true(apart[0] < 1);
    assert_in_range((uint64_t)apart[1], 110, 180);
    assert_in_range((uint64_t)(mean[1] - mean[0]), 150, 300); /* what waits in the mean */
}

/* In a launch of one wave the same SMs wait longer for their boxes each time, others less; in the mean nothing changes. */
static void sms_wait_unequally_for_boxes(void **state) {
    (void)state;
    enum { SMS = 64, N = 20 };
    static struct sass_kernel k = {.name = "test"};
    struct predictor_front with_rows = front;
    struct sass_effect e = {.memory = SASS_TMA_LOAD};
    double mean[2] = {0}, least[2] = {INFINITY, INFINITY}, most[2] = {0};
    with_rows.tma_rows = rows_of_16_kib;
    chip.dram_queue = chip.l2_spread = 0;
    chip.dram_uneven = 0.2;
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        struct machine m;
        machine_open(&m, &chip, &with_rows, &k, SMS);
        m.is_whole = is_whole;
        m.dram_part = always;
        for (int i = 0; i < SMS; i++) {
            double took = 0;
            for (int n = 0; n < N; n++) {
                uint64_t at = (uint64_t)(10000 * (N * i + n) + 10000);
                took += (double)(sm_tma(&m, &m.sm[i], &e, at) - at) / N;
            }
            mean[is_whole] += took / SMS;
            least[is_whole] = fmin(least[is_whole], took);
            most[is_whole] = fmax(most[is_whole], took);
        }
        machine_close(&m);
    }
    assert_true(most[0] - least[0] < 1);
    assert_true(fabs(mean[1] / mean[0] - 1) < 0.01);
    assert_true(most[1] > 1.1 * mean[0] && least[1] < 0.9 * mean[0]);
}

/* Where half of what L2 holds was written, what comes from DRAM sends half as much there; so does what is written, from now
 * on, though the store itself waits: what is read meanwhile goes before it. */
static void what_was_written_makes_room(void **state) {
    (void)state;
    static struct sass_kernel k = {.name = "test"};
    struct predictor_front with_rows = front;
    double busy[2][2];
    with_rows.tma_rows = rows_of_16_kib;
    for (int row = 0; row < 4; row++) {
        struct machine m;
        struct sass_effect e = {.memory = row / 2 ? SASS_TMA_STORE : SASS_TMA_LOAD};
        machine_open(&m, &chip, &with_rows, &k, 1);
        m.dram_part = always;
        m.dram_rate = 16;
        m.write_back = row % 2 ? 0.5 : 0;
        m.written_lost = 1;
        m.now = 1000;
        sm_tma(&m, &m.sm[0], &e, row / 2 ? 9000 : 1000);
        busy[row / 2][row % 2] = m.dram_free > 1000 ? m.dram_free - 1000 : 0;
        machine_close(&m);
    }
    assert_true(fabs(busy[0][1] - busy[0][0] - 512) < 1);
    assert_true(busy[1][0] == 0 && fabs(busy[1][1] - 512) < 1);
}

/* ---- Two CTAs on an SM --------------------------------------------------------------------------- */

static uint64_t end_of_cta[2];
static void note_end(void *user, struct machine *m, struct sm_cta *cta) {
    (void)user;
    end_of_cta[cta->cta - on_sm] = m->now;
}

static void run_both(int n_warps) {
    add("EXIT", SASS_PIPE_BRANCH, 5);
    struct machine m;
    open_sm(&m, 2, n_warps, 1);
    m.ended = note_end;
    machine_run(&m);
    assert_null(m.why);
    machine_close(&m);
}

static void the_elder_cta_comes_first(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) add("HMMA.16816.F32 R4, R8, R12, R4", SASS_PIPE_TENSOR, 1);
    run_both(4);
    assert_true(end_of_cta[0] < 620);                          /* 100 x 6, as if it were alone */
    assert_true(end_of_cta[1] > 1190 && end_of_cta[1] < 1220); /* what the pipe has left */
}

/* n CTAs of so many warps on one SM, 100 HMMA each: how long it is active. */
static uint64_t active_with(int n_ctas, int n_warps) {
    n_inst = 0;
    for (int i = 0; i < 100; i++) add("HMMA.16816.F32 R4, R8, R12, R4", SASS_PIPE_TENSOR, 1);
    add("EXIT", SASS_PIPE_BRANCH, 5);
    struct machine m;
    open_sm(&m, n_ctas, n_warps, 0);
    return active_cycles(&m);
}

/* 32 CTAs of one warp are eight on each sub-core; of larger ones warp w of CTA c runs on (c + w) % 4, as long as there is room:
 * all that fit an SM find a place. */
static void all_that_fit_find_a_sub_core(void **state) {
    (void)state;
    assert_in_range(active_with(32, 1), 8 * 600 - 10, 8 * 600 + 20);
    assert_in_range(active_with(3, 5), 4 * 600 - 10,
                    4 * 600 + 20); /* some have four, none has more */
    assert_in_range(active_with(10, 6), 16 * 600 - 10, 16 * 600 + 20);
}

/* chips/bench: arbitration ffma7-stall2/2cta/2, 1736 and 3462 cycles. */
static void and_does_so_behind_stall_counts(void **state) {
    (void)state;
    for (int i = 0; i < 300; i++) add("FFMA R1, R2, R3, R4", SASS_PIPE_FMA, 2);
    run_both(8);
    assert_true(end_of_cta[0] < 640);
    assert_true(end_of_cta[1] > 1150);
}

/* ---- Waits ------------------------------------------------------------------------------------- */

/* Cycles that warps waited for this reason, of one CTA of n_warps. */
static uint64_t waited(int n_warps, int reason) {
    struct machine m;
    open_sm(&m, 1, n_warps, 0);
    machine_run(&m);
    assert_null(m.why);
    const uint64_t n = m.counts.reason[reason];
    machine_close(&m);
    return n;
}

static void load_and_use(const char *load, int pipe) {
    n_inst = 0;
    add(load, pipe, 1)->write_barrier = 0;
    add("FFMA R1, R1, R2, R3", SASS_PIPE_FMA, 4)->wait_mask = 1;
    add("EXIT", SASS_PIPE_BRANCH, 5);
}

static void scoreboards_are_long_or_short(void **state) {
    (void)state;
    load_and_use("LDG.E R1, desc[UR4][R2.64]", SASS_PIPE_LSU);
    assert_true(waited(1, PREDICTOR_LONG_SCOREBOARD) > 100);
    assert_int_equal(waited(1, PREDICTOR_SHORT_SCOREBOARD), 0);
    load_and_use("LDS R1, [R2]", SASS_PIPE_LSU);
    assert_true(waited(1, PREDICTOR_SHORT_SCOREBOARD) > 10);
    assert_int_equal(waited(1, PREDICTOR_LONG_SCOREBOARD), 0);
}

static void copies(const char *wait) {
    n_inst = 0;
    for (int g = 0; g < 2; g++) {
        add("LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64]", SASS_PIPE_LSU, 1);
        add("LDGDEPBAR", SASS_PIPE_NONE, 1)->write_barrier = 0;
        for (int i = 0; i < 50 && !g; i++) add("FFMA R1, R1, R2, R3", SASS_PIPE_FMA, 4);
    }
    add(wait, SASS_PIPE_NONE, 4);
    add("EXIT", SASS_PIPE_BRANCH, 5);
}

/* The first group of copies is 200 cycles ahead of the second. The warp ends when all copies are there, whether or not it has
 * waited for them (microbenchmark fresh, exit). */
static void depbar_leaves_some(void **state) {
    uint64_t t[3], end[3];
    static const char *const left[] = {"DEPBAR.LE SB0, 0x0", "DEPBAR.LE SB0, 0x1",
                                       "DEPBAR.LE SB0, 0x2"};
    (void)state;
    for (int n = 0; n < 3; n++) {
        copies(left[n]);
        end[n] = cycles(1);
        t[n] = waited(1, PREDICTOR_LONG_SCOREBOARD);
        assert_true((waited(1, PREDICTOR_DRAIN) > 100) == (n > 0));
    }
    assert_in_range(t[0] - t[1], 150, 250);
    assert_true(t[1] > t[2] + 50);
    assert_in_range(end[0], end[2], end[2] + 10);
}

static void fences_of_the_gpu_wait_longer(void **state) {
    uint64_t t[2];
    (void)state;
    for (int gpu = 0; gpu < 2; gpu++) {
        n_inst = 0;
        add(gpu ? "MEMBAR.SC.GPU" : "MEMBAR.ALL.CTA", SASS_PIPE_NONE, 4);
        add("EXIT", SASS_PIPE_BRANCH, 5);
        t[gpu] = cycles(1);
    }
    assert_int_equal(t[1] - t[0], chip.membar_gpu - chip.membar_cta);
}

/* FFMA holds one half of FMA for two cycles, packed fp16 both. */
static void packed_halves_need_all_of_fma(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        add("FFMA R1, R2, R3, R4", SASS_PIPE_FMA, 1);
        add("HFMA2 R5, R6, R7, R8", SASS_PIPE_FMA, 1);
    }
    add("EXIT", SASS_PIPE_BRANCH, 5);
    assert_in_range(cycles(1), 398, 402);
}

static void the_lg_queue_throttles(void **state) {
    uint64_t t[3];
    (void)state;
    sectors_apart = 4; /* four lines, eight cycles of the data path */
    for (int i = 0; i < 8; i++) add("LDG.E R1, desc[UR4][R2.64]", SASS_PIPE_LSU, 1);
    add("EXIT", SASS_PIPE_BRANCH, 5);
    for (int d = 0; d < 3; d++) {
        chip.lg_queue = d < 2 ? d + 1 : 12;
        t[d] = waited(1, PREDICTOR_LG_THROTTLE);
    }
    assert_true(t[0] > t[1] + 6 && t[1] > 0);
    assert_int_equal(t[2], 0);
    n_inst = 0;
    for (int i = 0; i < 2; i++) add("LDG.E R1, desc[UR4][R2.64]", SASS_PIPE_LSU, 1);
    add("EXIT", SASS_PIPE_BRANCH, 5);
    chip.lg_queue = 1;
    assert_true(waited(1, PREDICTOR_LG_THROTTLE) > 0); /* the second waits for the first */
    chip.lg_queue = 2;
    assert_int_equal(waited(1, PREDICTOR_LG_THROTTLE), 0);
}

/* An HMMA keeps what comes behind it in the MIO queue from reading registers. */
static void loads_wait_for_an_hmma(void **state) {
    uint64_t t[2];
    (void)state;
    for (int n = 0; n < 2; n++) {
        n_inst = 0;
        add("HMMA.16816.F32 R4, R8, R12, R4", SASS_PIPE_TENSOR, 1);
        add("LDS R1, [R2]", SASS_PIPE_LSU, 1)->write_barrier = 0;
        add("FFMA R1, R1, R2, R3", SASS_PIPE_FMA, 4)->wait_mask = 1;
        add("EXIT", SASS_PIPE_BRANCH, 5);
        chip.hmma_port = n ? 55 : 5;
        t[n] = cycles(1);
    }
    assert_in_range(t[1] - t[0], 45, 50);
}

/* L1 keeps what is stored to local memory, and a global load of the same sectors goes to L2. */
static uint64_t store_and_load(const char *store, const char *load) {
    struct machine m;
    n_inst = 0;
    add(store, SASS_PIPE_LSU, 1);
    add(load, SASS_PIPE_LSU, 1)->write_barrier = 0;
    add("FFMA R1, R1, R2, R3", SASS_PIPE_FMA, 4)->wait_mask = 1;
    add("EXIT", SASS_PIPE_BRANCH, 5);
    open_sm(&m, 1, 1, 0);
    m.sm[0].n_ways = 4;
    machine_run(&m);
    assert_null(m.why);
    const uint64_t waits = m.counts.reason[PREDICTOR_LONG_SCOREBOARD];
    machine_close(&m);
    return waits;
}
static void l1_keeps_local_memory(void **state) {
    (void)state;
    assert_true(store_and_load("STL [R1], R2", "LDL R1, [R3]") < 60);
    assert_true(store_and_load("STG.E desc[UR4][R2.64], R1", "LDG.E R1, desc[UR4][R2.64]") > 200);
}

/* The 32 lanes of each want one word (chips/bench: foreign, atom). */
static void atomics_take(const char *text, double alike) {
    uint64_t t[2];
    const double each = chip.atomic_interval + 31 * alike;
    chip.l2_writes_ahead = 0;
    for (int n = 0; n < 2; n++) {
        n_inst = 0;
        for (int i = 0; i < 40 * (n + 1); i++) add(text, SASS_PIPE_LSU, 1);
        add("EXIT", SASS_PIPE_BRANCH, 5);
        t[n] = cycles(1);
    }
    assert_in_range(t[1] - t[0], (uint64_t)(40 * each) - 60, (uint64_t)(40 * each) + 60);
}
static void atomics_at_one_word(void **state) {
    (void)state;
    atomics_take("REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R1", chip.atomic_alike);
    atomics_take("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R1", chip.atomic_alike_float);
}

/* chips/bench: foreign, few (records/chips/h200-few.tsv.gz): all SMs, eight warps each, add to `words` words of global memory that lie
 * `apart` words apart. Cycles of the chip for each instruction. */
enum { FEW_SMS = 132, FEW_WARPS = 8, FEW_EACH = 32 };
static struct few {
    bool is_float, is_random;
    uint32_t words, apart;
    double measured;
} few;
static struct sass_cta few_cta[FEW_SMS];
static uint32_t few_state[FEW_SMS][FEW_WARPS][SASS_LANES];
static enum sass_status few_step(struct sass_warp *w, struct sass_effect *e) {
    const enum sass_status status = fake_step(w, e);
    uint32_t *state = few_state[w->cta - few_cta][w->index];
    for (uint32_t l = 0; l < SASS_LANES; l++) {
        state[l] = state[l] * 1664525 + 1013904223;
        const uint32_t word = (few.is_random ? state[l] >> 16 : l) % few.words;
        e->global[l] = 4 * word * few.apart;
    }
    return status;
}
static double few_takes(int n_sms) { /* simulated */
    struct predictor_front with_words = front;
    struct machine m;
    static struct sass_kernel k;
    n_inst = 0;
    for (int i = 0; i < FEW_EACH; i++)
        add(few.is_float ? "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R1"
                         : "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R1",
            SASS_PIPE_LSU, 1)
            ->bytes = 4;
    add("EXIT", SASS_PIPE_BRANCH, 5);
    k = (struct sass_kernel){.name = "few", .n_inst = n_inst, .inst = inst, .text = text};
    with_words.step = few_step;
    machine_open(&m, &chip, &with_words, &k, n_sms);
    m.part = (double)n_sms / FEW_SMS;
    for (int c = 0; c < n_sms; c++) {
        few_cta[c] = (struct sass_cta){.n_warps = FEW_WARPS};
        for (int w = 0; w < FEW_WARPS; w++) {
            few_cta[c].warp[w] = (struct sass_warp){.index = w, .cta = &few_cta[c]};
            for (int l = 0; l < SASS_LANES; l++)
                few_state[c][w][l] = (uint32_t)(c * 1024 + w * SASS_LANES + l + 1);
        }
        machine_place(&m, c, &few_cta[c], FEW_WARPS, 0);
    }
    machine_run(&m);
    assert_null(m.why);
    const double all = (double)m.now;
    machine_close(&m);
    return all / FEW_EACH / FEW_WARPS / FEW_SMS;
}
static void atomics_at_few_words(void **state) {
    static const struct few row[] = {
        {.words = 1, .apart = 1, .measured = 46.32},
        {.words = 7, .apart = 1, .measured = 7.243},
        {.words = 8, .apart = 1, .measured = 4.648},
        {.words = 32, .apart = 1, .measured = 4.924},
        {.words = 4, .apart = 8, .measured = 46.32},
        {.words = 8, .apart = 32, .measured = 24.09},
        {.words = 32, .apart = 32, .measured = 6.032},
        {.words = 7, .apart = 1, .measured = 9.794, .is_random = true},
        {.words = 32, .apart = 1, .measured = 12.04, .is_random = true},
        {.words = 256, .apart = 1, .measured = 16.87, .is_random = true},
        {.words = 1, .apart = 1, .measured = 111.16, .is_float = true},
        {.words = 7, .apart = 1, .measured = 17.37, .is_float = true},
        {.words = 4, .apart = 8, .measured = 46.32, .is_float = true},
        {.words = 2, .apart = 32, .measured = 80.82, .is_float = true},
        {.words = 8, .apart = 32, .measured = 31.57, .is_float = true},
        {.words = 7, .apart = 1, .measured = 23.49, .is_float = true, .is_random = true}};
    (void)state;
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        few = row[i];
        const double x = few_takes(FEW_SMS), off = 100 * (x / few.measured - 1);
        print_message(
            "few %s%s, %u words %u apart: %.2f cycles predicted, %.2f measured, %+.1f %%\n",
            few.is_float ? "float" : "int", few.is_random ? ", random" : "", few.words, few.apart,
            x, few.measured, off);
        assert_true(fabs(off) < 10);
        assert_true(fabs(few_takes(FEW_SMS / 4) / x - 1) < 0.05); /* a quarter stands for all */
    }
    chip.atomic_slices_bytes = chip.atomic_turn_slices = chip.atomic_turn_bytes = 0;
    assert_true(few_takes(1) > 0); /* a chip's file may say 0 of each: no division by it */
}

/* ---- Events in order of time ------------------------------------------------------------------- */

static void put_event(struct wheel *w, uint64_t at, int kind) {
    wheel_add(w, &(struct wheel_event){.at = at, .kind = (uint8_t)kind});
}
static int take_event(struct wheel *w, uint64_t t) {
    struct wheel_event e;
    return wheel_take(w, t, &e) ? e.kind : -1;
}

/* Events a whole turn of the wheel apart share a slot: each comes at its own time, in the order in which they were added. */
static void events_of_later_turns_wait(void **state) {
    struct wheel w = {0};
    (void)state;
    put_event(&w, 10 + WHEEL_SLOTS, 1);
    put_event(&w, 10, 2);
    assert_int_equal(take_event(&w, 10), 2); /* the last of its slot */
    assert_int_equal(take_event(&w, 10), -1);
    put_event(&w, 10 + 2 * WHEEL_SLOTS, 3); /* behind the first again */
    put_event(&w, 10 + WHEEL_SLOTS, 4);
    assert_int_equal(take_event(&w, 10 + WHEEL_SLOTS), 1);
    assert_int_equal(take_event(&w, 10 + WHEEL_SLOTS), 4);
    assert_int_equal(take_event(&w, 10 + WHEEL_SLOTS), -1);
    assert_int_equal(take_event(&w, 10 + 2 * WHEEL_SLOTS), 3);
    assert_int_equal(w.n, 0);
    put_event(&w, 11, 5);
    assert_int_equal(take_event(&w, 11), 5);
    wheel_close(&w);
}

/* ---- The end of a launch ----------------------------------------------------------------------- */

static double uneven; /* cycles of CTAs, either way of 300 */
static bool packs;
static double end_of(uint64_t n, uint64_t places, double alone) {
    double cycles[1000];
    struct tail t = {
        .chip = &chip, .cycles = cycles, .n = n, .places = places, .resident = 3, .packs = packs};
    for (uint64_t i = 0; i < n; i++) cycles[i] = 300 + uneven * sm_spread(i);
    t.elder = chip.cta_elder;
    t.launch = 10;
    t.together = 5;
    t.speed[1] = alone;
    t.speed[2] = alone > 1 ? 1.5 : 1;
    t.speed[3] = 1;
    return tail_end(&t, NULL);
}

static void few_left_run_faster(void **state) {
    (void)state;
    chip.cta_elder = 0;
    assert_true(fabs(end_of(396, 132, 3) - 300) < 1e-9); /* every seat taken once */
    assert_true(fabs(end_of(400, 132, 1) - 610) < 1e-9); /* four more, as slow as the others */
    assert_true(fabs(end_of(397, 132, 3) - 300 - 310.0 / 3) < 1e-9); /* one more, alone on its SM */
    /* each of four more goes to another SM, though all end together */
    assert_true(fabs(end_of(400, 132, 3) - 300 - 310.0 / 3) < 1e-9);
    assert_true(fabs(end_of(132, 132, 3) - 100) < 1e-9);
    assert_true(fabs(end_of(133, 132, 3) - 200) < 1e-9); /* two that share an SM */
}

/* Three more on one SM, not on three, which would be 3 times as fast. */
static void the_last_may_be_packed(void **state) {
    (void)state;
    chip.cta_elder = 0;
    assert_true(fabs(end_of(399, 132, 3) - 300 - 310.0 / 3) < 1e-9);
    packs = true;
    assert_true(fabs(end_of(399, 132, 3) - 610) < 1e-9);
    packs = false;
}

/* A launch begins on all GPCs alike, and CTAs of one SM begin nearly together: far less apart than `each` for all SMs. */
static void seats_of_an_idle_chip(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 132; i++) {
        assert_in_range(tail_first(&chip, chip.cta_spread, i, 132, 0), 0,
                        (uint64_t)chip.cta_spread);
        uint64_t two = tail_first(&chip, chip.cta_spread, i, 132, 2) -
                       tail_first(&chip, chip.cta_spread, i, 132, 0);
        assert_in_range(two, (uint64_t)(2 * chip.cta_round), (uint64_t)(2 * chip.cta_round) + 1);
        assert_true((double)two < 132 * chip.cta_interval);
    }
    assert_true(tail_first(&chip, chip.cta_spread, 8, 132, 0) <
                tail_first(&chip, chip.cta_spread, 9, 132, 0));
    assert_true(tail_first(&chip, chip.cta_spread, 131, 132, 0) > 0.9 * chip.cta_spread);
    assert_true(tail_first(&chip, chip.cta_spread, 116, 132, 0) <
                0.1 * chip.cta_spread); /* another GPC's first */
}

/* The chip begins CTAs one after the other: those for which there is room at once are `each` cycles apart, and one that
 * finds the chip idle waits for none. */
static void ctas_begin_one_by_one(void **state) {
    (void)state;
    double next = 0, each = 1.25;
    for (uint64_t k = 0; k < 1000; k++)
        assert_int_equal(tail_begin(&next, 0, each), (uint64_t)(1.25 * (double)k));
    assert_int_equal(tail_begin(&next, 5000, each), 5000);
    assert_int_equal(tail_begin(&next, 5000, each), 5001);
    assert_int_equal(tail_begin(&next, 4000, 0), 5002);
}

/* Data that other SMs read in the next launch is lost earlier than what the same SM reads again; what is written lies
 * between. */
static void written_lines_are_kept_once(void **state) {
    (void)state;
    double at = 0.75 * chip.l2_bytes;
    double moves = predictor_lost(&chip, at, 0, false),
           half = predictor_lost(&chip, at, at / 2, false);
    double stays = predictor_lost(&chip, at, 0, true);
    assert_true(moves > half + 0.15 && half > stays + 0.15 && stays > 0);
    assert_true(fabs(predictor_lost(&chip, at, at, false) - stays) < 1e-9);
    assert_true(predictor_lost(&chip, 0.4 * chip.l2_bytes, 0, false) == 0);
    assert_true(predictor_lost(&chip, chip.l2_bytes, 0, true) == 1);
}

/* A sector alone takes its line's place in L2; of lines that are touched by halves, others touch the rest. */
static void l2_keeps_whole_lines(void **state) {
    (void)state;
    assert_true(predictor_kept(1000, 1000) == 128 * 1000.0);
    assert_true(predictor_kept(1000, 500) == 32 * 1000.0);
    assert_true(predictor_kept(1000, 250) == 32 * 1000.0);
}

/* The more the host copies, the less of it L2 has; all of it, if L2 has room for all that the process has touched. */
static void copies_leave_a_part(void **state) {
    (void)state;
    const double mib = 1 << 20, doubling = chip.l2_copied_doubling, full = 1024 * mib;
    assert_true(predictor_copied(&chip, 2 * mib, full) == chip.l2_copied);
    assert_true(fabs(predictor_copied(&chip, 8 * mib, full) - chip.l2_copied - 2 * doubling) <
                1e-9);
    assert_true(predictor_copied(&chip, full, full) == 1 && predictor_copied(&chip, 1, full) == 0);
    assert_true(predictor_copied(&chip, 8 * mib, 16 * mib) == 0);
    const double some = predictor_copied(&chip, 8 * mib, 0.6 * chip.l2_bytes);
    assert_true(some > 0 && some < predictor_copied(&chip, 8 * mib, full));
}

/* DRAM gives pairs of sectors, and single ones more slowly. */
static void dram_gives_pairs(void **state) {
    (void)state;
    chip.dram_sparse = 0.5;
    assert_true(predictor_fetched(&chip, 4, 2, 1) == 1);
    assert_true(predictor_fetched(&chip, 2, 1, 1) == 2);
    assert_true(predictor_fetched(&chip, 1, 1, 1) == 4);
}

/* The eldest of three ends at 200, the others later, but the last as ever; of the 120 that are left over each is
 * another SM's, though CTAs differ by more than those of an SM do that share it equally. */
static void the_elder_ends_first(void **state) {
    (void)state;
    assert_true(fabs(end_of(396, 132, 3) - 300) < 1e-9);
    assert_true(fabs(end_of(396, 132, 1) - 400) < 1e-9); /* 200, 300, and the youngest */
    assert_true(fabs(end_of(264, 132, 1) - 300) < 1e-9); /* two on an SM run alike */
    assert_true(fabs(end_of(524, 132, 3) - 1210 / 3.0) < 1e-9);
    uneven = 30;
    double elder = end_of(516, 132, 3);
    chip.cta_elder = 0;
    double equal = end_of(516, 132, 3);
    uneven = 0;
    assert_true(elder < 1210 / 3.0 + 60 && equal > elder + 40);
}

/* Of 220 CTAs on 132 SMs the 88 of the second round: eight join the first eight, the others are dealt to the GPCs. */
static void a_last_round_is_spread(void **state) {
    (void)state;
    for (uint64_t k = 0; k < 132; k++) assert_int_equal(tail_place(&chip, k, 220, 132, 3), k);
    for (uint64_t k = 0; k < 8; k++) assert_int_equal(tail_place(&chip, 132 + k, 220, 132, 3), k);
    assert_int_equal(tail_place(&chip, 140, 220, 132, 3), 8);
    assert_int_equal(tail_place(&chip, 219, 220, 132, 3), 130);
    assert_int_equal(tail_place(&chip, 134, 135, 132, 3), 2);
    assert_int_equal(tail_place(&chip, 140, 143, 132, 3), 84); /* three left: the last three GPCs */
    assert_int_equal(tail_place(&chip, 142, 143, 132, 3), 116);
    assert_int_equal(tail_place(&chip, 141, 160, 132, 4),
                     10); /* the TPC's first SM, then the next TPC's */
    assert_int_equal(tail_place(&chip, 159, 160, 132, 4), 120);
    for (uint64_t k = 133; k < 220; k++)
        assert_true(tail_place(&chip, k, 220, 132, 3) > tail_place(&chip, k - 1, 220, 132, 3));
    for (uint64_t n = 133; n < 264; n++) { /* no place gets two */
        int more[132] = {0};
        for (uint64_t k = 132; k < n; k++) more[tail_place(&chip, k, n, 132, 3)]++;
        for (int i = 0; i < 132; i++) assert_true(more[i] <= 1);
    }
    assert_int_equal(tail_place(&chip, 219, 220, 132, 1), 219 % 132); /* no second round */
    assert_int_equal(tail_place(&chip, 395, 400, 132, 3), 131);       /* all seats are taken */
}

/* All seats are taken: the first eight SMs get their second CTA when two thirds of the others have had one. */
static void the_first_come_again_early(void **state) {
    (void)state;
    int seats[132] = {0};
    for (uint64_t k = 0; k < 396; k++) {
        uint64_t at = tail_place(&chip, k, 396, 132, 3);
        if (k < 8 || (k >= 89 && k < 97)) assert_int_equal(at, k % 89);
        if (k >= 8 && k < 89) assert_int_equal(at, k);
        if (k == 97) assert_int_equal(at, 89);
        if (k == 140) assert_int_equal(at, 8); /* the 125th of the others */
        seats[at]++;
    }
    for (int i = 0; i < 132; i++) assert_int_equal(seats[i], 3);
    for (uint64_t k = 0; k < 8; k++)
        assert_int_equal(tail_place(&chip, k, 8, 8, 1), k); /* few SMs */
    assert_int_equal(tail_place(&chip, 9, 16, 8, 2), 1);
}

/* 54 CTAs: 12 of them in the GPC that gets the first eight, 6 in each other; 132: all. */
static void ctas_are_dealt_to_gpcs(void **state) {
    (void)state;
    int n[8] = {0}, all[8] = {0};
    for (uint64_t i = 0; i < 54; i++) n[gpc_of(&chip, i, 54)]++;
    for (uint64_t i = 0; i < 132; i++) all[gpc_of(&chip, i, 132)]++;
    assert_in_range(n[0], 10, 12);
    for (int g = 1; g < 8; g++) assert_in_range(n[g], 6, 7);
    for (int g = 0; g < 8; g++) assert_in_range(all[g], 16, 17);
    for (uint64_t i = 0; i < 8; i++) assert_int_equal(gpc_of(&chip, i, 12), 0);
}

/* 132 SMs, of which the last 33 work for twice as long: the GPCs that have ended run at the boost clock. */
static void idle_gpcs_count_faster(void **state) {
    (void)state;
    double end[132];
    struct predictor_chip c = chip;
    c.tensor_clock = 0.9;
    c.gpc_clock_spread = 0;
    c.tensor_clock_back = 1000;
    for (int i = 0; i < 132; i++) end[i] = i < 99 ? 10000 : 20000;
    struct gpc_time t = gpc_elapsed(&c, end, 132, true, 1000); /* 1000 cycles of the boost clock */
    double rest = 10000 / 0.9, slow = 1000;
    assert_true(fabs(t.elapsed - (10000 + 0.9 * slow + rest - slow)) < 1e-6);
    assert_true(fabs(t.boost - 20000 / 0.9) < 1e-6);
    t = gpc_elapsed(&c, end, 132, false, 1000); /* no tensor cores */
    assert_true(t.elapsed == 20000 && t.boost == 20000);
    c.gpc_clock_spread = 0.01;
    for (int i = 0; i < 132; i++) end[i] = 10000;
    t = gpc_elapsed(&c, end, 132, true, 1000); /* the fastest has ended first, and goes on */
    assert_in_range((uint64_t)t.elapsed, 10090, 10130);
}

/* Where SMs are free at about the same time, work goes to all GPCs: of 48 SMs that get none of a second round no GPC
 * has all, though its SMs are a little earlier than others. */
static void last_work_goes_to_all_gpcs(void **state) {
    (void)state;
    double cycles[216], ends[132];
    int late[8] = {0}, all[8] = {0};
    struct tail t = {.chip = &chip,
                     .cycles = cycles,
                     .n = 216,
                     .places = 132,
                     .resident = 1,
                     .launch = 10,
                     .together = 5,
                     .speed = {1, 1}};
    for (int i = 0; i < 216; i++) cycles[i] = 60000 + 100 * (i % 132 / 16);
    tail_end(&t, ends);
    for (uint64_t i = 0; i < 132; i++) {
        late[gpc_of(&chip, i, 132)] += ends[i] > 100000;
        all[gpc_of(&chip, i, 132)]++;
    }
    for (int g = 0; g < 8; g++)
        assert_in_range(late[g], 84 * all[g] / 132 - 1, 84 * all[g] / 132 + 1);
    /* but one that is free much earlier is first, wherever it is */
    cycles[131] = 50000;
    for (int i = 132; i < 216; i++) cycles[i] = i == 132 ? 70000 : 60000;
    tail_end(&t, ends);
    assert_true(ends[131] > 119000);
}

/* In each GPC one SM begins after the other, in all GPCs at once. */
static void gpcs_begin_alike(void **state) {
    (void)state;
    double sum[8] = {0};
    int n[8] = {0};
    for (uint64_t i = 0; i < 132; i++) {
        double rank = gpc_rank(&chip, i, 132);
        int g = gpc_of(&chip, i, 132);
        assert_true(rank > 0 && rank < 1);
        if (i && gpc_of(&chip, i - 1, 132) == g) assert_true(rank > gpc_rank(&chip, i - 1, 132));
        sum[g] += rank;
        n[g]++;
    }
    for (int g = 0; g < 8; g++) assert_true(fabs(sum[g] / n[g] - 0.5) < 1e-9);
}

static void what_was_not_simulated_is_like_its_neighbour(void **state) {
    (void)state;
    double cycles[7] = {0, 5, 0, 0, 0, 9, 0}, filled[7] = {5, 5, 5, 5, 9, 9, 9};
    tail_fill(cycles, 7);
    for (int i = 0; i < 7; i++) assert_true(cycles[i] == filled[i]);
}

static void two_of_a_place_end_together(void **state) {
    (void)state;
    /* three places: seats 0 and 3, 1 and 4, 2 and 5; the second pair has not the same to do; one more round is not whole */
    double cycles[8] = {90, 100, 80, 110, 200, 80, 7, 8},
           paired[8] = {100, 100, 80, 100, 200, 80, 7, 8};
    tail_pair(&chip, cycles, 8, 3);
    for (int i = 0; i < 8; i++) assert_true(cycles[i] == paired[i]);
}

static void file_is_checked(void **state) {
    (void)state;
    struct predictor_chip c;
    char path[OWN_BYTES];
    FILE *f = fdopen(own_file(path, "chip"), "w");
    fputs("sms 132 count here\nmss 1 count here\n", f);
    fclose(f);
    assert_non_null(strstr(predictor_chip_read(path, &c), "'mss'"));
    f = fopen(path, "w");
    fputs("sms 132 count here\n", f);
    fclose(f);
    assert_non_null(strstr(predictor_chip_read(path, &c), "missing"));
    f = fopen(path, "w");
    fputs("sms many\n", f);
    fclose(f);
    assert_non_null(strstr(predictor_chip_read(path, &c), "number"));
    remove(path);
}

/* By what a kernel is bound by; 95 % lie around 80 %. */
static void intervals_are_by_family(void **state) {
    static const struct {
        double tensor, issue;
        const char *family;
    } row[] = {{70, 20, "tensor"},
               {39, 80, "issue"},
               {0, 10, "latency"},
               {NAN, 10, "all"},
               {50, NAN, "all"}};
    struct predictor_interval x;
    (void)state;
    for (unsigned r = 0; r < sizeof row / sizeof *row; r++) {
        assert_true(predictor_chip_interval("h200", row[r].tensor, row[r].issue, &x));
        assert_string_equal(x.family, row[r].family);
        assert_true(x.low95 < x.low80 && x.low80 < 1 && 1 < x.high80 && x.high80 < x.high95);
        assert_true(x.n_cases >= 20);
    }
    assert_false(predictor_chip_interval("nosuch", 70, 20, &x));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(chain_of_ffma, read_chip),
        cmocka_unit_test_setup(pipes_have_intervals, read_chip),
        cmocka_unit_test_setup(two_pipes_at_once, read_chip),
        cmocka_unit_test_setup(ports_delay_three_in_a_bank, read_chip),
        cmocka_unit_test_setup(chain_of_lds, read_chip),
        cmocka_unit_test_setup(data_path_bounds_loads, read_chip),
        cmocka_unit_test_setup(registers_read_bound_stores, read_chip),
        cmocka_unit_test_setup(mufu_queue_is_short, read_chip),
        cmocka_unit_test_setup(hmma_goes_before_the_mio_queue, read_chip),
        cmocka_unit_test_setup(who_waits_for_what_was_overtaken_waits_longer, read_chip),
        cmocka_unit_test_setup(turns_are_fair_behind_a_stall, read_chip),
        cmocka_unit_test_setup(barrier_waits_for_the_last, read_chip),
        cmocka_unit_test_setup(taken_branches_cost, read_chip),
        cmocka_unit_test_setup(stores_wait_for_the_way_to_l2, read_chip),
        cmocka_unit_test_setup(l2_takes_some_stores_at_once, read_chip),
        cmocka_unit_test_setup(a_part_of_a_line_costs_more_in_l2, read_chip),
        cmocka_unit_test_setup(whole_sectors_cost_less_than_parts, read_chip),
        cmocka_unit_test_setup(sms_that_write_end_apart, read_chip),
        cmocka_unit_test_setup(a_busy_dram_answers_later, read_chip),
        cmocka_unit_test_setup(boxes_come_by_chance, read_chip),
        cmocka_unit_test_setup(sms_wait_unequally_for_boxes, read_chip),
        cmocka_unit_test_setup(what_was_written_makes_room, read_chip),
        cmocka_unit_test_setup(the_elder_cta_comes_first, read_chip),
        cmocka_unit_test_setup(and_does_so_behind_stall_counts, read_chip),
        cmocka_unit_test_setup(all_that_fit_find_a_sub_core, read_chip),
        cmocka_unit_test(a_warpgroup_keeps_the_tensor_cores),
        cmocka_unit_test(fp32_beside_a_product_holds_up_its_warp),
        cmocka_unit_test(few_columns_leave_it_idle),
        cmocka_unit_test(a_hit_waits_for_the_line),
        cmocka_unit_test_setup(a_load_waits_for_others, read_chip),
        cmocka_unit_test_setup(slices_are_uneven, read_chip),
        cmocka_unit_test_setup(before_the_first_product_l2_is_slower, read_chip),
        cmocka_unit_test_setup(scoreboards_are_long_or_short, read_chip),
        cmocka_unit_test_setup(depbar_leaves_some, read_chip),
        cmocka_unit_test_setup(fences_of_the_gpu_wait_longer, read_chip),
        cmocka_unit_test_setup(packed_halves_need_all_of_fma, read_chip),
        cmocka_unit_test_setup(the_lg_queue_throttles, read_chip),
        cmocka_unit_test_setup(loads_wait_for_an_hmma, read_chip),
        cmocka_unit_test_setup(l1_keeps_local_memory, read_chip),
        cmocka_unit_test_setup(new_code_comes_from_memory, read_chip),
        cmocka_unit_test_setup(first_accesses_find_their_pages, read_chip),
        cmocka_unit_test_setup(local_stores_reach_l2, read_chip),
        cmocka_unit_test_setup(l1_looks_up_lines_at_once, read_chip),
        cmocka_unit_test_setup(printf_takes_its_time, read_chip),
        cmocka_unit_test_setup(atomics_at_one_word, read_chip),
        cmocka_unit_test_setup(atomics_at_few_words, read_chip),
        cmocka_unit_test(events_of_later_turns_wait),
        cmocka_unit_test(few_left_run_faster),
        cmocka_unit_test(ctas_begin_one_by_one),
        cmocka_unit_test(seats_of_an_idle_chip),
        cmocka_unit_test_setup(written_lines_are_kept_once, read_chip),
        cmocka_unit_test(l2_keeps_whole_lines),
        cmocka_unit_test_setup(copies_leave_a_part, read_chip),
        cmocka_unit_test_setup(dram_gives_pairs, read_chip),
        cmocka_unit_test_setup(the_elder_ends_first, read_chip),
        cmocka_unit_test(ctas_are_dealt_to_gpcs),
        cmocka_unit_test(idle_gpcs_count_faster),
        cmocka_unit_test(the_last_may_be_packed),
        cmocka_unit_test(last_work_goes_to_all_gpcs),
        cmocka_unit_test(gpcs_begin_alike),
        cmocka_unit_test(a_last_round_is_spread),
        cmocka_unit_test(the_first_come_again_early),
        cmocka_unit_test(what_was_not_simulated_is_like_its_neighbour),
        cmocka_unit_test(two_of_a_place_end_together),
        cmocka_unit_test(intervals_are_by_family),
        cmocka_unit_test(file_is_checked),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
