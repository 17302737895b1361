# The headline: how busy the tensor cores are, stage by stage. Different hundred percents: the pipe's busy
# cycles (a counter; without a GPU predicted), the FLOP rate against the chip's peak at the clock of
# the time, against what the stage's fastest instruction reached on such a board under load (make ceilings), against
# the data sheet, and, of a chip that has no clock, the tensor share of the tightest resource bound (an upper limit).
load 'plots/style.gp'
n_columns = 5
array column_number[5] = [7, 6, 31, 32, 8]
array column_name[5] = ['tensor_active_pct', 'peak_pct', 'ceiling_pct', 'datasheet_pct', 'tensor_bound_pct']
array column_title[5] = ['tensor pipe active / cycles', 'FLOP rate / peak at its clock', 'FLOP rate / reached under load', 'FLOP rate / data sheet', 'upper bound (no time)']
array column_unless[5] = [0, 0, 0, 0, 7]
set title 'Tensor-core utilisation by stage'
set ylabel 'percent'
# What each 100 % is, in numbers where this chip was measured.
reached = ''
if (!is_dumb) {
    stats ceilings using (reached = reached.(strcol(2) eq 'flop' ? (reached eq '' ? '' : ', ').sprintf('%s %.0f', substr(strcol(1), 1, strstrt(strcol(1), ',') - 1), $3) : ''), 1) nooutput
    set label 98 "100 % is  work in the pipe in every cycle  |  its FLOPs at the clock that ran\n". \
        'what the stage''s fastest instruction reaches under load'.(reached eq '' ? '' : ' ('.reached.' TFLOPS)').'  |  the data sheet' \
        at graph 0.01, graph 0.97 left font ',9' textcolor rgb '#555555'
}
set yrange [0:109]
set ytics 20
load 'plots/bars.gp'
