"""`make screenshots`: pictures of the console on the example handbook, to be looked at.

Each page in light, in dark and on a phone. Those that the documentation shows are copied into it.
Usage: python -m tests.gateway.extensions.console.screenshots [FOLDER]; default: .cache/screenshots.
"""

import asyncio
import io
import os
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from pydantic import SecretStr

from gateway.extensions.embedded_servers import owned_servers, servers
from gateway.monitoring import logs
from gateway.settings.settings import Settings
from index.embedders.static_embedder import StaticEmbedder
from tests.conftest import ADMIN_KEY, data_dir, run_sql
from tests.gateway.extensions.console.browser import DESKTOP, PHONE, Console, chromium, tab
from tests.gateway.support.gateways import Caller, Gateway, connected, serving

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / ".cache" / "screenshots"
DOCS = ROOT / "docs" / "assets" / "console"
IN_DOCS = ("search", "faqs", "insight-dark", "search-phone")
DOCS_BYTES_MAX = 100_000


async def prepare(gateway: Gateway) -> Caller:
    """A tenant with the example handbook, some people, and an admin; answers the admin."""
    gateway.tenant_name = "ostrelume"
    await gateway.tenant(gateway.tenant_name)
    admin = await gateway.caller("ada", roles=["admin"], name="Ada's laptop")
    await gateway.caller("ines", groups=["engineering"], name="Ines")
    handbook = servers.example_handbook()
    for path in sorted(handbook.rglob("*.md")):
        name = path.relative_to(handbook).as_posix()
        readers = ["group:leaders"] if name.startswith("finance/") else ["tenant"]
        text = path.read_text(encoding="utf-8")
        text = text.split("---\n", 2)[2] if text.startswith("---\n") else text
        title = next(line.lstrip("# ") for line in text.splitlines() if line.strip())
        await admin.put(
            f"handbook/{name}", text, title=title, readers=readers, source="handbook", owner="ada"
        )
    await admin.call("PUT", "/v1/groups/leaders/members/sofia")
    await admin.call("PUT", "/v1/groups/engineering/members/ines")
    return admin


FAQS = (
    ("days-off", "How many days of leave do I get?", "25 days a year.", "people", 10, True),
    ("lost-key", "Whom do I tell about a lost key?", "The concierge, at once.", "office", 5, True),
    ("parking", "Where can I park a bicycle?", "In the court, at door B.", "office", 0, True),
    ("old-plan", "Which pension plan of 2019 holds?", "None: see the new one.", "people", 0, False),
)
QUESTIONS = ("who waters the plants in August?", "can I bring my dog?", "can I bring my dog?")
# What the page Insight shows: a month of searches, as a gateway counts them, and of models.
HISTORY = """
    INSERT INTO search_statistics
    SELECT 'ostrelume', hour, tier, outcome, latency_ms_max,
        1 + (answers * (1.2 + sin(extract(epoch FROM hour) / 14000)))::bigint
    FROM generate_series(
        date_trunc('hour', now()) - interval '29 days', now(), interval '3 hours'
    ) AS hour, (VALUES
        ('memory', 'confident', 1, 60), ('redis', 'confident', 2, 24),
        ('miss', 'confident', 15, 9), ('miss', 'confident', 30, 2),
        ('miss', 'low_confidence', 15, 1), ('miss', 'empty', 10, 0.2),
        ('redis', 'audit_equal', 0, 5)
    ) AS counts (tier, outcome, latency_ms_max, answers);
    INSERT INTO usage (tenant, day, operation, tokens, cost)
    SELECT 'ostrelume', now()::date - days, operation, tokens * share, cost * share
    FROM generate_series(0, 29) AS days, LATERAL (SELECT 3 + days % 5) AS of_day (share), (VALUES
        ('search', 9000, 0.01), ('answer', 21000, 0.21), ('rewrite', 6000, 0.05)
    ) AS used (operation, tokens, cost);
    INSERT INTO asked_questions (tenant, digest, day, question, asked, unsure)
    SELECT 'ostrelume', sha256(question::bytea), now()::date - days, question, asked, unsure
    FROM generate_series(0, 29) AS days, (VALUES
        ('How many days of annual leave do I get?', 31, 0), ('How do I reset my password?', 24, 1),
        ('Who approves travel?', 15, 0), ('When is the office closed?', 9, 2),
        ('Can I bring my dog?', 4, 4), ('Where do I hand in receipts?', 3, 0)
    ) AS asked_most (question, asked, unsure);
    UPDATE tenants SET questions_kept_days = 30 WHERE tenant = 'ostrelume';
    UPDATE tenants SET budget_month = 60, documents_max = 500 WHERE tenant = 'ostrelume';
"""
PAGES = (
    "documents", "faqs", "questions", "sources", "jobs", "insight", "evaluation", "keys", "groups",
    "audit",
)  # fmt: skip


async def prepare_work(admin: Caller, url: str) -> None:
    """FAQs, open questions, sources, jobs and a month's history."""
    for faq_id, question, answer, category, priority, is_active in FAQS:
        faq = {"question": question, "answer": answer, "category": category}
        ranked = {"priority": priority, "active": is_active}
        await admin.call("PUT", f"/v1/faqs/{faq_id}", json={**faq, **ranked})
    for question in QUESTIONS:
        await admin.search(question)
    for source in ("policies", "manuals"):
        body = {"kind": "folder", "settings": {"path": source}, "schedule": "0 3 * * *"}
        await admin.call("PUT", f"/v1/sources/{source}", json=body)
    await admin.call("POST", "/v1/sources/manuals/reindex")
    for number in range(3):
        await admin.call(
            "PUT",
            f"/v1/documents/notes/{number}",
            json={"text": f"Note {number}", "readers": ["tenant"]},
            headers={"Prefer": "respond-async"},
        )
    async with asyncio.timeout(30):
        while not (await admin.call("GET", "/v1/curation")).json()["items"]:
            await asyncio.sleep(0.1)
        while (await admin.call("GET", "/v1/jobs?state=waiting")).json()["jobs"]:
            await asyncio.sleep(0.1)
    await run_sql(url, HISTORY)


async def shoot(console: Console, file: Path, *, scheme: Any = "light") -> None:
    await console.page.emulate_media(color_scheme=scheme)
    await console.settle()
    await console.page.screenshot(path=file, full_page=False, animations="disabled")
    print(file)


async def search(console: Console, question: str, *, as_subject: str = "") -> None:
    page = console.page
    if as_subject:
        await page.get_by_text("See as somebody else").click()
        await page.get_by_label("Subject").fill(as_subject)
    await page.get_by_label("Question", exact=True).fill(question)
    await page.get_by_role("button", name="Search", exact=True).click()
    await page.locator("section .badge").first.wait_for()


async def run(folder: Path) -> None:
    logs.configure("error")
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    with data_dir() as data, owned_servers.own_servers(data) as started:
        for source in ("policies", "manuals"):
            made = Path(data) / "sources" / "ostrelume" / source
            await asyncio.to_thread(made.mkdir, parents=True)
        os.environ["NEARHIT_SOURCES_DIR"] = str(Path(data) / "sources")
        settings = Settings(
            database_url=SecretStr(started.database_url),
            redis_url=SecretStr(started.redis_url),
            admin_key=SecretStr(ADMIN_KEY),
            log_level="error",
            serve_jobs=True,
            confidence_min=0.3,
        )
        async with serving(settings, StaticEmbedder()) as url, connected(url) as client:
            await Gateway(client).tenant("fresh")
            admin = await prepare(Gateway(client))
            await prepare_work(admin, started.database_url)
            async with chromium() as browser:
                context = await browser.new_context(viewport=DESKTOP)
                console = await tab(context, url)
                newcomer = await Gateway(client).caller("noor", tenant="fresh", roles=["admin"])
                await take(console, admin, newcomer, folder)
                assert console.errors == []
    await asyncio.to_thread(copy_to_docs, folder)


def copy_to_docs(folder: Path) -> None:
    """With 256 colours: a third of the bytes, and nobody sees it."""
    DOCS.mkdir(parents=True, exist_ok=True)
    for name in IN_DOCS:
        picture = io.BytesIO()
        with Image.open(folder / f"{name}.png") as shot:
            shot.convert("RGB").quantize(dither=Image.Dither.NONE).save(
                picture, "PNG", optimize=True
            )
        assert picture.tell() <= DOCS_BYTES_MAX, f"{name} has {picture.tell():,} bytes"
        (DOCS / f"{name}.png").write_bytes(picture.getvalue())


async def take(console: Console, admin: Caller, newcomer: Caller, folder: Path) -> None:
    """Each page in light and in dark, and on a phone."""
    page = console.page
    await page.goto(f"{console.url}/console")
    await page.wait_for_selector("form")
    await shoot_all(console, folder, "login")
    await console.open(newcomer.key)
    await page.get_by_role("region", name="First steps").wait_for()
    await shoot_all(console, folder, "first-steps")
    await console.open(admin.key)
    await search(console, "how many days of annual leave do I get?")
    await shoot_all(console, folder, "search")
    await page.get_by_text("A document that I expected").click()
    await page.get_by_label("Document", exact=True).fill("handbook/people/sick-leave.md")
    await search(console, "how many days of annual leave do I get?")
    await page.get_by_role("button", name="Search with this change").wait_for()
    await shoot_all(console, folder, "why-not")
    await page.get_by_role("link", name="A plan of several searches").click()
    await page.get_by_role("button", name="Run").click()
    await page.locator(".hit").first.wait_for()
    await shoot_all(console, folder, "plan")
    await console.go("Search")
    await search(console, "how many days of annual leave do I get?", as_subject="ines")
    await page.get_by_text("This look is in the audit log").wait_for()
    await shoot_all(console, folder, "see-as")
    for name in PAGES:
        await page.evaluate("name => { location.hash = `#/${name}`; }", name)
        await page.locator(f'nav a[data-page="{name}"][aria-current]').wait_for()
        if name == "insight":
            await page.get_by_label("Time").select_option("30 days")
        if name == "evaluation":
            await page.get_by_role("button", name="Make from my documents").click()
            await page.get_by_text("questions, from").wait_for()
            await page.get_by_label("Compare with").fill("alpha=0.4")
            await page.get_by_role("button", name="Measure").click()
            await page.get_by_role("region", name="Settings").wait_for()
        await shoot_all(console, folder, name)
    await page.evaluate("() => { location.hash = '#/documents'; }")
    await page.locator("tbody a").first.click()
    await page.locator(".facts").wait_for()
    await shoot_all(console, folder, "document")
    await console.open(ADMIN_KEY)
    await page.locator("tbody tr").first.wait_for()
    await shoot_all(console, folder, "tenants")
    await page.get_by_role("link", name="ostrelume").click()
    await page.get_by_role("form", name="Limits").wait_for()
    await shoot_all(console, folder, "tenant")


async def shoot_all(console: Console, folder: Path, name: str) -> None:
    await shoot(console, folder / f"{name}.png")
    await shoot(console, folder / f"{name}-dark.png", scheme="dark")
    await console.page.set_viewport_size(PHONE)
    await shoot(console, folder / f"{name}-phone.png")
    await console.page.set_viewport_size(DESKTOP)
    await console.page.emulate_media(color_scheme="light")


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
