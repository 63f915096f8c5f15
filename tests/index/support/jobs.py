"""Jobs as workers have them, and as people see them."""

from gateway.extensions.jobs.job_store import JobStore
from index.jobs.job_queue import JobQueue


class Jobs(JobQueue, JobStore):
    """Both, of one database."""
