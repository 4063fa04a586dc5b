"""Write-back: when results that return are written."""
