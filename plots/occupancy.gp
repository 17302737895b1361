# Occupancy: what registers, shared memory and block size allow, and what the counters saw.
load 'plots/style.gp'
n_columns = 2
array column_number[2] = [11, 12]
array column_name[2] = ['occupancy_theoretical_pct', 'occupancy_achieved_pct']
array column_title[2] = ['theoretical', 'achieved']
set title 'Occupancy by stage'
set ylabel 'percent of the warps an SM can hold'
set yrange [0:109]
set ytics 20
load 'plots/bars.gp'
