"""The programs of chips/bench/pipes.py as text for build/bench-pipes, which runs them by the clock:

    P bench variant threads ctas smem passes stamps instructions
    I low high text

    python3 emulator/bench/pipes_text.py chips/bench [BENCH...] > build/pipes.txt"""

import struct
import sys

sys.path.insert(0, sys.argv[1])
import pipes

for bench in pipes.BENCHES:
    for p in bench():
        if sys.argv[2:] and p.bench not in sys.argv[2:]:
            continue
        code, texts = p.code()
        print("P", p.bench, p.variant.replace(" ", "_"), p.threads, p.ctas, p.smem, p.passes,
              p.n_stamps, p.instructions)
        for k, text in enumerate(texts):
            low, high = struct.unpack_from("<QQ", code, 16 * k)
            print(f"I {low:x} {high:x} {text}")
