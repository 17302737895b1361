#!/usr/bin/env python3
"""Is a trace what Chrome's Trace Event Format says, and what Perfetto's importer takes without a complaint?

    trace_conform.py FILE...

The JSON object form: complete events (X) with times in us, metadata (M) that names each thread once and before it is
used. Perfetto keeps times in whole ns and drops a slice that neither follows nor lies within the one before it. Exit 1
with the first fault."""
import json
import math
import sys

KEYS = {"X": {"name", "ph", "pid", "tid", "ts", "dur"}, "M": {"name", "ph", "pid", "tid", "args"}}
METADATA = {"process_name": str, "thread_name": str, "thread_sort_index": int}


def no_constant(text):
    raise ValueError(f"{text} is no JSON")


def event_is(e):
    assert e.get("ph") in KEYS, f"an event of kind {e.get('ph')}: {e}"
    assert KEYS[e["ph"]] <= set(e) <= KEYS[e["ph"]] | {"args", "cat"}, f"keys {sorted(e)}"
    assert isinstance(e["name"], str) and e["name"], f"no name: {e}"
    assert all(type(e[k]) is int for k in ("pid", "tid")) and e["pid"] > 0, f"process 0 is the idle one: {e}"
    if e["ph"] == "M":
        (key, value), = e["args"].items()
        assert e["name"] in METADATA and key in ("name", "sort_index"), f"metadata {e}"
        assert isinstance(value, METADATA[e["name"]]) and value != "", f"metadata {e}"
    else:
        assert all(type(e[k]) in (int, float) and math.isfinite(e[k]) and e[k] >= 0 for k in ("ts", "dur")), f"time {e}"
        assert round(1e3 * e["dur"]) >= 1, f"shorter than a ns: {e}"


def trace_is(text):
    t = json.loads(text, parse_constant=no_constant)
    assert isinstance(t, dict) and isinstance(t.get("traceEvents"), list) and t["traceEvents"], "no traceEvents"
    assert t.get("displayTimeUnit") in ("ms", "ns"), "displayTimeUnit is ms or ns"
    named, ends = set(), {}
    for e in t["traceEvents"]:
        event_is(e)
        thread = e["pid"], e["tid"]
        if e["ph"] == "M":
            assert e["name"] != "thread_name" or thread not in named, f"two names of {thread}"
            named |= {thread} if e["name"] == "thread_name" else set()
            continue
        assert thread in named, f"{thread} has no name: {e}"
        begin = round(1e3 * e["ts"])
        end = begin + round(1e3 * e["dur"])
        assert begin >= ends.get(thread, 0) - 1, f"begins before the end of the one before it: {e}"  # 1 ns: rounding
        ends[thread] = end
    assert named == set(ends), f"threads without an event: {named - set(ends)}"


for path in sys.argv[1:]:
    try:
        with open(path, encoding="utf-8") as f:
            trace_is(f.read())
    except (AssertionError, ValueError, OSError) as e:
        sys.exit(f"{path}: {e}")
