/* What warps and asynchronous agents learn from each other, on a cluster made for the test: two blocks of
 * three warps. */
#include "tests/test.h"

#include "emulator/checks/vector_clock.h"
#include "emulator/checks/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WARPS = 3, LAST_STAMP = (1 << 24) - 1, LIMIT = LAST_STAMP + 1 - (1 << 20) };

static struct emu_cluster c;
static struct emu_block block[2];
static struct emu_warp warp[2 * WARPS];

static int open_cluster(void **state) {
    (void)state;
    memset(&c, 0, sizeof c);
    memset(warp, 0, sizeof warp);
    c.n = 2;
    c.agents = emu_agents_open();
    for (uint32_t r = 0; r < 2; r++) {
        block[r] = (struct emu_block){
            .cluster = &c, .rank = r, .n_warps = WARPS, .warp = warp + WARPS * r};
        block[r].shadow = emu_shadow_open(64);
        c.block[r] = &block[r];
        for (uint32_t n = 0; n < WARPS; n++) {
            struct emu_warp *w = &block[r].warp[n];
            w->block = &block[r];
            w->agent = r * WARPS + n;
            w->live = EMU_FULL;
        }
    }
    emu_agents_begin(&c);
    return 0;
}

static int close_cluster(void **state) {
    (void)state;
    for (int r = 0; r < 2; r++) emu_shadow_close(block[r].shadow);
    free(c.agents);
    return 0;
}

static void a_cluster_begins_knowing_nothing(void **state) {
    (void)state;
    for (int round = 0; round < 2; round++) {
        uint32_t base = emu_agents_base(&block[0]);
        assert_int_equal(base, round);
        assert_int_equal(emu_agents_count(&block[0]), 6);
        assert_true(emu_agent_is_warp(&block[0], 5));
        assert_false(emu_agent_is_warp(&block[0], 6));
        assert_true(!c.clock.waited && !c.clock.met);
        for (uint32_t a = 0; a < 6; a++) {
            const struct emu_vector_clock *k = &warp[a].clock;
            for (uint32_t b = 0; b < 6; b++) {
                assert_int_equal(k->seen[b], base + (a == b));
                assert_int_equal(k->fenced[b], base);
                assert_int_equal(k->all[b], base);
            }
            assert_false(k->waited);
            assert_int_equal(k->met, 1u << (a / 3));
        }
        for (int a = 0; a < 6; a++) warp[a].clock.waited = true, warp[a].clock.met = 255;
        c.clock.waited = true;
        c.clock.met = 255;
        emu_agents_begin(&c); /* the next one; stamps go on */
    }
}

static void stamps_go_on(void **state) {
    (void)state;
    for (int n = 0; n < 3; n++) emu_vector_clock_fence(&warp[0]);
    emu_agents_begin(&c);
    assert_int_equal(emu_agents_base(&block[0]), 4);
}

static void who_acquires_knows_what_was_released(void **state) {
    (void)state;
    static struct emu_vector_clock k;
    memset(&k, 0, sizeof k);
    warp[0].clock.waited = true;
    warp[1].early = 7;
    emu_release(&warp[0], EMU_FULL, &k);
    assert_int_equal(k.seen[0], 1);
    assert_int_equal(k.all[0], 1);
    assert_int_equal(k.lanes[0], 0); /* every lane */
    assert_int_equal(k.met, 1);
    assert_true(k.waited);
    assert_int_equal(warp[0].clock.seen[0], 2); /* what comes now is not known */
    assert_int_equal(warp[0].clock.all[0], 0);  /* it did not synchronise with itself */
    emu_acquire(&warp[1], EMU_FULL, &k);
    assert_int_equal(warp[1].clock.seen[0], 1);
    assert_int_equal(warp[1].clock.all[0], 1);
    assert_int_equal(warp[1].clock.seen[1], 1); /* its own time goes on */
    assert_int_equal(warp[1].clock.met, 1);
    assert_int_equal(warp[1].early, 0); /* who waited is known, too */
    emu_release(&warp[5], EMU_FULL, &k);
    assert_int_equal(k.seen[5], 1);
    assert_int_equal(k.met, 3);
    assert_int_equal(k.seen[0], 1);
    emu_acquire(&warp[0], EMU_FULL, &k); /* of itself nothing new, but that all lanes waited */
    assert_int_equal(warp[0].clock.seen[0], 2);
    assert_int_equal(warp[0].clock.all[0], 1);
}

/* Lanes speak for themselves, and for the warp as it was when it last synchronised. */
static void some_lanes_speak_for_themselves(void **state) {
    (void)state;
    static struct emu_vector_clock k;
    memset(&k, 0, sizeof k);
    emu_lanes_synchronised(&warp[2], EMU_FULL);
    assert_int_equal(warp[2].clock.all[2], 1);
    assert_int_equal(warp[2].clock.seen[2], 2);
    emu_release(&warp[2], 0xff, &k);
    assert_int_equal(k.seen[2], 2);
    assert_int_equal(k.all[2], 1);
    assert_int_equal(k.lanes[2], 0xff);
    assert_int_equal(warp[2].clock.seen[2], 3);
    emu_release(&warp[2], 0xff00, &k);
    assert_int_equal(k.seen[2], 3);
    assert_int_equal(k.lanes[2], 0xffff);
    emu_acquire(&warp[3], EMU_FULL, &k);
    assert_int_equal(warp[3].clock.seen[2], 3);
    assert_int_equal(warp[3].clock.all[2], 1);
    assert_int_equal(warp[3].clock.lanes[2], 0xffff);
    emu_release(&warp[2], EMU_FULL, &k);
    assert_int_equal(k.all[2], 4);
    assert_int_equal(k.lanes[2], 0);
    emu_acquire(&warp[2], 0xff, &k); /* the others do not wait */
    assert_int_equal(warp[2].clock.all[2], 1);
    emu_acquire(&warp[3], EMU_FULL, &k);
    assert_int_equal(warp[3].clock.lanes[2], 0);
}

static void a_phase_passes_whole(void **state) {
    (void)state;
    static struct emu_vector_clock k, done;
    memset(&k, 0, sizeof k);
    memset(&done, 9, sizeof done);
    done.waited = false;
    for (int a = 0; a < 6; a++) {
        k.seen[a] = 10u + (uint32_t)a;
        k.fenced[a] = 20u + (uint32_t)a;
        k.all[a] = 30u + (uint32_t)a;
        k.lanes[a] = 40u + (uint32_t)a;
    }
    k.waited = true;
    k.met = 2;
    emu_vector_clock_pass(&block[0], &done, &k);
    for (uint32_t a = 0; a < 6; a++) {
        assert_int_equal(done.seen[a], 10 + a);
        assert_int_equal(done.fenced[a], 20 + a);
        assert_int_equal(done.all[a], 30 + a);
        assert_int_equal(done.lanes[a], 40 + a);
        assert_true(!k.seen[a] && !k.fenced[a] && !k.all[a] && !k.lanes[a]);
    }
    assert_true(done.waited && done.met == 2 && !k.waited && !k.met);
    assert_int_equal(done.seen[6], 0x09090909); /* nobody's */
}

static void fences_cover_what_was_seen(void **state) {
    (void)state;
    struct emu_vector_clock *k = &warp[1].clock;
    k->seen[0] = 5;
    k->fenced[0] = 3;
    k->seen[4] = 2;
    k->fenced[4] = 6;
    k->seen[5] = 4;
    emu_proxy_fence(&warp[1]);
    assert_int_equal(k->fenced[0], 5);
    assert_int_equal(k->fenced[1], 1);
    assert_int_equal(k->fenced[4], 6);
    assert_int_equal(k->fenced[5], 4);
    assert_int_equal(k->seen[1], 2); /* later writes are not covered */
    emu_vector_clock_fence(&warp[1]);
    assert_int_equal(k->seen[1], 3);
    assert_int_equal(k->fenced[1], 1);
}

static void warps_that_meet_know_each_other(void **state) {
    (void)state;
    struct emu_vector_clock *k = &warp[0].clock;
    unsigned tma = emu_agent(&block[0], EMU_AGENT_TMA_LOAD, 64);
    emu_agent_issue(&block[0], tma);
    emu_agent_issue(&block[0], tma);
    for (int n = 0; n < 4; n++) emu_vector_clock_fence(&warp[3]);
    k->lanes[3] = k->lanes[4] = 7;
    k->seen[4] = 9; /* of some of its lanes, and more than it has stamped */
    emu_vector_clock_meet(&warp[0]);
    assert_int_equal(k->seen[3], 4); /* but for what comes after its fifth stamp */
    assert_int_equal(k->all[3], 4);
    assert_int_equal(k->lanes[3], 0);
    assert_int_equal(k->seen[4], 9);
    assert_int_equal(k->lanes[4], 7);
    assert_int_equal(k->seen[0], 1);
    assert_int_equal(k->all[0], 0);
    emu_vector_clock_fence(&warp[0]);
    emu_vector_clock_meet(&warp[0]);
    assert_int_equal(k->all[0], 0); /* itself it does not meet */
    assert_int_equal(k->seen[tma], 0);
    emu_vector_clock_meet(&warp[1]);
    assert_int_equal(warp[1].clock.seen[0], 1); /* of two stamps */
}

/* Arrivals at an mbarrier of another block are acquired whatever their scope; loads are not. */
static void arrivals_of_others_are_acquired(void **state) {
    (void)state;
    static struct emu_vector_clock k;
    memset(&k, 0, sizeof k);
    unsigned load = emu_agent(&block[0], EMU_AGENT_TMA_LOAD, 64);
    unsigned arrival = emu_agent(&block[0], EMU_AGENT_ARRIVAL, 1);
    k.seen[0] = 7;
    k.seen[load] = 8;
    k.seen[arrival] = 9;
    emu_acquire_arrivals(&warp[1], &k);
    const struct emu_vector_clock *known = &warp[1].clock;
    assert_true(known->seen[0] == 0 && known->seen[load] == 0);
    assert_true(known->seen[arrival] == 9 && known->fenced[arrival] == 9 &&
                known->all[arrival] == 9);
}

static void agents_are_made_once(void **state) {
    (void)state;
    static struct emu_vector_clock k;
    char name[100];
    static const struct {
        int rank;
        enum emu_agent_kind kind;
        uint32_t key;
        const char *name;
    } agents[] = {{0, EMU_AGENT_CP_ASYNC, 2, "cp.async of warp 2 of rank 0"},
                  {1, EMU_AGENT_CP_ASYNC, 2, "cp.async of warp 2 of rank 1"},
                  {1, EMU_AGENT_TMA_LOAD, 64, "the TMA load of mbarrier 0x40 of rank 1"},
                  {1, EMU_AGENT_TMA_LOAD, 72, "the TMA load of mbarrier 0x48 of rank 1"},
                  {1, EMU_AGENT_TMA_STORE, 1, "the TMA store of warp 1 of rank 1"},
                  {0, EMU_AGENT_WGMMA, 0, "wgmma of warp 0 of rank 0"},
                  {0, EMU_AGENT_PEER_COPY, 64, "a copy between blocks to mbarrier 0x40 of rank 0"}};
    for (int round = 0; round < 2; round++)
        for (unsigned n = 0; n < 7; n++) {
            assert_int_equal(emu_agent(&block[agents[n].rank], agents[n].kind, agents[n].key),
                             6 + n);
            assert_string_equal(emu_agent_name(&block[0], 6 + n, name, sizeof name),
                                agents[n].name);
        }
    assert_int_equal(emu_agents_count(&block[1]), 13);
    assert_string_equal(emu_agent_name(&block[0], 4, name, sizeof name), "warp 1 of rank 1");
    c.n = 1;
    assert_string_equal(emu_agent_name(&block[0], 2, name, sizeof name), "warp 2");
    c.n = 2;

    memset(&k, 0, sizeof k);
    assert_int_equal(emu_agent_issue(&block[0], 7), 1);
    assert_int_equal(emu_agent_issue(&block[0], 7), 2);
    assert_int_equal(emu_agent_issue(&block[0], 8), 1);
    emu_agent_done(&k, 7, 2);
    assert_true(k.seen[7] == 2 && k.fenced[7] == 2 && k.all[7] == 2);
    emu_agent_done(&k, 7, 1); /* an older one */
    assert_true(k.seen[7] == 2 && k.fenced[7] == 2 && k.all[7] == 2);

    for (uint32_t key = 0; key < 2 * EMU_MAX_AGENTS; key++) {
        unsigned agent = emu_agent(&block[0], EMU_AGENT_TMA_STORE, 100 + key);
        assert_int_equal(agent, key + 13 < EMU_MAX_AGENTS ? key + 13 : EMU_MAX_AGENTS - 1);
    }
    assert_int_equal(emu_agents_count(&block[0]), EMU_MAX_AGENTS);
    emu_agents_begin(&c); /* they are gone, and what is known of them is old */
    assert_int_equal(emu_agents_base(&block[0]), 2);
    assert_int_equal(emu_agents_count(&block[0]), 6);
    for (int a = 0; a < 6; a++) assert_int_equal(warp[a].clock.seen[EMU_MAX_AGENTS - 1], 2);
    assert_int_equal(emu_agent(&block[0], EMU_AGENT_WGMMA, 0), 6);
    assert_int_equal(emu_agent_issue(&block[0], 6), 3);
}

/* A cell has 24 bits for a stamp: in time, all that was kept begins anew. */
static void stamps_begin_anew(void **state) {
    (void)state;
    unsigned agent = emu_agent(&block[0], EMU_AGENT_WGMMA, 0);
    for (int n = 1; n < LIMIT; n++) emu_agent_issue(&block[0], agent);
    assert_int_equal(emu_agent_issue(&block[0], agent), LIMIT);
    assert_false(emu_agents_spent(&c));
    emu_agents_begin(&c);
    assert_int_equal(emu_agents_base(&block[0]), LIMIT);
    assert_int_equal(warp[0].clock.seen[0], LIMIT + 1);
    assert_true(emu_agents_spent(&c));
    memset(&c.clock, 5, sizeof c.clock);
    memset(&c.done, 5, sizeof c.done);
    for (int r = 0; r < 2; r++) {
        memset(block[r].barrier, 5, sizeof block[r].barrier);
        memset(&block[r].end, 5, sizeof block[r].end);
    }
    for (int a = 0; a < 6; a++) memset(&warp[a].clock, 5, sizeof warp[a].clock);
    emu_agents_begin(&c);
    assert_int_equal(emu_agents_base(&block[0]), 0);
    static const struct emu_vector_clock none;
    static const struct emu_barrier nobody[EMU_BARRIERS];
    assert_memory_equal(&c.clock, &none, sizeof none);
    assert_memory_equal(&c.done, &none, sizeof none);
    for (int r = 0; r < 2; r++) {
        assert_memory_equal(block[r].barrier, nobody, sizeof nobody);
        assert_memory_equal(&block[r].end, &none, sizeof none);
    }
    for (int a = 0; a < 6; a++) {
        assert_int_equal(warp[a].clock.seen[a], 1);
        assert_true(!warp[a].clock.lanes[a] && !warp[a].clock.seen[EMU_MAX_AGENTS - 1]);
    }
}

static void the_last_stamp_stays(void **state) {
    (void)state;
    char said[512] = "";
    unsigned agent = emu_agent(&block[0], EMU_AGENT_WGMMA, 0);
    for (int n = 1; n < LAST_STAMP; n++) emu_agent_issue(&block[0], agent);
    FILE *f = fdopen(memfd_create("said", 0), "w+");
    int keep = dup(STDERR_FILENO);
    dup2(fileno(f), STDERR_FILENO);
    uint32_t last = emu_agent_issue(&block[0], agent);
    long quiet = lseek(fileno(f), 0, SEEK_CUR);
    uint32_t again = emu_agent_issue(&block[0], agent);
    long loud = lseek(fileno(f), 0, SEEK_CUR);
    uint32_t once_more = emu_agent_issue(&block[0], agent);
    dup2(keep, STDERR_FILENO);
    close(keep);
    rewind(f);
    size_t n = fread(said, 1, sizeof said - 1, f);
    fclose(f);
    assert_true(last == LAST_STAMP && again == LAST_STAMP && once_more == LAST_STAMP);
    assert_int_equal(quiet, 0);
    assert_true(loud > 0);
    assert_non_null(strstr(said, "synchronises over 16 million times; later races may be missed"));
    assert_ptr_equal(strchr(said, '\n'), said + n - 1); /* said once */
}

static void without_checks_nobody_counts(void **state) {
    (void)state;
    static struct emu_vector_clock k, other;
    struct emu_agents *kept = c.agents;
    c.agents = NULL;
    memset(&k, 1, sizeof k);
    other = k;
    struct emu_vector_clock before = warp[0].clock;
    emu_release(&warp[0], EMU_FULL, &k);
    emu_acquire(&warp[0], EMU_FULL, &k);
    emu_vector_clock_pass(&block[0], &other, &k);
    emu_vector_clock_clear(&block[0], &k);
    emu_proxy_fence(&warp[0]);
    emu_vector_clock_meet(&warp[0]);
    assert_memory_equal(&k, &other, sizeof k);
    assert_int_equal(k.seen[0], 0x01010101);
    assert_memory_equal(&before, &warp[0].clock, sizeof before);
    assert_int_equal(emu_agent(&block[0], EMU_AGENT_WGMMA, 0), 0);
    assert_int_equal(emu_agent_issue(&block[0], 0), 0);
    emu_vector_clock_fence(&warp[0]);
    assert_int_equal(warp[0].clock.seen[0], before.seen[0] + 1);
    c.agents = kept;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_cluster, close_cluster)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_cluster_begins_knowing_nothing),
        TEST(stamps_go_on),
        TEST(who_acquires_knows_what_was_released),
        TEST(some_lanes_speak_for_themselves),
        TEST(a_phase_passes_whole),
        TEST(fences_cover_what_was_seen),
        TEST(warps_that_meet_know_each_other),
        TEST(arrivals_of_others_are_acquired),
        TEST(agents_are_made_once),
        TEST(without_checks_nobody_counts),
        TEST(stamps_begin_anew),
        TEST(the_last_stamp_stays),
    };
    return cmocka_run_group_tests_name("vector_clocks", tests, NULL, NULL);
}
