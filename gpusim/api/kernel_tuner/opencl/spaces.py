"""Words of OpenCL C for kernels and address spaces, and what each means."""

SPACES = {
    f"{lines}{meaning}": meaning
    for meaning in ("kernel", "global", "local", "constant", "private")
    for lines in ("__", "")
}
SPACES["__generic"] = "private"  # a pointer to any
