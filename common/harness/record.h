/* Records: one JSON object a line, appended whole and synced. A line holds one stage on one
 * problem:
 *
 *   {"schema": "attnlab-1.1", "time": "2026-11-20T09:30:00Z", "stage": "1-scalar",
 *    "revision": "abc1234",
 *    "command": "build/stage-1 --json results/run.jsonl",
 *    "problem": {"batch": 1, "heads": 8, "kv_heads": 8, "seqlen_q": 512, "seqlen_k": 512,
 *                "head_dim": 64, "mask": "none|bottom-right|top-left", "scale": 0.125,
 *                "input": "normal", "seed": 1,
 *                "flops": 5.4e8, "text": "B1 H8 S512 D64"},
 *    "device": {"kind": "cuda|emulator", "name": "NVIDIA H200", "chip": "GH100",
 *               "driver": "580.159.04", "toolkit": "13.0",
 *               "clock_mhz_before": 1980, "clock_mhz_after": 1755,
 *               "uuid": "GPU-1a2b...", "mig": true, "visible": "1", "other_processes": 0},
 *    "check": {"passed": true, "row_error": 3.1e-4, "row_error_limit": 1e-3, "max_error": 2e-4,
 *              "max_error_limit": 9e-4, "lse_error": 1e-6, "non_finite": 0, "rows_checked": 4096},
 *    "samples": {"n": 50, "median_us": 9.1, "iqr_us": 0.1, "min_us": 9.0, "l2": "warm|cold",
 *                "launches_per_sample": 32, "tflops": 59.0, "source": "event",
 *                "us": [9.1, 9.2, ...], "clock_mhz": 1604.2, "cycles": 14598},
 *    "kernels": [{"name": "attention", "image": "d64", "registers": 128, "local_bytes": 0,
 *                 "shared_bytes": 27648, "grid": [8, 8, 1], "block": [128, 1, 1],
 *                 "hash": "cbf29ce484222325"}],
 *    "counters": [{"group": "TENSOR", "name": "tensor_active_pct", "value": 61.2, "unit": "%",
 *                  "source": "cupti|event|emulator|model|ptxas", "metric": "sm__pipe_tensor..."},
 *                 {..., "source": "model", "metric": "predictor.warps",
 *                  "validated": "h200: 99 cases, mean 9.7 %, worst 35.8 %"},
 *                 {..., "source": "emulator", "metric": "emu.fp32", "note": "no sass.fma_instructions: ..."},
 *                 {"group": "MEMORY", "name": "dram_pct", "na": "the emulator does not model DRAM"}],
 *    "gates": [{"name": "tensor", "verdict": "PASS|FAIL|n/a", "value": 61.2, "limit": ">= 40 %",
 *               "why": "..."}],
 *    "advice": [{"resource": "fp32 pipe", "gain_pct": 60, "text": "..."}],
 *    "interrupted": false}
 *
 * --source has "hot": {"limit", "counted", "total", "no_line", "lines", "places", "instructions"}
 * (profiler/attribution.h), and no counters.
 *
 * Beside those, --repeat-check has "repeats": {"runs", "equal"}, and --sweep-random, instead of a
 * problem, "sweep": {"problems", "right", "seed", "worst_row_error"}.
 *
 * "clock_mhz" of "samples" is the mean clock of the SMs while they were taken, counted there, and
 * "cycles" that times the median ("no_clock": why they are not there); the "clock_mhz" of "device" are the board's own word around them.
 * "mig": it is a slice of a GPU, and "uuid" the slice's. "visible": CUDA_VISIBLE_DEVICES. "other_processes" computed on
 * it when the run began: with any, times are not of a GPU alone.
 *
 * "samples" of --rest MS have "rest_ms"; a "check" that failed has "why"; where no counter of those
 * asked for could be had, "no_counters" says why.
 *
 * "us" are the samples as they were taken, at most 1000 of them (since attnlab-1.1).
 * record.schema.json says the same to programs.
 *
 * What was not done is absent ("samples" with --no-time); what could not be had has "na": the
 * reason. A peer (PyTorch's FlashAttention-2, cuDNN) has "peer": {"name", "version", "kernel"}
 * and no "stage". */
#pragma once

#include "profiler/counters.h"
#include "common/device/device.h"

#include <jansson.h>

#define RECORD_SCHEMA "attnlab-1.1"
enum { RECORD_MAJOR = 1, RECORD_MINOR = 1 };

/* What every record begins with: schema, time, revision, command. Records and their parts are new
 * references: json_decref() lets go of them. */
json_t *record_new(int argc, char **argv);

/* object[key] = value, which is taken over. A value that could not be made (NULL: text that is not
 * UTF-8) is not left out in silence: record_append() refuses the record. */
void record_set(json_t *object, const char *key, json_t *value);
void record_add(json_t *array, json_t *value);

/* The "device" of a record; clocks of 0 are left out. */
json_t *record_device(const struct device_info *info, int clock_mhz_before, int clock_mhz_after);

/* JSON has no infinity and no NaN: those become null. */
json_t *record_real(double x);

/* The "counters" of a record. */
json_t *record_counters(const struct counters *c);

/* Appends one line and syncs it; creates the file (not its folder). NULL, or the reason:
 * nothing of the line is left behind then. */
const char *record_append(const char *path, json_t *record);

/* Reads every whole record of a file into an array. A line that is no whole record is left out: a
 * message on stderr names file and line, and *n_cut counts them.
 * An unknown major schema is refused, an unknown minor one read with a line on stderr. */
const char *record_read(const char *path, json_t **array, int *n_cut);
