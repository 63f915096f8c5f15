"""The modules of a page are one script, in which each stands after those that it imports from."""

import re

import pytest

from gateway.extensions.console import console_files, joined_modules

MODULES = {
    "main.js": 'import * as page from "./page.js";\nimport { h as make } from "./dom.js";\n',
    "page.js": 'import {\n  h,\n} from "./dom.js";\nexport async function render() {}',
    "dom.js": "const own = 1;\nexport function h() {}\nexport const text = own;",
    "other.js": "export const unused = 1;",
}


def test_each_module_is_a_block_with_its_own_names() -> None:
    joined = joined_modules.join(MODULES, "main.js")

    assert joined.index("// dom.js") < joined.index("// page.js") < joined.index("// main.js")
    assert 'const page = modules["page.js"];' in joined
    assert 'const { h: make } = modules["dom.js"];' in joined
    assert 'modules["dom.js"] = { h, text };' in joined
    assert 'modules["page.js"] = { render };' in joined
    assert "unused" not in joined
    assert not re.search(r"^(import|export)\b", joined, re.MULTILINE)


@pytest.mark.parametrize(
    "line",
    [
        "export let changing = 1;",
        "export default 1;",
        'export { h } from "./dom.js";',
        'import dom from "./dom.js";',
        'import "./dom.js";',
    ],
)
def test_another_form_of_import_or_export_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"main\.js: can't join"):
        joined_modules.join(MODULES | {"main.js": line}, "main.js")


def test_modules_that_import_each_other_are_refused() -> None:
    circle = MODULES | {"dom.js": 'import { render } from "./page.js";\nexport function h() {}'}

    with pytest.raises(ValueError, match=r"dom\.js"):
        joined_modules.join(circle, "main.js")


def test_each_page_needs_one_script_one_style_and_one_picture() -> None:
    files = console_files.load(())

    assert set(files.assets) == {"icon.svg", "main.js", "reference.js", "style.css"}
    for name, page in files.pages.items():
        assert len(re.findall(rb'"/console/assets/[^"]+"', page.body)) == 3, name
