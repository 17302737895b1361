"""Lab 5: a student's wgmma_row and wgmma_col, called here, beside the picture in stages/5-wgmma/kernel.cu."""
import pathlib
import subprocess
import tempfile

MAIN = '#include <stdio.h>\n#include "%s"\nint main(void) { for (int t = 0; t < 128; t++) for (int i = 0; i < 128; i++)' \
       ' printf("%%d %%d\\n", wgmma_row(t, i), wgmma_col(t, i)); }\n'


def differences(header):
    """(which of row, col differ from the picture; warp: a warp has the rows of warp 0; the first difference in words)."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "map.c"), pathlib.Path(folder, "map")
        source.write_text(MAIN % header.resolve())
        if subprocess.run(["gcc", "-w", "-o", program, source], capture_output=True).returncode:
            return set(), ""
        said = subprocess.run([program], capture_output=True, text=True, timeout=10).stdout.split()
    found, first = set(), ""
    for n, (row, col) in enumerate(zip(map(int, said[::2]), map(int, said[1::2]))):
        tid, i = divmod(n, 128)
        warp, lane = divmod(tid, 32)
        right_col, in_warp = i // 4 * 8 + lane % 4 * 2 + i % 2, lane // 4 + i // 2 % 2 * 8
        if col != right_col:
            found.add("col")
            first = first or f"wgmma_col of thread {tid}, i = {i} is {col}, in the picture {right_col}"
        if row != warp * 16 + in_warp:
            found.add("warp" if row == in_warp else "row")
            first = first or f"wgmma_row of thread {tid}, i = {i} is {row}, in the picture {warp * 16 + in_warp}"
    return found, first
