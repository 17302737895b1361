/* Failed checks: each is a report, kept once for (kind, instruction, other instruction). */
#pragma once

#include "instruction.h"

#include <pthread.h>

struct emu_warp;

/* clang-format off */
enum emu_report_kind {
    EMU_BAD_GLOBAL, EMU_BAD_SHARED, EMU_BAD_LOCAL, EMU_MISALIGNED, EMU_RACE, EMU_UNINITIALISED,
    EMU_DIVERGENT, EMU_BARRIER_MISMATCH, EMU_DEADLOCK, EMU_PROXY, EMU_IN_FLIGHT, EMU_BAD_MBARRIER,
    EMU_BAD_TENSOR_MAP, EMU_BAD_WGMMA, EMU_TRAP, EMU_BAD_OPERAND, EMU_TOO_EARLY,
    EMU_BAD_CLUSTER, EMU_ENDLESS, EMU_BAD_ARRAY, EMU_UNINITIALISED_GLOBAL, EMU_BAD_SHUFFLE,
    EMU_STALE, EMU_UNINITIALISED_LOCAL,
    EMU_NOTE /* no failure */
};
/* clang-format on */
/* `other`: the second instruction concerned, or NULL. */
void emu_report(enum emu_report_kind kind, const struct emu_warp *w, const struct emu_inst *i,
                const struct emu_inst *other, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

struct emu_report_entry;
struct emu_reports {
    pthread_mutex_t lock;
    int n, capacity;
    int n_settled;    /* of earlier launches: the first ones */
    uint64_t n_turns; /* reports that were written */
    struct emu_report_entry *entry;
    int n_trusted; /* races that were not reported (trust.h) */
};
void emu_reports_clear(struct emu_reports *r);
/* A launch has ended: its reports in the order of the grid's blocks, so that each run says the same. */
void emu_reports_settle(struct emu_reports *r);
/* The text of the i-th (several lines), or NULL. */
const char *emu_reports_text(const struct emu_reports *r, int i);
enum emu_report_kind emu_reports_kind(const struct emu_reports *r, int i);
