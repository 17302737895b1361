# The headline: how busy the tensor cores are, stage by stage. Different hundred percents: the pipe's busy
# cycles (a counter; the emulator's clock predicts it), the FLOP rate against the chip's peak at the clock of
# the time, and, of a chip that has no clock, the tensor share of the tightest resource bound (an upper limit).
load 'plots/style.gp'
n_columns = 3
array column_number[3] = [7, 6, 8]
array column_name[3] = ['tensor_active_pct', 'peak_pct', 'tensor_bound_pct']
array column_title[3] = ['tensor pipe active / cycles', 'FLOP rate / peak', 'upper bound (no time)']
array column_unless[3] = [0, 0, 7]
set title 'Tensor-core utilisation by stage'
set ylabel 'percent'
set yrange [0:109]
set ytics 20
load 'plots/bars.gp'
