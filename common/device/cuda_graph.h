/* Time on a GPU (device.h): launches captured into a graph, and the SM clock. */
#pragma once

#include "device.h"

const char *cuda_graph_open(struct device *d, struct device_image *image,
                            const struct device_launch *launches, int n, int repeats, bool cold,
                            struct device_graph **out);
const char *cuda_graph_time(struct device_graph *graph, bool flush_l2, double *us_total);
void cuda_graph_close(struct device_graph *graph);
const char *cuda_graph_sm_clock_mhz(struct device_graph *g, double *mhz);
int cuda_sm_clock_mhz(struct device *d);
double cuda_power_watts(struct device *d);
