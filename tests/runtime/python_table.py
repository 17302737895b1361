"""A table of kernels that Python's packages compiled: for of_triton.py and of_numba.py."""
import traceback

import numpy as np


class Table:
    def __init__(self, package):
        self.package, self.rows = package, []

    def row(self, name):
        """Decorates what runs a kernel: it returns the kernel, what it computed, what is right, and the largest error allowed."""
        def add(run):
            self.rows.append((name, run))
        return add

    def one(self, name, run):
        """Its row, and whether all is right."""
        try:
            kernel, got, want, tolerance = run()
        except Exception:
            traceback.print_exc()
            return f'{name:36} {"-":>12} {"-":>12} {"-":>12} {"-":>7} {"-":>9}  did not run', False
        error = float(np.max(np.abs(np.asarray(got, 'f8') - want)))
        reports = [r for r in kernel.reports if not r.startswith('note')]
        right = error <= tolerance and not reports
        for report in reports:
            print(f'# {name}: {report}')
        c = kernel.counters
        return (f'{name:36} {c["instructions"]:12.0f} {c.get("shared_wavefronts", 0):12.0f} '
                f'{kernel.groups("MEMORY")["global_sectors"]:12.0f} {len(reports):7} {error:9.1e}  {"right" if right else "WRONG"}'), right

    def print(self, only=()):
        """Runs those that are called so, or all. 1 if one is not right, else 0."""
        print(f'{self.package:36} {"instructions":>12} {"wavefronts":>12} {"sectors":>12} {"reports":>7} {"error":>9}')
        wrong = 0
        for name, run in self.rows:
            if not only or name in only:
                text, right = self.one(name, run)
                print(text, flush=True)
                wrong += not right
        return int(wrong > 0)
