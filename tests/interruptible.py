"""A sweep that takes long enough to be interrupted, or to lose a worker, midway."""

SLOW = (
    "sgemm-lai",
    "-p",
    "m=192",
    "-p",
    "n=192",
    "-p",
    "k=192",
    "-p",
    "blocking=1:3",
    "--set",
    "load_store.queue=1:20",
)
