"""Token accounts, prices, savings and break-even."""
