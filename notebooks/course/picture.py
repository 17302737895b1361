"""Expected beside got: a picture of O's error by CTA, warp, row and lane, and what its numbers have in common.

    error = picture.Error(folder, run)      of a run with a wrong answer
    error.what()                            "rows 32 to 47 of every CTA are wrong, by warp 2"
    error.draw()                            lines for a terminal or a notebook, at most 80 columns wide
    error.ratio()                           "every element is 0.875 of what it should be", or None"""
import os

import numpy as np

import model

LIMIT = 2e-3           # of the largest element of a row: twice what fp16 rounds
SIGNS = {True: "·▒█", False: ".+#"}   # right, partly wrong, wrong
ROWS_A_LINE, WARP_ROWS = 8, 16


def unicode_wanted():
    name = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    return "utf" in name.lower()


def spans(numbers):
    """0,1,2,5 -> "0 to 2, 5"; of more than four spans the first three."""
    numbers, found = list(numbers), []
    for n in numbers:
        if found and n == found[-1][1] + 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    said = [f"{a} to {b}" if b > a else f"{a}" for a, b in found]
    return ", ".join(said if len(said) <= 4 else said[:3] + [f"and {len(numbers)} in all"])


class Error:
    def __init__(self, folder, run):
        self.folder, self.run, shape = folder, run, run.problem.shape
        self.got = run.o
        self.expected, _ = model.attention(*run.inputs, shape.causal, "", *folder.tile)
        self.height = np.abs(self.expected).max(axis=2, keepdims=True)
        with np.errstate(all="ignore"):
            self.wrong = ~(np.abs(self.got - self.expected) <= LIMIT * np.maximum(self.height, 1e-2))
        self.rows = self.wrong.any(axis=2)          # (heads, Sq)
        self.cta = folder.tile[0]

    def lanes(self):
        """Which lane stores each element of a warp's 16 rows: as the picture at the top of the kernel."""
        r, c = np.meshgrid(np.arange(self.got.shape[1]), np.arange(self.got.shape[2]), indexing="ij")
        return r % 8 * 4 + c % 8 // 2 if self.folder.number in (4, 6) else r % 4 * 8 + c % 8

    def first(self):
        """(head, row, column) of the first wrong element."""
        return tuple(int(n) for n in np.argwhere(self.wrong)[0])

    def what(self):
        if not self.wrong.any():
            return "every element of O is as it should be"
        nan = ~np.isfinite(self.got)
        kind = "NaN or infinite" if nan.sum() == self.wrong.sum() else "wrong"
        if self.wrong.all():
            return f"all of O is {kind}"
        heads = np.flatnonzero(self.rows.any(axis=1))
        which = "" if len(heads) == len(self.rows) else f" in head{'s' * (len(heads) > 1)} {spans(heads)} of {len(self.rows)}"
        return f"{self._place(heads)} {kind}{which}"

    def _place(self, heads):
        n = self.rows.shape[1]
        rows = self.rows[heads].any(axis=0)
        in_cta = np.array([rows[i::self.cta].any() for i in range(min(self.cta, n))])
        columns = self.wrong[heads].any(axis=(0, 1))
        lanes = set(self.lanes()[self.wrong[heads].any(axis=0)])
        said = f"{int(self.wrong.sum())} of {self.wrong.size} elements of O are"
        if rows.all() and not columns.all():
            return f"columns {spans(np.flatnonzero(columns))} of O are"
        if rows.all() and len(lanes) < 32:
            return f"what lanes {spans(sorted(lanes))} of every warp store is"
        if rows.all():
            return said
        if in_cta.all() or n <= self.cta:
            return f"rows {spans(np.flatnonzero(rows))} of O{self._warps(rows)} are"
        whole = "every CTA" if all(rows[i] == in_cta[i % self.cta] for i in range(n)) else "a CTA"
        return f"rows {spans(np.flatnonzero(in_cta))} of {whole}{self._warps(in_cta)} are"

    def _warps(self, rows):
        """ by warps 1 to 3, or nothing where a warp has right rows, too."""
        warps = [rows[i:i + WARP_ROWS] for i in range(0, len(rows), WARP_ROWS)]
        if any(w.any() != w.all() for w in warps) or len(rows) > self.cta or all(w.any() for w in warps):
            return ""
        which = [n for n, w in enumerate(warps) if w.any()]
        return f" (warp{'s' * (len(which) > 1)} {spans(which)})"

    def ratio(self):
        """got / expected, where all elements, or those of each row, column or warp, have one."""
        use = self.wrong & np.isfinite(self.got) & (np.abs(self.expected) > 0.1 * self.height)
        if use.sum() < 32 or not np.isfinite(self.got[self.wrong]).all():
            return None
        with np.errstate(all="ignore"):
            r = np.where(use, self.got / self.expected, np.nan)
        if self._one(r.reshape(1, -1)):
            return f"every wrong element is {np.nanmedian(r):.4g} of what it should be"
        by_row, by_column = r.reshape(-1, r.shape[2]), r.transpose(2, 0, 1).reshape(r.shape[2], -1)
        warps = r[:, :r.shape[1] // WARP_ROWS * WARP_ROWS].reshape(-1, WARP_ROWS * r.shape[2])
        for name, some in (("warp", warps), ("row", by_row), ("column", by_column)):
            if self._one(some):
                some = some[np.isfinite(some).any(axis=1)]
                first = ", ".join(f"{x:.4g}" for x in np.nanmedian(some[:4], axis=1))
                return f"each wrong {name} has one ratio of got to expected: {first}{' ...' * (len(some) > 4)}"
        return None

    @staticmethod
    def _one(groups):
        groups = groups[np.isfinite(groups).sum(axis=1) >= 4]
        if not len(groups):
            return False
        middle = np.nanmedian(groups, axis=1)
        with np.errstate(all="ignore"):
            return bool(np.all(np.nanmax(np.abs(groups - middle[:, None]), axis=1) < 0.03 * np.abs(middle)))

    def draw(self):
        signs = SIGNS[unicode_wanted()]
        head, row, _ = self.first()
        cta = row // self.cta * self.cta
        wrong = self.wrong[head, cta:cta + self.cta]
        lines = [f"{self.run.problem.name}: O of head {head}, CTA {cta // self.cta}; {signs[0]} right, {signs[1]} partly wrong, {signs[2]} wrong;"
                 f" a sign is {ROWS_A_LINE} rows of a column"]
        if len(self.rows) > 1:
            lines.append(f"  {'heads':<15}{self._strip(self.wrong.reshape(len(self.rows), -1), signs)}")
        n_ctas = -(-self.rows.shape[1] // self.cta)
        if n_ctas > 1:
            parts = [self.wrong[head, i * self.cta:(i + 1) * self.cta].reshape(-1) for i in range(n_ctas)]
            lines.append(f"  {'CTAs':<15}{''.join(self._sign(part, signs) for part in parts)}")
        lanes = self.lanes()[cta:cta + self.cta]
        lines.append(f"  {'lanes 0 to 31':<15}{''.join(self._sign(wrong[lanes == n], signs) for n in range(32))}")
        for at in range(0, len(wrong), ROWS_A_LINE):
            some = wrong[at:at + ROWS_A_LINE]
            label = f"warp {at // WARP_ROWS:<2} rows {at}" if at % WARP_ROWS == 0 else f"        rows {at}"
            lines.append(f"{label:<17}{self._strip(some.T, signs)}")
        return lines

    @staticmethod
    def _sign(part, signs):
        return signs[0] if not part.any() else signs[2] if part.mean() > 0.75 else signs[1]

    def _strip(self, parts, signs):
        return "".join(self._sign(part, signs) for part in parts[:64])
