"""The budget of a run as JUnit's XML, for CI servers."""

from xml.etree import ElementTree as ET

from loadtests.loadtest.budget import Verdict
from loadtests.loadtest.result import Result

_SUITE = "nearhit loadtest"


def xml(result: Result) -> str:
    """One test case for each limit of the budget, and one for the run itself.

    A limit that was not judged is skipped if the budget does not require it, else it fails.
    """
    suite = ET.Element("testsuite", name=_SUITE, time=f"{result.seconds:.3f}")
    suite.append(_case("run", "ends as planned", failure=result.ended_early))
    for finding in result.findings:
        limit = finding.limit
        bound = "at least" if limit.is_least else "at most"
        measured = "nothing" if finding.measured is None else f"{finding.measured:g}"
        message = f"{finding.verdict}: {measured}, {bound} {limit.value:g}"
        case = _case(limit.group, limit.name, failure=None if finding.passes else message)
        if finding.verdict is Verdict.NOT_JUDGED and finding.passes:
            ET.SubElement(case, "skipped", message=message)
        suite.append(case)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    ET.indent(suite)
    return ET.tostring(suite, "unicode", xml_declaration=True) + "\n"


def _case(group: str, name: str, *, failure: str | None) -> ET.Element:
    case = ET.Element("testcase", classname=f"{_SUITE}.{group}", name=name)
    if failure is not None:
        ET.SubElement(case, "failure", message=failure)
    return case
