"""Fair shares: every resource that tenants share has a limit, and a share of it for each tenant.

`slots` wait for their turn, `threads` run in them, a `budget` is counted or refused at once, and a
`cache` evicts from the tenant that holds the most. A process uses no other queue for tenants.
"""
