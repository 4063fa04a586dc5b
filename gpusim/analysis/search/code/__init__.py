"""Search over machine code that is compiled anew."""
