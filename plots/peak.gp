# FLOP rate against three ceilings: the chip's peak at the clock that ran, what the stage's fastest instruction reached on such
# a board under load (make ceilings), and the data sheet. Beside a prediction only the first, of one launch alone.
load 'plots/table.gp'
n_columns = any_predicted ? 1 : 3
array column_name[3] = [of_kind('peak_pct', 'launch_peak_pct'), 'ceiling_pct', 'datasheet_pct']
array column_title[3] = [any_predicted ? '' : 'of peak at its clock', 'of what was reached', 'of the data sheet']
array column_ink[3] = [ink[1], ink[3], ink[4]]
array column_once[3] = [0, 0, 0]
title_text = 'Share of the peak'
sub_text = problem.'. FLOP rate, '.kind_of_time.(any_predicted ? ', in percent of the peak at its clock' : ', in percent of three ceilings')
set ylabel 'percent'
reached = ''
if (!is_dumb && !any_predicted) {
    stats ceilings using (reached = reached.(strcol('kind') eq 'flop' ? (reached eq '' ? '' : ', ').sprintf('%s %.0f', substr(strcol('name'), 1, strstrt(strcol('name'), ',') - 1), column('value')) : ''), 1) nooutput
    foot_below = wrap('Reached: what the fastest instruction of the stage reaches under load'.(reached eq '' ? '.' : ' ('.reached.' TFLOPS).'), 138)
}
load 'plots/bars.gp'
