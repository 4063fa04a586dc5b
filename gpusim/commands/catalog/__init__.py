"""What comes with gpusim."""
