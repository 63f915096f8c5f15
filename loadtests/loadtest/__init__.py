"""What `nearhit loadtest` runs: tenants set up, requests sent when due, answers judged."""
