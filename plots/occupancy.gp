# Occupancy: what registers, shared memory and block size allow, and what was achieved.
load 'plots/table.gp'
n_columns = 2
array column_name[2] = ['occupancy_theoretical_pct', 'occupancy_achieved_pct']
array column_title[2] = ['allowed', 'achieved']
array column_ink[2] = ['#777777', ink[1]]
array column_once[2] = [1, 0]
title_text = 'Occupancy by stage'
sub_text = problem.'. Percent of the warps that an SM can hold'
set ylabel 'percent of warps'
load 'plots/bars.gp'
