"""Wake-up: warps whose time has come."""
