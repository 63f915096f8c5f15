from gateway.extensions.sources_web.url_queue import URLS_BYTES_MAX, UrlQueue


def test_a_url_is_read_once_in_the_order_of_its_first_link() -> None:
    queue = UrlQueue(10)
    for url in ("/a", "/b", "/a"):
        queue.add(url)
    read = []

    for url in queue:
        read.append(url)
        queue.add("/b")
        queue.add("/c")

    assert read == ["/a", "/b", "/c"]
    assert queue.left_out is None


def test_no_more_urls_are_held_than_may_be_read() -> None:
    queue = UrlQueue(2)
    for number in range(4):
        queue.add(f"/{number}")

    assert list(queue) == ["/0", "/1"]
    queue.add("/4")
    assert list(queue) == []
    assert queue.left_out == "has more than 2 pages"


def test_long_urls_take_a_bounded_amount_of_memory() -> None:
    queue = UrlQueue(1_000_000)
    long = "x" * (URLS_BYTES_MAX // 4)
    for number in range(6):
        queue.add(f"{number}{long}"[: len(long)])

    assert len(list(queue)) == 4
    assert queue.left_out is not None
    assert queue.left_out.startswith("has links of more than")
