"""What disturbs the servers under test: faults, slow links, small disks."""
