#!/usr/bin/env python3
"""Fits the constants of stage 6's choice (stages/6-wgmma-attention/cut.c) to recorded times of all ways of many problems,
starting from those that are there; prints them as C, and how good they are. Needs numpy and scipy.

    make fit                       fit to records of an H200 and an H100: minutes
    make fit ARGS="--folds 4"      and how good constants are at problems that they were not fitted to
    make fit ARGS="--only wide"    the constants of one shape, from the records that have its ways

Three steps. Times first: Levenberg-Marquardt on the logarithms of the constants and of the times, ways near the best
counting most, those far off little. Then choices: the way that is expected to be the fastest is taken with a probability
that falls with what the others promise, what it loses is made small, and the times are kept near. At last the same, one
constant at a time. A problem of a record with "-rows" in its name (like the rows of make peers) counts three times.

The turns of these records are too short to show what hot_wide is about, sustained load (records/history/stage-6-peers.md has
where it is from): it counts as hot here, and is printed as it was.

A damaged line of the records is named and left out; with --strict the exit status is then 5.
"""
import argparse
import ctypes
import os
import re
import sys

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../common/harness"))
import records  # noqa: E402

SHAPES = {"": 0, "-short": 1, "-split": 2, "-many": 3, "-wide": 4}
DIMS = (64, 128, 256)
WITHIN = 0.03


class Problems:
    """All ways of many problems: what each is, its time, and which problem it belongs to."""

    def __init__(self, way, us, of, count):
        self.way, self.us, self.of = np.ascontiguousarray(way, np.int32), np.asarray(us, float), np.unique(of, return_inverse=True)[1]
        self.n = self.of.max() + 1
        best = np.full(self.n, np.inf)
        np.minimum.at(best, self.of, self.us)
        self.lost = np.log(self.us / best[self.of])  # by taking this way
        self.weight = np.clip(np.exp(-3 * self.lost), 0.02, 1)
        self.count = np.zeros(self.n)  # of each problem
        self.count[self.of] = count

    def some(self, problems):
        there = np.isin(self.of, problems)
        return Problems(self.way[there], self.us[there], self.of[there], self.count[self.of[there]])

    def right(self, expected):
        """The share of the problems whose fastest expected way is within WITHIN of the best."""
        order = np.lexsort((expected, self.of))
        first = np.r_[True, np.diff(self.of[order]) > 0]
        return (np.exp(self.lost[order[first]]) <= 1 + WITHIN).mean()


def read(paths, model):
    def ways(r):
        """[(what the model takes, the time)]"""
        chip, found = model.lib.model_chip(r["device"].encode()), []
        if len(r["problem"]) != 7:
            raise ValueError("no problem of seven numbers")
        for c in r["choices"]:
            shape = re.match(r"d\d+(-short|-split|-many|-wide)?", c["what"])[1] or ""
            number = [re.search(p, c["what"]) for p in (r"(\d+) heads share", r"of (\d+) CTA", r"(\d+) of them", r"in (\d+) parts")]
            pack, split, n_cut, parts = (int(m[1]) if m else none for m, none in zip(number, (1, 1, 0, 1)))
            found.append(([int(x) for x in r["problem"]] + [SHAPES[shape], pack, split, n_cut, parts, chip], float(c["us"])))
        return found

    way, us, of, count, n = [], [], [], [], 0
    for path in paths:
        try:
            for r in records.read(path, "fit", ways):
                for x, time in ways(r):
                    way.append(x), us.append(time), of.append(n), count.append(3 if "-rows" in path else 1)
                n += 1
        except OSError as e:
            print(f"fit: {path}: {e.strerror}; make stage-6 choices writes such a file where there is a GPU", file=sys.stderr)
            sys.exit(5)
    if not us:
        print(f"fit: {' '.join(paths)}: none of the lines is a record of make stage-6 choices", file=sys.stderr)
        sys.exit(5)
    return Problems(way, us, of, count)


class Model:
    """x: logarithms of the constants that are not 0."""

    def __init__(self, library):
        self.lib, n = ctypes.CDLL(library), ctypes.c_int()
        self.tables = []
        for name in ("model_speed", "model_shapes"):
            f = getattr(self.lib, name)
            f.restype = ctypes.POINTER(ctypes.c_double)
            self.tables.append(np.ctypeslib.as_array(f(ctypes.byref(n)), (n.value,)))
        self.n_speed = len(self.tables[0])
        self.start = np.concatenate(self.tables)
        self.hot, self.hot_wide = self.lib.model_hot(), self.lib.model_hot_wide()
        constants = np.flatnonzero(self.start)
        self.free = constants[constants != self.hot_wide]

    def set(self, x):
        v = self.start.copy()
        v[self.free] = np.exp(x)
        v[self.hot_wide] = v[self.hot]
        self.tables[0][:], self.tables[1][:] = v[:self.n_speed], v[self.n_speed:]

    def log_us(self, way):
        us, way = np.empty(len(way)), np.ascontiguousarray(way)
        self.lib.model_us(len(way), way.ctypes.data_as(ctypes.c_void_p), us.ctypes.data_as(ctypes.c_void_p))
        return np.log(us)

    def at(self, x, way):
        self.set(x)
        return self.log_us(way)

    def cells(self, way):
        return way[:, 7] * len(DIMS) + np.searchsorted(DIMS, way[:, 5])

    def ways_of(self, j, cell):
        """Those that constant j matters to: a shape's constants matter to its own."""
        k, per_cell = self.free[j], len(self.tables[1]) // (len(SHAPES) * len(DIMS))
        return np.arange(len(cell)) if k < self.n_speed else np.flatnonzero(cell == (k - self.n_speed) // per_cell)

    def slopes(self, x, way, h=1e-3):
        """Of log_us at x."""
        cell, here, out = self.cells(way), self.at(x, way), np.zeros((len(way), len(x)))
        for j in range(len(x)):
            mine = self.ways_of(j, cell)
            if len(mine):
                self.set(x + h * (np.arange(len(x)) == j))
                out[mine, j] = (self.log_us(way[mine]) - here[mine]) / h
        return out


PASSES = (0.05, 0.1, 0.2, 0.08, 0.04)  # steps of the third step
SOFT = 0.1 ** 2  # errors far beyond 10 % count little


def fit_times(model, x, p, rounds, near=0.003, stiff=1e-2):
    start, wanted = x, np.log(p.us)

    def cost(e, x):
        return (p.weight * SOFT * np.log1p(e * e / SOFT)).sum() + near * ((x - start) ** 2).sum()
    e = model.at(x, p.way) - wanted
    for _ in range(rounds):
        slope, w = model.slopes(x, p.way), p.weight / (1 + e * e / SOFT)
        a, g = (slope * w[:, None]).T @ slope, (slope * w[:, None]).T @ e + near * (x - start)
        for _ in range(6):
            step = np.clip(np.linalg.solve(a + np.diag(np.diag(a) * stiff + near), -g), -0.5, 0.5)
            better = model.at(x + step, p.way) - wanted
            if cost(better, x + step) < cost(e, x):
                break
            stiff *= 4
        else:
            break
        x, e, stiff = x + step, better, max(stiff / 3, 1e-6)
    return x


def price_of(p):
    """What taking a way costs: most of it if it is more than 3 % behind the best, the rest by how far it is behind."""
    return 0.6 / (1 + np.exp((WITHIN - p.lost) / 0.006)) + 0.4 * np.minimum(p.lost, 0.15) / 0.15


def fit_choices(model, x, p, softness=(0.045, 0.035, 0.03, 0.025, 0.02, 0.016), most=0.08):
    """From slopes, a step of at most `most` a constant for each softness; the best of all that were seen."""
    price = price_of(p)
    seen = []
    for soft in softness + (0,):
        here = model.at(x, p.way)
        seen.append((p.right(here), x))
        if not soft:
            break
        least = np.full(p.n, np.inf)
        np.minimum.at(least, p.of, here)
        some = np.flatnonzero((here - least[p.of] < 0.25) | (p.lost < 0.02))
        slope, at, of, cost = model.slopes(x, p.way[some]), here[some], p.of[some], price[some]
        wanted, weight = np.log(p.us[some]), np.exp(-4 * p.lost[some]).clip(0.02)

        def loss(step):
            now = at + slope @ step
            low = np.full(p.n, np.inf)
            np.minimum.at(low, of, now)
            chance = np.exp((low[of] - now) / soft)
            chance /= np.bincount(of, chance, p.n)[of]
            expected, e = np.bincount(of, chance * cost, p.n), now - wanted
            g = chance * (expected[of] - cost) / soft + 2 * weight * e / (1 + e * e / SOFT)
            return (expected.sum() + (weight * SOFT * np.log1p(e * e / SOFT)).sum() + 0.02 * step @ step,
                    g @ slope + 0.04 * step)
        x = x + minimize(loss, np.zeros(len(x)), jac=True, method="L-BFGS-B", bounds=[(-most, most)] * len(x),
                         options={"maxiter": 60}).x
    return max(seen, key=lambda s: s[0])[1]


def fit_one_by_one(model, x, p, passes, seed=0):
    """Each constant a little up or down, kept where the choices get better: the shapes' own change few of the ways."""
    cell = model.cells(p.way)
    price = price_of(p)
    wanted, weight = np.log(p.us), np.exp(-4 * p.lost).clip(0.02)

    def cost(at):
        least = np.full(p.n, np.inf)
        np.minimum.at(least, p.of, at)
        chance, e = np.exp((least[p.of] - at) / 0.02), at - wanted
        expected = np.bincount(p.of, chance * price, p.n) / np.bincount(p.of, chance, p.n)
        return ((p.count * expected).sum() / p.count.sum()
                + 0.1 * (weight * np.log1p(e * e / SOFT)).sum() / weight.sum())
    at = model.at(x, p.way)
    best, random = cost(at), np.random.RandomState(seed)
    for step in passes:
        for j in random.permutation(len(x)):
            mine = model.ways_of(j, cell)
            for sign in (1, -1):
                y, now = x + sign * step * (np.arange(len(x)) == j), at.copy()
                model.set(y)
                now[mine] = model.log_us(p.way[mine])
                if cost(now) < best - 1e-6:
                    x, at, best = y, now, cost(now)
                    break
    return x


def fit_shape(model, x, p, shape):
    """The constants of one shape alone, of a new one say, by Powell's method: choices and times count as above."""
    cell, per_cell = model.cells(p.way), len(model.tables[1]) // (len(SHAPES) * len(DIMS))
    price = price_of(p)
    wanted, weight = np.log(p.us), np.exp(-4 * p.lost).clip(0.02)
    for at_cell in range(SHAPES[shape] * len(DIMS), (SHAPES[shape] + 1) * len(DIMS)):
        mine, here = np.flatnonzero(cell == at_cell), model.at(x, p.way)
        free = np.flatnonzero((model.free - model.n_speed) // per_cell == at_cell)
        if not len(mine) or not len(free):
            continue

        def cost(v):
            y, at = x.copy(), here.copy()
            y[free] += v
            at[mine] = model.at(y, p.way[mine])
            least = np.full(p.n, np.inf)
            np.minimum.at(least, p.of, at)
            chance, e = np.exp((least[p.of] - at) / 0.02), at - wanted
            expected = np.bincount(p.of, chance * price, p.n) / np.bincount(p.of, chance, p.n)
            return ((p.count * expected).sum() / p.count.sum() + 2e-4 * (v * v).sum()
                    + 0.5 * (weight * np.log1p(e * e / SOFT)).sum() / weight.sum())
        x = x.copy()
        x[free] += minimize(cost, np.zeros(len(free)), method="Powell", options={"maxfev": 1500, "xtol": 0.01, "ftol": 1e-5}).x
    return x


def show(model, x):
    model.set(x)
    model.tables[0][model.hot_wide] = model.start[model.hot_wide]
    per_cell = len(model.tables[1]) // (len(SHAPES) * len(DIMS))
    print("speed: " + ", ".join(f"{v:.4g}" for v in model.tables[0]))
    for cell, name in zip(model.tables[1].reshape(-1, per_cell), (f"{s or '-long'} {d}" for s in SHAPES for d in DIMS)):
        if cell.any():
            print(f"{name[1:]:>9}: {{" + ", ".join(f"{v:.4g}" for v in cell) + "}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("records", nargs="+")
    parser.add_argument("--rounds", type=int, default=5, help="of the first step")
    parser.add_argument("--only", choices=[s[1:] for s in SHAPES if s], help="fit the constants of this shape alone")
    parser.add_argument("--folds", type=int, default=0, help="fit to all but one N-th of the problems, look at that; N times")
    parser.add_argument("--strict", action="store_true", help="exit with 5 if a line of the records is damaged")
    args = parser.parse_args()
    model = Model(args.library)
    p = read(args.records, model)
    x = np.log(model.start[model.free])
    print(f"{p.n} problems, {len(p.us)} ways, {len(x)} constants: the choice is within 3 % of the best on "
          f"{100 * p.right(model.at(x, p.way)):.1f} %", flush=True)
    if args.only:
        x = fit_shape(model, x, p, f"-{args.only}")
        print(f"fitted, {args.only} alone: {100 * p.right(model.at(x, p.way)):.1f} %", flush=True)
        show(model, x)
        return records.status(args.strict)
    times = fit_times(model, x, p, args.rounds)
    print(f"fitted to times: {100 * p.right(model.at(times, p.way)):.1f} %", flush=True)
    x = fit_choices(model, times, p)
    print(f"then to choices: {100 * p.right(model.at(x, p.way)):.1f} %", flush=True)
    x = fit_one_by_one(model, x, p, PASSES)
    print(f"then one by one: {100 * p.right(model.at(x, p.way)):.1f} %", flush=True)
    show(model, x)
    order = np.random.RandomState(0).permutation(p.n)
    for i in range(args.folds):
        out = order[i::args.folds]
        rest, there = p.some(np.setdiff1d(order, out)), p.some(out)
        y = fit_one_by_one(model, fit_choices(model, fit_times(model, times, rest, 2), rest), rest, PASSES)
        print(f"of {there.n} that were left out: {100 * there.right(model.at(y, there.way)):.1f} %", flush=True)
    return records.status(args.strict)


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../common/base"))
    import main_program
    main_program.run(main)
