"""Points on a plane, a kernel and a machine: what the playground computes."""
