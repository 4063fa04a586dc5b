"""CUDA C programs at random: one text, compiled by nvcc and simulated, and by g++ lane by lane; every word compared."""
