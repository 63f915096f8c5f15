"""A vector store of one's own, with the `openai` package and another URL.

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python openai_client.py "how many days of leave?"
"""

import os
import sys

from openai import OpenAI

client = OpenAI(base_url=f"{os.environ['NEARHIT_URL']}/v1", api_key=os.environ["NEARHIT_KEY"])
store = client.vector_stores.create(name="Handbook")
client.vector_stores.files.upload_and_poll(
    vector_store_id=store.id,
    file=("leave.md", b"# Leave\n\nEverybody gets 25 days of annual leave a year."),
    attributes={"team": "people", "year": 2026},
)
found = client.vector_stores.search(
    store.id, query=sys.argv[1], filters={"type": "gte", "key": "year", "value": 2026}
)
for result in found:
    print(f"{result.score:.2f} {result.filename}: {result.content[0].text}")
client.vector_stores.delete(store.id)
