from loadtests.bench_index.quality.ordering import Page, edited_pages
from loadtests.workload.handbook import Edit, Handbook


def version(title: str, text: str) -> str:
    return f"---\ntitle: {title}\n---\n{text}"


def test_a_page_is_its_last_versions_also_if_it_was_moved() -> None:
    texts = {"a": version("Leave", "0"), "b": version("Other", "x"), "c": version("Leave", "?")}
    edits = [
        Edit(gone=None, path="a", text=version("Leave", "1"), commit=0),
        Edit(gone="a", path="d", text=version("Leave", "1"), commit=1),
        *(
            Edit(gone=None, path="d", text=version("Holidays", str(number)), commit=number)
            for number in (2, 3, 4)
        ),
        Edit(gone="b", path=None, commit=5),
    ]

    (page,) = edited_pages(Handbook(texts, edits))

    assert page == Page(
        "d",
        "Holidays",
        [(1, version("Leave", "1"))]
        + [(number + 1, version("Holidays", str(number))) for number in (2, 3, 4)],
    )
    first, second, *_ = page.documents
    assert "relates_to" not in first
    assert second["relates_to"] == {"replaces": ["d@1"]}
    assert page.newest == "d@4"
